"""The scatter of a report to brush and to color, drawn by Bokeh from what the page holds."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.displays.coloring import MOST_NAMED, Coloring
from ritz.pictures import COLORS, GRAY, MARKS, look_of
from ritz.validation import Array

# Significant digits of the spread of the numbers in the page, and the most that a number has.
DIGITS, MOST_DIGITS = 5, 15
# Columns of the data that samples may be colored by.
MOST_COLUMNS = 40
# Colors of a scale from low to high, without the darkest, which no dark page shows.
N_SHADES = 48
# What Bokeh calls the marks of pictures; it has no filled cross.
NAMES = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "star")


@dataclass(frozen=True)
class Brush:
    """The scatter: scripts, the place of the picture, and the fields to choose from.

    Attributes
    ----------
    library, script, place
        Bokeh itself, the script that draws, and the element that is drawn in, as HTML.
    axes, colors
        Pairs of a field and its name: the functions, and what samples are colored by.
    settings
        What the page's own script reads.
    """

    library: str
    script: str
    place: str
    axes: tuple[tuple[str, str], ...]
    colors: tuple[tuple[str, str], ...]
    settings: dict[str, Any]


def brush(
    values: Array,
    titles: tuple[str, ...],
    X: Array,
    names: tuple[str, ...],
    coloring: Coloring | None,
    rows: NDArray[np.intp],
) -> Brush:
    """Return the scatter of samples by their functions.

    Parameters
    ----------
    values, titles
        The functions (n, k) at the samples, and their names.
    X, names
        The samples (n, d), and the names of their columns.
    coloring
        Labels or numbers of the samples, or None.
    rows
        The row numbers (n,) of the samples in the data.
    """
    bokeh = {
        name: import_module(f"bokeh.{name}")
        for name in ("plotting", "models", "embed", "resources", "palettes")
    }
    axes = [(f"f{j}", title) for j, title in enumerate(titles)]
    data: dict[str, Any] = {field: short(values[:, j]) for j, (field, _) in enumerate(axes)}
    order = np.argsort(np.argsort(values[:, 0], kind="stable"), kind="stable")
    data["rank"] = short(order / max(len(order) - 1, 1))
    axes.append(("rank", "share of the samples below, by the first function"))
    colors = []
    labels: dict[str, list[str]] = {}
    if coloring is not None:
        data["y"] = short(coloring.codes.astype(np.float64))
        colors.append(("y", coloring.name or "y"))
        if coloring.labels is not None:
            labels["y"] = list(coloring.labels)
    for c in range(min(X.shape[1], MOST_COLUMNS)):
        data[f"c{c}"] = short(X[:, c])
        colors.append((f"c{c}", names[c]))
    colors += axes[:-1]
    first = axes[1][0] if len(axes) > 2 else "rank"
    data |= {"x": data["f0"], "y_": data[first], "row": rows}
    data |= {"fill": [COLORS[0]] * len(rows), "mark": [NAMES[0]] * len(rows)}
    source = bokeh["models"].ColumnDataSource(data, name="samples")
    figure = bokeh["plotting"].figure(
        name="scatter",
        tools="box_select,lasso_select,pan,wheel_zoom,reset",
        active_drag="box_select",
        sizing_mode="stretch_width",
        height=420,
        min_width=240,
        toolbar_location="above",
        x_axis_label=axes[0][1],
        y_axis_label=dict(axes)[first],
        background_fill_alpha=0.0,
        border_fill_alpha=0.0,
        outline_line_color=GRAY,
    )
    figure.toolbar.logo = None
    figure.scatter(
        "x",
        "y_",
        source=source,
        marker="mark",
        size=float(np.clip(220 / len(rows) ** 0.5, 4, 9)),
        fill_color="fill",
        fill_alpha=0.85,
        line_color=GRAY,
        line_alpha=0.5,
        line_width=0.5,
        nonselection_fill_alpha=0.08,
        nonselection_line_alpha=0.08,
    )
    for axis in (*figure.xaxis, *figure.yaxis):
        axis.axis_label_text_font_style = "normal"
    figure.grid.grid_line_color, figure.grid.grid_line_alpha = GRAY, 0.25
    script, place = bokeh["embed"].components(figure)
    shades = [bokeh["palettes"].Viridis256[round(c)] for c in np.linspace(45, 255, N_SHADES)]
    bokeh_names = dict(zip(MARKS, NAMES, strict=True))
    looks = [look_of(code) for code in range(len(COLORS) * len(MARKS))]
    settings = {
        "labels": labels,
        "most_named": MOST_NAMED,
        "names": dict([*colors, *axes]),
        "looks": [(color, bokeh_names[mark]) for color, mark in looks],
        "shades": shades,
        "columns": [field for field, _ in colors if field.startswith("c")],
    }
    library = bokeh["resources"].Resources(mode="inline", components=["bokeh"]).render_js()
    # Bokeh greets on the console, unless its level is set without a word.
    library = library.replace('Bokeh.set_log_level("info")', 'Bokeh.logger.set_level("warn")')
    return Brush(library, script, place, tuple(axes), tuple(colors), settings)


def short(array: Array) -> list[float | None]:
    """Return numbers with few digits, enough to tell them apart; None where there is none."""
    digits, known = MOST_DIGITS, array[np.isfinite(array)]
    size = float(np.abs(known).max(initial=0.0))
    spread = float((known / size).std()) if size > 0 else 0.0
    if spread > 0:
        digits = min(DIGITS + max(0, int(-np.log10(spread))), MOST_DIGITS)
    return [float(f"{x:.{digits}g}") if np.isfinite(x) else None for x in array.tolist()]
