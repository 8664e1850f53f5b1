"""Sums over blocks of the matrix products behind a form, made into its matrix once at the end."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, require_finite, row_slices
from ritz.features.products import add_product, add_square, halved, mirror
from ritz.features.terms import Parts, Rows, Term, Terms, checked

BAND = 2**16


class Ledger:
    """Adds up matrices given on each block as sums of products of probes.

    What is as large as the matrices, p by p, is touched once a block by the products alone:
    the rest (symmetry, distances of centers, borders) is linear in them, and done at the end.
    Blocks that need another program, as a form of the user's own may, start a new page.
    """

    def __init__(self) -> None:
        self.program: Any = None
        self.entries: list[Any] = []
        self.rooms: list[Array | None] = []
        self.totals: dict[str, Array] = {}

    def add(self, matrices: dict[str, Terms], rows: Array) -> None:
        """Add the matrices of a block with row weights (b,)."""
        page = Page(rows)
        program = page.program(matrices)
        if not same(program, self.program):
            self._turn_page()
            self.program = program
            self.entries = [product.zero() for product in page.products]
            self.rooms = [None] * len(self.entries)
        for place, product in enumerate(page.products):
            self.entries[place] = product.added(self.entries[place])

    def enter(self, program: Any, entries: list[Any], rooms: list[Array | None]) -> None:
        """Add what the products of a program were found to add up to elsewhere.

        Rooms are where products (p, q) lie with as much memory behind them as makes matrices
        (1 + p, 1 + q), None where there is no such memory.
        """
        self._turn_page()
        self.program, self.entries, self.rooms = program, entries, rooms

    def _turn_page(self) -> None:
        """Make matrices of the products so far, and forget those."""
        if self.program is None:
            return
        (program, shapes), entries, rooms = self.program, self.entries, self.rooms
        self.program, self.entries, self.rooms = None, [], []
        for entry, shape in zip(entries, shapes, strict=True):
            if len(shape) == 3:
                mirror(entry)
        uses = [0] * len(entries)
        for _, *lines in program:
            for *_, places in lines:
                for place in places:
                    uses[place] += 1
        # From the last to the first: the scalar products, which others are made of, in the end.
        for name, *lines in reversed(program):
            for finish, constants, number, spent, places in lines:
                for place in places:
                    uses[place] -= 1
                given = [entries[place] for place in places]
                for which in spent:
                    if uses[places[which]]:
                        given[which] = given[which].copy()
                parts = finish(*given, *constants)
                own = [p for p in places if entries[p] is parts.inner and not uses[p]]
                matrix = joined(parts, rooms[own[0]] if own else None)
                if number != 1.0:
                    matrix *= number
                if name in self.totals:
                    self.totals[name] += matrix
                else:
                    self.totals[name] = matrix

    def close(self) -> dict[str, Array]:
        """Return the sums of all blocks, by name, and forget them."""
        self._turn_page()
        totals, self.totals = self.totals, {}
        return totals


class Page:
    """The products of one block, each told once whatever asks for it."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self.products: list[Product] = []
        self.known: dict[Any, int] = {}
        self.kept: list[Any] = []
        self.weights: dict[int, Array] = {}

    def program(self, matrices: dict[str, Terms]) -> Any:
        """Return how matrices follow from products, and the shapes of those."""
        lines = tuple((name, *map(self.line, terms.checked())) for name, terms in matrices.items())
        return lines, tuple(product.shape for product in self.products)

    def line(self, term: Term) -> tuple[Any, ...]:
        """Return how a term follows from products: a function, its constants, their places."""
        rows, number = self.rows, 1.0
        if axes(term.weight) == 0:
            number = float(term.weight)
            if not isfinite(number):
                require_finite(np.array([number]), "factor of a form")
        else:
            if id(term.weight) not in self.weights:
                self.kept.append(term.weight)
                self.weights[id(term.weight)] = rows * checked(term.weight, rows)
            rows = self.weights[id(term.weight)]
        plan = term.left.plan(term.right)
        places = tuple(self.place(A, B, rows) for A, B in plan.factors)
        return plan.finish, plan.constants, number, plan.spent, places

    def place(self, A: Rows, B: Rows, rows: Array) -> int:
        """Return the place of A' diag(rows) B among the products."""
        if axes(B) < axes(A):
            # A number a row comes first: the sums of one array are computed once.
            A, B = B, A
        key = (_name(A), _name(B), id(rows))
        if key not in self.known:
            # The product keeps the arrays, so that their ids stay theirs.
            self.known[key] = len(self.products)
            self.products.append(Product.of(A, B, rows))
        return self.known[key]


