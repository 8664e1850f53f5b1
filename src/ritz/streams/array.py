"""Rows of arrays in memory or mapped from a file, and anything NumPy can read as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, Block, as_rows, as_weights, must, require_finite, row_slices
from ritz.streams.stream import Stream, rows_per_chunk


@dataclass(frozen=True, eq=False)
class ArrayStream(Stream):
    """Aligned arrays (n, d), read in chunks; nothing but a chunk is copied."""

    views: tuple[NDArray[Any], ...]
    weight: Array | None = None
    groups: NDArray[Any] | None = None
    random_seed: int = 0

    @property
    def seed(self) -> int:
        return self.random_seed

    @property
    def n_rows(self) -> int | None:
        return len(self.views[0])

    @property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(view.shape[1] for view in self.views)

    def blocks(self) -> Iterator[Block]:
        n = len(self.views[0])
        for rows in row_slices(n, rows_per_chunk(sum(self.dimensions))):
            yield self._block(rows)

    def _block(self, rows: slice) -> Block:
        views = []
        for name, view in zip("XY", self.views, strict=False):
            part = np.ascontiguousarray(view[rows], dtype=np.float64)
            require_finite(part, name, first_row=rows.start)
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


def array_stream(
    arrays: tuple[Any, ...], sample_weight: Any, groups: Any, random_seed: int
) -> ArrayStream:
    """Check aligned arrays and their weights, without reading all of a mapped file."""
    views = []
    for name, array in zip("XY", arrays, strict=False):
        if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "fiub":
            if array.shape[1] == 0:
                raise ValueError(must(name, "an array with at least one column", array.shape))
            views.append(array)
        else:
            views.append(as_rows(array, name))
    n = len(views[0])
    if n < 2:
        raise ValueError(must("X", "an array with at least 2 rows", f"{n} row(s)"))
    if len(views) == 2 and len(views[1]) != n:
        raise ValueError(must("Y", f"aligned with X, {n} rows", f"{len(views[1])} rows"))
    weight = None if sample_weight is None else as_weights(sample_weight, n)
    if weight is not None and not weight.any():
        raise ValueError(must("sample_weight", "positive for some rows", "zeros only"))
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != (n,):
            raise ValueError(must("groups", f"of shape ({n},)", f"shape {groups.shape}"))
        # Labels of any kind become numbers; equal labels stay equal.
        groups = np.unique(groups, return_inverse=True)[1].astype(np.float64)
    return ArrayStream(tuple(views), weight, groups, random_seed)
