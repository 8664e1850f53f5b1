"""The number of functions of the best estimate, and its computation time (appendix)."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from paper.curves import by_dimension, draw_curves, slope
from paper.figures.convergence import FULL, PANELS, QUICK, Config, run
from paper.records import Record

__all__ = ["FULL", "QUICK", "RECORDS", "Config", "numbers", "plot", "run"]

RECORDS = "convergence"


def plot(records: Sequence[Record]) -> Figure:
    """Draw the best p and its computation time against n, by method and dimension."""
    figure = Figure(figsize=(12, 6.4), layout="constrained")
    rows = figure.subplots(2, len(PANELS), sharex=True, sharey="row")
    for column, (method, title) in enumerate(PANELS.items()):
        curves = by_dimension(records, method)
        draw_curves(rows[0, column], curves, "p", apart=1.03)
        draw_curves(rows[1, column], curves, "seconds")
        rows[0, column].set(title=title, xlabel="")
    sizes = sorted({record["p"] for record in records if record["method"] == "galerkin"})
    rows[0, 0].set(ylabel="functions p of the best")
    rows[0, 0].set_yticks(sizes, [str(p) for p in sizes])
    rows[0, 0].minorticks_off()
    rows[1, 0].set(ylabel="seconds of one core")
    rows[0, -1].legend(fontsize=8, title="dimension", ncols=2)
    return figure


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the best p at the smallest and largest n, and the growth of time."""
    return [
        {
            "method": method,
            "d": d,
            f"p, n = {curve[0]['n']}": curve[0]["p"],
            f"p, n = {curve[-1]['n']}": curve[-1]["p"],
            "seconds": curve[-1]["seconds"],
            "slope of seconds": slope(curve, "seconds"),
        }
        for method in PANELS
        for d, curve in by_dimension(records, method).items()
    ]
