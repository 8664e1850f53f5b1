"""Drawing of functions of two variables, which several figures share."""

from __future__ import annotations

from typing import Any

import numpy as np

from paper import Array


def rounded(values: Any, digits: int = 4) -> Any:
    """Round numbers to the digits that a picture shows; return nested lists."""
    array = np.asarray(values, dtype=np.float64)
    size = np.abs(array).max(initial=0.0)
    decimals = digits - 1 - int(np.floor(np.log10(size))) if size else 0
    return np.round(array, decimals).tolist()


def draw_levels(panel: Any, x: Any, y: Any, height: Array) -> None:
    """Draw a function on a grid, in colors from blue to red with black level lines.

    Parameters
    ----------
    panel
        matplotlib axes.
    x, y
        The coordinates (a,) and (b,) of the grid.
    height
        The values (b, a); those that are NaN are not drawn.
    """
    top = float(np.quantile(np.abs(height[np.isfinite(height)]), 0.99)) or 1.0
    # An even number of levels has none at zero, where it would show rounding errors.
    levels = np.linspace(-top, top, 14)
    panel.contourf(x, y, height, levels=levels, cmap="RdBu_r", extend="both")
    if np.nanmax(height) - np.nanmin(height) > 1e-6 * top:
        panel.contour(x, y, height, levels=levels, colors="black", linewidths=0.4)
    panel.set_aspect("equal")
