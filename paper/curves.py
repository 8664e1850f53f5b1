"""Curves from the records of `convergence`: best hyperparameters, slopes, and drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from paper.records import Record

HYPERPARAMETERS = ("kernel", "parameter", "p", "option")
Curves = Mapping[Any, Sequence[Record]]


def best(records: Sequence[Record], **where: Any) -> list[Record]:
    """Return the hyperparameters with the smallest mean error over trials for each n and d.

    Parameters
    ----------
    records
        Records of `convergence`.
    where
        Values that the records must have, such as method="graph" or kernel="gaussian".

    Returns
    -------
    Rows with n, d, the hyperparameters, and statistics over trials: the mean and standard deviation
    of the error (error, spread), and the median time (seconds).
    """
    rows: dict[tuple[int, int], Record] = {}
    for row in averages(records, **where):
        place = row["d"], row["n"]
        if place not in rows or row["error"] < rows[place]["error"]:
            rows[place] = row
    return [rows[place] for place in sorted(rows)]


def averages(records: Sequence[Record], **where: Any) -> list[Record]:
    """Return statistics over trials for each n, d and hyperparameters.

    Hyperparameters that failed in any trial are left out.
    """

    def place(record: Record) -> tuple[Any, ...]:
        return (record["d"], record["n"], *(record[name] for name in HYPERPARAMETERS))

    chosen = [r for r in records if all(r[name] == value for name, value in where.items())]
    # None is sorted before numbers and names.
    chosen.sort(key=lambda record: [(value is not None, value) for value in place(record)])
    rows = []
    for (d, n, *values), group in groupby(chosen, place):
        trials = list(group)
        errors = [record["error"] for record in trials]
        if None in errors:
            continue
        row = {"d": d, "n": n, **dict(zip(HYPERPARAMETERS, values, strict=True))}
        seconds = float(np.median([record["seconds"] for record in trials]))
        mean, spread = float(np.mean(errors)), float(np.std(errors))
        rows.append({**row, "error": mean, "spread": spread, "seconds": seconds})
    return rows


def by_dimension(records: Sequence[Record], method: str, **where: Any) -> Curves:
    """Return the best rows of a method for each dimension, in the order of n."""
    return split(best(records, method=method, **where), "d")


def medians(records: Sequence[Record], **where: Any) -> Curves:
    """Return the rows of given hyperparameters for each dimension, in the order of n."""
    return split(averages(records, **where), "d")


def split(rows: Sequence[Record], name: str) -> dict[Any, list[Record]]:
    """Group rows by the value of one name."""
    return {
        value: [r for r in rows if r[name] == value] for value in sorted({r[name] for r in rows})
    }


def size_near(records: Sequence[Record], p: int = 177) -> int:
    """Return the number of functions in the grid that is closest to the paper's."""
    sizes: set[int] = {record["p"] for record in records if record["method"] == "galerkin"}
    return min(sizes, key=lambda size: (abs(size - p), size))


def slope(curve: Sequence[Record], y: str = "error", x: str = "n") -> float:
    """Return the least-squares slope of log y against log x."""
    logs = np.log([[row[x], row[y]] for row in curve])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def draw_curves(
    panel: Any, curves: Curves, y: str, x: str = "n", label: str = "{}", apart: float = 1.0
) -> None:
    """Draw y against x on logarithmic axes, a color for each curve, errors with a band.

    If y is the error and x is n, a dashed line shows the rate n^(-1/2).

    Parameters
    ----------
    panel
        matplotlib axes.
    curves
        The rows of each curve, by the value that distinguishes the curves.
    y, x
        The names of the values to draw.
    label
        The label of a curve, with {} for its value.
    apart
        The factor by which each curve is shifted against the last, so that equal ones are visible.
    """
    for i, (color, (value, curve)) in enumerate(
        zip(colors(len(curves)), curves.items(), strict=True)
    ):
        positions = np.array([row[x] for row in curve])
        heights = np.array([row[y] for row in curve]) * apart**i
        panel.plot(positions, heights, "o-", color=color, ms=3, lw=1.3, label=label.format(value))
        if y == "error":
            spread = np.array([row["spread"] for row in curve])
            low = np.maximum(heights - spread, heights / 3)
            panel.fill_between(positions, low, heights + spread, color=color, alpha=0.15, lw=0)
    panel.set(xscale="log", yscale="log", xlabel=x)
    plain_ticks(panel)
    panel.grid(alpha=0.3, which="both", lw=0.4)
    if y == "error" and x == "n":
        first = [curve[0] for curve in curves.values()]
        ends = np.array([first[0]["n"], max(curve[-1]["n"] for curve in curves.values())])
        height = 0.6 * min(row["error"] for row in first)
        panel.plot(ends, height * (ends / ends[0]) ** -0.5, "k--", lw=0.8, label="$n^{-1/2}$")


def plain_ticks(panel: Any) -> None:
    """Label the vertical axis at 1, 2 and 5 times powers of ten, the horizontal one at powers."""
    panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_minor_formatter(NullFormatter())


def colors(n: int) -> Any:
    """Return n colors from dark to light."""
    return colormaps["viridis"](np.linspace(0.0, 0.9, n))
