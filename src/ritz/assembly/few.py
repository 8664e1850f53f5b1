"""The sums of a fit of few rows and few functions, by compiled code in one go.

Such a fit takes a millisecond, most of which Python would spend between one small array and the
next. The compiled code takes the same steps as `assemble` does, and by the same functions; what is
out of the ordinary it leaves to `assemble`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ritz import native
from ritz.arrays import Array, drawn, in_one_piece, mixed_seed
from ritz.assembly.sums import Sums
from ritz.bases import Centered, KernelSections, Nystrom
from ritz.bases.conditioning import ENOUGH, FEWEST_ROWS
from ritz.forms import Form
from ritz.forms.laplacian import Laplacian
from ritz.kernels import Kernel
from ritz.kernels.compiled import PASSES
from ritz.kernels.distances import FEW
from ritz.streams import Stream
from ritz.streams.array import ArrayStream
from ritz.threads import TINY

FEW_ROWS = 2048


def is_few(basis: Any, stream: Stream) -> bool:
    """Return whether there are few rows, and few kernel sections at some of them."""
    return (
        (stream.n_rows or np.inf) <= FEW_ROWS
        and type(basis) is Nystrom
        and isinstance(basis.centers, str)
        and basis.centers == "uniform"
        and basis.n_centers is not None
        and basis.n_centers <= TINY
    )


def sums_of_few(form: Form, basis: Nystrom, stream: Stream, folds: int, seed: int) -> Sums | None:
    """Return the sums of few rows, or None where they take more than compiled code does.

    Parameters
    ----------
    form, basis, stream
        As in `ritz.assemble`; few rows and functions, as `is_few` says.
    folds
        In how many parts to keep the sums.
    seed
        For the choice of centers.
    """
    if type(form) is not Laplacian or form.tangent is not None or form.density_correction:
        return None
    if type(stream) is not ArrayStream or len(stream.views) > 1 or stream.groups is not None:
        return None
    kernel, p = basis.kernel, basis.n_centers
    known = kernel.compiled
    X = stream.views[0]
    if known is None or X.dtype == np.float32 or X.shape[1] > FEW or len(X) < 2:
        return None
    if np.ndim(kernel.length_scale) and kernel.family == "distance":
        # Distances in several units need products of their own.
        return None
    assert p is not None
    X, d = in_one_piece(X), X.shape[1]
    weight = np.ones(len(X)) if stream.weight is None else stream.weight
    some = weight > 0
    if not some.all():
        if not np.isfinite(X).all():
            return None
        X, weight = X[some], weight[some]
        if len(X) < 2:
            return None
    name, a, b = known
    (first,) = drawn(seed, 1)
    centers, offset = np.empty((p, d)), np.empty(p)
    weights, counts = np.empty(folds), np.empty(folds, dtype=np.int64)
    L, Phi = np.empty((2, folds, 1 + p, 1 + p))
    done = native.sum_few(
        PASSES[name],
        FEWEST_ROWS,
        min(ENOUGH, p),
        mixed_seed(first),
        X,
        weight,
        scales_of(kernel, d),
        as_array(a),
        as_array(b),
        centers,
        offset,
        weights,
        counts,
        L,
        Phi,
    )
    if not done:
        return None
    functions = Centered(KernelSections(kernel, centers), offset)
    sums = tuple(L), tuple(Phi)
    return Sums(form, functions, functions, weights, counts, sums[0], sums[1], sums[1])


@lru_cache(maxsize=64)
def as_array(numbers: tuple[float, ...]) -> Array:
    """Return the coefficients of a pass as an array."""
    return np.array(numbers)


def scales_of(kernel: Kernel, dimension: int) -> Array:
    """Return the length scale of each coordinate, in one piece."""
    return in_one_piece(kernel.scales(dimension))
