"""Sums of weighted products of probes: what a bilinear form becomes on a block of rows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ritz.arrays import Array, as_real, must, require_finite

Rows = float | Array


class Feature(Protocol):
    """A probe of all functions of a basis on a block of rows."""

    def contract(self, other: Any, rows: Array, products: Products) -> Array:
        """Return sum_k rows_k <self_k, other_k>, the function 1 first: (1 + p, 1 + q)."""


@dataclass
class Products:
    """Matrix products A' diag(rows) B already computed on this block, shared by all terms."""

    known: dict[Hashable, tuple[Any, Array]] = field(default_factory=dict)
    shifted: dict[int, tuple[Array, Array, Array]] = field(default_factory=dict)

    def inner(self, A: Array, B: Array, rows: Array) -> Array:
        """Return A' diag(rows) B for A (b, p) and B (b, q), as a symmetric product if A is B."""
        key = (id(A), id(B), id(rows))
        if key not in self.known:
            product = self._from_shifted(A, rows) if A is B else None
            if product is None:
                product = weighted_product(A, B, rows)
            # The arrays are kept too, so that their ids stay theirs.
            self.known[key] = ((A, B, rows), product)
        return self.known[key][1]

    def note_shift(self, A: Array, offset: Array, shifted: Array) -> None:
        """Remember that shifted = A - offset, so that the products of one give the other's."""
        self.shifted[id(A)] = (A, offset, shifted)

    def _from_shifted(self, A: Array, rows: Array) -> Array | None:
        """Return A' diag(rows) A from the product of A - c, as (V + 1 c')' (V + 1 c')."""
        if id(A) not in self.shifted:
            return None
        _, c, V = self.shifted[id(A)]
        known = self.known.get((id(V), id(V), id(rows)))
        if known is None:
            return None
        cross = np.outer(rows @ V + rows.sum() / 2 * c, c)
        return np.asarray(known[1] + (cross + cross.T))


def weighted_product(A: Array, B: Array, rows: Array) -> Array:
    """Return A' diag(rows) B."""
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
        return product if rows[0] == 1.0 else np.asarray(product * rows[0])
    if same and rows.min() >= 0:
        A = A * np.sqrt(rows)[:, None]
        return np.asarray(A.T @ A)
    return A.T @ (B * rows[:, None])


@dataclass(frozen=True, eq=False)
class Term:
    """A product of two probes, weighted by a number or one number a row."""

    left: Feature
    right: Feature
    weight: Rows = 1.0


@dataclass(frozen=True, eq=False)
class Terms:
    """A sum of terms; add it, and multiply it by numbers or by one number a row."""

    terms: tuple[Term, ...] = ()

    __array_ufunc__ = None

    def __add__(self, other: Terms) -> Terms:
        if isinstance(other, Terms):
            return Terms(self.terms + other.terms)
        return self if isinstance(other, int | float) and other == 0 else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Terms) -> Terms:
        return self + (-1.0) * other if isinstance(other, Terms) else NotImplemented

    def __neg__(self) -> Terms:
        return -1.0 * self

    def __mul__(self, factor: Any) -> Terms:
        weight = as_factor(factor)
        return Terms(tuple(Term(t.left, t.right, t.weight * weight) for t in self.terms))

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Terms:
        return self * (1.0 / as_factor(factor))

    def contract(self, rows: Array, products: Products) -> Array:
        """Return the sum over rows, weighted by `rows`: a matrix with the function 1 first."""
        if not self.terms:
            raise ValueError("A form must have at least one term. Got none.")
        total: Array | None = None
        scaled: dict[int, tuple[Any, Array]] = {}
        for term in self.terms:
            weights, number = rows, 1.0
            if np.ndim(term.weight) == 0:
                number = float(term.weight)
                require_finite(np.array([number]), "factor of a form")
            else:
                if id(term.weight) not in scaled:
                    scaled[id(term.weight)] = (term.weight, rows * checked(term.weight, rows))
                weights = scaled[id(term.weight)][1]
            matrix = term.left.contract(term.right, weights, products)
            if number != 1.0:
                matrix *= number
            total = matrix if total is None else total + matrix
        assert total is not None
        return total


def as_factor(factor: Any) -> Rows:
    """Return a number or an array of numbers to multiply by, or say what went wrong."""
    if hasattr(factor, "contract") or isinstance(factor, Terms):
        raise TypeError(
            "A form multiplies one probe of f by one of g: values by '*' (f.value * g.value), "
            "gradients by '@' (f.gradient @ g.gradient)."
        )
    array = as_real(factor, "factor of a form")
    if array.ndim > 1:
        remedy = "A column of x is x[:, 0], not x[:, :1]."
        raise ValueError(must("factor of a form", "one number a row", array.shape, remedy))
    return float(array) if array.ndim == 0 else array


def checked(weight: Rows, rows: Array) -> Array:
    """Return the weight if it has one finite number a row."""
    weight = np.asarray(weight)
    require_finite(weight, "factor of a form")
    if weight.shape != rows.shape:
        raise ValueError(
            f"A form's factor must be a number or one number a row, of shape {rows.shape}. "
            f"Got shape {weight.shape} instead. A column of x is x[:, 0], not x[:, :1]."
        )
    return weight
