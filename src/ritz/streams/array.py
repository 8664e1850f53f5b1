"""Rows of arrays in memory or mapped from a file, and anything NumPy can read as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, Block, hash_rows, in_one_piece, require_finite, row_slices
from ritz.cached import cached_property
from ritz.streams.stream import Stream, rows_per_chunk


@dataclass(frozen=True, eq=False)
class ArrayStream(Stream):
    """Aligned arrays (n, d), read in chunks; nothing but a chunk is copied."""

    views: tuple[Any, ...]
    weight: Array | None = None
    groups: NDArray[Any] | None = None

    @property
    def n_rows(self) -> int | None:
        return int(self.views[0].shape[0])

    @cached_property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(int(view.shape[1]) for view in self.views)

    @property
    def single(self) -> bool:
        return all(view.dtype == np.float32 for view in self.views)

    def blocks(self) -> Iterator[Block]:
        chunks = self._chunks()
        if len(chunks) == 1:
            yield self._only
            return
        for rows in chunks:
            yield self._block(rows)

    @cached_property
    def _only(self) -> Block:
        """All rows, where that is a chunk: read, checked and hashed once."""
        return self._block(slice(0, len(self.views[0])), hashed=True)

    def _chunks(self) -> list[slice]:
        """Return the rows to read at once."""
        return row_slices(len(self.views[0]), rows_per_chunk(sum(self.dimensions)))

    def _read(self, view: Any, rows: slice) -> NDArray[Any]:
        """Return some rows of a view."""
        return np.asarray(view[rows])

    def _block(self, rows: slice, hashed: bool = False) -> Block:
        views = []
        for name, view in zip("XY", self.views, strict=False):
            part = in_one_piece(self._read(view, rows))
            require_finite(part, name, first_row=rows.start)
            views.append(part)
        n = len(views[0])
        return Block(
            tuple(views),
            np.ones(n) if self.weight is None else self.weight[rows],
            np.arange(rows.start, rows.start + n),
            None if self.groups is None else self.groups[rows],
            hash_rows(*views) if hashed else None,
        )

    def whole(self, reason: str) -> Block:
        return self._block(slice(0, len(self.views[0])))
