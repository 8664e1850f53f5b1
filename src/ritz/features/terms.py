"""Sums of weighted products of probes: what a bilinear form becomes on a block of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ritz.arrays import Array, as_real, must, require_finite

Rows = float | Array


class Feature(Protocol):
    """A probe of all functions of a basis on a block of rows."""

    def plan(self, other: Any) -> Plan:
        """Return how sum_k rows_k <self_k, other_k> follows from products of arrays."""


class Parts(NamedTuple):
    """A matrix (1 + p, 1 + q), the function 1 first, in parts.

    Each may have more axes before its own, for the matrices of several folds.

    Parameters
    ----------
    inner
        The matrix (p, q) of the functions without the function 1.
    top, side, corner
        The row (q,) and the column (p,) of the function 1, and the entry where they meet.
    """

    inner: Array
    top: Rows = 0.0
    side: Rows = 0.0
    corner: Rows = 0.0


@dataclass(frozen=True, eq=False)
class Plan:
    """A matrix (1 + p, 1 + q), the function 1 first, in terms of products A' diag(rows) B.

    Parameters
    ----------
    factors
        The arrays A and B of each product: (b, p), (b, m, p), one number a row (b,), or a number.
    finish
        The matrix from the products and the constants; linear in the products, which may have an
        axis before their own, for several folds.
    constants
        What else it depends on: numbers, and arrays that are the same on every block.
    spent
        The numbers of the products that `finish` overwrites.
    """

    factors: tuple[tuple[Rows, Rows], ...]
    finish: Callable[..., Parts]
    constants: tuple[Any, ...] = ()
    spent: tuple[int, ...] = ()


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

    def checked(self) -> tuple[Term, ...]:
        """Return the terms; an error if there are none."""
        if not self.terms:
            raise ValueError("A form must have at least one term. Got none.")
        return self.terms


def as_factor(factor: Any) -> Rows:
    """Return a number or an array of numbers to multiply by, or say what went wrong."""
    if hasattr(factor, "plan") or isinstance(factor, Terms):
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
