"""Cosines."""

from __future__ import annotations

import numpy as np

from ritz import native
from ritz.arrays import Array, in_one_piece

FARTHEST = 1e5


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
        native.cosines(in_one_piece(angles), turns % 4, scale, result)
        return result
    wave = np.sin if turns % 2 else np.cos
    np.multiply(wave(angles), -scale if turns % 4 in (1, 2) else scale, out=result)
    return result
