"""The sections of a report: their numbers, tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz import tables
from ritz.displays import (
    CalibrationDisplay,
    ClusterDisplay,
    EigenfunctionDisplay,
    SelectionDisplay,
    SpectrumDisplay,
)
from ritz.displays.clusters import clusters_of
from ritz.displays.coloring import Coloring, as_coloring
from ritz.displays.source import Source
from ritz.estimators import SpectralClustering
from ritz.estimators.certainty import half_widths, sizes_of
from ritz.estimators.functions import LEAST_AGREEMENT
from ritz.reports.brush import brush
from ritz.reports.figures import Picture, new_axes, picture, style
from ritz.reports.figures import as_svg as svg_of
from ritz.reports.glance import glance
from ritz.reports.influence import column_shares
from ritz.selection.selection import cells as candidate_cells
from ritz.spectrum.spectrum import cells
from ritz.validation import Array, renamed

# Functions that are drawn, columns in the table of shares, and in that of clusters, at most.
MOST_FUNCTIONS, MOST_COLUMNS, MOST_MEANS = 12, 15, 12
WIDE, SQUARE = (4.4, 3.3), (4.4, 3.7)


@dataclass(frozen=True)
class Shares:
    """The table of which columns move each function."""

    lead: str
    functions: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    more: str


def about_data(
    X: Array, names: tuple[str, ...], scaled: bool, grouped: bool = False
) -> dict[str, Any]:
    """Return the section about the data, of which a fit may have scaled columns or known groups."""
    found = glance(X, names, scaled, grouped)
    headers = ("column", "minimum", "median", "maximum", "std. deviation", "")
    caption = "Columns"
    if found.n_columns > len(found.columns):
        caption = f"The first {len(found.columns)} of {found.n_columns} columns"
    width = len(headers) if any(row[-1] for row in found.columns) else len(headers) - 1
    headers = (*headers[:-1], "note")
    rows = [row[:width] for row in found.columns]
    table = tables.table(caption, headers[:width], rows, text=(0, 5), most=len(rows))
    return {"glance": found, "columns": table}


def about_spectrum(model: Any, source: Source) -> dict[str, Any]:
    """Return the sections about values, and about which functions to trust."""
    levels, some = source.levels, source.numbers
    kind = "singular values" if source.is_singular else "eigenvalues"
    texts = "; ".join(source.titles)
    drawn = picture(
        "spectrum",
        WIDE,
        lambda ax: SpectrumDisplay._of(source).plot(ax),
        f"{len(some)} {kind} of {levels.operator}: {texts}.",
    )
    headers, rows = cells(levels, kind[:-1])
    headers, width = ("number", *headers[1:-1], "flag"), 7 if any(levels.flags or ()) else 6
    chosen = [rows[j][:width] for j in some]
    caption = f"Spectrum of {levels.operator}"
    return {
        "spectrum": drawn,
        "values": tables.table(caption, headers[:width], chosen, text=(6,)),
        "stability": trust_table(source),
    }


def trust_table(source: Source) -> str:
    """Return the table of how sure each function is, with a verdict."""
    levels = source.levels
    halves = half_widths(levels, source.n_folds)
    size = sizes_of(levels)
    rows = []
    for j in source.numbers.tolist():
        agree = None if levels.stability is None else float(levels.stability[j])
        flag = levels.flags[j] if levels.flags else ""
        members = np.flatnonzero(levels.groups == levels.groups[j])
        verdict = "yes"
        if flag:
            verdict = f"no: {flag}"
        elif agree is not None and agree**2 < LEAST_AGREEMENT:
            verdict = "not alone: two halves of the samples disagree"
        elif len(members) > 1:
            verdict = f"only together: {tables.numbered(members.tolist())}"
        rows.append(
            (
                str(j),
                verdict,
                "" if halves is None else f"± {halves[j] / size[j]:.1%}",
                "" if levels.basis_errors is None else f"{levels.basis_errors[j] / size[j]:.1%}",
                "" if agree is None else f"{agree:.3f}",
            )
        )
    headers = ("function", "trust it?", "sampling", "basis", "halves")
    return tables.table("Trust in each function", headers, rows, text=(1,))


def about_functions(source: Source, points: Array) -> dict[str, Any]:
    """Return the section with a picture of each function."""
    d, some = points.shape[1], source.numbers[:MOST_FUNCTIONS]
    projection, size = ("3d", (2.9, 2.9)) if d == 3 else (None, (2.9, 2.5))
    few = replace(source, numbers=some)
    names = few.titles
    with style():
        axes = np.empty(len(some), dtype=object)
        for j in range(len(some)):
            axes[j] = new_axes(size, projection)
        shown = EigenfunctionDisplay._drawn(few, points, None, 1, 120, 1500, axes)
        pictures = []
        for j, ax in enumerate(axes):
            text = f"Function {some[j]}, {names[j]}, over {' and '.join(shown.axis_names)}."
            pictures.append(Picture(svg_of(ax.figure, f"function{j}", text), ""))
    lead = "Samples are colored by the function, from blue (negative) to red."
    if d == 1:
        lead = "Each function over the column; samples are marked below."
    elif d == 2:
        lead += " The lines are its levels."
    elif d > 3:
        lead += " They stand in the plane of two principal components of the columns."
    more = len(source.numbers) - len(some)
    if more > 0:
        lead += f" These are the first {len(some)}; there are {more} more."
    return {"functions": tuple(pictures), "functions_lead": lead}


def about_clusters(model: SpectralClustering, X: Any) -> dict[str, Any]:
    """Return the section about clusters."""
    made: list[ClusterDisplay] = []
    n = model.n_clusters_
    drawn = picture(
        "clusters",
        SQUARE,
        lambda ax: made.append(ClusterDisplay.from_estimator(model, X, ax=ax)),
        f"{n} cluster{'' if n == 1 else 's'} of the samples.",
    )
    pictures, evidence = [drawn], made[0].evidence
    if evidence:
        largest = max(evidence, key=evidence.__getitem__)
        where = "there" if largest == n else f"at {largest}"
        text = f"Ratios of neighboring eigenvalues; {n} clusters were chosen, the largest ratio is"
        pictures.append(picture("evidence", SQUARE, made[0].plot_evidence, f"{text} {where}."))
    return {"clusters": tuple(pictures)}


def profile_of(model: SpectralClustering, X: Array, names: tuple[str, ...]) -> str:
    """Return the table of the rows of each cluster and the means of its columns.

    The columns come in the order of the share of their variance that lies between clusters.
    """
    labels = clusters_of(model, X)
    sizes = np.bincount(labels, minlength=model.n_clusters_)
    # A cluster without any of these rows has no mean.
    there = np.flatnonzero(sizes)
    means = np.stack([X[labels == j].mean(axis=0) for j in there])
    between = sizes[there] @ (means - X.mean(axis=0)) ** 2 / len(X)
    spread = X.var(axis=0)
    shares = np.divide(between, spread, out=np.zeros(len(spread)), where=spread > 0)
    first = np.argsort(-shares, kind="stable")[:MOST_MEANS]
    headers = ("cluster", "rows", "share", *(names[c] for c in first))
    rows = [
        (str(j), f"{sizes[j]:,}", f"{sizes[j] / len(X):.0%}", *(f"{m:.4g}" for m in mean[first]))
        for j, mean in zip(there, means, strict=True)
    ]
    caption = "Means of the columns in each cluster, those that differ most first"
    more = len(names) - len(first)
    return tables.table(f"{caption}; {more} more differ less" if more else caption, headers, rows)


def about_embedding(
    model: Any, source: Source, X: Any, names: tuple[str, ...], y: Any, n_points: Any
) -> dict[str, Any]:
    """Return the section with the scatter to brush."""
    points, rows = source.points(X, n_points)
    few = source.numbers[:MOST_FUNCTIONS]
    values = source.at(points)[:, : len(few)]
    coloring: Coloring | None = None
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if y is not None:
        with renamed(color="y"):
            coloring = as_coloring(y, points, rows, n, source.names)
    elif isinstance(model, SpectralClustering):
        labels = clusters_of(model, points).astype(np.intp)
        found = tuple(map(str, range(model.n_clusters_)))
        coloring = Coloring("cluster", labels, found)
    titles = tuple(f"function {j}: {title}" for j, title in zip(few, source.titles, strict=False))
    drawn = brush(values, titles, points, names, coloring, rows)
    lead = (
        f"{len(points):,} of {n:,} samples by the values of two functions. Choose what is drawn "
        "and what colors it; draw a box around samples to see in which columns they differ."
    )
    return {"brush": drawn, "brush_lead": lead}


def about_columns(
    X: Array, names: tuple[str, ...], titles: tuple[str, ...], gradient: Any, what: str
) -> dict[str, Any]:
    """Return the section about which columns move the functions; nothing for a single column."""
    if X.shape[1] < 2:
        return {}
    shares = column_shares(X, len(titles), gradient)
    largest = np.argsort(-shares.max(axis=1), kind="stable")[:MOST_COLUMNS]
    rows = tuple((names[c], tuple(shares[c].tolist())) for c in largest)
    more = X.shape[1] - len(largest)
    text = f"{more} columns with smaller shares are left out." if more > 0 else ""
    lead = (
        "Mean squared partial derivatives, each for a standard deviation of its column, as shares "
        f"over the columns: 100% means that nothing else moves the {what} near the samples."
    )
    return {"shares": Shares(lead, titles, rows, text)}


def about_selection(model: Any) -> dict[str, Any]:
    """Return the section about the candidates that were compared, if any were."""
    selection = getattr(model, "selection_", None)
    if selection is None:
        return {}
    headers, rows = candidate_cells(selection)
    count = len(selection.candidates)
    drawn = picture(
        "selection",
        WIDE,
        lambda ax: SelectionDisplay.from_selection(selection, ax=ax),
        f"Scores of {count} candidates over their length scales.",
        "The circle is the choice: the fewest centers within a standard error of the best.",
    )
    caption = f"The best of {count} candidates, compared on {selection.n_rows:,} rows"
    table = tables.table(caption, headers, rows, text=(5,), marked=(0,))
    return {"selection": drawn, "candidates": table}


def about_calibration(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the section about predicted intervals."""
    made: list[CalibrationDisplay] = []
    first = picture(
        "calibration",
        SQUARE,
        lambda ax: made.append(CalibrationDisplay.from_estimator(model, X, y, ax=ax)),
        "Predictions with their 95% intervals over the values.",
    )
    shown = made[0]
    second = picture(
        "coverage",
        SQUARE,
        shown.plot_coverage,
        f"Shares of the values inside intervals; {shown.coverage:.0%} are inside those of 95%.",
    )
    return {"calibration": (first, second)}
