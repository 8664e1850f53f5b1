"""Sections of kernels by passes that are compiled: from coordinates in one go, while in cache."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz import native
from ritz.arrays import Array, in_one_piece

# As the C sources number them.
PASSES = {"gaussian": 0, "matern": 1, "polynomial": 2}


def fill(
    name: str,
    coefficients: tuple[Array, Array],
    distances: tuple[Array, Array, Array],
    offset: Array,
    wanted: tuple[bool, bool, bool, bool],
    dtype: Any,
) -> list[Array | None]:
    """Return values, shifted values, slopes and stretched slopes, None for what is not wanted.

    The Gaussian pass has K = exp(-|x - y|^2 / 2), and |x - y|^2 K for stretched slopes. Matern's
    has K = (a_0 + a_1 z + a_2 z^2) exp(-z) with z = a_3 |x - y|, and slopes
    T = (b_0 + b_1 z + b_2 / z) exp(-z), without the last term at the center; stretched ones are
    |x - y|^2 T. The polynomial one has K = (a_0 + x.y)^b_0 and T = b_0 (a_0 + x.y)^(b_0 - 1). Of
    values the offset is taken off where shifted ones are wanted.

    Parameters
    ----------
    name, coefficients
        The pass, and its numbers a and b.
    distances
        What `Distances` holds; scalar products in place of squared distances for polynomials.
    offset
        What to take off (p,), where that is wanted.
    wanted
        Which sections.
    dtype
        Their type, float64 or float32.
    """
    S, X, Y = distances
    n, (d, p) = len(X), Y.shape
    given = (S if S.size else None, X, Y, offset, *coefficients)
    held = [None if array is None else in_one_piece(array) for array in given]
    outputs = [np.empty((n, p), dtype) if want else None for want in wanted]
    native.fill(PASSES[name], n, d, p, *held, *outputs)
    return outputs
