"""Rows with weights, in which equal rows count as one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.rows import hash_rows
from ritz.validation import Array


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """The rows of a fit and their weights.

    Parameters
    ----------
    X
        Rows (n, d).
    weight
        Nonnegative weights (n,).
    """

    X: NDArray[Any]
    weight: Array

    @cached_property
    def distinct(self) -> WeightedRows:
        """The distinct rows of positive weight, ordered by their hash, with their total weights.

        They are the same whatever the order of the rows, and a weight of two is a row given twice.
        """
        positive = self.weight > 0
        X, weight = self.X[positive], self.weight[positive]
        first, group = equal_rows(X)
        return WeightedRows(X[first], np.bincount(group, weights=weight).astype(np.float64))

    def __len__(self) -> int:
        return len(self.X)

    def __add__(self, other: WeightedRows) -> WeightedRows:
        return WeightedRows(
            np.concatenate([self.X, other.X]), np.concatenate([self.weight, other.weight])
        )

    def __getitem__(self, index: Any) -> WeightedRows:
        return WeightedRows(self.X[index], self.weight[index])


def equal_rows(X: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of each group of equal rows, and the group (n,) of each row."""
    _, first, group = np.unique(hash_rows(X), return_index=True, return_inverse=True)
    return first, group
