"""One linear probe of all functions of a basis on a block of rows: numbers (b, p)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.arrays import Array
from ritz.features.terms import Parts, Plan, Rows, Term, Terms, as_factor


@dataclass(frozen=True, eq=False)
class Values:
    """The numbers l(phi_j) of a linear probe l, such as evaluation at each row or a derivative.

    Combine them as in a formula: `c * f.value`, `f.value - f.at(x).value`; the product of one of
    `f` and one of `g` is a term of a bilinear form.

    Parameters
    ----------
    array
        Numbers (b, p), or (b, m, p) when the probe has m numbers a row, to be multiplied one by
        one and added.
    constant
        The probe's number at the function 1: a number, or one a row (b,).
    columns
        Factors (p,) still to be applied, or None: kept apart so that probes that differ only by
        them share their matrix products.
    weight
        Factor of the rows still to be applied, a number or (b,).
    """

    array: Array
    constant: Rows
    columns: Array | None = None
    weight: Rows = 1.0

    __array_ufunc__ = None

    def dense(self) -> Array:
        """Return the numbers with all factors applied."""
        array = self.array if self.columns is None else self.array * self.columns
        weight = np.asarray(self.weight)
        if weight.ndim == 0:
            return array if weight == 1.0 else array * weight
        return np.asarray(array * weight.reshape(weight.shape + (1,) * (array.ndim - 1)))

    def __add__(self, other: Values) -> Values:
        if not isinstance(other, Values):
            return NotImplemented
        constant = self.constant * self.weight + other.constant * other.weight
        left, right = _same_width(self.dense(), other.dense())
        return Values(left + right, constant)

    def __sub__(self, other: Values) -> Values:
        return self + (-other) if isinstance(other, Values) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Values):
            return Terms((Term(self, other, self.weight * other.weight),))
        return replace(self, weight=self.weight * as_factor(other))

    __rmul__ = __mul__

    def __neg__(self) -> Values:
        return replace(self, weight=-1.0 * self.weight)

    def __truediv__(self, factor: Any) -> Values:
        return replace(self, weight=self.weight / as_factor(factor))

    def plan(self, other: Values) -> Plan:
        """Return sum_k rows_k self_k' other_k, the function 1 first, without the row factors."""
        left, right = _same_width(self.array, other.array)
        if self.array is other.array:
            right = left
        one, two = self.constant, other.constant
        factors = ((left, right), (one, right), (left, two), (one, two))
        width = left.shape[1] if left.ndim == 3 else 1
        return Plan(factors, bordered, (width, self.columns, other.columns))


def bordered(
    inner: Array,
    top: Array,
    side: Array,
    corner: float,
    width: int,
    left: Array | None,
    right: Array | None,
) -> Parts:
    """Return the matrix (1 + p, 1 + q) of values, their factors of columns applied."""
    if left is not None:
        inner, side = inner * left[:, None], side * left
    if right is not None:
        inner, top = inner * right, top * right
    return Parts(inner, top, side, corner * width)


def _same_width(a: Array, b: Array) -> tuple[Array, Array]:
    """Return both with as many numbers a row: one number goes with each of several."""
    if a.ndim == b.ndim:
        if a.ndim == 3 and a.shape[1] != b.shape[1]:
            raise ValueError(
                "Values along several directions combine only with as many others. "
                f"Got {a.shape[1]} and {b.shape[1]} a row."
            )
        return a, b
    if a.ndim == 2:
        return np.repeat(a[:, None, :], b.shape[1], axis=1), b
    return a, np.repeat(b[:, None, :], a.shape[1], axis=1)
