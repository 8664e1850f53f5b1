"""Functions fit for squaring: means off, and mixed anew where products would lose most of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array
from ritz.bases.basis import Basis
from ritz.bases.centered import Centered
from ritz.bases.combination import Combination

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
ENOUGH = 64
GRADIENT_ROWS = 128


def conditioned(basis: Basis, pilot: Array) -> Centered:
    """Return functions with the same span, as far as rounding goes, that survive squaring.

    Averages of products know directions whose size is above sqrt(eps) of the largest; values
    know them down to eps. A kernel much wider than the data has next to all its functions in
    between (length 100 on N(0, 1): the cubic polynomial has size 1e-8). Where products keep
    fewer than 64 directions, the functions are replaced by the singular functions of the pilot
    values, all of unit size; otherwise only means are taken off.

    Parameters
    ----------
    basis
        The functions phi.
    pilot
        Rows (m, d), distinct and at random.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        centered = Centered.around(basis, pilot)
        values = centered(pilot)
        spread = np.sqrt((values**2).mean(axis=0))
    if not np.isfinite(spread).all():
        raise ValueError(
            "The functions overflow on these samples: their squares exceed 1e308. Scale the data "
            "or choose a larger length_scale."
        )
    size = np.abs(centered.offset) + np.abs(values).max(axis=0)
    alive = spread > 100 * EPS * size
    if not alive.any():
        return centered
    scaled = values[:, alive] / spread[alive]
    gram = scaled @ scaled.T if len(scaled) < scaled.shape[1] else scaled.T @ scaled
    shares = np.linalg.eigvalsh(gram)
    floor = 100 * len(gram) * EPS
    if (shares > floor * shares[-1]).sum() >= min(ENOUGH, int(alive.sum()), len(pilot) - 1):
        return centered
    _, sizes, mixing = np.linalg.svd(scaled, full_matrices=False)
    # Each value was rounded at eps times its size before the mean came off.
    rounding = EPS * float((size[alive] / spread[alive]).max()) * np.sqrt(scaled.size)
    keep = sizes > max(100 * rounding, len(gram) * EPS * sizes[0])
    if not keep.any():
        return centered
    mixing *= np.sign(mixing[np.arange(len(mixing)), np.abs(mixing).argmax(axis=1)])[:, None]
    A = np.zeros((basis.size, int(keep.sum())))
    A[alive] = mixing[keep].T * (np.sqrt(len(pilot)) / sizes[keep]) / spread[alive][:, None]
    mixed = Combination(centered, A, np.zeros(A.shape[1]))
    if mixed.differentiable:
        mixed = mixed.pick(moderate(mixed, pilot))
    return Centered.around(mixed, pilot)


def moderate(functions: Combination, pilot: Array) -> NDArray[np.bool_]:
    """Return which functions have a gradient that stays within 1e5 of the smallest, by size.

    Functions that vanish on a manifold that holds the data are rounding there, and once scaled
    up have enormous gradients off it.
    """
    slopes = functions.gradient(pilot[:GRADIENT_ROWS])
    energies = np.einsum("kdr,kdr->r", slopes, slopes)
    smallest = (energies[energies > 0] / energies.max(initial=TINY)).min(initial=1.0)
    return np.asarray(energies / energies.max(initial=TINY) <= 1e10 * smallest)
