"""Compiled cosines. Imported on first use only, as `compiled` is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.arrays import Array
from ritz.compiling import compiled
from ritz.kernels.compiled import SHIFTER, _bits, _number

FARTHEST = 1e5
TWO_OVER_PI = 0.6366197723675814
# Of pi / 2 the first 33 bits, the next 33, and the rest: multiples of the former are exact.
HIGH, MIDDLE, LOW = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.0222662487959506e-21


def cosines(angles: Array, turns: int, scale: float) -> Array:
    """Return scale cos(angle + turns pi / 2), with a relative error of at most 2 eps.

    Parameters
    ----------
    angles
        Any array. Where some exceed 1e5, where multiples of pi / 2 take more care, NumPy serves.
    turns
        How many right angles to add: the order of a derivative.
    scale
        A factor.
    """
    result = np.empty(angles.shape)
    # Not a number is not within reach.
    if np.maximum(angles.max(initial=0.0), -angles.min(initial=0.0)) < FARTHEST:
        _fill(angles.ravel(), turns % 4, scale, result.ravel())
        return result
    wave = np.sin if turns % 2 else np.cos
    np.multiply(wave(angles), -scale if turns % 4 in (1, 2) else scale, out=result)
    return result


@compiled
def _fill(angles: Any, turns: int, scale: float, result: Any) -> None:
    """Write scale cos(angle + turns pi / 2).

    Both polynomials of |r| <= pi / 4 (those of Sun's mathematical library) are evaluated, and
    bits choose: no branch, so that the loop becomes vector instructions.
    """
    for j in range(len(angles)):
        x = angles[j]
        t = x * TWO_OVER_PI + SHIFTER
        k = t - SHIFTER
        r = ((x - k * HIGH) - k * MIDDLE) - k * LOW
        z = r * r
        odd = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
        odd = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * odd)
        odd = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * odd)
        sine = r + (r * z) * odd
        even = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11
        even = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * even)
        even = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * even)
        cosine = (1.0 - 0.5 * z) + (z * z) * even
        quarter: Any = _bits(t) + turns  # type: ignore[call-arg]
        wave = scale * (sine if quarter & 1 else cosine)
        signed: Any = _bits(wave) ^ (((quarter + 1) & 2) << 62)
        result[j] = _number(signed)
