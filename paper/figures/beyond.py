"""Beyond the paper: tangential energy, constant, centers, penalties, other baselines.

In the first row each method has the best hyperparameters of its grid, chosen by the true error. In
the next two rows all methods use the sections of one given kernel, and a dotted line shows the
error of ambient energies for infinitely many samples. The last row shows the computation time of
the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from paper.curves import Curves, best, by_dimension, size_near, slope, split
from paper.estimates import KERNELS
from paper.figures.convergence import FULL, QUICK, Config, run
from paper.limits import ambient_error
from paper.records import Record

__all__ = ["FULL", "QUICK", "RECORDS", "Config", "numbers", "plot", "run"]

RECORDS = "convergence"
# Kernels that are given, not chosen by the error: quartic polynomials and a wide Gaussian.
GIVEN = (("polynomial", 4, "quartic"), ("gaussian", 10.0, "Gaussian of length 10"))
# Label, color and line of each method: Galerkin methods first, then baselines.
STYLES = {
    "galerkin": ("Galerkin, as in the paper", "k", "o-"),
    "constant": ("and the function 1", "tab:blue", "s-"),
    "k-means++": ("and centers by k-means++", "tab:cyan", "^-"),
    "pivoted Cholesky": ("and centers by pivoted Cholesky", "tab:green", "v-"),
    "regularized": ("and a penalty", "tab:olive", "D-"),
    "tangential": ("and the tangential energy", "tab:red", "o-"),
    "representer": ("sections of all values and derivatives", "tab:purple", "P:"),
    "graph": ("graph Laplacian, given its scale", "tab:gray", "x--"),
    "neighbors": ("graph of neighbors, given its scale", "tab:brown", "+--"),
}


def plot(records: Sequence[Record]) -> Figure:
    """Draw error and time against n for all methods, with a column for each dimension."""
    dimensions = sorted({record["d"] for record in records})
    if len(dimensions) > 5:
        dimensions = dimensions[::2]
    p = size_near(records)
    settings: list[tuple[str, str, dict[str, Any]]] = [("error, best of the grid", "error", {})]
    for kernel, parameter, name in GIVEN:
        given = {"kernel": kernel, "parameter": parameter, "p": p}
        settings.append((f"error, {name}, p = {p}", "error", given))
    settings.append(("seconds of one core, best of the grid", "seconds", {}))
    figure = Figure(figsize=(3.4 * len(dimensions), 13), layout="constrained")
    panels = figure.subplots(len(settings), len(dimensions), sharex=True, sharey="row")
    for row, (title, y, where) in zip(panels, settings, strict=True):
        for method, style in STYLES.items():
            if not (where and method in ("representer", "neighbors")):
                draw_method(row, by_dimension(records, method, **where), dimensions, y, style)
        row[0].set(ylabel=title)
        for panel, d in zip(row, dimensions, strict=True) if where else ():
            limit = ambient_error(KERNELS[where["kernel"]](where["parameter"]), d)
            panel.axhline(limit, color="k", ls=":", lw=1)
    for top, bottom, d in zip(panels[0], panels[-1], dimensions, strict=True):
        top.set(title=f"d = {d}")
        bottom.set(xlabel="n")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9)
    return figure


def draw_method(
    panels: Any, curves: Curves, dimensions: Sequence[int], y: str, style: tuple[str, str, str]
) -> None:
    """Draw one curve of a method in the panel of each dimension."""
    label, color, form = style
    for panel, d in zip(panels, dimensions, strict=True):
        curve = curves.get(d, [])
        x, heights = [row["n"] for row in curve], [row[y] for row in curve]
        panel.plot(x, heights, form, color=color, ms=4, lw=1.2, mfc="none", label=label)
        panel.set(xscale="log", yscale="log")
        panel.grid(alpha=0.3, which="both", lw=0.4)


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the slope, and error and time at the largest n, by method and dimension."""
    rows = []
    for method in STYLES:
        for d, curve in split(best(records, method=method), "d").items():
            last = curve[-1]
            rate = slope(curve) if len(curve) > 1 else None
            row = {"method": method, "d": d, "slope": rate, "n": last["n"], "p": last["p"]}
            rows.append({**row, "error": last["error"], "seconds": last["seconds"]})
    return rows
