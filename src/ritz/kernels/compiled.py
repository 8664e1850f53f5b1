"""Compiled pieces: the exponential, and squared distances of points and centers.

Imported on first use only: the compiler takes half a second to load. What it compiles is cached on
disk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

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
