"""Error of the best estimate against the dimension (appendix).

The black line is the error of a constant guess, all eigenvalues equal and with the true sum, which
is what the graph Laplacian is given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

import ritz
from ritz.experiments.convergence import FULL, PANELS, QUICK, Config, error, run
from ritz.experiments.curves import best, draw_curves, split
from ritz.experiments.records import Record

__all__ = ["FULL", "QUICK", "RECORDS", "Config", "guess", "numbers", "plot", "run"]

RECORDS = "convergence"


def guess(d: int, k: int = 25) -> float:
    """Return the error of equal eigenvalues with the true sum, on the sphere of R^d."""
    truth = ritz.datasets.sphere(d).eigenvalues(k)[1:]
    found = error(np.full(k - 1, 1 / truth.mean()), truth)
    assert found is not None
    return found


def plot(records: Sequence[Record]) -> Figure:
    """Draw the error against d for each n, by method."""
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for panel, (method, title) in zip(panels, PANELS.items(), strict=True):
        draw_curves(panel, split(best(records, method=method), "n"), "error", "d", "n = {}")
        dimensions = sorted({record["d"] for record in records})
        guesses = [guess(d) for d in dimensions]
        panel.plot(dimensions, guesses, "k-", lw=1, label="all equal")
        panel.set(title=title, xlabel="dimension d", xscale="linear")
        panel.set_xticks(dimensions)
    panels[0].set(ylabel="error of 24 eigenvalues")
    panels[-1].legend(fontsize=8)
    return figure


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the error at the most samples by dimension, and that of the constant guess."""
    largest = max(record["n"] for record in records)
    found = {method: split(best(records, method=method, n=largest), "d") for method in PANELS}
    return [
        {
            "d": d,
            "n": largest,
            **{method: rows[d][0]["error"] for method, rows in found.items()},
            "all equal": guess(d),
        }
        for d in found["galerkin"]
    ]
