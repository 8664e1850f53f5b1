"""Rows with weights, in which equal rows count as one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.rows import Keys, hash_rows, lowest_distinct, row_slices, seeded_priorities
from ritz.validation import Array

# Rows that are hashed at a time: other number types than float64 are converted for it.
HASHED_ROWS = 65_536


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
    def distinct(self) -> DistinctRows:
        """The distinct rows of positive weight, ordered by their hash, with their total weights.

        They are the same whatever the order of the rows, and a weight of two is a row given twice.
        """
        parts = row_slices(len(self.X), HASHED_ROWS)
        keys = np.concatenate([np.empty(0, np.uint64), *(hash_rows(self.X[p]) for p in parts)])
        order = np.argsort(keys, kind="stable")
        if not (self.weight > 0).all():
            order = order[self.weight[order] > 0]
        keys, weight = keys[order], self.weight[order]
        is_first = np.ones(len(keys), dtype=np.bool_)
        is_first[1:] = keys[1:] != keys[:-1]
        if is_first.all():
            return DistinctRows(self.X, order, weight, keys)
        total = np.bincount(np.cumsum(is_first) - 1, weights=weight).astype(np.float64)
        return DistinctRows(self.X, order[is_first], total, keys[is_first])

    def __len__(self) -> int:
        return len(self.X)

    def __add__(self, other: WeightedRows) -> WeightedRows:
        return WeightedRows(
            np.concatenate([self.X, other.X]), np.concatenate([self.weight, other.weight])
        )

    def __getitem__(self, index: Any) -> WeightedRows:
        return WeightedRows(self.X[index], self.weight[index])


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows of an array that is not copied: it may be as large as memory.

    Parameters
    ----------
    X
        The array (n, d).
    place
        The numbers (m,) of the distinct rows.
    weight, keys
        Their weights (m,) and hashes (m,).
    """

    X: NDArray[Any]
    place: NDArray[np.intp]
    weight: Array
    keys: Keys

    def __len__(self) -> int:
        return len(self.place)

    def __getitem__(self, index: Any) -> WeightedRows:
        return WeightedRows(np.asarray(self.X[self.place[index]]), self.weight[index])

    def sample(self, m: int, seed: int) -> WeightedRows:
        """Return up to m rows at random, those of `ritz.rows.sample_rows`."""
        return self[lowest_distinct(seeded_priorities(self.keys, seed), m)]


def equal_rows(X: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of each group of equal rows, and the group (n,) of each row."""
    _, first, group = np.unique(hash_rows(X), return_index=True, return_inverse=True)
    return first, group
