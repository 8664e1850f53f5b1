"""Rows of dask collections, each chunk of which is read where it lives (extra `dask`)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from itertools import accumulate
from typing import Any

import numpy as np

from ritz.reading import is_dask
from ritz.rows import Block
from ritz.streams.labels import as_group_numbers
from ritz.streams.reduction import Chunk, chunk_error, reduce_chunks
from ritz.streams.stream import ArrayStream, Stream
from ritz.threads import one_blas_thread
from ritz.validation import (
    Array,
    Names,
    as_numeric,
    as_weights,
    column_names,
    parameter_error,
    require_finite,
)


@dataclass(frozen=True, eq=False)
class DaskStream(Stream):
    """Aligned dask arrays (n, d), each chunk of rows being whole in its columns.

    Parameters
    ----------
    views
        Arrays (n, d) with the same chunks of rows.
    weight, groups
        Dask arrays (n,) with these chunks: weights, and labels as numbers; or None.
    column_names
        The names of the columns of each view.
    """

    views: tuple[Any, ...]
    weight: Any = None
    groups: Any = None
    column_names: tuple[Names, ...] = ()

    @property
    def names(self) -> tuple[Names, ...]:
        return self.column_names or super().names

    @property
    def n_rows(self) -> int | None:
        return sum(self.sizes)

    @cached_property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(int(view.shape[1]) for view in self.views)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of rows of each chunk."""
        return tuple(map(int, self.views[0].chunks[0]))

    def blocks(self) -> Iterator[Block]:
        """Yield all rows, one chunk after the other: each is brought to this process."""
        for chunk in self._chunks([None] * len(self.sizes)):
            yield from reduce_chunks(partial(on_chunk, itself), [chunk], operator.add).blocks()

    def reduce(
        self,
        part: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        first_row: int | None = None,
        *,
        threads: int = 1,
        progress: bool | None = None,
        only: Sequence[int] | None = None,
    ) -> Any:
        """Return what `Stream.reduce` does, for all chunks or `only` those of some numbers."""
        before = None if first_row is None else self._rows_before(first_row)
        chunks = self._chunks(before or [None] * len(self.sizes))
        chunks = chunks if only is None else [chunks[number] for number in only]
        return reduce_chunks(partial(on_chunk, part), chunks, merge, progress)

    def _chunks(self, before: list[Any]) -> list[Chunk]:
        """Return the chunks, with the number of rows of positive weight before each."""
        columns = [*self.views, self.weight, self.groups]
        pieces = [pieces_of(column, len(self.sizes)) for column in columns]
        starts = accumulate(self.sizes, initial=0)
        chunks = []
        for number, (start, size, count) in enumerate(
            zip(starts, self.sizes, before, strict=False)
        ):
            *views, weight, groups = (column[number] for column in pieces)
            arguments = count, start, tuple(views), weight, groups
            chunks.append(Chunk(chunk_name(number, start, start + size), size, arguments))
        return chunks

    def _rows_before(self, first_row: int) -> list[int]:
        """Return how many rows of positive weight precede each chunk, `first_row` the first one."""
        counts = self.sizes if self.weight is None else self._positive
        return [first_row + count for count in accumulate(counts, initial=0)][:-1]

    @cached_property
    def _positive(self) -> list[int]:
        """The number of rows of positive weight of each chunk."""
        pieces = pieces_of(self.weight, len(self.sizes))
        chunks = [
            Chunk(f"chunk {number} of sample_weight", size, (number, piece))
            for number, (size, piece) in enumerate(zip(self.sizes, pieces, strict=True))
        ]
        counts: dict[int, int] = reduce_chunks(count_positive, chunks, operator.or_)
        return [counts[number] for number in range(len(chunks))]

    def head(self, m: int) -> Array:
        return np.asarray(self.views[0][:m].compute(), dtype=np.float64)

    def in_units(self, units: Callable[[Any], Any]) -> DaskStream:
        views = tuple(view.map_blocks(units, dtype=np.float64) for view in self.views)
        return replace(self, views=views)


def dask_stream(
    arrays: tuple[Any, ...],
    sample_weight: Any = None,
    groups: Any = None,
    names: tuple[Names, ...] | None = None,
    *,
    at_least: int = 2,
) -> DaskStream:
    """Return the stream of aligned dask arrays (n, d) or frames; their chunks are not read yet.

    Weights (n,) and groups (n,) may be arrays of either kind. They follow the chunks of X.
    """
    views = [as_dask_rows(array, name) for name, array in zip("XY", arrays, strict=False)]
    rows = views[0].chunks[0]
    n = sum(rows)
    if n < at_least:
        raise parameter_error("X", f"an array with at least {at_least} row(s)", f"{n} row(s)")
    for name, view in zip("XY", views, strict=False):
        if view.shape[0] != n:
            raise parameter_error(name, f"aligned with X, {n} rows", f"{view.shape[0]} rows")
    views = [view.rechunk((rows, (view.shape[1],))) for view in views]
    weight = None if sample_weight is None else along_rows(sample_weight, "sample_weight", rows)
    labels = None if groups is None else along_rows(groups, "groups", rows)
    return DaskStream(tuple(views), weight, labels, names or tuple(map(lazy_names, arrays)))


