"""The kernel and parameter of the best estimate, for functions and weights (appendix)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper.curves import by_dimension, colors
from paper.figures.convergence import FULL, QUICK, Config, run
from paper.records import Record

__all__ = ["FULL", "QUICK", "RECORDS", "Config", "numbers", "plot", "run"]

RECORDS = "convergence"
MARKERS = {"polynomial": "s", "exponential": "o", "gaussian": "^", "own kernel": "x"}
PANELS = (
    ("galerkin", "Galerkin, as in the paper: functions", "parameter"),
    ("tangential", "Galerkin, tangential energy: functions", "parameter"),
    ("graph", "Graph Laplacian: functions", "parameter"),
    ("graph", "Graph Laplacian: weights", "option"),
)


def plot(records: Sequence[Record]) -> Figure:
    """Draw the best parameters against n, with colors for dimensions and markers for kernels."""
    figure = Figure(figsize=(15, 4.2), layout="constrained")
    panels = figure.subplots(1, len(PANELS), sharex=True, sharey=True)
    for panel, (method, title, name) in zip(panels, PANELS, strict=True):
        curves = by_dimension(records, method)
        for i, (color, curve) in enumerate(zip(colors(len(curves)), curves.values(), strict=True)):
            for row in curve:
                kernel, parameter = chosen(row, name)
                # Shift the points of each dimension, so that equal choices remain visible.
                x = row["n"] * 1.06 ** (i - (len(curves) - 1) / 2)
                panel.plot(x, parameter, MARKERS[kernel], color=color, ms=5, mfc="none")
        panel.set(title=title, xlabel="n", xscale="log", yscale="log")
        panel.grid(alpha=0.3, lw=0.4)
    panels[0].set(ylabel="length, or degree of a polynomial")
    lines = [
        Line2D([], [], color=c, label=f"d = {d}")
        for c, d in zip(colors(len(curves)), curves, strict=True)
    ]
    marks = [
        Line2D([], [], color="gray", marker=m, ls="", mfc="none", label=kernel)
        for kernel, m in MARKERS.items()
    ]
    figure.legend(handles=[*lines, *marks], loc="outside lower center", ncols=8, fontsize=8)
    return figure


def chosen(row: Record, name: str) -> tuple[str, Any]:
    """Return the kernel and parameter of the functions or of the weights."""
    if name == "parameter":
        return row["kernel"], row["parameter"]
    if row["option"] is None:
        return "own kernel", row["parameter"]
    return "gaussian", row["option"]


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the best hyperparameters at the largest n, by method and dimension."""
    return [
        {
            "method": method,
            "d": d,
            "n": curve[-1]["n"],
            "functions": curve[-1]["kernel"],
            "parameter": curve[-1]["parameter"],
            "weights": "" if method != "graph" else str(curve[-1]["option"] or "own kernel"),
            "error": curve[-1]["error"],
        }
        for method in ("galerkin", "tangential", "graph")
        for d, curve in by_dimension(records, method).items()
    ]
