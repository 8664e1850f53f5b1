"""Compiled passes from coordinates to kernel sections, one row at a time while it is in cache.

Each is a routine with addresses for arguments, compiled once for the two who call it: Python, for
the sections of a block, and `tiles`, which goes on to multiply them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import (  # type: ignore[attr-defined]
    carray,
    cfunc,
    types,
)

from ritz.arrays import Array
from ritz.kernels.compiled import decay, squared_row
from ritz.kernels.distances import Distances

# Rows, coordinates and centers; rows of S, K, V, T and ST, none where they are not wanted.
COUNTS = 8


def gaussian(
    counts: Any,
    S: Any,
    X: Any,
    Y: Any,
    offset: Any,
    a: Any,
    b: Any,
    K: Any,
    V: Any,
    T: Any,
    ST: Any,
) -> None:
    """Write K = exp(-|x - y|^2 / 2), V = K - offset and ST = |x - y|^2 K, where they have rows."""
    sizes = carray(counts, COUNTS)
    n, d, p = sizes[0], sizes[1], sizes[2]
    squares, points, centers = carray(S, (sizes[3], p)), carray(X, (n, d)), carray(Y, (d, p))
    off, values, shifted = carray(offset, p), carray(K, (sizes[4], p)), carray(V, (sizes[5], p))
    stretched = carray(ST, (sizes[7], p))
    s, k = np.empty(p), np.empty(p)
    for i in range(n):
        squared_row(i, squares, points, centers, s)
        for j in range(p):
            k[j] = decay(0.5 * s[j])
        if values.size:
            for j in range(p):
                values[i, j] = k[j]
        if shifted.size:
            for j in range(p):
                shifted[i, j] = k[j] - off[j]
        if stretched.size:
            for j in range(p):
                stretched[i, j] = s[j] * k[j]


def matern(
    counts: Any,
    S: Any,
    X: Any,
    Y: Any,
    offset: Any,
    a: Any,
    b: Any,
    K: Any,
    V: Any,
    T: Any,
    ST: Any,
) -> None:
    """Write K = (a_0 + a_1 z + a_2 z^2) exp(-z), z = a_3 |x - y|, and V = K - offset.

    Then T = (b_0 + b_1 z + b_2 / z) exp(-z), zero at the center if b_2 is not, and
    ST = |x - y|^2 T. Those without rows are left out, T and ST together.
    """
    sizes = carray(counts, COUNTS)
    n, d, p = sizes[0], sizes[1], sizes[2]
    squares, points, centers = carray(S, (sizes[3], p)), carray(X, (n, d)), carray(Y, (d, p))
    off, values, shifted = carray(offset, p), carray(K, (sizes[4], p)), carray(V, (sizes[5], p))
    slopes, stretched = carray(T, (sizes[6], p)), carray(ST, (sizes[7], p))
    u, v = carray(a, 4), carray(b, 3)
    a0, a1, a2, rate = u[0], u[1], u[2], u[3]
    b0, b1, b2 = v[0], v[1], v[2]
    s, z, e = np.empty(p), np.empty(p), np.empty(p)
    for i in range(n):
        squared_row(i, squares, points, centers, s)
        for j in range(p):
            # Beyond 800 the exponential is zero, whatever it is multiplied by.
            z[j] = min(rate * np.sqrt(s[j]), 800.0)
            e[j] = decay(z[j])
        if values.size:
            for j in range(p):
                values[i, j] = (a0 + z[j] * (a1 + z[j] * a2)) * e[j]
        if shifted.size:
            for j in range(p):
                shifted[i, j] = (a0 + z[j] * (a1 + z[j] * a2)) * e[j] - off[j]
        if slopes.size:
            for j in range(p):
                far = z[j] > 1e-125
                inverse = b2 / (z[j] if far else 1.0)
                t = (b0 + z[j] * b1 + (inverse if far else 0.0)) * e[j]
                slopes[i, j] = t
                stretched[i, j] = s[j] * t


ROUTINES = {"gaussian": gaussian, "matern": matern}


@cache
def routine(name: str, dtype: Any) -> Any:
    """Return a pass, compiled for results of a type."""
    pointer: Any = types.CPointer
    number = pointer(types.float64)
    result = pointer(types.float64 if dtype == np.float64 else types.float32)
    arguments = [pointer(types.int64), *[number] * 6, *[result] * 4]
    return cfunc(types.void(*arguments), cache=True, error_model="numpy", fastmath={"contract"})(
        ROUTINES[name]
    )


def fill(
    name: str,
    coefficients: tuple[Array, Array],
    distances: Distances,
    offset: Array,
    wanted: tuple[bool, bool, bool, bool],
    dtype: Any,
) -> list[Array]:
    """Return values, shifted values, slopes and stretched slopes, those that are wanted."""
    n, p = len(distances.X), distances.Y.shape[1]
    outputs = [np.empty((n if want else 0, p), dtype) for want in wanted]
    counts = np.array([n, *distances.Y.shape, *map(len, (distances.S, *outputs))])
    arrays = (*distances, offset, *coefficients, *outputs)
    held = [np.ascontiguousarray(array) for array in arrays]
    kinds = routine(name, np.dtype(dtype)).ctypes
    pointers = [
        array.ctypes.data_as(kind)
        for array, kind in zip((counts, *held), kinds.argtypes, strict=True)
    ]
    kinds(*pointers)
    return outputs
