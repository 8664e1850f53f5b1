"""Files from which a pass that was interrupted goes on, with each row counted once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from time import monotonic
from types import FrameType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz.assembly.packing import Stored, refill, stored
from ritz.assembly.saved import SAVED
from ritz.bases import Centered
from ritz.files import read, write
from ritz.fingerprint import fingerprint
from ritz.forms import Form
from ritz.rows import Block
from ritz.streams import Stream, Table
from ritz.streams.stream import InUnits, even_blocks, rows_per_chunk
from ritz.validation import parameter_error
from ritz.version import __version__

# A file is written this often, in seconds, and no more often than takes a twentieth of the time.
CHECKPOINT_SECONDS, WRITING_SHARE = 30.0, 0.05
REMEDY = "Pass another file, or remove this one to start anew."

Problem = dict[str, str]


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a pass has come.

    Parameters
    ----------
    problem
        What the sums are of, in words and fingerprints.
    left, right
        The functions; `right` is None where it is `left`.
    complete
        Whether all rows are in.
    numbers, rows, digests
        The receipts of the blocks (b,) that are in: their numbers, how many rows each has, and a
        hash of these rows.
    count
        The number (folds,) of rows of positive weight.
    homes
        The folds of the rows that are centers of functions, for each side; none without centers.
    in_groups
        Whether groups decided (folds,) about some rows.
    sums
        The sums of the folds as they are accumulated, or the final ones if `complete`.
    """

    file_tag: ClassVar[str] = "Progress"
    # Overflow is checked after the pass.
    unbounded_fields: ClassVar[tuple[str, ...]] = ("sums",)

    problem: dict[str, str]
    left: Centered
    right: Centered | None
    complete: bool
    numbers: NDArray[np.int64]
    rows: NDArray[np.int64]
    digests: NDArray[np.int64]
    count: NDArray[np.int64]
    homes: tuple[NDArray[np.int64], ...]
    in_groups: NDArray[np.bool_]
    sums: Stored

    def __post_init__(self) -> None:
        for name in ("rows", "digests"):
            shape = getattr(self, name).shape
            if shape != self.numbers.shape or self.numbers.ndim != 1:
                raise parameter_error(name, "one for each block", f"shape {shape}")
        if self.count.ndim != 1 or self.in_groups.shape != self.count.shape:
            raise parameter_error("count", "one number for each fold", self.count)

    @property
    def bases(self) -> tuple[Centered, Centered]:
        """The functions of both sides."""
        return self.left, self.left if self.right is None else self.right


def problem_of(
    form: Form,
    basis: Any,
    n_rows: int | str | None,
    dimensions: tuple[int, ...],
    n_folds: int,
    first_row: int,
    seeds: tuple[int, ...] | None,
) -> Problem:
    """Return what sums are of: equal problems on equal rows have equal sums.

    Parameters
    ----------
    form, basis
        As in `ritz.assemble`, before they see any rows.
    n_rows, dimensions
        The number of rows, or what `extent` returns, and the numbers of columns of the views.
    n_folds, first_row
        As in `ritz.assemble`.
    seeds
        The random numbers that choose the functions, or None where no seed was given.
    """
    return {
        "operator": f"{form} ({fingerprint(form)})",
        "basis": fingerprint(basis),
        "number of rows": "unknown" if n_rows is None else str(n_rows),
        "number of columns": " and ".join(map(str, dimensions)),
        "n_folds": str(n_folds),
        "first_row": str(first_row),
        "random_state": "None" if seeds is None else fingerprint(seeds),
        "version of ritz": __version__,
    }


def extent(stream: Stream) -> int | str | None:
    """Return how many rows a stream has, or the size of its files, or None: what is known of it."""
    if isinstance(stream, InUnits):
        return extent(stream.rows)
    if stream.n_rows is None and isinstance(stream, Table):
        return f"unknown, in files of {sum(file.stamp[0] for file in stream.files):,} bytes"
    return stream.n_rows


def read_progress(path: str | os.PathLike[str], problem: Problem) -> Progress | None:
    """Return what a file holds of a pass, or None if there is none; raise if it is of another."""
    if not os.path.exists(path):
        return None
    what = "a file that a pass over the same rows wrote, or a new one"
    classes = {vars(cls)["file_tag"]: cls for cls in (*SAVED, Progress)}
    try:
        found = read(path, classes)
        if not isinstance(found, Progress):
            raise ValueError(f"it holds a {type(found).__name__}")
    except ValueError as error:
        got = f"{os.fspath(path)}, which is damaged or no checkpoint ({error})"
        raise parameter_error("checkpoint", what, got, REMEDY) from None
    for name in [*problem, *(set(found.problem) - set(problem))]:
        then, now = found.problem.get(name), problem.get(name)
        if then != now:
            got = f"one whose {name} is {then} and not {now}"
            if name in ("basis", "random_state"):
                got = f"one with another {name}"
            remedy = f"Pass what the first call got, or {REMEDY[0].lower()}{REMEDY[1:]}"
            raise parameter_error("checkpoint", what, got, remedy)
    return found


def digest(block: Block) -> int:
    """Return a hash of the numbers, weights and groups of a block, in their order, as int64."""
    parts = blake2b(digest_size=8)
    parts.update(block.row_keys().data)
    parts.update(np.ascontiguousarray(block.weight, dtype=np.float64).data)
    if block.groups is not None:
        parts.update(np.ascontiguousarray(block.groups).data)
    return int.from_bytes(parts.digest(), "little", signed=True)


