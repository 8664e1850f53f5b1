"""Rows from an iterable of arrays: files read one by one, a simulation, a generator function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ritz.rows import Block
from ritz.streams.stream import Stream
from ritz.validation import (
    Names,
    as_choice,
    as_rows,
    as_weights,
    column_names,
    parameter_error,
    require_finite,
    require_names,
)


@dataclass(frozen=True, eq=False)
class Batches(Stream):
    """Rows from arrays that come one after the other; empty arrays are skipped.

    Parameters
    ----------
    source
        A list of arrays (b, d), or a function that returns a fresh iterator over arrays: the
        rows are read more than once. For two views each item is a pair of arrays. Frames must
        have the same columns, in the same order.
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
            what = "a list of arrays, or a function that returns an iterator over them"
            hint = "An iterator can be read only once, and the rows are needed twice."
            raise parameter_error("source", what, type(self.source).__name__, hint, kind=TypeError)
        if not callable(self.source) and not isinstance(self.source, Iterable):
            what = "a list of arrays or a function"
            raise parameter_error("source", what, self.source, kind=TypeError)
        object.__setattr__(self, "views", as_choice(self.views, "views", (1, 2)))

    @cached_property
    def _first(self) -> tuple[Block, tuple[Names, ...]]:
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
                as_rows(part, f"batch {number}", d)
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