def joined(parts: Parts, room: Array | None) -> Array:
    """Return a matrix of its parts, in the memory of its inner part where that has room."""
    inner, top, side, corner = parts
    p, q = inner.shape[-2:]
    matrix = np.empty((*inner.shape[:-2], 1 + p, 1 + q)) if room is None else room
    # From the last rows to the first, none of which is written over before it was read.
    for rows in reversed(row_slices(p, 1 + p if room is None else 1 + BAND // q)):
        band = inner[..., rows, :]
        matrix[..., 1 + rows.start : 1 + rows.stop, 1:] = band if room is None else band.copy()
    matrix[..., 0, 0] = corner
    matrix[..., 0, 1:] = top
    matrix[..., 1:, 0] = side
    return matrix


def axes(factor: Rows) -> int:
    """Return how many axes a factor has: none, if it is a number."""
    return getattr(factor, "ndim", 0)


def _name(factor: Rows) -> Any:
    return id(factor) if isinstance(factor, np.ndarray) else float(factor)


def same(a: Any, b: Any) -> bool:
    """Return whether two programs are one: equal numbers, the same functions and arrays."""
    if a is b:
        return True
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, int | float | str) and type(a) is type(b) and a == b


def as_floats(A: NDArray[Any]) -> NDArray[Any]:
    """Return an array of float64, or of float32 if it is one."""
    return A if A.dtype in (np.float64, np.float32) else A.astype(np.float64)


class Product(NamedTuple):
    """A' diag(rows) B for arrays (b, p) and (b, q), numbers a row (b,), or numbers.

    Arrays (b, m, p) have m numbers a row, which are multiplied one by one and added.

    Parameters
    ----------
    A, B, rows
        The factors. Where one of them has one number a row it is A.
    shape
        (), (q,), (p, q), or (p, p, 1) for one of which the lower triangle tells all.
    """

    A: Rows
    B: Rows
    rows: Array
    shape: tuple[int, ...]

    @classmethod
    def of(cls, A: Rows, B: Rows, rows: Array) -> Product:
        """Return the product; an error if the factors have not the rows they should have."""
        if axes(A) < 2:
            return cls(A, B, rows, B.shape[-1:] if axes(B) > 1 else ())  # type: ignore[union-attr]
        assert isinstance(A, np.ndarray)
        assert isinstance(B, np.ndarray)
        both = A is B
        A = as_floats(A)
        B = A if both else as_floats(B)
        if A.ndim == 3:
            rows = np.repeat(rows, A.shape[1])
        if len(rows) and (len(A) != len(B) or int(np.prod(A.shape[:-1])) != len(rows)):
            raise ValueError(
                "A form multiplies probes at the rows it is given, and as many others. Got "
                f"{len(A)} and {len(B)} rows."
            )
        half = A is B and halved(A.shape[-1], A.dtype) and bool(rows.min(initial=0.0) >= 0)
        return cls(A, B, rows, (A.shape[-1], B.shape[-1]) + (1,) * half)

    def zero(self) -> Any:
        """Return a sum of no products."""
        return np.zeros(self.shape[:2]) if self.shape else 0.0

    def added(self, total: Any) -> Any:
        """Return a sum of products with this one added, in place where that can be."""
        A, B, rows = self.A, self.B, self.rows
        if not self.shape:
            return total + float((rows * A * B).sum())
        assert isinstance(B, np.ndarray)
        if len(self.shape) == 1:
            if axes(A) or A != 0.0:
                flat = B.sum(axis=1) if B.ndim == 3 else B
                total += (rows * A).astype(B.dtype, copy=False) @ flat
            return total
        assert isinstance(A, np.ndarray)
        if not (len(rows) and A.shape[-1] and B.shape[-1]):
            return total
        A, B = (F.reshape(-1, F.shape[-1]) for F in (A, B))
        least = rows.min()
        constant = least == rows.max()
        factor = float(rows[0]) if constant else 1.0
        if self.A is self.B and (constant or least >= 0):
            # Roots on both sides, so that it is symmetric to the last bit.
            A = A if constant else A * np.sqrt(rows).astype(A.dtype)[:, None]
            if len(self.shape) == 3:
                add_square(total, A, factor)
            else:
                add_product(total, A, A, factor)
        else:
            dtype = np.result_type(A, B)
            B = B if constant else B * rows.astype(B.dtype)[:, None]
            add_product(total, A.astype(dtype, copy=False), B.astype(dtype, copy=False), factor)
        return total
