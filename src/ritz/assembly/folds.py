"""One pass over the rows: blocks are split into folds, and each fold belongs to one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ritz.assembly.checkpoint import Journal
from ritz.progress import tracked
from ritz.rows import Block, Keys, hash_rows, mix
from ritz.streams import Stream
from ritz.streams.stream import even_blocks, rows_per_chunk
from ritz.threads import n_threads, one_blas_thread, thread_map


def over_folds(
    stream: Stream,
    add: Callable[[int, Block], None],
    n_folds: int,
    block_rows: int,
    n_jobs: int | None = None,
    progress: bool | None = None,
    first_row: int | None = None,
    journal: Journal | None = None,
) -> int:
    """Call `add(fold, block)` for all rows of positive weight; return the number of all rows.

    The rows of a fold come in a fixed order and from one thread at a time, so that sums do not
    depend on the number of threads. Blocks have the size of those of an array, so that sums do not
    depend on how a file or an iterator cuts the rows either.

    Parameters
    ----------
    stream
        The rows.
    add
        What to do with a block of rows of one fold.
    n_folds
        The number of folds. With one, BLAS is free to use all cores.
    block_rows
        The largest number of rows in such a block.
    n_jobs, progress
        As in `ritz.assemble`.
    first_row
        Where folds depend on the numbers of rows: that of the first row.
    journal
        What notes the blocks that are done, and knows those that were done before, or None.
    """
    threads, total = min(n_folds, n_threads(n_jobs)), 0
    with nullcontext() if n_folds == 1 else one_blas_thread():
        blocks = tracked(stream.blocks(), "sums", stream.n_rows, len, "rows", progress)
        for block in even_blocks(blocks, rows_per_chunk(sum(stream.dimensions))):
            total += len(block)
            if journal is None:
                add_block(block, add, n_folds, block_rows, threads, first_row)
            elif not journal.has(block):
                with journal.adding(block):
                    add_block(block, add, n_folds, block_rows, threads, first_row)
            if first_row is not None:
                first_row += int(np.count_nonzero(block.weight))
            # Free the block before the next one is read.
            del block
    if journal is not None:
        journal.require_end()
    return total


def add_block(
    block: Block,
    add: Callable[[int, Block], None],
    n_folds: int,
    block_rows: int,
    threads: int,
    first_row: int | None = None,
) -> None:
    """Call `add(fold, block)` for the rows of a block, each fold in one thread."""
    # The folds of rows and of centers look at the same hashes.
    block = replace(block, keys=block.row_keys())
    positive = np.flatnonzero(block.weight > 0)
    fold_of_row = fold_of(block, n_folds, first_row)[positive]
    # The rows of positive weight, fold after fold, and where each fold begins and ends.
    rows = positive[np.argsort(fold_of_row, kind="stable")]
    ends = np.cumsum([0, *np.bincount(fold_of_row, minlength=n_folds)])

    stop = threading.Event()

    def add_fold(fold: int) -> None:
        own = rows[ends[fold] : ends[fold + 1]]
        for piece in np.array_split(own, -(-len(own) // block_rows) or 1):
            if stop.is_set():
                return
            if len(piece):
                add(fold, block.take(piece))

    thread_map(add_fold, range(n_folds), threads, stop)


def fold_of(block: Block, n_folds: int, first_row: int | None = None) -> NDArray[np.intp]:
    """Return the fold (b,) of each row: a hash of its group, or of its own numbers.

    If equal rows shared a fold, data of few different rows would have folds that differ by far more
    than samples do. With the number of the first row, the hash is also one of the row's place among
    the rows of positive weight.
    """
    keys: Keys = block.row_keys() if block.groups is None else hash_rows(block.groups)
    if first_row is not None and block.groups is None:
        place = first_row + np.cumsum(block.weight > 0)
        keys = mix(keys ^ mix(place.astype(np.uint64)))
    # NumPy sorts small integers in linear time.
    return (keys % np.uint64(n_folds)).astype(np.min_scalar_type(n_folds))
