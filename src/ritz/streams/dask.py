"""Rows of dask arrays, computed one chunk at a time (extra `dask`)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from ritz.rows import Block
from ritz.streams.stream import ArrayStream, Stream
from ritz.validation import parameter_error


@dataclass(frozen=True, eq=False)
class DaskStream(ArrayStream):
    """Aligned dask arrays (n, d); no more than one chunk of rows is held at a time."""

    def _chunks(self) -> list[slice]:
        sizes = self.views[0].chunks[0]
        ends = list(accumulate(sizes))
        return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]

    def _read(self, view: Any, rows: slice) -> Any:
        return view[rows].compute()

    def whole(self, reason: str) -> Block:
        return Stream.whole(self, reason)


def require_known_chunks(array: Any, name: str) -> None:
    """Raise unless a dask array is (n, d) with chunks of known size."""
    if getattr(array, "ndim", None) != 2:
        shape = getattr(array, "shape", type(array).__name__)
        raise parameter_error(name, "a dask array (n, d)", shape, "Use frame.to_dask_array().")
    if np.isnan(array.shape[0]):
        remedy = "Call array.compute_chunk_sizes() first."
        raise parameter_error(name, "a dask array with known chunk sizes", "unknown ones", remedy)
