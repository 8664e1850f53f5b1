"""The best estimate by kernel: its error, number of functions and parameter (appendix)."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from paper.curves import by_dimension, draw_curves, slope
from paper.estimates import KERNELS
from paper.figures.convergence import FULL, QUICK, Config, run
from paper.limits import ambient_error
from paper.records import Record

__all__ = ["FULL", "QUICK", "RECORDS", "Config", "numbers", "plot", "run"]

RECORDS = "convergence"
ROWS = {
    "error": "error of 24 eigenvalues",
    "p": "functions p of the best",
    "parameter": "length or degree of the best",
}


def plot(records: Sequence[Record]) -> Figure:
    """Draw error, best p and best parameter against n, with a column for each kernel."""
    figure = Figure(figsize=(12, 9.5), layout="constrained")
    panels = figure.subplots(len(ROWS), len(KERNELS), sharex=True, sharey="row")
    for column, kernel in enumerate(KERNELS):
        curves = by_dimension(records, "galerkin", kernel=kernel)
        for panel, y in zip(panels[:, column], ROWS, strict=True):
            draw_curves(panel, curves, y, apart=1.0 if y == "error" else 1.04)
            panel.set(xlabel="n" if y == "parameter" else "")
        panels[0, column].set(title=f"{kernel} kernel")
    for panel, label in zip(panels[:, 0], ROWS.values(), strict=True):
        panel.set(ylabel=label)
    panels[0, 0].legend(fontsize=8, title="dimension", ncols=2)
    return figure


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return slopes, errors at the largest n, and limits of the ambient error."""
    rows = []
    for kernel in KERNELS:
        ambient, tangential = (
            by_dimension(records, method, kernel=kernel) for method in ("galerkin", "tangential")
        )
        for d in ambient:
            row = {"kernel": kernel, "d": d, "n": ambient[d][-1]["n"]}
            for name, curves in (("ambient", ambient), ("tangential", tangential)):
                row[f"{name} error"] = curves[d][-1]["error"]
                row[f"{name} slope"] = slope(curves[d])
            row["ambient limit"] = ambient_error(KERNELS[kernel](ambient[d][-1]["parameter"]), d)
            rows.append(row)
    return rows
