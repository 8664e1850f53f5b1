"""The sums of a form over some of the rows, without the functions: p by p numbers only."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.assembly.checkpoint import Journal, Running
from ritz.assembly.folds import over_folds
from ritz.assembly.general import GeneralAssembler
from ritz.assembly.laplacian import LaplacianAssembler
from ritz.assembly.packing import unpacked, upper_rows
from ritz.assembly.sums import Homes, Matrices, Sums, merged_homes
from ritz.bases import Centered, KernelSections
from ritz.forms import Form
from ritz.rows import Block, Keys, hash_rows
from ritz.streams import DeviceStream, Stream
from ritz.validation import Array


@dataclass(frozen=True, eq=False)
class Partial:
    """Sums over some of the rows. They weigh 2 p^2 numbers for each fold.

    Parameters
    ----------
    n_rows
        The number of rows, also of those without weight.
    count
        The number (folds,) of rows of positive weight.
    grouped
        Whether groups decided the folds of some rows.
    homes
        The fold of the row that is the center of each function, as in `Sums`.
    folds
        The matrices of each fold.
    """

    n_rows: int
    count: NDArray[np.int64]
    grouped: bool
    homes: Homes | None
    folds: tuple[Matrices, ...]

    def __reduce__(self) -> Any:
        # Half as many numbers cross the wire.
        packed = tuple(map(PackedMatrices.of, self.folds))
        return Partial.of_packed, (self.n_rows, self.count, self.grouped, self.homes, packed)

    @classmethod
    def of_packed(
        cls,
        n_rows: int,
        count: NDArray[np.int64],
        grouped: bool,
        homes: Homes | None,
        packed: tuple[PackedMatrices, ...],
    ) -> Partial:
        """Return sums whose matrices were packed."""
        return cls(n_rows, count, grouped, homes, tuple(fold.unpacked() for fold in packed))

    def sums(self, form: Form, left: Centered, right: Centered) -> Sums:
        """Return these as the sums of an operator over some functions."""
        L, Phi, Psi = zip(*[(fold.L, fold.Phi, fold.Psi) for fold in self.folds], strict=True)
        # Psi is the same object as Phi where both sides share their functions.
        Psi = Phi if Psi[0] is Phi[0] else Psi
        weight = np.array([matrix[0, 0] for matrix in Phi])
        rest = (self.homes, self.grouped)
        return Sums(form, left, right, weight, self.count, L, Phi, Psi, *rest)

    def __add__(self, other: Partial) -> Partial:
        return Partial(
            self.n_rows + other.n_rows,
            self.count + other.count,
            self.grouped or other.grouped,
            merged_homes(self.homes, other.homes),
            tuple(a + b for a, b in zip(self.folds, other.folds, strict=True)),
        )


@dataclass(frozen=True, eq=False)
class PackedMatrices:
    """Matrices of a fold, with symmetric ones as triangles; `Psi` is None where it is `Phi`."""

    shape: tuple[int, int]
    L: Array
    Phi: Array
    Psi: Array | None

    @classmethod
    def of(cls, fold: Matrices) -> PackedMatrices:
        """Pack the matrices of a fold."""
        Psi = None if fold.Psi is fold.Phi else upper_rows(fold.Psi)
        p, q = fold.L.shape
        return cls((p, q), upper_rows(fold.L), upper_rows(fold.Phi), Psi)

    def unpacked(self) -> Matrices:
        """Return the matrices."""
        p, q = self.shape
        L, Phi = unpacked(self.L, (p, q), "L"), unpacked(self.Phi, (p, p), "Phi")
        return Matrices(L, Phi, Phi if self.Psi is None else unpacked(self.Psi, (q, q), "Psi"))


@dataclass(frozen=True, eq=False)
class Summation:
    """A prepared form and the functions that it is averaged over: what each part of the rows needs.

    Parameters
    ----------
    form
        The operator, prepared with the reference sample where it needs one.
    left, right
        The functions.
    n_folds
        The number of folds.
    """

    form: Form
    left: Centered
    right: Centered
    n_folds: int

    def __call__(
        self,
        stream: Stream,
        first_row: int | None,
        *,
        threads: int = 1,
        progress: bool | None = False,
    ) -> Partial:
        """Add up the form over the rows of a stream.

        `first_row` is the number of rows of positive weight before these, where folds depend on it.
        """
        return RunningSums(self, stream).add_all(stream, first_row, threads, progress)


class RunningSums:
    """The sums of a pass, which change as rows are added.

    Attributes
    ----------
    running
        The sums of each fold, in the form in which they are added up, on the device of the rows.
    """

    def __init__(self, summation: Summation, stream: Stream) -> None:
        form, left, right = summation.form, summation.left, summation.right
        self.form = form
        f, g = left, right
        if isinstance(stream, DeviceStream):
            f = left.on(stream.views[0].array)
            g = f if right is left else right.on(stream.views[0].array)
        self.assembler: LaplacianAssembler | GeneralAssembler
        if LaplacianAssembler.applies(form, f, g):
            self.assembler = LaplacianAssembler(f)
        else:
            self.assembler = GeneralAssembler(form, f, g)
        # Of two views, no row is a center of both.
        bases = () if form.views > 1 else (left,) if right is left else (left, right)
        self.sides = tuple([Centers(basis) for basis in bases])
        n_folds = summation.n_folds
        self.running = Running(
            [self.assembler.start() for _ in range(n_folds)],
            np.zeros(n_folds, dtype=np.int64),
            tuple([side.home for side in self.sides]),
            np.zeros(n_folds, dtype=np.bool_),
        )

    def add_all(
        self,
        stream: Stream,
        first_row: int | None,
        threads: int,
        progress: bool | None,
        journal: Journal | None = None,
    ) -> Partial:
        """Add all rows of a stream, but those that a journal has, and return the sums."""
        running, assembler = self.running, self.assembler
        rest = (threads, progress, first_row, journal)
        # What is finished is no longer what a file of a journal holds, so the journal ends before.
        with nullcontext() if journal is None else journal:
            n_rows = over_folds(stream, self._add, len(running.folds), assembler.block_rows, *rest)
        for fold, sums in enumerate(running.folds):
            # One fold at a time, so that its products are freed before the next matrices are made.
            with np.errstate(over="ignore", invalid="ignore"):
                running.folds[fold] = assembler.finish(sums)
            del sums
        return self.partial(n_rows)

    def partial(self, n_rows: int) -> Partial:
        """Return the sums, which are finished."""
        running = self.running
        homes = (running.homes[0], running.homes[-1]) if running.homes else None
        grouped = bool(running.in_groups.any())
        folds = [fold.on_host() for fold in running.folds]
        return Partial(n_rows, running.count, grouped, homes, tuple(folds))

    def _add(self, fold: int, block: Block) -> None:
        for centers in self.sides:
            centers.note(fold, block)
        self.running.in_groups[fold] |= block.groups is not None
        if self.form.reweighting is not None:
            factor = np.asarray(self.form.row_weight(block))
            block = replace(block, weight=block.weight * factor)
        self.assembler.add(self.running.folds[fold], block)
        self.running.count[fold] += len(block.weight)


class Centers:
    """The folds of the rows that are centers of functions.

    Attributes
    ----------
    home
        The fold (p,) of each, or -1 where it is no row, or where functions have no centers. Of
        equal rows in several folds, it is the last of these folds.
    """

    def __init__(self, basis: Centered) -> None:
        self.home: NDArray[np.intp] = np.full(basis.size, -1)
        self.keys: Keys = np.empty(0, dtype=np.uint64)
        if isinstance(basis.basis, KernelSections):
            self.keys = hash_rows(basis.basis.centers)
        self.order = np.argsort(self.keys)
        self.lock = Lock()

    def note(self, fold: int, block: Block) -> None:
        """Note which centers are among the rows of a block of one fold."""
        if not len(self.keys):
            return
        rows = block.row_keys()
        place = np.searchsorted(self.keys, rows, sorter=self.order)
        center = self.order[np.minimum(place, len(self.keys) - 1)]
        found = center[self.keys[center] == rows]
        # Threads of other folds may find rows equal to these.
        with self.lock:
            self.home[found] = np.maximum(self.home[found], fold)
