"""Shuffled mini-batches of a stream, and the rows held out for validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.rows import Block, hash_rows
from ritz.streams import ArrayStream, Stream

# Rows of a stream kept in memory to be shuffled: many batches of the usual size, and still small.
SHUFFLE_ROWS = 65_536


@dataclass(frozen=True, eq=False)
class Minibatches:
    """Batches of rows in random order; a hash of each row decides whether it is held out.

    Rows of arrays are shuffled as a whole, those of other streams within pools of 65,536. A stream
    with a method `fresh(epoch)` gives other rows in each epoch. A batch has `size` rows; rows of a
    group are held out together.
    """

    stream: Stream
    size: int
    fraction: float
    seed: int

    def epoch(self, number: int) -> Iterator[Block]:
        """Yield the training rows once, in full batches; a partial batch only if it is alone."""
        rng = np.random.default_rng([self.seed, number])
        if isinstance(self.stream, ArrayStream):
            order = rng.permutation(self._training_rows)
            size = min(self.size, len(order))
            for start in range(0, len(order) - size + 1, max(size, 1)):
                yield self._rows(order[start : start + size])
        else:
            yield from self._pooled(number, rng)

    def _pooled(self, number: int, rng: np.random.Generator) -> Iterator[Block]:
        """Yield batches from a pool of rows that is filled, shuffled and emptied again."""
        fresh = getattr(self.stream, "fresh", None)
        stream = self.stream if fresh is None else fresh(number)
        pool: list[Block] = []
        rows, any_batch = 0, False
        for block in stream.blocks():
            pool.append(block.take(self._is_training(block)))
            rows += len(pool[-1])
            if rows >= max(SHUFFLE_ROWS, self.size):
                batches, rest = self._split(concatenated(pool), rng)
                yield from batches
                pool, rows, any_batch = [rest], len(rest), True
        if rows:
            batches, rest = self._split(concatenated(pool), rng)
            yield from batches
            if not (any_batch or batches):
                yield rest

    def _split(self, pool: Block, rng: np.random.Generator) -> tuple[list[Block], Block]:
        """Return the full batches of a pool in random order, and the rows that remain."""
        order = rng.permutation(len(pool))
        whole = len(order) - len(order) % self.size
        batches = [pool.take(order[i : i + self.size]) for i in range(0, whole, self.size)]
        return batches, pool.take(order[whole:])

    def held_out(self, most: int) -> list[Block]:
        """Return up to `most` rows held out, in batches of at least two rows if there are two."""
        found = None
        for block in self.stream.blocks() if self.fraction else ():
            some = block.take((block.weight > 0) & (uniform_hash(block) < self.fraction))
            found = some if found is None else concatenated([found, some])
            if len(found) > most:
                # The rows of lowest hash are a random choice that does not depend on their order.
                found = found.take(np.sort(np.argsort(uniform_hash(found))[:most]))
        if found is None or not len(found):
            return []
        batches = min(-(-len(found) // self.size), max(len(found) // 2, 1))
        return [found.take(part) for part in np.array_split(np.arange(len(found)), batches)]

    @cached_property
    def _training_rows(self) -> NDArray[np.intp]:
        return np.concatenate([b.index[self._is_training(b)] for b in self.stream.blocks()])

    def _is_training(self, block: Block) -> NDArray[np.bool_]:
        """Return which rows of a block have a positive weight and are not held out."""
        positive = block.weight > 0
        return positive & (uniform_hash(block) >= self.fraction) if self.fraction else positive

    def _rows(self, index: NDArray[np.intp]) -> Block:
        stream: Any = self.stream
        return Block(
            tuple(np.asarray(view[index], dtype=np.float64) for view in stream.views),
            np.ones(len(index)) if stream.weight is None else stream.weight[index],
            index,
            None if stream.groups is None else stream.groups[index],
        )


def uniform_hash(block: Block) -> NDArray[np.float64]:
    """Return a hash of each row, or of its group, as a number in [0, 1)."""
    key = hash_rows(*block.views) if block.groups is None else hash_rows(block.groups)
    # The low bits choose a row's fold, so the high bits are used here.
    return (key >> np.uint64(32)).astype(np.float64) / 2.0**32


def concatenated(blocks: list[Block]) -> Block:
    """Return the rows of several blocks as one block."""
    groups = [block.groups for block in blocks]
    return Block(
        tuple(np.concatenate(views) for views in zip(*(b.views for b in blocks), strict=True)),
        np.concatenate([block.weight for block in blocks]),
        np.concatenate([block.index for block in blocks]),
        None if groups[0] is None else np.concatenate(groups),  # type: ignore[arg-type]
    )