@dataclass(frozen=True, eq=False)
class Running:
    """The sums of a pass, which change as rows are added.

    Parameters
    ----------
    folds
        The running sums of each fold: dataclasses of arrays and numbers.
    count, homes, in_groups
        As in `Progress`.
    """

    folds: list[Any]
    count: NDArray[np.int64]
    homes: tuple[NDArray[np.intp], ...]
    in_groups: NDArray[np.bool_]


class Journal:
    """The receipts of blocks, and the file they are written to together with the sums.

    A block is in the sums or it is not: the file is written between blocks only, and replaced as a
    whole. A pass that goes on reads all rows again, as streams start from the first one. It passes
    over the blocks that are in, each after a look at its hash, which costs about as much as reading
    it, and adds the others in the same order and to the same running sums as a pass without
    interruption.

    Parameters
    ----------
    path, problem
        The file, and what the sums are of.
    found
        What the file holds, or None.
    bases
        The functions of both sides.
    running
        The sums, which are set to what the file holds.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        problem: Problem,
        found: Progress | None,
        bases: tuple[Centered, Centered],
        running: Running,
    ) -> None:
        self.path, self.problem, self.bases, self.running = path, problem, bases, running
        self.complete = found is not None and found.complete
        self.rows: list[int] = []
        self.digests: list[int] = []
        # How many blocks were read, whether the sums hold whole blocks, and whether the file lacks
        # some of them.
        self.place, self.whole, self.is_behind = 0, True, found is None
        self.seconds = 0.0
        if found is None:
            # Written now, so that what cannot be written is known before the pass.
            self.write()
        elif len(found.numbers):
            self.rows, self.digests = found.rows.tolist(), found.digests.tolist()
            if found.complete:
                # Sums that are complete are matrices, whatever they were added up in.
                folds = [getattr(sums, "matrices", sums) for sums in running.folds]
                running.folds[:] = folds
            refill(running.folds, found.sums)
            # The file of a cluster has two sides also where both share their functions.
            pairs: list[tuple[Any, Any]] = [*zip(running.homes, found.homes, strict=False)]
            pairs += [(running.count, found.count), (running.in_groups, found.in_groups)]
            for ours, theirs in pairs:
                ours[...] = theirs
        self.last = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """Write what is known where the pass ends by an error."""
        if error is not None:
            self.write()

    def has(self, block: Block) -> bool:
        """Return whether the next block is in the sums; raise if it is not the one that was."""
        if self.place >= len(self.rows):
            return False
        self.require(block)
        self.place += 1
        return True

    def require(self, block: Block) -> None:
        """Raise unless the next block is the one that its receipt is of."""
        number = self.place
        if len(block) == self.rows[number] and digest(block) == self.digests[number]:
            return
        first = sum(self.rows[:number])
        got = f"other rows in block {number}, rows {first:,} to {first + self.rows[number]:,}"
        raise self._other_rows(got)

    @contextmanager
    def adding(self, block: Block) -> Iterator[None]:
        """Note a block once it is in the sums; Ctrl-C waits until it is.

        After an error, or a second Ctrl-C, the sums hold a part of the block and are not written:
        the file stays as it was.
        """
        self.whole = False
        with interrupted_later():
            yield
            self.rows.append(len(block))
            self.digests.append(digest(block))
            self.place += 1
            self.whole = self.is_behind = True
        if monotonic() - self.last > max(CHECKPOINT_SECONDS, self.seconds / WRITING_SHARE):
            self.write()

    def require_first(self, stream: Stream) -> None:
        """Raise unless the first block of a stream is the one that was summed first."""
        blocks = even_blocks(stream.blocks(), rows_per_chunk(sum(stream.dimensions)))
        block = next(blocks, None)
        if block is None:
            raise self._other_rows(f"no rows where {sum(self.rows):,} are in it")
        self.require(block)

    def require_end(self) -> None:
        """Raise unless all blocks that are in were read again."""
        if self.place < len(self.rows):
            total = f"{sum(self.rows):,}"
            raise self._other_rows(f"{sum(self.rows[: self.place]):,} rows where {total} are in it")

    def _other_rows(self, got: str) -> Exception:
        what = f"a file of a pass over these rows, in the same order and blocks ({self.path})"
        return parameter_error("checkpoint", what, got, f"Pass the same rows. {REMEDY}")

    def write(self, complete: bool = False) -> None:
        """Write the file, unless it has all that is known or the sums hold a part of a block."""
        if not self.whole or not (self.is_behind or complete):
            return
        start = monotonic()
        receipts = np.arange(len(self.rows)), self.rows, self.digests
        progress = progress_of(self.problem, self.bases, receipts, self.running, complete)
        write(progress, self.path)
        self.is_behind = False
        self.last = monotonic()
        self.seconds = self.last - start


@contextmanager
def interrupted_later() -> Iterator[None]:
    """Let the first Ctrl-C wait for the end of the block; a second one interrupts at once."""
    former = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(former):
        yield
        return
    pending: list[FrameType | None] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if pending:
            raise KeyboardInterrupt
        pending.append(frame)

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
    if pending:
        former(signal.SIGINT, pending[0])


def progress_of(
    problem: Problem,
    bases: tuple[Centered, Centered],
    receipts: tuple[Any, Any, Any],
    running: Running,
    complete: bool,
) -> Progress:
    """Return what a file holds: receipts are numbers, rows and digests of blocks."""
    left, right = bases
    numbers, rows, digests = (np.array(part, dtype=np.int64) for part in receipts)
    return Progress(
        problem,
        left,
        None if right is left else right,
        complete,
        numbers,
        rows,
        digests,
        running.count,
        running.homes,
        running.in_groups,
        stored(running.folds) if len(numbers) else (),
    )
