"""Rows with weights: which of them are equal, and which are far from all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ritz.devices import DeviceRows
from ritz.kernels.sections import squared_distances
from ritz.pickling import WithoutCaches
from ritz.rows import (
    HASHED_ROWS,
    Draw,
    Keys,
    hash_rows,
    lowest_distinct,
    row_slices,
    seeded_priorities,
    small_parts,
)
from ritz.sparse import stacked
from ritz.streams import Samples, Stream, as_stream
from ritz.validation import Array, Names

Merge = Callable[[Array, Array], Array]

# Rows of a stream that choices look at: enough to tell candidates a few percent apart.
SAMPLED_ROWS = 2000

# A row is far from all others if its third neighbor is this many times as far as that of 9 in 10.
FAR_FACTOR, FAR_NEIGHBOR, FAR_QUANTILE = 3.0, 3, 0.9


class Rows(Protocol):
    """What choices look at: all rows of an array, or samples of a stream."""

    @property
    def samples(self) -> Samples:
        """The rows as a stream, with what was drawn from it."""

    @property
    def dimension(self) -> int:
        """The number of columns."""

    @property
    def n_distinct(self) -> int:
        """The number of distinct rows of positive weight, for a stream an estimate."""

    def sample(self, m: int, seed: int) -> WeightedRows:
        """Return up to m distinct rows at random, those of `ritz.rows.sample_rows`."""

    def total(self, part: Callable[[Iterator[WeightedRows]], Array], merge: Merge) -> Array:
        """Return a function of all rows of positive weight, which it is given some at a time.

        Rows that live elsewhere stay there: results for parts of them are merged.
        """


@dataclass(frozen=True, eq=False)
class WeightedRows(WithoutCaches):
    """The rows of a fit and their weights.

    Parameters
    ----------
    X
        Rows (n, d), an array, `SparseRows` or `DeviceRows`.
    weight
        Nonnegative weights (n,).
    Y
        Rows (n, e) of a second view: two pairs are equal where both views are.
    groups
        Labels (n,) of rows that belong together, or None.
    names
        The names of the columns of each view.
    """

    file_tag: ClassVar[str] = "WeightedRows"

    X: Any
    weight: Array
    Y: NDArray[Any] | None = None
    groups: Any = None
    names: tuple[Names, ...] | None = None

    @cached_property
    def samples(self) -> Samples:
        views = 1 if self.Y is None else 2
        X = self.X if self.Y is None else (self.X, self.Y)
        return Samples(as_stream(X, views, self.weight, self.groups, self.names))

    @property
    def dimension(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_distinct(self) -> int:
        return len(self.distinct.place)

    def sample(self, m: int, seed: int) -> WeightedRows:
        rows = self.distinct
        some = rows[lowest_distinct(seeded_priorities(rows.keys, seed), m)]
        return replace(some, X=np.asarray(some.X))

    def total(self, part: Callable[[Iterator[WeightedRows]], Array], merge: Merge) -> Array:
        # Of the distinct rows, so that a weight of two is a row given twice to the last digit.
        parts = row_slices(self.n_distinct, HASHED_ROWS)
        return part(self.distinct[some] for some in parts)

    @cached_property
    def distinct(self) -> DistinctRows:
        """The distinct rows of positive weight, ordered by their hash, with their total weights.

        They are the same whatever the order of the rows, and a weight of two is a row given twice.
        """
        keys = keys_of(self.X, self.Y)
        order = np.argsort(keys, kind="stable")
        if not (self.weight > 0).all():
            order = order[self.weight[order] > 0]
        keys, weight = keys[order], self.weight[order]
        is_first = np.ones(len(keys), dtype=np.bool_)
        is_first[1:] = keys[1:] != keys[:-1]
        if is_first.all():
            return DistinctRows(self, order, weight, keys)
        total = np.bincount(np.cumsum(is_first) - 1, weights=weight).astype(np.float64)
        return DistinctRows(self, order[is_first], total, keys[is_first])

    def __len__(self) -> int:
        return len(self.X)

    def __add__(self, other: WeightedRows) -> WeightedRows:
        weight, X = np.concatenate([self.weight, other.weight]), other.X
        if isinstance(self.X, DeviceRows):
            return replace(self, X=self.X.stacked(X), weight=weight)
        if isinstance(X, DeviceRows):
            X = X.as_host("The rows before are arrays of NumPy.")
        return replace(self, X=stacked(self.X, X), weight=weight)

    def __getitem__(self, index: Any) -> WeightedRows:
        Y = None if self.Y is None else np.asarray(self.Y[index])
        groups = None if self.groups is None else np.asarray(self.groups)[index]
        return replace(self, X=self.X[index], weight=self.weight[index], Y=Y, groups=groups)


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows among others that are not copied: they may be as large as memory.

    Parameters
    ----------
    rows
        All rows.
    place
        The numbers (m,) of the distinct rows.
    weight, keys
        Their weights (m,) and hashes (m,).
    """

    rows: WeightedRows
    place: NDArray[np.intp]
    weight: Array
    keys: Keys

    def __getitem__(self, index: Any) -> WeightedRows:
        return replace(self.rows[self.place[index]], weight=self.weight[index])


