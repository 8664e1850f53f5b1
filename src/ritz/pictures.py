"""Matplotlib, for those who have it (extra `plot`), and what all pictures share."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The colors of Okabe and Ito, which people with any kind of color vision tell apart, and marks
# that tell more groups than there are colors.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d1f")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
GRAY = "#767676"


def look_of(code: int) -> tuple[str, str]:
    """Return the color and the mark of a label's number; 49 numbers have 49 different looks."""
    return COLORS[code % len(COLORS)], MARKS[(code + code // len(COLORS)) % len(MARKS)]


def matplotlib_module(name: str) -> Any:
    """Return a module of matplotlib, or raise an error that says how to install it."""
    try:
        return import_module(f"matplotlib.{name}")
    except ImportError:
        raise ImportError("Pictures need matplotlib: pip install 'ritz[plot]'.") from None


def pyplot() -> Any:
    """Return `matplotlib.pyplot`, or raise an error that says how to install it."""
    return matplotlib_module("pyplot")


def ink() -> Any:
    """Return the color of text, which lines that stand for no data share."""
    return matplotlib_module("pyplot").rcParams["text.color"]


def plain(text: str) -> str:
    """Return a name or a label so that matplotlib takes no dollar signs in it for formulas."""
    return text.replace("$", r"\$")


def axes_for(ax: Any, size: tuple[float, float] = (6.4, 4.2)) -> Any:
    """Return the axes given, or new ones of a size in inches."""
    return pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def plain_log_axis(axis: Any, low: float, high: float) -> None:
    """Give an axis a logarithmic scale, with plain numbers between positive ends."""
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    steps = [s * 10.0**e for e in range(-12, 13) for s in (1, 2, 5)]
    ticks = [step for step in steps if 0.9 * low <= step <= 1.1 * high]
    if len(ticks) > 6:
        ticks = [tick for tick in ticks if f"{tick:e}".startswith("1")] or ticks[::3]
    if len(ticks) < 2:
        ticks = [float(f"{tick:.2g}") for tick in (low, high)]
    axis.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(matplotlib_module("ticker").NullLocator())


def panels_for(
    ax: Any, n: int, columns: int, size: tuple[float, float], projection: str | None = None
) -> NDArray[Any]:
    """Return n axes in rows of `columns`: new ones, those given, or ones in place of those given.

    Parameters
    ----------
    ax
        None, axes whose place the panels take, or an array of at least n axes.
    n, columns
        The number of panels, and of panels in a row.
    size
        The width and height in inches of a panel in a new figure.
    projection
        The projection of the axes, "3d" or None.
    """
    if ax is not None and np.ndim(ax):
        return np.asarray(ax, dtype=object).ravel()[:n]
    columns = min(columns, n)
    rows = -(-n // columns)
    if ax is None:
        figure = pyplot().figure(
            figsize=(max(columns * size[0], 3.2), rows * size[1]), layout="constrained"
        )
        grid = figure.add_gridspec(rows, columns)
    else:
        figure, place = ax.figure, ax.get_subplotspec()
        ax.remove()
        grid = (
            figure.add_gridspec(rows, columns)
            if place is None
            else place.subgridspec(rows, columns)
        )
    panels = np.empty(n, dtype=object)
    for j in range(n):
        panels[j] = figure.add_subplot(grid[divmod(j, columns)], projection=projection)
    return panels


def outer_panels(panels: NDArray[Any]) -> list[tuple[bool, bool]]:
    """Return of each panel whether none of the others is left of it, and none below it."""
    places = []
    for panel in panels:
        spot = panel.get_subplotspec()
        # Axes that are in no grid have no neighbors.
        place = (panel, 0, 0)
        if spot is not None:
            place = (spot.get_gridspec(), spot.rowspan.start, spot.colspan.start)
        places.append(place)
    return [
        (
            not any(g is grid and r == row and c < column for g, r, c in places),
            not any(g is grid and c == column and r > row for g, r, c in places),
        )
        for grid, row, column in places
    ]
