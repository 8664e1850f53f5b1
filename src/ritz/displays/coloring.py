"""Samples colored by labels, numbers or one of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.displays.plane import as_column
from ritz.pictures import COLORS, GRAY, look_of, plain
from ritz.reading import is_missing
from ritz.validation import Array, Names, parameter_error, split_missing

# The most different whole numbers that are taken for labels.
MOST_LABELS = 12
# The most labels that a legend names; the others share one entry.
MOST_NAMED = 14


@dataclass(frozen=True, eq=False)
class Coloring:
    """What samples are colored by.

    Parameters
    ----------
    name
        What it is called, or nothing.
    codes
        The number (n,) of each sample's label, -1 for none; or the number that gives its color.
    labels
        The labels, none where all samples have one color; None where they are colored by numbers.
    """

    name: str
    codes: NDArray[Any]
    labels: tuple[str, ...] | None = None

    def draw(self, ax: Any, points: Array, size: float) -> None:
        """Draw points (n, 2) on matplotlib axes, with a legend or a bar of colors."""
        options = {"s": size, "lw": 0, "alpha": 0.8, "rasterized": len(points) > 300}
        if self.labels is None:
            known = np.isfinite(self.codes)
            ax.scatter(*points[~known].T, color=GRAY, **options)
            low, high = np.quantile(self.codes[known], [0.01, 0.99]) if known.any() else (0, 1)
            limits = {"vmin": low, "vmax": high} if high > low else {}
            colors = {"c": self.codes[known], "cmap": "viridis"} | limits
            drawn = ax.scatter(*points[known].T, **colors, **options)
            bar = ax.figure.colorbar(drawn, ax=ax, fraction=0.05, pad=0.02)
            bar.set_label(plain(self.name), fontsize=9)
            bar.ax.tick_params(labelsize=8)
            return
        if not self.labels:
            ax.scatter(*points.T, color=COLORS[0], **options)
            return
        unlabeled = self.codes < 0
        if unlabeled.any():
            ax.scatter(*points[unlabeled].T, color="0.75", label="no label", **options)
        for code, label in enumerate(self.labels):
            some = self.codes == code
            # Legends leave out labels that begin with an underscore.
            shown = plain(f" {label}" if label.startswith("_") else label)
            text = shown if code < MOST_NAMED else None
            color, mark = look_of(code)
            ax.scatter(*points[some].T, color=color, marker=mark, label=text, **options)
        more = len(self.labels) - MOST_NAMED
        if more > 0:
            ax.plot([], [], " ", label=f"and {more} more")
        ax.legend(
            title=plain(self.name),
            frameon=False,
            fontsize=8,
            title_fontsize=9,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            handletextpad=0.3,
            markerscale=max(1.0, (30 / size) ** 0.5),
        )


def as_coloring(color: Any, X: Array, rows: NDArray[np.intp], n: int, names: Names) -> Coloring:
    """Return the coloring of some rows.

    Parameters
    ----------
    color
        None, labels or numbers (n,), or the number or the name of a column of X.
    X
        The rows drawn (m, d).
    rows
        Their row numbers (m,) among all n.
    n
        The number of all rows.
    names
        The names of the columns, or None.
    """
    what = f"None, an array of {n} labels or numbers, or a column of X by number or name"
    if color is None:
        return Coloring("", np.zeros(len(rows), dtype=np.intp), ())
    if isinstance(color, str) or np.ndim(color) == 0:
        c = as_column(color, names, X.shape[1], "color", what)
        return Coloring(f"column {c}" if names is None else names[c], X[:, c])
    array, missing = split_missing(color, "color", what)
    if array.shape != (n,):
        raise parameter_error("color", what, f"shape {array.shape}")
    name = str(getattr(color, "name", "") or "")
    some = array[rows]
    unknown = np.zeros(len(rows), dtype=bool) if missing is None else missing[rows]
    if some.dtype.kind == "f" or (some.dtype.kind in "iu" and _are_numbers(array)):
        return Coloring(name, np.where(unknown, np.nan, some.astype(np.float64)))
    if some.dtype.kind not in "iubUSOT":
        raise parameter_error("color", what, f"dtype {array.dtype}")
    texts = np.array([str(value) for value in some.tolist()], dtype=object)
    unknown |= np.array([is_missing(value) for value in some.tolist()], dtype=bool)
    if unknown.all():
        raise parameter_error("color", what, "no label or number that is known")
    found = _in_order(set(array[rows][~unknown].tolist()))
    place = {label: code for code, label in enumerate(map(str, found))}
    codes = np.array([-1 if u else place[t] for t, u in zip(texts, unknown, strict=True)])
    return Coloring(name, codes.astype(np.intp), tuple(place))


def _are_numbers(array: NDArray[Any]) -> bool:
    """Return whether whole numbers are too many different ones to be labels."""
    return len(np.unique(array)) > MOST_LABELS


def _in_order(labels: set[Any]) -> list[Any]:
    """Return labels sorted, as texts where they do not compare."""
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=str)
