"""What several figures draw alike: functions of the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.arrays import Array


def rounded(values: Any, digits: int = 4) -> Any:
    """Return numbers with as many digits as a picture shows, as nested lists."""
    array = np.asarray(values, dtype=np.float64)
    size = np.abs(array).max(initial=0.0)
    decimals = digits - 1 - int(np.floor(np.log10(size))) if size else 0
    return np.round(array, decimals).tolist()


def draw_levels(panel: Any, x: Any, y: Any, height: Array) -> None:
    """Draw a function on a grid: colors from blue to red, black level lines; NaN is left out.

    Parameters
    ----------
    panel
        matplotlib's axes.
    x, y
        The grid's coordinates, (a,) and (b,).
    height
        The values (b, a).
    """
    top = float(np.quantile(np.abs(height[np.isfinite(height)]), 0.99)) or 1.0
    # An even number of levels: none at zero, where rounding would draw them.
    levels = np.linspace(-top, top, 14)
    panel.contourf(x, y, height, levels=levels, cmap="RdBu_r", extend="both")
    if np.nanmax(height) - np.nanmin(height) > 1e-6 * top:
        panel.contour(x, y, height, levels=levels, colors="black", linewidths=0.4)
    panel.set_aspect("equal")
