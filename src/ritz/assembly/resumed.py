"""A pass over the chunks of a cluster that goes on where an earlier one was interrupted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from os import PathLike
from typing import Any

import numpy as np

from ritz.assembly.checkpoint import Problem, digest
from ritz.assembly.chunks import ChunkCheckpoint
from ritz.assembly.partial import Partial, Summation
from ritz.assembly.sums import Sums
from ritz.streams import DaskStream

# Rounds of a pass, after each of which the sums are here and may be written.
ROUNDS = 20

Receipts = dict[int, int]


@dataclass(frozen=True, eq=False)
class WithReceipts:
    """The sums of chunks, with a hash of the rows of each, by the number of its first row."""

    summation: Summation

    def __call__(self, chunk: Any, first_row: int | None) -> tuple[Partial, Receipts]:
        """Add up the rows of a chunk."""
        return self.summation(chunk, first_row), receipts_of(chunk, first_row)


def receipts_of(chunk: Any, first_row: int | None) -> Receipts:
    """Return a hash of the rows of a chunk by the number of its first row; none if it is empty."""
    return {chunk.first_row: digest(chunk.whole("A hash is of all rows"))} if chunk.n_rows else {}


def merged_receipts(ours: Receipts, theirs: Receipts) -> Receipts:
    """Return the receipts of two sets of chunks."""
    return ours | theirs


def merged(
    ours: tuple[Partial, Receipts], theirs: tuple[Partial, Receipts]
) -> tuple[Partial, Receipts]:
    """Return the sums and receipts of two sets of chunks."""
    return ours[0] + theirs[0], ours[1] | theirs[1]


def sum_chunks(
    summation: Summation,
    stream: DaskStream,
    first_row: int | None,
    progress: bool | None,
    path: str | PathLike[str],
    problem: Problem,
) -> Sums:
    """Add up the chunks that are not in the file yet, in rounds, and return the sums of all.

    The chunks that are in are read again where they live, and compared by their hashes. If all are
    in, the first one is compared.
    """
    checkpoint = ChunkCheckpoint(path, problem)
    checkpoint.begin(summation.form, (summation.left, summation.right))
    starts = list(accumulate(stream.sizes, initial=0))

    def receipts(numbers: list[int], digests: Receipts) -> dict[int, tuple[int, int]]:
        # An empty chunk has no hash, and starts where the next one does.
        found = {n: digests.get(starts[n], 0) if stream.sizes[n] else 0 for n in numbers}
        return {n: (stream.sizes[n], found[n]) for n in numbers}

    checkpoint.require_sizes(stream.sizes)
    known = [number for number, (rows, _) in sorted(checkpoint.done.items()) if rows]
    if checkpoint.complete:
        known = known[:1]
    if known:
        digests = stream.reduce(receipts_of, merged_receipts, only=known, progress=progress)
        for number, receipt in receipts(known, digests).items():
            checkpoint.require(number, *receipt)
    missing = [n for n in range(len(stream.sizes)) if n not in checkpoint.done]
    missing = [] if checkpoint.complete else missing
    try:
        for some in np.array_split(missing, min(ROUNDS, len(missing)) or 1):
            numbers = some.tolist()
            if numbers:
                found, digests = stream.reduce(
                    WithReceipts(summation), merged, first_row, only=numbers, progress=progress
                )
                sums = found.sums(summation.form, summation.left, summation.right)
                checkpoint.record(receipts(numbers, digests), sums)
    except BaseException:
        checkpoint.write()
        raise
    return checkpoint.finish()
