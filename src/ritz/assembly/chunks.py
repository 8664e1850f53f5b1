"""Checkpoints of engines that add up chunks of the rows in any order, such as a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from time import monotonic

import numpy as np

from ritz.assembly.checkpoint import (
    CHECKPOINT_SECONDS,
    REMEDY,
    WRITING_SHARE,
    Problem,
    Running,
    progress_of,
    read_progress,
)
from ritz.assembly.packing import refill
from ritz.assembly.sums import Matrices, Sums
from ritz.bases import Centered
from ritz.files import write
from ritz.forms import Form
from ritz.validation import parameter_error


class ChunkCheckpoint:
    """The sums of the chunks that are done, in a file.

    An engine asks `bases` for functions that are fixed already, skips the chunks of `done` after
    `require`, calls `record` with the sums of others as they arrive, and `finish` after the last:

        checkpoint = ChunkCheckpoint(path, problem_of(form, basis, ...))
        bases = checkpoint.bases or (functions chosen from a sample)
        checkpoint.begin(form, bases)
        for number in range(n_chunks):
            if number not in checkpoint.done: submit the chunk
        for each result: checkpoint.record({number: (rows, digest)}, sums)
        sums = checkpoint.finish()

    A chunk is in the file together with its receipt or not at all, so that none counts twice. As
    chunks may be added in any order, sums are those of a pass without interruption up to rounding.

    Parameters
    ----------
    path
        The file.
    problem
        What the sums are of: `ritz.assembly.checkpoint.problem_of` returns it.
    """

    def __init__(self, path: str | PathLike[str], problem: Problem) -> None:
        self.path, self.problem = path, problem
        self.found = read_progress(path, problem)
        self.sums: Sums | None = None
        self.done: dict[int, tuple[int, int]] = {}
        self.complete = self.found is not None and self.found.complete
        if self.found is not None:
            receipts = zip(self.found.rows.tolist(), self.found.digests.tolist(), strict=True)
            self.done = dict(zip(self.found.numbers.tolist(), receipts, strict=True))
        self.last, self.seconds = monotonic(), 0.0

    @property
    def bases(self) -> tuple[Centered, Centered] | None:
        """The functions of both sides that the file holds, or None without a file."""
        return None if self.found is None else self.found.bases

    def begin(self, form: Form, bases: tuple[Centered, Centered]) -> None:
        """Say what sums are of: the operator, prepared, and the functions of both sides."""
        if self.found is None:
            # Written now, so that what cannot be written is known before the pass.
            empty = Running([], np.empty(0, np.int64), (), np.empty(0, np.bool_))
            write(progress_of(self.problem, bases, ((), (), ()), empty, False), self.path)
        if self.found is None or not self.done:
            return
        left, right = bases
        p, q, n_folds = 1 + left.size, 1 + right.size, len(self.found.count)
        folds = []
        for _ in range(n_folds):
            square = np.zeros((p, p))
            two = len(self.found.sums) == 3
            folds.append(Matrices(np.zeros((p, q)), square, np.zeros((q, q)) if two else square))
        refill(folds, self.found.sums)
        L, Phi, Psi = (tuple(getattr(fold, name) for fold in folds) for name in ("L", "Phi", "Psi"))
        weight = np.array([fold.Phi[0, 0] for fold in folds])
        homes = (self.found.homes[0], self.found.homes[-1]) if self.found.homes else None
        Psi = Phi if Psi[0] is Phi[0] else Psi
        grouped = bool(self.found.in_groups.any())
        count = self.found.count
        self.sums = Sums(form, left, right, weight, count, L, Phi, Psi, homes, grouped)

    def require(self, number: int, rows: int, digest: int) -> None:
        """Raise unless a chunk that is done is the one that its receipt is of."""
        if self.done[number] != (rows, digest):
            what = f"a file of a pass over these chunks ({self.path})"
            remedy = f"Pass the same rows. {REMEDY}"
            raise parameter_error("checkpoint", what, f"other rows in chunk {number}", remedy)

    def require_sizes(self, sizes: Sequence[int]) -> None:
        """Raise unless the chunks that are done have the numbers of rows of their receipts."""
        for number, (rows, _) in self.done.items():
            found = sizes[number] if number < len(sizes) else 0
            if found != rows:
                what = f"a file of a pass over chunks of the same sizes ({self.path})"
                got = f"one with {rows:,} rows in chunk {number}, which has {found:,}"
                raise parameter_error("checkpoint", what, got, f"Pass the same chunks. {REMEDY}")

    def record(self, receipts: Mapping[int, tuple[int, int]], sums: Sums) -> None:
        """Add the sums of some chunks, and write the file if it is time.

        Parameters
        ----------
        receipts
            For the number of each chunk how many rows it has, and a hash of them: that of
            `ritz.assembly.checkpoint.digest`, or 0 where none is compared.
        sums
            The sums of these chunks together.
        """
        twice = sorted(set(receipts) & set(self.done))
        if twice:
            raise parameter_error("receipts", "chunks that are not in yet", f"{twice} again")
        self.sums = sums if self.sums is None else self.sums + sums
        self.done |= receipts
        if monotonic() - self.last > max(CHECKPOINT_SECONDS, self.seconds / WRITING_SHARE):
            self.write()

    def finish(self) -> Sums:
        """Write that all chunks are in, and return their sums."""
        if self.sums is None:
            raise parameter_error("X", "at least one chunk", "none")
        if not self.complete:
            self.write(complete=True)
        return self.sums

    def write(self, complete: bool = False) -> None:
        """Write the file, as an engine does before it raises an error or where it is stopped."""
        if self.sums is None:
            return
        start, sums = monotonic(), self.sums
        folds = [Matrices(*fold) for fold in zip(sums.L, sums.Phi, sums.Psi, strict=True)]
        running = Running(folds, sums.count, sums.homes or (), np.full(len(folds), sums.grouped))
        numbers = sorted(self.done)
        rows, digests = zip(*[self.done[number] for number in numbers], strict=True)
        bases = sums.left, sums.right
        write(
            progress_of(self.problem, bases, (numbers, rows, digests), running, complete), self.path
        )
        self.last = monotonic()
        self.seconds = self.last - start
