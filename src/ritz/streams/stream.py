"""Where rows come from: a stream yields its blocks as often as asked; arrays are streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.rows import (
    Block,
    Keys,
    RowSample,
    hash_rows,
    lowest_distinct,
    row_slices,
    seeded_priorities,
)
from ritz.validation import Array, Names, as_contiguous, as_real, parameter_error, require_finite

# Limits of what is read at a time, in bytes and rows: enough work for all threads, little memory.
CHUNK_BYTES = 64_000_000
CHUNK_ROWS = 131_072


@dataclass(frozen=True, eq=False)
class Stream(ABC):
    """Rows that come in blocks.

    A subclass implements `dimensions` and `blocks`.
    """

    @property
    @abstractmethod
    def dimensions(self) -> tuple[int, ...]:
        """The number of columns of each view."""

    @property
    def names(self) -> tuple[Names, ...]:
        """The names of the columns of each view, None where they have none."""
        return (None,) * len(self.dimensions)

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known before a pass."""
        return None

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield all rows, in blocks of any size; each call starts from the first row again."""

    def sample(self, m: int, seed: int, view: int = 0) -> Array:
        """Return up to m distinct rows of positive weight of a view, at random.

        The choice depends on the set of rows and the seed alone: not on order, repetition or
        blocks.
        """
        return self.sample_distinct(m, seed, view).X

    def sample_distinct(self, m: int, seed: int, view: int = 0) -> RowSample:
        """Return the rows of `sample`, with how often and with what weight they occur."""
        kept = RowSample(np.empty((0, self.dimensions[view])), np.empty(0), np.empty(0))
        known = np.empty(0, dtype=np.uint64)
        for block in self.blocks():
            kept, known = _merge_sample(block, view, m, seed, kept, known)
            # Free the block before the next one is read.
            del block
        if not len(known):
            remedy = "Each call of the 'source' of Batches must return a fresh iterator."
            raise parameter_error("X", "rows, at least one of positive weight", "none", remedy)
        return kept

    def whole(self, reason: str) -> Block:
        """Return all rows as one block; raise for the given reason if they are not in memory."""
        raise TypeError(
            f"{reason}, so X must be an array. Got {type(self).__name__}, which yields blocks. "
            "Put all rows into one NumPy array, or choose an operator that reads blocks, such as "
            "ritz.neighbors()."
        )


def _merge_sample(
    block: Block, view: int, m: int, seed: int, kept: RowSample, known: Keys
) -> tuple[RowSample, Keys]:
    """Merge the rows kept so far, and their priorities `known`, with those of a block.

    Returns the m rows of lowest priority, ascending, and their priorities.
    """
    rows, weight = block.views[view], block.weight
    priority = seeded_priorities(hash_rows(rows), seed)
    eligible = weight > 0
    if len(known) >= m:
        eligible &= priority <= known[-1]
    if not eligible.all():
        rows, weight, priority = rows[eligible], weight[eligible], priority[eligible]
    copies = np.ones(len(rows))
    if len(known):
        rows, weight, copies = map(np.concatenate, zip(kept, (rows, weight, copies), strict=True))
        priority = np.concatenate([known, priority])
    pick = lowest_distinct(priority, m)
    lowest = priority[pick]
    # Every row that equals one of those kept now was eligible, so that totals are complete.
    low = np.flatnonzero(priority <= lowest.max(initial=0))
    place = np.searchsorted(lowest, priority[low])
    weight, copies = (
        np.asarray(np.bincount(place, part[low], len(pick)), dtype=np.float64)
        for part in (weight, copies)
    )
    return RowSample(rows[pick], weight, copies), lowest


def rows_per_chunk(columns: int) -> int:
    """Return how many rows of that many columns to read at a time."""
    return max(1, min(CHUNK_BYTES // (8 * max(columns, 1)), CHUNK_ROWS))


@dataclass(frozen=True, eq=False)
class ArrayStream(Stream):
    """Aligned arrays (n, d), read in chunks; only one chunk is copied at a time."""

    views: tuple[Any, ...]
    weight: Array | None = None
    groups: NDArray[Any] | None = None
    column_names: tuple[Names, ...] = ()

    @property
    def names(self) -> tuple[Names, ...]:
        return self.column_names or super().names

    @property
    def n_rows(self) -> int | None:
        return int(self.views[0].shape[0])

    @cached_property
    def dimensions(self) -> tuple[int, ...]:
        return tuple([int(view.shape[1]) for view in self.views])

    def blocks(self) -> Iterator[Block]:
        for rows in self._chunks():
            yield self._block(rows)

    def _chunks(self) -> list[slice]:
        """Return the rows to read at once."""
        return row_slices(len(self.views[0]), rows_per_chunk(sum(self.dimensions)))

    def _read(self, view: Any, rows: slice) -> Any:
        """Return some rows of a view."""
        return view[rows]

    def _block(self, rows: slice) -> Block:
        views = []
        for name, view in zip("XY", self.views, strict=False):
            part = as_contiguous(as_real(self._read(view, rows), name, first_row=rows.start))
            require_finite(part, name, first_row=rows.start, for_squares=True)
            views.append(part)
        n = len(views[0])
        return Block(
            tuple(views),
            np.ones(n) if self.weight is None else self.weight[rows],
            np.arange(rows.start, rows.start + n),
            None if self.groups is None else self.groups[rows],
        )

    def whole(self, reason: str) -> Block:
        return self._block(slice(0, len(self.views[0])))
