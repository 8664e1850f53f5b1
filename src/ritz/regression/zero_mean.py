"""The constant of a function of which only gradients are known: its mean over the rows is zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, row_slices
from ritz.bases import Basis
from ritz.regression.observations import Observations
from ritz.regression.solution import Solution
from ritz.regression.targets import observed_rows

MEAN_ROWS = 1000


@dataclass(frozen=True, eq=False)
class RowMeans:
    """Sums of functions over the rows at which something was observed; those of two parts add.

    Parameters
    ----------
    total, count
        The sums (p,), and the number of rows.
    rows
        The first of the rows (m, d), at most 1,000, in units of their own.
    """

    total: Array
    count: int
    rows: Array

    @classmethod
    def of(cls, basis: Basis, X: NDArray[Any], observations: Observations) -> RowMeans:
        """Go over the rows once."""
        units, there = observations.units, observed_rows(observations)
        total = np.zeros(basis.size)
        for part in row_slices(len(X), 2048):
            rows = (X[part][there[part]] - units.center) / units.spread
            if len(rows):
                total += basis(rows).sum(axis=0)
        first = np.asarray(X[np.flatnonzero(there)[:MEAN_ROWS]], dtype=np.float64)
        return cls(total, int(there.sum()), (first - units.center) / units.spread)

    def __add__(self, other: RowMeans) -> RowMeans:
        rows = np.concatenate([self.rows, other.rows])[:MEAN_ROWS]
        return RowMeans(self.total + other.total, self.count + other.count, rows)

    def taken_off(self, solution: Solution) -> Solution:
        """Return the solution less its mean over the rows."""
        constants = -(self.total @ solution.coefficients) / self.count
        return replace(solution, constants=constants, about=self.rows)
