"""Compiled passes from coordinates to squared distances, products and kernel sections.

The sections are filled two rows at a time while they are in cache, by routines with addresses for
arguments: each is compiled once for the two who call it, Python, for the sections of a block, and
`tiles`, which goes on to multiply them.

Imported on first use only: the compiler takes half a second to load. What it compiles is cached on
disk.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from ritz.arrays import Array
from ritz.compiling import DOUBLES, INTEGERS, Routine, compiled, inlined, real

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


@inlined
def decay(x: float) -> float:
    """Return exp(-x) for x >= 0 within two units of the last place, zero beyond 708.

    A polynomial of degree 11 on |r| <= ln 2 / 2 (Taylor's up to r^2, the rest interpolated at
    Chebyshev's points, 3e-17) times a power of two put into the exponent's bits: no branch, no
    call, so that loops over it become vector instructions.
    """
    y = -x if x < HIGHEST else -HIGHEST
    t = y * LOG2_E + SHIFTER
    k = t - SHIFTER
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    # By pairs, as Estrin does, so that few steps wait for the one before.
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (0.5 + r * 0.16666666666666666)
    middle = (0.041666666666651364 + r * 0.008333333333332157) + r2 * (
        0.0013888888905871442 + r * 0.00019841269854330845
    )
    high = (2.4801536408869822e-05 + r * 2.755728008253529e-06) + r2 * (
        2.7613795662346626e-07 + r * 2.5095546064622e-08
    )
    q = low + r4 * (middle + r4 * high)
    bits: Any = _bits(q) + (_bits(t) << 52)  # type: ignore[call-arg]
    result: Any = _number(bits)
    return result if x <= HIGHEST else 0.0


@inlined
def squared_rows(i: int, k: int, S: Any, X: Any, Y: Any, s: Any, t: Any) -> None:
    """Write |x_i - y_j|^2 into s (p,) and |x_k - y_j|^2 into t (p,).

    Out of S where they are known, there being no coordinates then; otherwise S is one row of zeros,
    and the differences of coordinates count. Y (d, p) has the centers as columns, d being a
    multiple of four; two rows at once, for centers that are loaded once.
    """
    p = len(s)
    above, below = (i, k) if len(S) > 1 else (0, 0)
    for j in range(p):
        s[j] = S[above, j]
        t[j] = S[below, j]
    for c in range(0, X.shape[1], 4):
        x0, x1, x2, x3 = X[i, c], X[i, c + 1], X[i, c + 2], X[i, c + 3]
        z0, z1, z2, z3 = X[k, c], X[k, c + 1], X[k, c + 2], X[k, c + 3]
        for j in range(p):
            y0, y1, y2, y3 = Y[c, j], Y[c + 1, j], Y[c + 2, j], Y[c + 3, j]
            e0, e1, e2, e3 = x0 - y0, x1 - y1, x2 - y2, x3 - y3
            f0, f1, f2, f3 = z0 - y0, z1 - y1, z2 - y2, z3 - y3
            # One after the other: each step is one instruction.
            s[j] = e3 * e3 + (e2 * e2 + (e1 * e1 + (e0 * e0 + s[j])))
            t[j] = f3 * f3 + (f2 * f2 + (f1 * f1 + (f0 * f0 + t[j])))


@inlined
def product_rows(i: int, k: int, S: Any, X: Any, Y: Any, s: Any, t: Any) -> None:
    """Write x_i . y_j into s (p,) and x_k . y_j into t (p,), as `squared_rows` does distances."""
    p = len(s)
    above, below = (i, k) if len(S) > 1 else (0, 0)
    for j in range(p):
        s[j] = S[above, j]
        t[j] = S[below, j]
    for c in range(0, X.shape[1], 4):
        x0, x1, x2, x3 = X[i, c], X[i, c + 1], X[i, c + 2], X[i, c + 3]
        z0, z1, z2, z3 = X[k, c], X[k, c + 1], X[k, c + 2], X[k, c + 3]
        for j in range(p):
            y0, y1, y2, y3 = Y[c, j], Y[c + 1, j], Y[c + 2, j], Y[c + 3, j]
            s[j] = x3 * y3 + (x2 * y2 + (x1 * y1 + (x0 * y0 + s[j])))
            t[j] = z3 * y3 + (z2 * y2 + (z1 * y1 + (z0 * y0 + t[j])))


@compiled
def differences(X: Any, Y: Any, S: Any) -> None:
    """Write S = |x - y|^2 by coordinate differences."""
    none, unused, n = np.zeros((1, S.shape[1])), np.empty(S.shape[1]), len(X)
    for i in range(0, n - 1, 2):
        squared_rows(i, i + 1, none, X, Y, S[i], S[i + 1])
    if n % 2:
        squared_rows(n - 1, n - 1, none, X, Y, S[n - 1], unused)


@compiled
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

# Each pass goes over two rows at a time, and adds what it writes to the sums of columns (4, p). Of
# an odd number of rows the last is written twice, and added once.


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
    sums: Any,
) -> None:
    """Write K = exp(-|x - y|^2 / 2), V = K - offset and ST = |x - y|^2 K, where they have rows."""
    sizes = carray(counts, COUNTS)
    n, d, p = sizes[0], sizes[1], sizes[2]
    squares, points, centers = carray(S, (sizes[3], p)), carray(X, (n, d)), carray(Y, (d, p))
    off, values, shifted = carray(offset, p), carray(K, (sizes[4], p)), carray(V, (sizes[5], p))
    stretched, total = carray(ST, (sizes[7], p)), carray(sums, (4, p))
    s, t, e, f = np.empty(p), np.empty(p), np.empty(p), np.empty(p)
    for i in range(0, n, 2):
        k = i + 1 if i + 1 < n else i
        more = 1.0 if k > i else 0.0
        squared_rows(i, k, squares, points, centers, s, t)
        for j in range(p):
            e[j] = decay(0.5 * s[j])
            f[j] = decay(0.5 * t[j])
        if values.size:
            for j in range(p):
                values[i, j] = e[j]
                values[k, j] = f[j]
                total[0, j] += e[j] + more * f[j]
        if shifted.size:
            for j in range(p):
                v, w = e[j] - off[j], f[j] - off[j]
                shifted[i, j] = v
                shifted[k, j] = w
                total[1, j] += v + more * w
        if stretched.size:
            for j in range(p):
                v, w = s[j] * e[j], t[j] * f[j]
                stretched[i, j] = v
                stretched[k, j] = w
                total[3, j] += v + more * w


@inlined
def matern_slope(z: float, e: float, b0: float, b1: float, b2: float) -> float:
    """Return (b_0 + b_1 z + b_2 / z) e, without the last term at zero."""
    far = z > 1e-125
    inverse = b2 / (z if far else 1.0)
    return (b0 + z * b1 + (inverse if far else 0.0)) * e


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
    sums: Any,
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
    u, v, total = carray(a, 4), carray(b, 3), carray(sums, (4, p))
    a0, a1, a2, rate = u[0], u[1], u[2], u[3]
    b0, b1, b2 = v[0], v[1], v[2]
    s, t, y, z = np.empty(p), np.empty(p), np.empty(p), np.empty(p)
    e, f = np.empty(p), np.empty(p)
    for i in range(0, n, 2):
        k = i + 1 if i + 1 < n else i
        more = 1.0 if k > i else 0.0
        squared_rows(i, k, squares, points, centers, s, t)
        for j in range(p):
            # Beyond 800 the exponential is zero, whatever it is multiplied by.
            g, h = rate * sqrt(s[j]), rate * sqrt(t[j])
            y[j] = g if g < 800.0 else 800.0
            z[j] = h if h < 800.0 else 800.0
            e[j] = decay(y[j])
            f[j] = decay(z[j])
        if values.size:
            for j in range(p):
                g = (a0 + y[j] * (a1 + y[j] * a2)) * e[j]
                h = (a0 + z[j] * (a1 + z[j] * a2)) * f[j]
                values[i, j] = g
                values[k, j] = h
                total[0, j] += g + more * h
        if shifted.size:
            for j in range(p):
                g = (a0 + y[j] * (a1 + y[j] * a2)) * e[j] - off[j]
                h = (a0 + z[j] * (a1 + z[j] * a2)) * f[j] - off[j]
                shifted[i, j] = g
                shifted[k, j] = h
                total[1, j] += g + more * h
        if slopes.size:
            for j in range(p):
                g = matern_slope(y[j], e[j], b0, b1, b2)
                h = matern_slope(z[j], f[j], b0, b1, b2)
                slopes[i, j] = g
                slopes[k, j] = h
                total[2, j] += g + more * h
                stretched[i, j] = s[j] * g
                stretched[k, j] = t[j] * h
                total[3, j] += s[j] * g + more * (t[j] * h)


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
    sums: Any,
) -> None:
    """Write K = (a_0 + x.y)^b_0, V = K - offset and T = b_0 (a_0 + x.y)^(b_0 - 1)."""
    sizes = carray(counts, COUNTS)
    n, d, p = sizes[0], sizes[1], sizes[2]
    products, points, centers = carray(S, (sizes[3], p)), carray(X, (n, d)), carray(Y, (d, p))
    off, values, shifted = carray(offset, p), carray(K, (sizes[4], p)), carray(V, (sizes[5], p))
    slopes, total = carray(T, (sizes[6], p)), carray(sums, (4, p))
    start, degree = carray(a, 1)[0], int(carray(b, 1)[0])
    u, v, s, t = np.empty(p), np.empty(p), np.empty(p), np.empty(p)
    for i in range(0, n, 2):
        k = i + 1 if i + 1 < n else i
        more = 1.0 if k > i else 0.0
        product_rows(i, k, products, points, centers, u, v)
        for j in range(p):
            u[j] += start
            v[j] += start
            s[j] = 1.0
            t[j] = 1.0
        for _ in range(degree - 1):
            for j in range(p):
                s[j] *= u[j]
                t[j] *= v[j]
        if values.size:
            for j in range(p):
                g, h = s[j] * u[j], t[j] * v[j]
                values[i, j] = g
                values[k, j] = h
                total[0, j] += g + more * h
        if shifted.size:
            for j in range(p):
                g, h = s[j] * u[j] - off[j], t[j] * v[j] - off[j]
                shifted[i, j] = g
                shifted[k, j] = h
                total[1, j] += g + more * h
        if slopes.size:
            for j in range(p):
                g, h = degree * s[j], degree * t[j]
                slopes[i, j] = g
                slopes[k, j] = h
                total[2, j] += g + more * h


ROUTINES = {"gaussian": gaussian, "matern": matern, "polynomial": polynomial}


@cache
def filling(name: str, dtype: Any) -> Routine:
    """Return a pass, compiled for results of a type."""
    return Routine(ROUTINES[name], INTEGERS, *[DOUBLES] * 6, *[real(dtype)] * 5)


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
    S = S if len(S) else np.zeros((1, p))
    outputs = [np.empty((n if want else 0, p), dtype) for want in wanted]
    counts = np.array([n, *Y.shape, *map(len, (S, *outputs))], np.int64)
    given = (S, X, Y, offset, *coefficients)
    held = [*(np.ascontiguousarray(array, dtype=np.float64) for array in given), *outputs]
    filling(name, np.dtype(dtype))(counts, *held, np.zeros((4, p), dtype))
    return outputs
