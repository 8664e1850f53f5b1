"""Error of the best estimate against the dimension (appendix).

The black line is the error of equal eigenvalues with the true sum. The scale of the graph Laplacian
is fitted to that sum, so the line shows what the scale alone achieves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

import ritz
from paper.curves import best, draw_curves, split
from paper.figures.convergence import FULL, PANELS, QUICK, Config, error, run
from paper.records import Record

__all__ = ["FULL", "QUICK", "RECORDS", "Config", "equal_values_error", "numbers", "plot", "run"]

RECORDS = "convergence"


def equal_values_error(d: int, k: int = 25) -> float:
    """Return the error of equal eigenvalues with the true sum, on the sphere of R^d."""
    truth = ritz.datasets.sphere(d).eigenvalues(k)[1:]
    found = error(np.full(k - 1, 1 / truth.mean()), truth)
    assert found is not None
    return found


def plot(records: Sequence[Record]) -> Figure:
    """Draw the error against d, by method and n."""
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for panel, (method, title) in zip(panels, PANELS.items(), strict=True):
        draw_curves(panel, split(best(records, method=method), "n"), "error", "d", "n = {}")
        dimensions = sorted({record["d"] for record in records})
        equal = [equal_values_error(d) for d in dimensions]
        panel.plot(dimensions, equal, "k-", lw=1, label="all equal")
        panel.set(title=title, xlabel="dimension d", xscale="linear")
        panel.set_xticks(dimensions)
    panels[0].set(ylabel="error of 24 eigenvalues")
    panels[-1].legend(fontsize=8)
    return figure


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the error at the largest n by dimension, and that of equal eigenvalues."""
    largest = max(record["n"] for record in records)
    found = {method: split(best(records, method=method, n=largest), "d") for method in PANELS}
    return [
        {
            "d": d,
            "n": largest,
            **{method: rows[d][0]["error"] for method, rows in found.items()},
            "all equal": equal_values_error(d),
        }
        for d in found["galerkin"]
    ]
