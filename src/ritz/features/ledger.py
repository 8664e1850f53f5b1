"""Sums over blocks of the matrix products behind a form, made into its matrix once at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.arrays import Array, require_finite
from ritz.features.terms import Rows, Term, Terms, checked


class Ledger:
    """Adds up matrices given on each block as sums of products of probes.

    What is as large as the matrices, p by p, is touched once a block by the products alone:
    the rest (symmetry, distances of centers, borders) is linear in them, and done at the end.
    Blocks that need another program, as a form of the user's own may, start a new page.
    """

    def __init__(self) -> None:
        self.program: Any = None
        self.entries: list[Any] = []
        self.totals: dict[str, Array] = {}

    def add(self, matrices: dict[str, Terms], rows: Array) -> None:
        """Add the matrices of a block with row weights (b,)."""
        page = Page(rows)
        program = tuple(
            (name, *map(page.line, terms.checked())) for name, terms in matrices.items()
        )
        if not same(program, self.program):
            self._turn_page()
            self.program, self.entries = program, page.entries
            return
        for place, entry in enumerate(page.entries):
            self.entries[place] += entry

    def _turn_page(self) -> None:
        """Make matrices of the products so far, and forget those."""
        if self.program is None:
            return
        program, products = self.program, self.entries
        self.program, self.entries = None, []
        for name, *lines in program:
            for finish, constants, number, places in lines:
                matrix = finish(*(products[place] for place in places), *constants)
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
    """The products of one block, each computed once whatever asks for it."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self.entries: list[Any] = []
        self.known: dict[Any, int] = {}
        self.kept: list[Any] = []
        self.weights: dict[int, Array] = {}

    def line(self, term: Term) -> tuple[Any, ...]:
        """Return how a term follows from products: a function, its constants, their places."""
        rows, number = self.rows, 1.0
        if np.ndim(term.weight) == 0:
            number = float(term.weight)
            require_finite(np.array([number]), "factor of a form")
        else:
            if id(term.weight) not in self.weights:
                self.kept.append(term.weight)
                self.weights[id(term.weight)] = rows * checked(term.weight, rows)
            rows = self.weights[id(term.weight)]
        plan = term.left.plan(term.right)
        places = tuple(self.place(A, B, rows) for A, B in plan.factors)
        return plan.finish, plan.constants, number, places

    def place(self, A: Rows, B: Rows, rows: Array) -> int:
        """Return the place of A' diag(rows) B, computing it if it is new."""
        if np.ndim(B) < np.ndim(A):
            # A number a row comes first: the sums of one array are computed once.
            A, B = B, A
        key = (_name(A), _name(B), id(rows))
        if key not in self.known:
            # The arrays are kept too, so that their ids stay theirs.
            self.kept.append((A, B, rows))
            self.known[key] = len(self.entries)
            self.entries.append(weighted_product(A, B, rows))
        return self.known[key]


def _name(factor: Rows) -> Any:
    return id(factor) if isinstance(factor, np.ndarray) else float(factor)


def same(a: Any, b: Any) -> bool:
    """Return whether two programs are one: equal numbers, the same functions and arrays."""
    if a is b:
        return True
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, int | float | str) and type(a) is type(b) and a == b


def weighted_product(A: Rows, B: Rows, rows: Array) -> Any:
    """Return A' diag(rows) B for arrays (b, p) and (b, q), numbers a row (b,), or numbers.

    Arrays (b, m, p) have m numbers a row, which are multiplied one by one and added.
    """
    if np.ndim(A) < 2 or np.ndim(B) < 2:
        return _border(A, B, rows)
    assert isinstance(A, np.ndarray)
    assert isinstance(B, np.ndarray)
    if not (len(rows) and A.shape[-1] and B.shape[-1]):
        return np.zeros((A.shape[-1], B.shape[-1]))
    if A.ndim == 3:
        rows = np.repeat(rows, A.shape[1])
    same = A is B
    if len(A) != len(B) or int(np.prod(A.shape[:-1])) != len(rows):
        raise ValueError(
            "A form multiplies probes at the rows it is given, and as many others. Got "
            f"{len(A)} and {len(B)} rows."
        )
    A = A.reshape(-1, A.shape[-1])
    B = A if same else B.reshape(-1, B.shape[-1])
    if rows.min() == rows.max():
        # NumPy turns A' A into a symmetric product.
        product = A.T @ B
        if rows[0] != 1.0:
            product *= A.dtype.type(rows[0])
    elif same and rows.min() >= 0:
        A = A * np.sqrt(rows).astype(A.dtype)[:, None]
        product = A.T @ A
    else:
        product = A.T @ (B * rows.astype(B.dtype)[:, None])
    return product.astype(np.float64, copy=False)


def _border(A: Rows, B: Rows, rows: Array) -> Any:
    """Return the product where one factor or both have one number a row."""
    if np.ndim(A) < 2 and np.ndim(B) < 2:
        return float((rows * A * B).sum())
    assert isinstance(B, np.ndarray)
    if np.ndim(A) == 0 and A == 0.0:
        return np.zeros(B.shape[-1])
    flat = B.sum(axis=1) if B.ndim == 3 else B
    return np.asarray(((rows * A).astype(B.dtype, copy=False) @ flat), dtype=np.float64)
