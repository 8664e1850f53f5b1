"""Going over the rows once: blocks to folds, folds to threads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ritz import native
from ritz.arrays import HASHED_ROWS, TILE_ROWS, Block, hash_rows, row_slices
from ritz.streams import Stream
from ritz.threads import Run, keep_freed_memory

PART_ROWS = 8192
AddRows = Callable[[int, Block, NDArray[np.intp], NDArray[np.intp]], None]


def over_folds(
    stream: Stream,
    add: AddRows,
    n_folds: int,
    run: Run = map,
    progress: bool | None = None,
) -> int:
    """Call `add(first, block, rows, ends)` for all rows of positive weight; return their number.

    Each fold belongs to one thread at a time, and its rows come in a fixed order, so that sums do
    not depend on luck.

    Parameters
    ----------
    stream
        The rows.
    add
        What to do with some rows of a block, those of fold first + f being
        rows[ends[f] : ends[f + 1]]; `in_pieces` hands on fewer at once.
    n_folds
        The number of folds.
    run
        `map`, or one that uses threads.
    progress
        As in `ritz.assemble`.
    """
    keep_freed_memory()
    total = 0
    for block in with_progress(stream, progress):
        total += len(block)
        add_block(block, add, n_folds, run)
        # So that there is never more than one.
        del block
    return total


def add_block(block: Block, add: AddRows, n_folds: int, run: Run) -> None:
    """Call `add` for the rows of one block."""
    if (block.weight <= 0).any():
        block = block.take(block.weight > 0)
    rows, ends = by_fold(block, n_folds, run)
    few = len(block) <= PART_ROWS or (ends[1:] - ends[:-1]).max() <= PART_ROWS
    if run is map and few:
        add(0, block, rows, ends)
        return
    turns = Turns(add, block, rows, ends)
    for _ in run(turns.take, range(turns.count)):
        pass


class Turns:
    """The rows of a block by folds, handed out a part at a time to whoever is free.

    No fold is with two threads at once, and its parts come in order. Threads that run at different
    speeds end at about the same time.
    """

    def __init__(
        self, add: AddRows, block: Block, rows: NDArray[np.intp], ends: NDArray[np.intp]
    ) -> None:
        self.add, self.block = add, block
        self.left = [in_parts(rows[slice(*span)])[::-1] for span in pairwise(ends)]
        self.count = sum(map(len, self.left))
        self.free = set(range(len(self.left)))
        self.given_back = Condition()

    def take(self, _: int) -> None:
        """Add one part, of the fold that has most of them left."""
        with self.given_back:
            self.given_back.wait_for(lambda: any(self.left[fold] for fold in self.free))
            fold = max(sorted(self.free), key=lambda fold: len(self.left[fold]))
            self.free.remove(fold)
            rows = self.left[fold].pop()
        try:
            self.add(fold, self.block, rows, np.array([0, len(rows)]))
        finally:
            with self.given_back:
                self.free.add(fold)
                self.given_back.notify()


def in_parts(rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the rows of a fold in parts of about one size: sums are rounded by parts.

    All but the last have whole tiles, of which those with few rows take longer than their share.
    """
    if len(rows) <= PART_ROWS:
        return [rows]
    parts, tiles = -(-len(rows) // PART_ROWS), -(-len(rows) // TILE_ROWS)
    return np.split(rows, TILE_ROWS * (np.arange(1, parts) * tiles // parts))


def by_fold(block: Block, n_folds: int, run: Run) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of a block fold after fold, and where those of each begin and end."""
    if n_folds == 1 or not len(block):
        return np.arange(len(block)), np.array([0] + n_folds * [len(block)])
    if block.keys is not None or block.groups is not None:
        keys = keys_of(block)
    else:
        parts = row_slices(len(block), HASHED_ROWS)
        keys = np.concatenate(list(run(lambda rows: keys_of(block.take(rows)), parts)))
    order, ends = np.empty(len(block), dtype=np.int64), np.empty(n_folds + 1, dtype=np.int64)
    native.by_remainder(keys, order, ends)
    return order, ends


def in_pieces(add: Callable[[int, Block], None], size: int) -> AddRows:
    """Return what adds rows in pieces of one size at most, none of them small beside the others."""

    def add_rows(first: int, block: Block, rows: NDArray[np.intp], ends: NDArray[np.intp]) -> None:
        for fold, (start, stop) in enumerate(pairwise(ends), first):
            pieces = -(-(stop - start) // size)
            for piece in np.array_split(rows[start:stop], pieces) if pieces else ():
                add(fold, block.take(piece))

    return add_rows


def fold_of(block: Block, n_folds: int) -> NDArray[Any]:
    """Return the fold (b,) of each row: a hash of its group, or of its own numbers."""
    return (keys_of(block) % np.uint64(n_folds)).astype(np.min_scalar_type(n_folds))


def keys_of(block: Block) -> NDArray[np.uint64]:
    """Return a hash (b,) of each row's group, or of its own numbers."""
    if block.groups is not None:
        return hash_rows(block.groups)
    return hash_rows(*block.views) if block.keys is None else block.keys


def with_progress(stream: Stream, progress: bool | None) -> Iterator[Block]:
    """Yield the stream's blocks, counting rows on a terminal if that takes long."""
    if not (sys.stderr.isatty() if progress is None else progress):
        yield from stream.blocks()
        return
    delay = 0.0 if progress else 2.0
    with tqdm(total=stream.n_rows, unit=" rows", unit_scale=True, desc="ritz", delay=delay) as bar:
        for block in stream.blocks():
            yield block
            bar.update(len(block))
