"""Rows from an iterable of arrays: files read one by one, a simulation, a generator function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ritz.rows import Block
from ritz.sparse import as_points
from ritz.streams.spool import spooled
from ritz.streams.stream import Stream
from ritz.validation import (
    Names,
    as_choice,
    as_contiguous,
    as_weights,
    column_names,
    parameter_error,
    require_finite,
    require_names,
)


class Once:
    """The items of an iterator, for one pass over them."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items, self._seen, self._read = items, list[Any](), False

    def ahead(self) -> Iterator[Any]:
        """Yield items that the pass will yield again."""
        for item in self._items:
            self._seen.append(item)
            yield item

    def __iter__(self) -> Iterator[Any]:
        if self._read:
            raise ValueError(
                "An iterator can be read once only, and these rows were read before. Pass a new "
                "one, or ritz.Batches(function) with a function that returns one."
            )
        self._read = True
        seen, self._seen = self._seen, []
        return chain(seen, self._items)


class Fresh:
    """A function that returns a fresh iterator at each call, or a list."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self._last: Iterator[Any] | None = None

    def __call__(self) -> Any:
        items = self.function()
        if isinstance(items, Iterator):
            if items is self._last:
                what = "a function that returns a fresh iterator at each call"
                remedy = "Make the iterator within the function, as in lambda: iter(arrays)."
                got = "one that returns the same iterator again"
                raise parameter_error("source", what, got, remedy)
            self._last = items
        return items

    def __getstate__(self) -> dict[str, Any]:
        # Iterators are not pickled, and elsewhere none was read.
        return {"function": self.function, "_last": None}


@dataclass(frozen=True, eq=False)
class Batches(Stream):
    """Rows from arrays that come one after the other; empty arrays are skipped.

    Parameters
    ----------
    source
        A list of arrays (b, d), or a function that returns a fresh iterator over arrays. Or an
        iterator: its rows can be read once only, so that they are kept in a temporary file where
        they are needed twice. For two views each item is a pair of arrays. Frames must have the
        same columns, in the same order.
    views
        The number of arrays in each item, 1 or 2.
    weighted
        Whether each item has one more entry, the weights (b,) of its rows.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).normal(size=(1000, 1))
    >>> stream = ritz.Batches(lambda: iter(np.split(X, 10)))
    >>> spectrum = ritz.decompose(ritz.laplacian(), ritz.Monomials(3), stream, k=3)
    """

    source: Iterable[Any] | Callable[[], Iterable[Any]]
    views: int = 1
    weighted: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.source, Iterator):
            object.__setattr__(self, "source", Once(self.source))
        elif callable(self.source) and not isinstance(self.source, Fresh):
            object.__setattr__(self, "source", Fresh(self.source))
        elif not callable(self.source) and not isinstance(self.source, Iterable):
            what = "a list of arrays or a function"
            raise parameter_error("source", what, self.source, kind=TypeError)
        object.__setattr__(self, "views", as_choice(self.views, "views", (1, 2)))

    def rereadable(self) -> Stream:
        return spooled(self) if isinstance(self.source, Once) else self

    @cached_property
    def _first(self) -> tuple[Block, tuple[Names, ...]]:
        source = self.source
        if isinstance(source, Once):
            # Its first items are looked at, and come again when the rows are read.
            ahead = replace(self, source=source.ahead)
            return ahead._first
        for block, names in self._named_blocks():
            return block.take(np.arange(1)), names
        raise parameter_error("source", "at least one nonempty batch of rows", "none")

    @property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(int(view.shape[1]) for view in self._first[0].views)

    @property
    def names(self) -> tuple[Names, ...]:
        return self._first[1]

    def blocks(self) -> Iterator[Block]:
        return (block for block, _ in self._named_blocks())

    def _named_blocks(self) -> Iterator[tuple[Block, tuple[Names, ...]]]:
        """Yield all rows in blocks, with the names of the columns of the first ones."""
        start = 0
        dimensions: tuple[int | None, ...] = (None,) * self.views
        names: tuple[Names, ...] = (None,) * self.views
        items = self.source() if callable(self.source) else self.source
        if not isinstance(items, Iterable):
            what = "a list of arrays, or a function that returns an iterator over them"
            raise parameter_error(
                "source", what, f"a function that returns {items!r}", kind=TypeError
            )
        for number, item in enumerate(items):
            parts = self._parts(item, number)
            views = tuple(
                as_contiguous(as_points(part, f"batch {number}", d))
                for part, d in zip(parts[: self.views], dimensions, strict=True)
            )
            for view in views:
                require_finite(view, f"batch {number}", for_squares=True)
            n = len(views[0])
            if any(len(view) != n for view in views):
                lengths = " and ".join(str(len(view)) for view in views)
                raise parameter_error(f"batch {number}", "of aligned views", f"{lengths} rows")
            if not n:
                continue
            dimensions = tuple(view.shape[1] for view in views)
            found = tuple(map(column_names, parts[: self.views]))
            for ours, first in zip(found, names, strict=True):
                require_names(ours, first, f"batch {number}")
            names = found if not start else names
            given = parts[-1] if self.weighted else None
            weight = as_weights(given, n, f"weights of batch {number}")
            yield Block(views, weight, np.arange(start, start + n)), names
            start += n

    def _parts(self, item: Any, number: int) -> tuple[Any, ...]:
        width = self.views + self.weighted
        if width == 1:
            return (item,)
        if not isinstance(item, tuple | list) or len(item) != width:
            got = f"{len(item)} entries" if isinstance(item, tuple | list) else type(item).__name__
            raise parameter_error(f"batch {number}", f"a tuple of {width} arrays", got)
        return tuple(item)
