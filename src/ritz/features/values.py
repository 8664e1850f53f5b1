"""One linear probe of all functions of a basis on a block of rows: numbers (b, p)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.arrays import Array
from ritz.features.terms import Products, Rows, Term, Terms, as_factor


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
    origin
        The array and the offset (p,) whose difference `array` is, if it came about so.
    """

    array: Array
    constant: Rows
    columns: Array | None = None
    weight: Rows = 1.0
    origin: tuple[Array, Array] | None = None

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

    def contract(self, other: Values, rows: Array, products: Products) -> Array:
        """Return sum_k rows_k self_k' other_k, the function 1 first, without the row factors."""
        for values in (self, other):
            if values.origin is not None:
                products.note_shift(*values.origin, values.array)
        left, right = _same_width(self.array, other.array)
        result = np.empty((1 + left.shape[-1], 1 + right.shape[-1]))
        result[1:, 1:] = products.inner(left, right, rows)
        result[0, 0] = (rows * self.constant * other.constant).sum() * _width(left)
        result[0, 1:] = _border(rows, self.constant, right)
        result[1:, 0] = _border(rows, other.constant, left)
        if self.columns is not None:
            result[1:] *= self.columns[:, None]
        if other.columns is not None:
            result[:, 1:] *= other.columns
        return result


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


def _width(array: Array) -> int:
    return array.shape[1] if array.ndim == 3 else 1


def _border(rows: Array, constant: Rows, array: Array) -> Array:
    if np.ndim(constant) == 0 and constant == 0.0:
        return np.zeros(array.shape[-1])
    flat = array.sum(axis=1) if array.ndim == 3 else array
    return np.asarray((rows * constant) @ flat)
