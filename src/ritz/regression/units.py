"""Units in which inputs and values have mean zero and spread one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array
from ritz.regression.observations import Units
from ritz.regression.targets import mean_and_spread

EPS = float(np.finfo(np.float64).eps)


def units_of(
    X: NDArray[Any],
    y: NDArray[Any],
    t: NDArray[Any] | None,
    U: NDArray[Any] | None,
    weight: Array,
    slope_weight: Array,
    rescale: bool,
    constant: bool,
) -> Units:
    """Return units that fit the rows and what was observed there.

    Parameters
    ----------
    X, y, t, U, weight, slope_weight
        As in `Observations`.
    rescale
        Whether inputs may be rescaled, or are to stay in the user's units.
    constant
        Whether values may have a level taken off.
    """
    d, outputs = X.shape[1], y.shape[1]
    center, spread = np.zeros(d), np.ones(d)
    if rescale:
        center, spread = mean_and_spread(X, weight + slope_weight)
    # What rounding leaves of a constant is no spread.
    spread = np.where(spread > 8 * EPS * np.abs(center), spread, 1.0)
    level, size = mean_and_spread(y, weight)
    size = np.where(size > 8 * EPS * np.abs(level), size, 0.0)
    if not constant:
        size = np.sqrt(size**2 + level**2)
        level = np.zeros(outputs)
    level = np.where(np.isfinite(level), level, 0.0)
    if t is not None and not (size > 0).all():
        slopes = mean_and_spread(t.reshape(len(t), -1), slope_weight)
        rms = np.sqrt(slopes[0] ** 2 + slopes[1] ** 2).reshape(t.shape[1:])
        if U is None:
            rms = rms * spread[:, None]
        with np.errstate(all="ignore"):
            size = np.where(size > 0, size, np.nanmax(np.nan_to_num(rms), axis=0))
    size = np.where(np.isfinite(size) & (size > 0), size, np.maximum(np.abs(level), 1e-300))
    return Units(center, spread, level, np.where(size > 1e-290, size, 1.0))
