"""Functions fit for squaring: means off, and mixed anew where products would lose most of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from ritz.arrays import Array
from ritz.bases.basis import Basis
from ritz.bases.centered import Centered
from ritz.bases.combination import Combination
from ritz.threads import blas_threads

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
ENOUGH = 16
SOME = 64
FEWEST_ROWS, FEW_ROWS = 64, 256
GRADIENT_ROWS = 128


def conditioned(basis: Basis, pilot: Array) -> Centered:
    """Return functions with the same span, as far as rounding goes, that survive squaring.

    Averages of products know directions whose size is above sqrt(eps) of the largest; values
    know them down to eps. A kernel much wider than the data has next to all its functions in
    between (length 100 on N(0, 1): the cubic polynomial has size 1e-8). Where products would keep
    fewer than 16 directions, the first 16 singular functions of the pilot values, all of unit
    size, take the functions' place; otherwise only means are taken off.

    Parameters
    ----------
    basis
        The functions phi.
    pilot
        Rows (m, d), distinct and at random: half to mix the functions over, half to check them on.
        Where the first 256 or fewer, two a function, show that means are all that has to come off,
        those over them do.
    """
    # A few rows and functions tell, as a rule; all of them decide.
    few = pilot[: min(max(2 * basis.size, FEWEST_ROWS), FEW_ROWS)]
    with np.errstate(over="ignore", invalid="ignore"):
        centered, values, spread, alive = apart_from_means(basis, basis.jet(few).value.dense())
    some = slice(0, SOME) if alive.all() else np.flatnonzero(alive)[:SOME]
    if resolves(values[:, some], spread[some], min(ENOUGH, basis.size)):
        return centered
    with blas_threads(1):
        return mixed_where_needed(basis, pilot)


def mixed_where_needed(basis: Basis, pilot: Array) -> Centered:
    """Do as `conditioned` does, by all rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        centered, values, spread, alive = apart_from_means(basis, basis(pilot))
    wanted = min(ENOUGH, int(alive.sum()), len(pilot) - 1)
    scaled = values[:, alive] / spread[alive]
    if resolved(scaled) >= wanted:
        return centered
    half = scaled if len(pilot) < 256 else scaled[::2]
    _, sizes, mixing = np.linalg.svd(half, full_matrices=False)
    # Each value was rounded at eps times its size before the mean came off.
    size = np.abs(centered.offset[alive]) + np.abs(values[:, alive]).max(axis=0)
    rounding = EPS * float((size / spread[alive]).max()) * np.sqrt(half.size)
    keep = np.flatnonzero(sizes > max(100 * rounding, len(half) * EPS * sizes[0]))[:ENOUGH]
    known = resolved(scaled)
    if len(keep) <= known:
        # Fewer functions than wanted differ on the samples, and products know them all. Those that
        # vanish there, as |x|^2 - 1 does on a sphere, still lower the energy of the others.
        return centered
    mixing = mixing[keep]
    mixing *= np.sign(mixing[np.arange(len(keep)), np.abs(mixing).argmax(axis=1)])[:, None]
    scale = np.sqrt(len(half)) / sizes[keep]
    # What is scaled up must not be larger still on rows that it was not scaled on.
    tame = np.sqrt(((scaled @ mixing.T * scale) ** 2).mean(axis=0)) < 100
    dead = np.flatnonzero(~alive)
    A = np.zeros((basis.size, int(tame.sum()) + len(dead)))
    A[alive, : int(tame.sum())] = (mixing.T * scale)[:, tame] / spread[alive][:, None]
    # Functions that vary on none of these rows may do so on others.
    A[dead, int(tame.sum()) + np.arange(len(dead))] = 1.0
    mixed = Combination(centered, A, np.zeros(A.shape[1]))
    if mixed.differentiable:
        mixed = mixed.pick(moderate(mixed, pilot))
    if mixed.size - len(dead) <= known:
        return centered
    return Centered.around(mixed, pilot)


def apart_from_means(
    basis: Basis, values: Array
) -> tuple[Centered, Array, Array, NDArray[np.bool_]]:
    """Return functions less their means, by their values (m, p) at some rows, and those less means.

    Then the spread of each function, and whether that is more than rounding.
    """
    m = max(len(values), 1)
    centered = Centered(basis, np.add.reduce(values) / m)
    values = values - centered.offset
    spread = np.sqrt(np.add.reduce(values * values) / m)
    if not np.isfinite(spread).all():
        raise ValueError(
            "The functions overflow on these samples: their squares exceed 1e308. Scale the data "
            "or choose a larger length_scale."
        )
    return centered, values, spread, spread > 100 * EPS * np.abs(centered.offset)


def resolves(values: Array, spread: Array, wanted: int) -> bool:
    """Return whether products of values (m, p) of some spread tell so many directions apart.

    As many pivots of a root far above rounding tell as a rule, and sooner than eigenvalues.
    """
    if not values.size:
        return not wanted
    scaled = values / spread
    # Two matrices: of one by itself few products are computed sooner than half of them.
    gram = values.T @ scaled / spread[:, None]
    pivots = dpstrf(gram, tol=1e-8 * len(values), lower=1, overwrite_a=1)[2]
    return bool(pivots >= wanted) or resolved(scaled) >= wanted


def resolved(scaled: Array) -> int:
    """Return how many directions of values (m, p) their products (p, p) can tell from rounding."""
    if not scaled.size:
        return 0
    gram = scaled @ scaled.T if len(scaled) < scaled.shape[1] else scaled.T @ scaled
    shares = np.linalg.eigvalsh(gram)
    return int((shares > 100 * len(gram) * EPS * shares[-1]).sum())


def moderate(functions: Combination, pilot: Array) -> NDArray[np.bool_]:
    """Return which functions have a gradient that stays within 1e5 of the smallest, by size.

    Functions that vanish on a manifold that holds the data are rounding there, and once scaled
    up have enormous gradients off it.
    """
    slopes = functions.gradient(pilot[:GRADIENT_ROWS])
    energies = np.einsum("kdr,kdr->r", slopes, slopes)
    smallest = (energies[energies > 0] / energies.max(initial=TINY)).min(initial=1.0)
    return np.asarray(energies / energies.max(initial=TINY) <= 1e10 * smallest)
