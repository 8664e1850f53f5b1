"""Where rows come from: anything that yields blocks, more than once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, Block, hash_rows, lowest, must, priorities

CHUNK_BYTES = 64_000_000
CHUNK_ROWS = 131_072


@dataclass(frozen=True, eq=False)
class Stream(ABC):
    """Rows that come in blocks.

    A new kind of stream says how many views and columns it has, and yields its blocks; the rest
    follows.
    """

    @property
    @abstractmethod
    def dimensions(self) -> tuple[int, ...]:
        """The number of columns of each view."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known before a pass."""
        return None

    @property
    def single(self) -> bool:
        """Whether the rows came as float32."""
        return False

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield all rows, in blocks of any size; each call starts from the first row again."""

    def sample(self, m: int, seed: int, view: int = 0) -> Array:
        """Return up to m distinct rows of positive weight of a view, at random.

        The choice depends on the set of rows and the seed alone: not on order, repetition or
        blocks.
        """
        kept = np.empty((0, self.dimensions[view]))
        known = np.empty(0, dtype=np.uint64)
        for block in self.blocks():
            kept, known = lowest_of(block, view, m, seed, kept, known)
            # So that there is never more than one.
            del block
        if not len(kept):
            raise ValueError(
                must("X", "rows, at least one of positive weight", "none")
                + " Each call of the 'source' of Batches must return a fresh iterator."
            )
        return kept

    def whole(self, reason: str) -> Block:
        """Return all rows at once, where they are in reach."""
        raise TypeError(
            f"{reason}, so X must be an array. Got {type(self).__name__}, which yields blocks."
        )


def lowest_of(
    block: Block, view: int, m: int, seed: int, kept: Array, known: NDArray[np.uint64]
) -> tuple[Array, NDArray[np.uint64]]:
    """Return m rows of lowest priority, in that order, and their priorities.

    They are chosen among those kept, whose priorities are known, and those of a block.
    """
    rows = block.views[view]
    keys = block.keys if len(block.views) == 1 else None
    priority = priorities(hash_rows(rows) if keys is None else keys, seed)
    below = block.weight > 0
    if len(kept) >= m:
        below &= priority < known[-1]
    if not below.all():
        rows, priority = rows[below], priority[below]
    if not len(known):
        pick = lowest(priority, m)
        return rows[pick], priority[pick]
    both = np.concatenate([known, priority])
    pick = lowest(both, m)
    old = pick < len(known)
    result = np.empty((len(pick), rows.shape[1]))
    result[old], result[~old] = kept[pick[old]], rows[pick[~old] - len(known)]
    return result, both[pick]


def rows_per_chunk(columns: int) -> int:
    """Return how many rows to read at once."""
    return max(1, min(CHUNK_BYTES // (8 * max(columns, 1)), CHUNK_ROWS))
