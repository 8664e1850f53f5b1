"""Checks of the values, gradients and directions that a user passes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from ritz.rows import row_slices
from ritz.streams.stream import CHUNK_ROWS
from ritz.validation import as_numeric, parameter_error, require_size


def as_targets(
    y: Any, gradient: Any, directions: Any, n: int, d: int
) -> tuple[bool, NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]:
    """Return checked values (n, outputs), derivatives (n, r, outputs) and directions (n, d, r).

    The values are NaN where not observed, and the other two may be None. The first result says
    whether the values came, or are to be returned, as (n,).
    """
    t, U = as_derivatives(gradient, directions, n, d)
    if y is None:
        outputs = 1 if t is None else t.shape[2]
        return outputs == 1, np.full((n, outputs), np.nan), t, U
    y = as_numeric(y, "y")
    if y.ndim not in (1, 2) or len(y) != n:
        raise parameter_error("y", f"an array with {n} rows, as X", f"shape {y.shape}")
    flat = y.ndim == 1
    y = y[:, None] if flat else y
    if np.isinf(y).any():
        assert_all_finite(np.where(np.isnan(y), 0.0, y), input_name="y")
    if partly_missing(y, axis=1):
        raise parameter_error("y", "known for all outputs of a row or for none", "some of them")
    require_size(y, "y")
    if t is not None and y.shape[1] != t.shape[2]:
        what = f"derivatives of {y.shape[1]} output(s), as y has, along the last axis"
        raise parameter_error("gradient", what, f"{t.shape[2]}")
    return flat, y, t, U


def as_derivatives(
    gradient: Any, directions: Any, n: int, d: int
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Return derivatives (n, r, outputs) or None, and directions (n, d, r) or None."""
    if gradient is None:
        if directions is not None:
            raise parameter_error("gradient", "given where directions are", "None")
        return None, None
    t, U = as_numeric(gradient, "gradient"), None
    if directions is not None:
        t, U = as_directional(t, as_numeric(directions, "directions"), n, d)
    elif t.ndim not in (2, 3) or t.shape[:2] != (n, d):
        axes = f"(n, d) = ({n}, {d}) or (n, d, outputs): rows first, then columns of X"
        raise parameter_error("gradient", f"an array {axes}", f"shape {t.shape}")
    t = t[:, :, None] if t.ndim == 2 else t
    for part in row_slices(n, CHUNK_ROWS):
        if np.isinf(t[part]).any():
            raise parameter_error("gradient", "finite, or NaN where unknown", "inf")
        if partly_missing(t[part], axis=2):
            what = "known for all outputs or for none"
            raise parameter_error("gradient", what, "some of them")
    require_size(t, "gradient", smallest=0.0)
    return t, U


def as_directional(
    t: NDArray[Any], U: NDArray[Any], n: int, d: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return derivatives (n, r, outputs) along directions (n, d, r)."""
    if U.ndim not in (2, 3) or U.shape[:2] != (n, d):
        what = f"an array (n, d) = ({n}, {d}) or (n, d, r) for r directions a row"
        raise parameter_error("directions", what, f"shape {U.shape}")
    assert_all_finite(U, input_name="directions")
    shape = t.shape
    if U.ndim == 2:
        U = U[:, :, None]
        if t.ndim in (1, 2) and len(t) == n:
            t = t[:, None]
    r = U.shape[2]
    if t.ndim == 2 and t.shape[1] == r:
        t = t[:, :, None]
    if t.ndim != 3 or t.shape[:2] != (n, r):
        what = f"derivatives (n, r) = ({n}, {r}), one for each direction"
        raise parameter_error("gradient", what, f"shape {shape}")
    return t, U


def partly_missing(array: NDArray[Any], axis: int) -> bool:
    """Return whether some but not all numbers along an axis are NaN."""
    missing = np.isnan(np.asarray(array, dtype=np.float64))
    return bool((missing.any(axis=axis) != missing.all(axis=axis)).any())
