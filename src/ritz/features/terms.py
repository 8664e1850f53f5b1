"""Sums of weighted products of probes: what a bilinear form becomes on a block of rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, cast

import numpy as np

from ritz.namespaces import namespace, placed
from ritz.validation import Array, as_real_like, parameter_error, require_finite

RowFactor = float | Array


class Probe(Protocol):
    """A linear probe of all functions of a basis on a block of rows, such as their values."""

    def gram(self, other: Any, weight: Array) -> Array:
        """Return sum_k weight_k <self_k, other_k> (1 + p, 1 + q), the function 1 first."""


@dataclass(frozen=True, eq=False)
class Term:
    """A product of two probes, times a factor: a number, or one number a row."""

    left: Probe
    right: Probe
    factor: RowFactor = 1.0

    def gram(self, weight: Array) -> Array:
        """Return the matrix (1 + p, 1 + q) of the term, summed over rows with weights (b,)."""
        if isinstance(self.factor, float | int):
            require_finite(np.asarray(self.factor), "factor of a form")
            matrix = self.left.gram(self.right, weight)
            return matrix if self.factor == 1.0 else float(self.factor) * matrix
        factor = placed(self.factor, weight)
        require_finite(factor, "factor of a form")
        if factor.shape != weight.shape:
            shape, got = tuple(weight.shape), tuple(factor.shape)
            raise ValueError(
                f"A form's factor must be a number or one number a row, of shape {shape}. "
                f"Got shape {got} instead. A column of x is x[:, 0], not x[:, :1]."
            )
        return self.left.gram(self.right, weight * factor)


@dataclass(frozen=True, eq=False)
class Terms:
    """A sum of terms; add it, and multiply it by numbers or by one number a row."""

    terms: tuple[Term, ...] = ()

    __array_ufunc__ = None

    def gram(self, weight: Array) -> Array:
        """Return the matrix (1 + p, 1 + q) of all terms, summed over rows with weights (b,)."""
        if not self.terms:
            raise ValueError("A form must have at least one term. Got none.")
        total = self.terms[0].gram(weight)
        for term in self.terms[1:]:
            total = total + term.gram(weight)
        return total

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
        factor = as_factor(factor)
        return Terms(tuple([Term(t.left, t.right, t.factor * factor) for t in self.terms]))

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Terms:
        return self * (1.0 / as_factor(factor))


def as_factor(factor: Any) -> RowFactor:
    """Return a number, or an array of one number a row, to multiply a probe or a term by."""
    if hasattr(factor, "gram"):
        raise TypeError(
            "A form multiplies one probe of f by one of g: values by '*' (f.value * g.value), "
            "gradients by '@' (f.gradient @ g.gradient)."
        )
    array = as_real_like(factor, factor, "factor of a form")
    if array.ndim > 1:
        remedy = "A column of x is x[:, 0], not x[:, :1]."
        requirement = "one number a row"
        raise parameter_error("factor of a form", requirement, tuple(array.shape), remedy)
    return float(array) if array.ndim == 0 else array


def times_rows(array: Array, factor: RowFactor) -> Array:
    """Return an array (b, ...) times a number, or times one number a row."""
    if isinstance(factor, float | int):
        return array if factor == 1.0 else float(factor) * array
    shape = (*factor.shape, *(1,) * (array.ndim - 1))
    return cast(Array, array * namespace(array).reshape(placed(factor, array), shape))


def weighted_product(A: Array, B: Array, weight: Array) -> Array:
    """Return A' diag(weight) B (p, q), symmetric to the last bit where A is B and weights allow.

    Parameters
    ----------
    A, B
        Arrays (b, p) and (b, q), or (b, m, p) and (b, m, q) with m numbers a row, whose products
        are added.
    weight
        Numbers (b,).
    """
    if A.shape[0] != B.shape[0] or A.shape[0] != weight.shape[0]:
        raise ValueError(
            "A form multiplies probes at the rows it is given, and as many others. Got "
            f"{A.shape[0]} and {B.shape[0]} rows."
        )
    xp = namespace(A, B)
    if A is B and xp.all(weight >= 0):
        A = B = times_rows(A, xp.sqrt(weight))
    elif not xp.all(weight == 1.0):
        B = times_rows(B, weight)
    # The number of rows is given, as it cannot be inferred where there are no functions.
    rows = prod(A.shape[:-1])
    left, right = (xp.reshape(side, (rows, side.shape[-1])) for side in (A, B))
    return cast(Array, left.T @ (left if A is B else right))
