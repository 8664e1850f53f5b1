"""One linear probe of all functions of a basis on a block of rows: numbers (b, p)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ritz.features.terms import RowFactor, Term, Terms, as_factor, times_rows, weighted_product
from ritz.namespaces import device_of, namespace, placed
from ritz.validation import Array


@dataclass(frozen=True, eq=False)
class Values:
    """The numbers l(phi_j) of a linear probe l, such as evaluation at each row or a derivative.

    Combine them as in a formula: `c * f.value`, `f.value - f.at(x).value`. The product of one of
    `f` and one of `g` is a term of a bilinear form.

    Parameters
    ----------
    array
        Numbers (b, p), or (b, m, p) where the probe has m numbers a row. A product adds up their
        products.
    constant
        The probe's number at the function 1: a number, or one a row (b,).
    factor
        A factor that `array` does not include: a number, or one a row (b,).
    """

    array: Array
    constant: RowFactor
    factor: RowFactor = 1.0

    __array_ufunc__ = None

    def dense(self) -> Array:
        """Return the numbers with the factor applied."""
        return times_rows(self.array, self.factor)

    def __add__(self, other: Values) -> Values:
        if not isinstance(other, Values):
            return NotImplemented
        constant = self.constant * self.factor + other.constant * other.factor
        left, right = _same_width(self.dense(), other.dense())
        return Values(left + right, constant)

    def __sub__(self, other: Values) -> Values:
        return self + (-other) if isinstance(other, Values) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Values):
            return Terms((Term(self, other, self.factor * other.factor),))
        return replace(self, factor=self.factor * as_factor(other))

    __rmul__ = __mul__

    def __neg__(self) -> Values:
        return replace(self, factor=-1.0 * self.factor)

    def __truediv__(self, factor: Any) -> Values:
        return replace(self, factor=self.factor / as_factor(factor))

    def gram(self, other: Values, weight: Array) -> Array:
        """Return sum_k weight_k self_k' other_k (1 + p, 1 + q), without the factors of the rows."""
        if other is self or (other.array is self.array and other.constant is self.constant):
            A = _with_constant(self.array, self.constant)
            return weighted_product(A, A, weight)
        left, right = _same_width(self.array, other.array)
        return weighted_product(
            _with_constant(left, self.constant), _with_constant(right, other.constant), weight
        )


def _with_constant(array: Array, constant: RowFactor) -> Array:
    """Return the numbers (b, ..., 1 + p) with those of the function 1 first."""
    xp = namespace(array)
    shape = (*array.shape[:-1], 1 + array.shape[-1])
    result: Array = xp.empty(shape, dtype=xp.float64, device=device_of(array))
    result[..., 1:] = array
    if not isinstance(constant, float | int):
        constant = placed(constant, array)[:, None] if array.ndim == 3 else placed(constant, array)
    result[..., 0] = constant
    return result


def _same_width(a: Array, b: Array) -> tuple[Array, Array]:
    """Return both arrays with as many numbers a row: a single one is repeated."""
    if a.ndim == b.ndim:
        if a.ndim == 3 and a.shape[1] != b.shape[1]:
            raise ValueError(
                "Values along several directions combine only with as many others. "
                f"Got {a.shape[1]} and {b.shape[1]} a row."
            )
        return a, b
    xp = namespace(a, b)
    if a.ndim == 2:
        return xp.repeat(a[:, None, :], b.shape[1], axis=1), b
    return a, xp.repeat(b[:, None, :], a.shape[1], axis=1)
