"""What a selection found: the candidates compared, and the one chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ritz import tables
from ritz.bases import Nystrom
from ritz.selection.plot import draw_scores
from ritz.selection.search import Candidate, Setting
from ritz.validation import Array, parameter_error


@dataclass(frozen=True, eq=False)
class Selection:
    """The candidates for a basis that were compared, and the one chosen.

    Parameters
    ----------
    candidates
        All candidates, best score first.
    scores
        Their scores: sum_i log c_i + |log(c_i / a_i)| / 2 over the functions wanted, where c are
        values on unseen rows and a those on the rows seen, both raised by the error of a typical
        candidate. Lower is better.
    chosen
        The candidate chosen: the one of fewest centers within a standard error of the best.
    at_edge
        Which parameters of the choice lie at the edge of what was tried.
    n_rows
        The number of rows of the sample that candidates were compared on.
    finer
        The choice with half its length scales and the most centers: a second basis, which says
        what the first one misses. None where length scales were given.
    """

    candidates: tuple[Candidate, ...]
    scores: Array
    chosen: Candidate
    at_edge: tuple[str, ...]
    n_rows: int
    finer: Candidate | None = None

    def to_file(self) -> SavedSelection:
        """Return the selection as files hold it: the choice by its place among the candidates."""
        place = [candidate is self.chosen for candidate in self.candidates].index(True)
        rest = (self.at_edge, self.n_rows, self.finer)
        return SavedSelection(self.candidates, self.scores, place, *rest)

    @property
    def setting(self) -> Setting:
        """The kernel, the number of centers and the regularization chosen."""
        return self.chosen.setting

    @property
    def recipe(self) -> Nystrom:
        """The basis chosen, for `ritz.decompose` with the regularization chosen."""
        return Nystrom(self.setting.kernel, self.setting.n_centers)

    @property
    def regularization(self) -> float:
        """The regularization chosen."""
        return self.setting.regularization

    @property
    def basis_gains(self) -> Array:
        """The shares (k,) by which the finer basis lowers values on the sample."""
        if self.finer is None or self.finer.held is None or self.chosen.held is None:
            return np.zeros(len(self.chosen.ritz_values))
        gain = 1 - self.finer.estimates / self.chosen.estimates
        return np.where(self.finer.held.generalize, np.maximum(gain, 0.0), 0.0)

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores of all candidates over their length scales (extra `plot`).

        Error bars are those of the difference from the best, and larger marks have more centers.
        Returns the matplotlib axes, new ones if none are given.
        """
        return draw_scores(self, ax)

    def __str__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        headers, rows = cells(self)
        found = tables.table(head(self), headers, rows, text=(5,), marked=(0,))
        return tables.face(found, tables.paragraphs(notes(self)))

    def __repr__(self) -> str:
        return f"<Selection: {self.setting} of {len(self.candidates)} candidates>"


@dataclass(frozen=True, eq=False)
class SavedSelection:
    """A `Selection` in files, where `chosen` is the number of a candidate."""

    file_tag: ClassVar[str] = "Selection"
    unbounded_fields: ClassVar[tuple[str, ...]] = ("scores",)

    candidates: tuple[Candidate, ...]
    scores: Array
    chosen: int
    at_edge: tuple[str, ...]
    n_rows: int
    finer: Candidate | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.chosen < len(self.candidates) == len(self.scores):
            n = f"{len(self.candidates)} candidates and {len(self.scores)} scores"
            raise parameter_error("chosen", "the number of a candidate", f"{self.chosen} of {n}")

    def from_file(self) -> Selection:
        """Return the selection."""
        chosen, rest = self.candidates[self.chosen], (self.at_edge, self.n_rows, self.finer)
        return Selection(self.candidates, self.scores, chosen, *rest)


def table(selection: Selection) -> str:
    """Return the best candidates as text."""
    headers, rows = cells(selection)
    lines = [head(selection)]
    for row in (headers, *rows):
        *columns, last = (
            f"{cell:>{width}}" for cell, width in zip(row, (10, 8, 9, 9, 12, 0), strict=True)
        )
        lines.append(f"{''.join(columns)}  {last}")
    return "\n".join([*lines, *notes(selection)])


def cells(selection: Selection, most: int = 10) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the headers and the rows of the table of the best candidates, the chosen one first."""
    best = selection.candidates[0]
    shown = list(zip(selection.candidates, selection.scores, strict=True))
    first = [pair for pair in shown[:most] if pair[0] is not selection.chosen]
    chosen = [pair for pair in shown if pair[0] is selection.chosen]
    rows: list[tuple[str, ...]] = []
    for candidate, score in chosen + first:
        setting, held = candidate.setting, candidate.held
        error = candidate.difference_error(best)
        variances = "failed" if held is None else "{:.2f}-{:.2f}".format(*_range(held.variances))
        mark = "  (chosen)" if candidate is selection.chosen else ""
        rows.append(
            (
                f"{score:.3f}",
                f"{error:.3f}",
                str(setting.n_centers),
                f"{setting.regularization:.0e}",
                variances,
                f"{tables.rounded(repr(setting.kernel))}{mark}",
            )
        )
    return ("score", "error", "centers", "penalty", "variances", "kernel"), rows


def head(selection: Selection) -> str:
    """Return the line above the table."""
    return f"Selection: {len(selection.candidates)} candidates on {selection.n_rows:,} rows"


def notes(selection: Selection) -> list[str]:
    """Return what stands below the table."""
    if not selection.at_edge:
        return []
    return [f"The choice lies at the edge of what was tried: {' and '.join(selection.at_edge)}."]


def _range(values: Array) -> tuple[float, float]:
    return float(values.min()), float(values.max())
