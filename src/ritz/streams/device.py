"""Rows of arrays on a device, read in blocks that stay there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ritz.devices import DeviceRows
from ritz.rows import Block, Keys, hash_rows, row_slices
from ritz.streams.stream import ArrayStream, rows_per_chunk


@dataclass(frozen=True, eq=False)
class DeviceStream(ArrayStream):
    """Aligned `DeviceRows` (n, d) of one device, whose blocks hold arrays of that device.

    Folds and samples follow from hashes of rows, of integers that the standard lacks. So each row
    is copied to the host once, in chunks, and its hash is kept there. Weights and groups are on
    the host.
    """

    views: tuple[DeviceRows, ...]

    @cached_property
    def keys(self) -> Keys:
        """The hash (n,) of each row, of all views together."""
        if len(self.views) == 1:
            return self.views[0].keys
        hashes = [
            hash_rows(*(np.asarray(view[rows], np.float64) for view in self.views))
            for rows in row_slices(self.n_rows or 0, rows_per_chunk(sum(self.dimensions)))
        ]
        return np.concatenate(hashes)

    def _block(self, rows: slice) -> Block:
        return Block(
            tuple(
                view.block(rows, name, for_squares=True)
                for name, view in zip("XY", self.views, strict=False)
            ),
            np.ones(rows.stop - rows.start) if self.weight is None else self.weight[rows],
            np.arange(rows.start, rows.stop),
            None if self.groups is None else self.groups[rows],
            self.keys[rows],
        )

    def as_host(self, reason: str) -> ArrayStream:
        """Return the stream of the same memory as arrays of NumPy; raise if there is none."""
        views = tuple(view.as_host(reason) for view in self.views)
        return ArrayStream(views, self.weight, self.groups, self.column_names)

    def whole(self, reason: str) -> Block:
        return self.as_host(f"{reason}.").whole(reason)
