"""Sums of matrix products, added in place by the linear algebra library.

NumPy computes a product apart, copies its triangle and then adds it, and SciPy keeps Python's lock
for as long as a product takes. Calling the library itself does neither.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz import native
from ritz.arrays import Array, row_slices

TILE = 256
NARROW = 56


def halved(columns: int, dtype: Any) -> bool:
    """Return whether the lower triangle of A' A takes less time than the whole of it.

    In float32 it is always taken: where the library does not add up both halves in one order, they
    would differ by what float32 is rounded at.
    """
    return columns > NARROW or dtype == np.float32


def add_product(C: Array, A: NDArray[Any], B: NDArray[Any], factor: float = 1.0) -> None:
    """Add factor * A' B to C (p, q) for A (b, p) and B (b, q), both float64 or both float32."""
    single = A.dtype != np.float64
    into = np.zeros(C.shape, A.dtype) if single else C
    native.add_product(A.shape[1], B.shape[1], factor, into, lined_up(A), lined_up(B))
    if single:
        C += into


def add_square(C: Array, A: NDArray[Any], factor: float = 1.0) -> None:
    """Add factor * A' A to the lower triangle of C (p, p), for A (b, p)."""
    single = A.dtype != np.float64
    into = np.zeros(C.shape, A.dtype) if single else C
    p = A.shape[1]
    native.add_product(p, p, factor, into, lined_up(A), None)
    if single:
        # Above the diagonal there is nothing yet.
        for rows in row_slices(p, TILE):
            C[rows, : rows.start] += into[rows, : rows.start]
            C[rows, rows] += np.tril(into[rows, rows])


def lined_up(A: NDArray[Any]) -> NDArray[Any]:
    """Return an array without gaps, and aligned in memory."""
    A = np.ascontiguousarray(A)
    return A if A.flags.aligned else A.copy()


def mirror(C: Array) -> None:
    """Copy the lower triangle of C (..., p, p) to the upper one."""
    tiles = row_slices(C.shape[-1], TILE)
    for place, rows in enumerate(tiles):
        block = C[..., rows, rows]
        np.copyto(block, np.swapaxes(block, -1, -2).copy(), where=_above(block.shape[-1]))
        for columns in tiles[:place]:
            C[..., columns, rows] = np.swapaxes(C[..., rows, columns], -1, -2)


def symmetrize(C: Array) -> None:
    """Replace C (..., p, p) by (C + C') / 2, in place."""
    tiles = row_slices(C.shape[-1], TILE)
    for place, rows in enumerate(tiles):
        for columns in tiles[: place + 1]:
            half = C[..., rows, columns] + np.swapaxes(C[..., columns, rows], -1, -2)
            half /= 2
            C[..., rows, columns] = half
            C[..., columns, rows] = np.swapaxes(half, -1, -2)


@cache
def _above(n: int) -> NDArray[np.bool_]:
    """Return which entries of a matrix (n, n) are above its diagonal."""
    return np.triu(np.ones((n, n), dtype=bool), 1)
