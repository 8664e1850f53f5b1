"""Sums of weighted products of probes: what a bilinear form becomes on a block of rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from ritz.validation import Array, as_real, parameter_error, require_finite

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
        factor = np.asarray(self.factor)
        require_finite(factor, "factor of a form")
        if factor.ndim == 0:
            matrix = self.left.gram(self.right, weight)
            return matrix if factor == 1.0 else np.asarray(factor * matrix)
        if factor.shape != weight.shape:
            raise ValueError(
                f"A form's factor must be a number or one number a row, of shape {weight.shape}. "
                f"Got shape {factor.shape} instead. A column of x is x[:, 0], not x[:, :1]."
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
    array = as_real(factor, "factor of a form")
    if array.ndim > 1:
        remedy = "A column of x is x[:, 0], not x[:, :1]."
        requirement = "one number a row"
        raise parameter_error("factor of a form", requirement, array.shape, remedy)
    return float(array) if array.ndim == 0 else array


def times_rows(array: Array, factor: RowFactor) -> Array:
    """Return an array (b, ...) times a number, or times one number a row."""
    factor = np.asarray(factor)
    if factor.ndim == 0:
        return array if factor == 1.0 else np.asarray(factor * array)
    return np.asarray(array * factor.reshape(factor.shape + (1,) * (array.ndim - 1)))


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
    if len(A) != len(B) or len(A) != len(weight):
        raise ValueError(
            "A form multiplies probes at the rows it is given, and as many others. Got "
            f"{len(A)} and {len(B)} rows."
        )
    if A is B and weight.min(initial=0.0) >= 0:
        A = B = times_rows(A, np.sqrt(weight))
    elif not (weight == 1.0).all():
        B = times_rows(B, weight)
    # The number of rows is given, as NumPy cannot infer it where there are no functions.
    rows = prod(A.shape[:-1])
    left, right = A.reshape(rows, A.shape[-1]), B.reshape(rows, B.shape[-1])
    return np.asarray(left.T @ (left if A is B else right))
