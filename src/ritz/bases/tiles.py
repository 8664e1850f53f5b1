"""Sums of products of kernel sections over many rows, without leaving compiled code."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz import native
from ritz.arrays import Array, in_one_piece, require_columns, row_slices
from ritz.bases.nystrom import KernelJet, KernelSections
from ritz.cached import cached_property
from ritz.features import Product
from ritz.features.ledger import axes
from ritz.features.products import halved
from ritz.kernels.distances import FEW
from ritz.kernels.tiles import Pass, Room, places_of

ROWS_IN_SINGLE = 8192


class Totals(NamedTuple):
    """What the rows so far add up to, for some folds.

    Parameters
    ----------
    matrices
        Products (folds, p^2), or (1, (1 + p)^2) with room for the function 1: each in memory of its
        own, which lasts as long as what is made of it.
    columns, weight
        Sums of columns (folds, 4, p), and weights (folds,).
    targets
        Where they are, as compiled code is told.
    """

    matrices: list[Array]
    columns: Array
    weight: Array
    targets: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tiles:
    """A way to add up products whose factors are kernel sections, the same for all rows.

    Parameters
    ----------
    jet
        The sections at some point: their kernel, centers, offset and precision.
    products
        What to add up.
    places
        For each product, which sections its factors are: None for numbers.
    rooms
        Where threads work, those not in use.
    """

    jet: KernelJet
    products: list[Product]
    places: list[tuple[int | None, int | None]]
    rooms: list[Room] = field(default_factory=list)

    @staticmethod
    def serve(basis: KernelSections) -> bool:
        """Return whether sections are filled by compiled code, out of few coordinates."""
        return basis.kernel.compiled is not None and basis.centers.shape[1] <= FEW

    @classmethod
    def of(cls, jet: Any, products: list[Product]) -> Tiles | None:
        """Return them where kernel and factors allow it: few coordinates, a compiled kernel.

        Rows have one weight each, the same in all products.
        """
        if not isinstance(jet, KernelJet) or not cls.serve(jet.basis):
            return None
        if len({id(product.rows) for product in products}) > 1:
            return None
        known = {id(array): place for place, array in enumerate(jet.sections) if array is not None}
        places = [(known.get(id(product.A)), known.get(id(product.B))) for product in products]
        for product, (left, right) in zip(products, places, strict=True):
            # What is none of the sections has to be a number.
            if (left is None and axes(product.A)) or (right is None and axes(product.B)):
                return None
        return cls(jet, products, places)

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """Which sections are multiplied by which (m, 2)."""
        pairs = [pair for pair in self.places if pair[0] is not None]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def zero(self, folds: int = 1) -> Totals:
        """Return the totals of no rows, of some folds; of one, with room for the function 1."""
        p = self.jet.basis.size
        size = p * p if folds > 1 else (1 + p) ** 2
        matrices = [np.zeros((folds, size)) for _ in self.pairs]
        columns = np.zeros((folds, 4, p))
        return Totals(matrices, columns, np.zeros(folds), places_of(matrices, columns))

    def add(
        self,
        totals: Totals,
        X: Array,
        rows: NDArray[np.intp],
        weight: Array,
        first: int = 0,
        ends: NDArray[np.intp] | None = None,
    ) -> None:
        """Add some rows of X (n, d) to the totals, with nonnegative weights (rows,).

        They are of one fold, the first, or of that one and others after it, which end at `ends`.
        """
        # Compiled code reads what it is told to, without a look at the shape.
        require_columns(X, self.jet.basis.dimension, "points")
        X, weight = in_one_piece(X), in_one_piece(weight)
        ends = np.array([0, len(rows)]) if ends is None else ends
        rows, ends = (np.ascontiguousarray(numbers, dtype=np.int64) for numbers in (rows, ends))
        # Threads hand their room on: the system takes longer to give new memory than to fill it.
        try:
            room = self.rooms.pop()
        except IndexError:
            room = Room.of(self.what, self.jet.dtype)
        folds = range(first, first + len(ends) - 1)
        if self.jet.dtype == np.float64:
            targets = totals.targets[folds.start : folds.stop]
            room.add(X, rows, weight, ends, targets)
        else:
            for fold, span in zip(folds, pairwise(ends), strict=True):
                self._add_singly(totals, fold, room, X, rows[slice(*span)], weight[slice(*span)])
        self.rooms.append(room)
        if len(rows):
            some = ends[:-1] < ends[1:]
            parts = np.add.reduceat(weight, ends[:-1][some])
            totals.weight[folds.start : folds.stop][some] += parts

    def _add_singly(
        self,
        totals: Totals,
        fold: int,
        room: Room,
        X: Array,
        rows: NDArray[np.intp],
        weight: Array,
    ) -> None:
        """Add some rows of a fold in single precision, their sums in double."""
        assert room.partial is not None
        assert room.target is not None
        products, columns = room.partial
        p = self.jet.basis.size
        for part in row_slices(len(rows), ROWS_IN_SINGLE):
            ends = np.array([0, part.stop - part.start], dtype=np.int64)
            room.add(X, rows[part], weight[part], ends, room.target)
            for place, (left, right) in enumerate(self.pairs):
                total = totals.matrices[place][fold]
                lower = left == right and halved(p, self.jet.dtype)
                native.empty_into(p, int(lower), products[place][0], total[: p * p])
            native.empty_into(p, 0, columns, totals.columns[fold])

    @cached_property
    def what(self) -> Pass:
        """What the compiled code is to add up."""
        jet, basis = self.jet, self.jet.basis
        assert basis.kernel.compiled is not None
        name, a, b = basis.kernel.compiled
        return Pass(
            name,
            np.array(a),
            np.array(b),
            np.array([basis.shift, basis.scale]),
            np.ascontiguousarray(basis.scaled_centers.T),
            jet.offset,
            np.array([array is not None for array in jet.sections], dtype=np.int64),
            self.pairs,
        )

    def entries(self, totals: Totals) -> tuple[list[Any], list[Array | None]]:
        """Return the sums of the products, in their order, and the room they have."""
        p, folds = self.jet.basis.size, len(totals.weight)
        matrices = iter(totals.matrices)
        result: list[Any] = []
        rooms: list[Array | None] = [None] * len(self.products)
        for place, (product, (left, right)) in enumerate(
            zip(self.products, self.places, strict=True)
        ):
            if left is not None:
                flat = next(matrices)
                if flat.shape[1] > p * p:
                    rooms[place] = flat.reshape(folds, 1 + p, 1 + p)
                result.append(flat[:, : p * p].reshape(folds, p, p))
            elif right is not None:
                result.append(product.A * totals.columns[:, right])
            else:
                result.append(float(product.A) * float(product.B) * totals.weight)
        return result, rooms
