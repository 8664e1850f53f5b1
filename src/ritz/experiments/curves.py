"""Curves out of records: the best hyperparameters for each n and d, their slopes, and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ritz.experiments.records import Record

HYPERPARAMETERS = ("kernel", "parameter", "p", "option")
Curves = Mapping[Any, Sequence[Record]]


def best(records: Sequence[Record], **where: Any) -> list[Record]:
    """Return, for each n and d, the hyperparameters whose mean error over trials is least.

    Parameters
    ----------
    records
        Records of `convergence`.
    where
        What to choose among, such as method="graph" or kernel="gaussian".

    Returns
    -------
    Records of n, d, the hyperparameters, and means and deviations over trials: error, spread,
    seconds.
    """
    rows: dict[tuple[int, int], Record] = {}
    for row in averages(records, **where):
        place = row["d"], row["n"]
        if place not in rows or row["error"] < rows[place]["error"]:
            rows[place] = row
    return [rows[place] for place in sorted(rows)]


def averages(records: Sequence[Record], **where: Any) -> list[Record]:
    """Return means and deviations over trials for each n, d and hyperparameters.

    Hyperparameters that failed in a trial are left out.
    """

    def place(record: Record) -> tuple[Any, ...]:
        return (record["d"], record["n"], *(record[name] for name in HYPERPARAMETERS))

    chosen = [r for r in records if all(r[name] == value for name, value in where.items())]
    # None comes before numbers and names.
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
    """Return the best rows of a method for each dimension, by n."""
    return split(best(records, method=method, **where), "d")


def medians(records: Sequence[Record], **where: Any) -> Curves:
    """Return the rows of given hyperparameters for each dimension, by n."""
    return split(averages(records, **where), "d")


def split(rows: Sequence[Record], name: str) -> dict[Any, list[Record]]:
    """Return rows by the value of one of their names."""
    return {
        value: [r for r in rows if r[name] == value] for value in sorted({r[name] for r in rows})
    }


def size_near(records: Sequence[Record], p: int = 177) -> int:
    """Return the number of Galerkin functions in the grid that is nearest to the paper's."""
    sizes: set[int] = {record["p"] for record in records if record["method"] == "galerkin"}
    return min(sizes, key=lambda size: (abs(size - p), size))


def slope(curve: Sequence[Record], y: str = "error", x: str = "n") -> float:
    """Return the least-squares slope of log y against log x."""
    logs = np.log([[row[x], row[y]] for row in curve])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def draw_curves(
    panel: Any, curves: Curves, y: str, x: str = "n", label: str = "{}", apart: float = 1.0
) -> None:
    """Draw y against x on logarithmic axes, one color a curve, errors with their deviations.

    A dashed line falls as x^(-1/2) where y is the error and x is n.

    Parameters
    ----------
    panel
        matplotlib's axes.
    curves
        Rows for each value of what tells the curves apart.
    y, x
        The names of what is drawn.
    label
        The name of a curve, its value in place of {}.
    apart
        By what factor each curve is raised over the one before, so that equal ones are seen.
    """
    for i, (color, (value, curve)) in enumerate(
        zip(colors(len(curves)), curves.items(), strict=True)
    ):
        places = np.array([row[x] for row in curve])
        heights = np.array([row[y] for row in curve]) * apart**i
        panel.plot(places, heights, "o-", color=color, ms=3, lw=1.3, label=label.format(value))
        if y == "error":
            spread = np.array([row["spread"] for row in curve])
            low = np.maximum(heights - spread, heights / 3)
            panel.fill_between(places, low, heights + spread, color=color, alpha=0.15, lw=0)
    panel.set(xscale="log", yscale="log", xlabel=x)
    plain_ticks(panel)
    panel.grid(alpha=0.3, which="both", lw=0.4)
    if y == "error" and x == "n":
        first = [curve[0] for curve in curves.values()]
        ends = np.array([first[0]["n"], max(curve[-1]["n"] for curve in curves.values())])
        height = 0.6 * min(row["error"] for row in first)
        panel.plot(ends, height * (ends / ends[0]) ** -0.5, "k--", lw=0.8, label="$n^{-1/2}$")


def plain_ticks(panel: Any) -> None:
    """Label logarithmic axes at 1, 2 and 5 times powers of ten upwards, at powers along."""
    panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_minor_formatter(NullFormatter())


def colors(n: int) -> Any:
    """Return n colors in order, dark to light."""
    return colormaps["viridis"](np.linspace(0.0, 0.9, n))