def as_dask_rows(array: Any, name: str) -> Any:
    """Return a dask array (n, d) with chunks of known size, of an array or of a frame."""
    if not is_dask(array):
        what = "a dask array like the other view"
        raise parameter_error(name, what, type(array).__name__, kind=TypeError)
    if hasattr(array, "columns"):
        # The lengths of the parts of a frame are never known before they are counted.
        array = array.to_dask_array(lengths=True)
    if getattr(array, "ndim", None) != 2:
        shape = getattr(array, "shape", type(array).__name__)
        raise parameter_error(name, "a dask array (n, d)", shape, "Use frame.to_dask_array().")
    require_known_chunks(array, name)
    if array.shape[1] == 0:
        raise parameter_error(name, "an array with at least one column", array.shape)
    return array


def require_known_chunks(array: Any, name: str) -> None:
    """Raise unless the chunks of a dask array have a known size."""
    if np.isnan(array.shape).any():
        remedy = "Call array.compute_chunk_sizes(), or frame.to_dask_array(lengths=True), first."
        raise parameter_error(name, "a dask array with known chunk sizes", "unknown ones", remedy)


def lazy_names(array: Any) -> Names:
    """Return the names of the columns of a frame of dask; an array has none."""
    # An empty frame of pandas, with these columns.
    return column_names(array._meta)


def map_rows(function: Callable[[Any], Any], X: Any, dimension: int) -> Any:
    """Return the dask array of a function's values at the rows of X (n, d), none computed yet.

    Parameters
    ----------
    function
        A function of rows (b, d) that returns an array with as many rows.
    X
        A dask array or frame; its chunks of rows stay as they are, and may be of unknown size.
    dimension
        The number of columns that the function expects.
    """
    rows = X.to_dask_array() if hasattr(X, "columns") else X
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise parameter_error("X", f"a dask array with {dimension} columns", rows.shape)
    if len(rows.chunks[1]) > 1:
        rows = rows.rechunk({1: -1})
    example = np.asarray(function(np.zeros((1, dimension), dtype=as_float(rows.dtype))))
    chunks = (rows.chunks[0], (example.shape[1],)) if example.ndim > 1 else None
    # One task holds the function, with all that it refers to, and each worker gets it once.
    shared = import_module("dask").delayed(itself, pure=False, traverse=False)(function)
    return rows.map_blocks(
        values_at,
        function=shared,
        like=example[:0],
        dtype=example.dtype,
        meta=example[:0],
        chunks=chunks,
        drop_axis=[] if example.ndim > 1 else 1,
    )


def values_at(rows: Any, function: Callable[[Any], Any], like: Any, block_info: Any) -> Any:
    """Return a function's values at the rows of a chunk, which may have none.

    Errors name the chunk, whose place is in dask's `block_info`, and the row of X where chunks are
    of known size.
    """
    number, (start, end) = (block_info[0][f"{what}-location"][0] for what in ("chunk", "array"))
    is_known = not np.isnan(end)
    first_row = int(start) if is_known else 0
    try:
        rows = as_numeric(rows, "X", allow_missing=False, first_row=first_row)
        rows = np.ascontiguousarray(rows, dtype=as_float(rows.dtype))
        require_finite(rows, "X", first_row, for_squares=True)
        return function(rows) if len(rows) else like
    except Exception as error:
        name = f"chunk {number} of X, whose rows are counted from 0"
        name = chunk_name(number, start, end) if is_known else name
        raise chunk_error(error, Chunk(name, len(rows), ())) from error


def chunk_name(number: int, start: int, end: int) -> str:
    """Return what errors call a chunk."""
    return f"chunk {number} of X, rows {start} to {end - 1}"


def as_float(dtype: Any) -> Any:
    """Return the type of rows that estimators make of others: float32 stays."""
    return dtype if dtype == np.float32 else np.float64


def along_rows(column: Any, name: str, rows: tuple[int, ...]) -> Any:
    """Return weights or labels (n,) of any kind as a dask array with the given chunks of rows."""
    if hasattr(column, "to_dask_array"):
        column = column.to_dask_array(lengths=True)
    if not is_dask(column):
        check = as_weights if name == "sample_weight" else as_group_numbers
        return import_module("dask.array").from_array(check(column, sum(rows)), chunks=(rows,))
    require_known_chunks(column, name)
    if column.shape != (sum(rows),):
        raise parameter_error(name, f"an array of shape ({sum(rows)},)", f"shape {column.shape}")
    return column.rechunk((rows,))


def on_chunk(part: Callable[..., Any], first_row: int | None, *chunk: Any) -> Any:
    """Return a function's value on the rows of a chunk, by the one thread that dask gives it."""
    with one_blas_thread():
        return part(as_chunk(*chunk), first_row)


def itself(value: Any, first_row: int | None = None) -> Any:
    """Return a value, such as the rows of a chunk, as it is."""
    return value


def as_chunk(start: int, views: tuple[Any, ...], weight: Any, groups: Any) -> ArrayStream:
    """Return the rows of a chunk as a stream, whose row numbers begin at `start`."""
    n = len(views[0])
    weight = None if weight is None else as_weights(weight, n, first_row=start)
    groups = None if groups is None else as_group_numbers(groups, n, start)
    return ArrayStream(views, weight, groups, first_row=start)


def count_positive(number: int, weight: Any) -> dict[int, int]:
    """Return the number of positive weights of a chunk, under the chunk's number."""
    return {number: int(np.count_nonzero(np.asarray(weight) > 0))}


def pieces_of(array: Any, n_chunks: int) -> list[Any]:
    """Return the chunks of an array, or None for each of them where there is no array."""
    return [None] * n_chunks if array is None else array.to_delayed().ravel().tolist()
