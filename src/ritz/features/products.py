"""Sums of matrix products, added in place by the linear algebra library.

NumPy computes a product apart, copies its triangle and then adds it, and SciPy keeps Python's lock
for as long as a product takes. Calling the library itself does neither.
"""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    byref,
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_void_p,
    py_object,
    pythonapi,
)
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas

from ritz.arrays import Array, row_slices

TILE = 256
NARROW = 56


def halved(columns: int, dtype: Any) -> bool:
    """Return whether the lower triangle of A' A takes less time than the whole of it.

    In float32 it is always taken: where the library does not add up both halves in one order, they
    would differ by what float32 is rounded at.
    """
    return columns > NARROW or dtype == np.float32


@cache
def routine_address(name: str) -> int:
    """Return where a routine of the library is, such as "dgemm"."""
    routines: dict[str, Any] = dict(cython_blas.__pyx_capi__)
    capsule = routines[name]
    name_of, pointer_of = pythonapi.PyCapsule_GetName, pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = c_char_p, [py_object]
    pointer_of.restype, pointer_of.argtypes = c_void_p, [py_object, c_char_p]
    signature = name_of(capsule)
    if b"int64" in signature or b"int *" not in signature:
        raise NotImplementedError(
            f"SciPy's linear algebra has 64-bit integers here ({signature!r}), which ritz cannot "
            "call. SciPy from PyPI has those of 32 bits."
        )
    return int(pointer_of(capsule, signature))


@cache
def _routine(name: str) -> Any:
    """Return a routine of the library; calling it releases Python's lock."""
    return CFUNCTYPE(None, *[c_void_p] * _arguments(name))(routine_address(name))


def _arguments(name: str) -> int:
    return {"gemm": 13, "syrk": 10}[name[1:]]


def _call(name: str, dtype: Any, *values: Any) -> None:
    """Call a routine, whose arguments are all references."""
    number = c_double if dtype == np.float64 else c_float
    kinds: dict[type, Any] = {str: lambda s: c_char(s.encode()), int: c_int, float: number}
    held = [
        value if isinstance(value, np.ndarray) else kinds[type(value)](value) for value in values
    ]
    _routine(("d" if dtype == np.float64 else "s") + name)(
        *(v.ctypes.data if isinstance(v, np.ndarray) else byref(v) for v in held)
    )


def rows_apart(A: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose rows are stored one after the other, each in one piece."""
    apart = A.strides[1] == A.itemsize and A.strides[0] >= A.shape[1] * A.itemsize
    return A if apart else np.array(A, order="C", copy=True)


def add_product(C: Array, A: NDArray[Any], B: NDArray[Any], factor: float = 1.0) -> None:
    """Add factor * A' B to C (p, q) for A (b, p) and B (b, q), both float64 or both float32."""
    A, B = rows_apart(A), rows_apart(B)
    single = A.dtype != np.float64
    into = np.empty(C.shape, A.dtype) if single else C
    (b, p), q = A.shape, B.shape[1]
    # The library reads rows as columns: C' = B' A.
    steps = B.strides[0] // B.itemsize, A.strides[0] // A.itemsize
    start = 0.0 if single else 1.0
    _call(
        "gemm", A.dtype, "N", "T", q, p, b, float(factor), B, steps[0], A, steps[1], start, into, q
    )
    if single:
        C += into


def add_square(C: Array, A: NDArray[Any], factor: float = 1.0) -> None:
    """Add factor * A' A to the lower triangle of C (p, p), for A (b, p)."""
    A = rows_apart(A)
    single = A.dtype != np.float64
    into = np.empty(C.shape, A.dtype) if single else C
    b, p = A.shape
    start = 0.0 if single else 1.0
    step = A.strides[0] // A.itemsize
    _call("syrk", A.dtype, "U", "N", p, b, float(factor), A, step, start, into, p)
    if single:
        # Above the diagonal there is nothing yet.
        for rows in row_slices(p, TILE):
            C[rows, : rows.start] += into[rows, : rows.start]
            C[rows, rows] += np.tril(into[rows, rows])


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