@dataclass(frozen=True, eq=False)
class StreamRows:
    """The rows of a stream, of which choices see samples.

    Parameters
    ----------
    samples
        The stream.
    seed, most
        The seed of the sample that the number of distinct rows is judged by, and its size.
    view
        The view that is looked at, or None for all of them.
    """

    samples: Samples
    seed: int
    most: int = SAMPLED_ROWS
    view: int | None = 0

    @property
    def first(self) -> Draw:
        """The sample that is drawn first."""
        return Draw(self.most, self.seed, self.view)

    @property
    def dimension(self) -> int:
        return self.samples.stream.dimensions[self.view or 0]

    @property
    def n_distinct(self) -> int:
        return self.samples.get(self.first).n_distinct

    def sample(self, m: int, seed: int) -> WeightedRows:
        found = self.samples.get(Draw(m, seed, self.view))
        X, Y = found.X, None
        if self.view is None:
            X, Y = np.split(found.X, [self.dimension], axis=1)
        return WeightedRows(X, found.weight, Y, found.groups)

    def total(self, part: Callable[[Iterator[WeightedRows]], Array], merge: Merge) -> Array:
        self.samples.keep()
        found: Array = self.samples.stream.reduce(
            partial(_over_blocks, part, self.view or 0), merge
        )
        return found


def _over_blocks(
    part: Callable[[Iterator[WeightedRows]], Array],
    view: int,
    stream: Stream,
    first_row: int | None,
    **options: Any,
) -> Array:
    positive = (block.take(block.weight > 0) for block in stream.blocks())
    return part(WeightedRows(some.views[view], some.weight) for some in positive)


def keys_of(X: Any, Y: Any = None) -> Keys:
    """Return the hash (n,) of each row, together with that of a second view if there is one."""
    if isinstance(X, DeviceRows) and Y is None:
        return X.keys
    views = (X,) if Y is None else (X, Y)
    hashes = (hash_rows(*(view[part] for view in views)) for part in small_parts(X))
    return np.concatenate([np.empty(0, np.uint64), *hashes])


def equal_rows(X: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of each group of equal rows, and the group (n,) of each row."""
    _, first, group = np.unique(keys_of(X), return_index=True, return_inverse=True)
    return first, group


def far_rows(X: Array) -> NDArray[np.bool_]:
    """Return which rows (m,) are far from all others: a function could live on one alone."""
    if len(X) <= FAR_NEIGHBOR:
        return np.zeros(len(X), dtype=np.bool_)
    # The nearest of all is the row itself. Blocks take less memory than all distances at once.
    parts = [
        np.partition(squared_distances(X[part], X), FAR_NEIGHBOR, axis=1)[:, FAR_NEIGHBOR]
        for part in row_slices(len(X), 256)
    ]
    third = np.sqrt(np.concatenate(parts))
    return np.asarray(third > FAR_FACTOR * np.quantile(third, FAR_QUANTILE))
