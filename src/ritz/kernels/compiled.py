"""Compiled passes from coordinates to squared distances, products and kernel sections.

The sections are filled a row at a time while it is in cache, by routines with addresses for
arguments: each is compiled once for the two who call it, Python, for the sections of a block, and
`tiles`, which goes on to multiply them.

Imported on first use only: the compiler takes half a second to load. What it compiles is cached on
disk.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import (  # type: ignore[attr-defined]
    carray,
    cfunc,
    njit,
    types,
)
from numba.extending import intrinsic

from ritz.arrays import Array

# Rounds to an integer, which then fills the last bits, when added to a number below 2^51.
SHIFTER = 6755399441055744.0
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
HIGHEST = 708.0


@intrinsic
def _bits(typing_context: Any, number: Any) -> Any:
    """Return the bits of a float64, as an integer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@intrinsic
def _number(typing_context: Any, bits: Any) -> Any:
    """Return the float64 with some bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


_compile = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
_inline = njit(error_model="numpy", fastmath={"contract"})


@_inline
def decay(x: float) -> float:
    """Return exp(-x) for x >= 0 within two units of the last place, zero beyond 708.

    A polynomial of degree 13 on |r| <= ln 2 / 2 times a power of two put into the exponent's bits:
    no branch, no call, so that loops over it become vector instructions.
    """
    y = -x if x < HIGHEST else -HIGHEST
    t = y * LOG2_E + SHIFTER
    k = t - SHIFTER
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    # By pairs, as Estrin does, so that few steps wait for the one before.
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (0.5 + r * 0.16666666666666666)
    middle = (0.041666666666666664 + r * 0.008333333333333333) + r2 * (
        0.001388888888888889 + r * 0.0001984126984126984
    )
    high = (2.48015873015873e-05 + r * 2.7557319223985893e-06) + r2 * (
        2.755731922398589e-07 + r * 2.505210838544172e-08
    )
    last = 2.08767569878681e-09 + r * 1.6059043836821613e-10
    q = low + r4 * (middle + r4 * (high + r4 * last))
    bits: Any = _bits(q) + (_bits(t) << 52)  # type: ignore[call-arg]
    result: Any = _number(bits)
    return result if x <= HIGHEST else 0.0


@_inline
def squared_row(i: int, S: Any, X: Any, Y: Any, s: Any) -> None:
    """Write |x_i - y_j|^2 into s (p,): out of S where it is known, or by coordinate differences.

    Y (d, p) has the centers as columns, d being a multiple of four.
    """
    p = len(s)
    if S.size:
        for j in range(p):
            s[j] = S[i, j]
        return
    for j in range(p):
        s[j] = 0.0
    for c in range(0, X.shape[1], 4):
        x0, x1, x2, x3 = X[i, c], X[i, c + 1], X[i, c + 2], X[i, c + 3]
        for j in range(p):
            e0, e1 = x0 - Y[c, j], x1 - Y[c + 1, j]
            e2, e3 = x2 - Y[c + 2, j], x3 - Y[c + 3, j]
            s[j] += (e0 * e0 + e1 * e1) + (e2 * e2 + e3 * e3)


@_inline
def product_row(i: int, S: Any, X: Any, Y: Any, s: Any) -> None:
    """Write x_i . y_j into s (p,), as `squared_row` does |x_i - y_j|^2."""
    p = len(s)
    if S.size:
        for j in range(p):
            s[j] = S[i, j]
        return
    for j in range(p):
        s[j] = 0.0
    for c in range(0, X.shape[1], 4):
        x0, x1, x2, x3 = X[i, c], X[i, c + 1], X[i, c + 2], X[i, c + 3]
        for j in range(p):
            s[j] += (x0 * Y[c, j] + x1 * Y[c + 1, j]) + (x2 * Y[c + 2, j] + x3 * Y[c + 3, j])


@_compile
def differences(X: Any, Y: Any, S: Any) -> None:
    """Write S = |x - y|^2 by coordinate differences."""
    none = np.empty((0, 0))
    for i in range(len(X)):
        squared_row(i, none, X, Y, S[i])


@_compile
def squares(G: Any, X: Any, Y: Any, x2: Any, y2: Any) -> None:
    """Turn G = -2 x.y into |x - y|^2, in place; close pairs from differences.

    Where |x|^2 < |y|^2 / 4 the expansion cancels nothing, so |x|^2 alone sets the scale.
    """
    n, p = G.shape
    for i in range(n):
        own = x2[i]
        near = 2e-3 * own
        count = 0
        for j in range(p):
            v = max(own + y2[j] + G[i, j], 0.0)
            # Not a number where lengths overflow.
            v = v if v < np.inf else np.inf
            count += v < near
            G[i, j] = v
        if count:
            for j in range(p):
                if G[i, j] < near:
                    v = 0.0
                    for c in range(X.shape[1]):
                        v += (X[i, c] - Y[j, c]) ** 2
                    G[i, j] = v


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


def polynomial(
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
    """Write K = (a_0 + x.y)^b_0, V = K - offset and T = b_0 (a_0 + x.y)^(b_0 - 1)."""
    sizes = carray(counts, COUNTS)
    n, d, p = sizes[0], sizes[1], sizes[2]
    products, points, centers = carray(S, (sizes[3], p)), carray(X, (n, d)), carray(Y, (d, p))
    off, values, shifted = carray(offset, p), carray(K, (sizes[4], p)), carray(V, (sizes[5], p))
    slopes = carray(T, (sizes[6], p))
    start, degree = carray(a, 1)[0], int(carray(b, 1)[0])
    u, t = np.empty(p), np.empty(p)
    for i in range(n):
        product_row(i, products, points, centers, u)
        for j in range(p):
            u[j] += start
            t[j] = 1.0
        for _ in range(degree - 1):
            for j in range(p):
                t[j] *= u[j]
        if values.size:
            for j in range(p):
                values[i, j] = t[j] * u[j]
        if shifted.size:
            for j in range(p):
                shifted[i, j] = t[j] * u[j] - off[j]
        if slopes.size:
            for j in range(p):
                slopes[i, j] = degree * t[j]


ROUTINES = {"gaussian": gaussian, "matern": matern, "polynomial": polynomial}


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
    distances: tuple[Array, Array, Array],
    offset: Array,
    wanted: tuple[bool, bool, bool, bool],
    dtype: Any,
) -> list[Array]:
    """Return values, shifted values, slopes and stretched slopes, those that are wanted."""
    S, X, Y = distances
    n, p = len(X), Y.shape[1]
    outputs = [np.empty((n if want else 0, p), dtype) for want in wanted]
    counts = np.array([n, *Y.shape, *map(len, (S, *outputs))], np.int64)
    given = (*distances, offset, *coefficients)
    held = [*(np.ascontiguousarray(array, dtype=np.float64) for array in given), *outputs]
    kinds = routine(name, np.dtype(dtype)).ctypes
    pointers = [
        array.ctypes.data_as(kind)
        for array, kind in zip((counts, *held), kinds.argtypes, strict=True)
    ]
    kinds(*pointers)
    return outputs
