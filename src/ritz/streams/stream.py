"""Where rows come from: a stream yields its blocks as often as asked; arrays are streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ritz.progress import tracked
from ritz.rows import Block, Draw, RowSample, row_slices
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

    def sample_distinct(self, m: int, seed: int, view: int | None = 0) -> RowSample:
        """Return the rows of `sample`, with how often and with what weight they occur."""
        return self.samples([Draw(m, seed, view)])[0]

    def samples(self, draws: Sequence[Draw]) -> list[RowSample]:
        """Return several samples, drawn in one pass over the rows."""
        found: list[RowSample] = self.reduce(partial(drawn, draws), merged_draws)
        if not found or any(not len(sample.priority) for sample in found):
            raise self.no_rows(bool(found))
        return found

    def no_rows(self, some: bool) -> Exception:
        """Return the error of rows that there are none of, or some, but none of positive weight."""
        if some:
            what = "rows, at least one of positive weight"
            return parameter_error("X", what, "weights that are all zero")
        remedy = "Where X is Batches, each call of its 'source' must return a fresh iterator."
        return parameter_error("X", "rows", "none", remedy)

    def reduce(
        self,
        part: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        first_row: int | None = None,
        *,
        threads: int = 1,
        progress: bool | None = None,
    ) -> Any:
        """Return `part(rows, first_row)` of the rows of this stream.

        Rows that live elsewhere are not brought here: `part` is called there with each chunk of
        them, as a stream, and the results are merged.

        Parameters
        ----------
        part
            A function of a stream and of the number of its first row. For rows that are read by
            this process it is told `threads` and `progress`, too.
        merge
            A function of two results that returns one, in any order, and changes neither.
        first_row
            How many rows of positive weight come before these; None where that does not matter.
        threads, progress
            As in `ritz.assemble`.
        """
        return part(self, first_row, threads=threads, progress=progress)

    def in_units(self, units: Callable[[Any], Any]) -> Stream:
        """Return what a function makes of the rows, each for itself, of as many columns."""
        return InUnits(self, units)

    def head(self, m: int) -> Array:
        """Return up to m of the first rows (m, d) of the first view, in their order."""
        parts, count = [np.empty((0, self.dimensions[0]))], 0
        for block in self.blocks():
            parts.append(block.views[0][: m - count])
            count += len(parts[-1])
            if count >= m:
                break
        return np.concatenate(parts)

    def rereadable(self) -> Stream:
        """Return a stream of the same rows that may be read more than once."""
        return self

    def whole(self, reason: str) -> Block:
        """Return all rows as one block; raise for the given reason if they are not in memory."""
        raise TypeError(
            f"{reason}, so X must be an array. Got {type(self).__name__}, which yields blocks. "
            "Put all rows into one NumPy array, or choose an operator that reads blocks, such as "
            "ritz.neighbors()."
        )


def drawn(
    draws: Sequence[Draw], stream: Stream, first_row: int | None, **options: Any
) -> list[RowSample]:
    """Return several samples of the rows of a stream; none where it has no rows."""
    kept: list[RowSample] = []
    shown = options.get("progress", False)
    for block in tracked(stream.blocks(), "drawing rows", stream.n_rows, len, "rows", shown):
        before: Sequence[RowSample | None] = kept or [None] * len(draws)
        some = [RowSample.of(block, *pair) for pair in zip(draws, before, strict=True)]
        kept = merged_draws(kept, some)
        # Free the block before the next one is read.
        del block
    return kept


def merged_draws(ours: list[RowSample], theirs: list[RowSample]) -> list[RowSample]:
    """Return the samples of two parts of the rows, drawn alike."""
    if not (ours and theirs):
        return ours or theirs
    return [a + b for a, b in zip(ours, theirs, strict=True)]


@dataclass(frozen=True, eq=False)
class InUnits(Stream):
    """What a function makes of the rows of a stream of one view."""

    rows: Stream
    units: Callable[[Any], Any]

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self.rows.dimensions

    @property
    def names(self) -> tuple[Names, ...]:
        return self.rows.names

    @property
    def n_rows(self) -> int | None:
        return self.rows.n_rows

    def blocks(self) -> Iterator[Block]:
        for block in self.rows.blocks():
            yield replace(block, views=(self.units(block.views[0]),), keys=None)

    def no_rows(self, some: bool) -> Exception:
        return self.rows.no_rows(some)

    def rereadable(self) -> Stream:
        return InUnits(self.rows.rereadable(), self.units)


@dataclass(frozen=True, eq=False)
class Joined(Stream):
    """The rows of one stream after the other; their columns are the same."""

    parts: tuple[Stream, ...]

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self.parts[-1].dimensions

    @property
    def names(self) -> tuple[Names, ...]:
        return self.parts[-1].names

    @property
    def n_rows(self) -> int | None:
        counts = [part.n_rows for part in self.parts]
        return None if None in counts else sum(cast(list[int], counts))

    def blocks(self) -> Iterator[Block]:
        start = 0
        for part in self.parts:
            for block in part.blocks():
                yield replace(block, index=np.arange(start, start + len(block)))
                start += len(block)

    def rereadable(self) -> Stream:
        return Joined(tuple(part.rereadable() for part in self.parts))


def even_blocks(blocks: Iterator[Block], size: int) -> Iterator[Block]:
    """Yield the rows of blocks in blocks of one size; only the last one may be smaller.

    Blocks of that size pass without a copy. Others are copied before the next one is read, which
    may come in the same memory.
    """
    kept: list[Block] = []
    count = 0
    for block in blocks:
        start = 0
        while count + len(block) - start >= size:
            end = start + size - count
            kept.append(block.part(slice(start, end)))
            yield joined_blocks(kept)
            kept, count, start = [], 0, end
        if start < len(block):
            kept.append(block.take(np.arange(start, len(block))))
            count += len(kept[-1])
        # Free the block before the next one is read.
        del block
    if kept:
        yield joined_blocks(kept)


def joined_blocks(blocks: list[Block]) -> Block:
    """Return the rows of several blocks as one."""
    if len(blocks) == 1:
        return blocks.pop()
    first, groups = blocks[0], [block.groups for block in blocks]
    views = [np.concatenate([b.views[v] for b in blocks]) for v in range(len(first.views))]
    return Block(
        tuple(views),
        np.concatenate([block.weight for block in blocks]),
        np.concatenate([block.index for block in blocks]),
        None if first.groups is None else np.concatenate(cast(list[NDArray[Any]], groups)),
    )


def rows_per_chunk(columns: int) -> int:
    """Return how many rows of that many columns to read at a time."""
    return max(1, min(CHUNK_BYTES // (8 * max(columns, 1)), CHUNK_ROWS))


@dataclass(frozen=True, eq=False)
class ArrayStream(Stream):
    """Aligned arrays (n, d), read in chunks; only one chunk is copied at a time.

    Where they are a part of the data, `first_row` is the number of their first row. Errors call
    them by their `labels`.
    """

    views: tuple[Any, ...]
    weight: Array | None = None
    groups: NDArray[Any] | None = None
    column_names: tuple[Names, ...] = ()
    first_row: int = 0
    labels: tuple[str, ...] = ("X", "Y")

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
        for rows in row_slices(self.n_rows or 0, rows_per_chunk(sum(self.dimensions))):
            yield self._block(rows)

    def _block(self, rows: slice) -> Block:
        views, first_row = [], self.first_row + rows.start
        for name, view in zip(self.labels, self.views, strict=False):
            part = as_contiguous(as_real(view[rows], name, first_row=first_row))
            require_finite(part, name, first_row=first_row, for_squares=True)
            views.append(part)
        n = len(views[0])
        return Block(
            tuple(views),
            np.ones(n) if self.weight is None else self.weight[rows],
            np.arange(first_row, first_row + n),
            None if self.groups is None else self.groups[rows],
        )

    def whole(self, reason: str) -> Block:
        return self._block(slice(0, self.n_rows))
