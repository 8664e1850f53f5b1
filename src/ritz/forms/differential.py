"""Potentials and differential operators of any order with variable coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ritz.features import Jet, Terms
from ritz.forms.form import Field, Form, as_field, equal_values
from ritz.rows import Block
from ritz.validation import Array, as_multi_index, evaluate_field, parameter_error, require_finite

MultiIndex = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Potential(Form):
    """The form E[V f g]."""

    file_tag: ClassVar[str] = "Potential"

    row_fields: ClassVar[tuple[str, ...]] = ("V",)
    V: Field

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        product: Terms = f.value * g.value
        if not callable(self.V) and not self.V.ndim:
            return float(self.V) * product
        return product * evaluate_field(self.V, block.views[0], block.index, "V", 1)

    def __str__(self) -> str:
        return "potential(V)"


def potential(V: Any) -> Form:
    """Return the form E[V(X) f(X) g(X)], to be added to a Laplacian.

    Parameters
    ----------
    V
        A number, a function of points (b, d) that returns (b,), or an array (n,). It may be
        negative: eigenvalues below zero are found too.
    """
    V = as_field(V, "V")
    if not callable(V):
        if V.ndim > 1:
            raise parameter_error("V", "a number, a function or an array (n,)", V.shape)
        require_finite(np.atleast_1d(V), "V")
    return Potential(V)


@dataclass(frozen=True, eq=False)
class Differential(Form):
    """The form E[sum of c d^alpha f d^beta g]."""

    file_tag: ClassVar[str] = "Differential"

    coefficients: tuple[tuple[MultiIndex, MultiIndex, Field], ...]
    symmetric: bool

    def require_shapes(self, n_rows: int | None, dimensions: tuple[int, ...]) -> None:
        super().require_shapes(n_rows, dimensions)
        for alpha, beta, _ in self.coefficients:
            as_multi_index(alpha, dimensions[0])
            as_multi_index(beta, dimensions[0], "beta")

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        total = Terms()
        left = {alpha: f.partial(alpha) for alpha, _, _ in self.coefficients}
        right: dict[MultiIndex, Any] = left if f is g else {}
        for alpha, beta, c in self.coefficients:
            if beta not in right:
                right[beta] = g.partial(beta)
            factor: Any = c
            if callable(c) or c.ndim:
                name = f"coefficient of ({alpha}, {beta})"
                factor = evaluate_field(c, block.views[0], block.index, name, 1)
            total += (left[alpha] * right[beta]) * factor
        return total

    def width(self, dimension: int) -> int:
        return 2 * len(self.coefficients)

    def row_arrays(self) -> Iterator[tuple[str, Array]]:
        for alpha, beta, c in self.coefficients:
            if not callable(c) and c.ndim:
                yield f"coefficient of ({alpha}, {beta})", c

    def without_rows(self) -> Form:
        coefficients = [
            (alpha, beta, c if callable(c) or not c.ndim else c[:0])
            for alpha, beta, c in self.coefficients
        ]
        return replace(self, coefficients=tuple(coefficients))

    def difference(self, other: Form) -> str | None:
        if isinstance(other, Differential) and equal_values(
            self._without_row_arrays(), other._without_row_arrays()
        ):
            return None
        return f"{self} and {other}"

    def _without_row_arrays(self) -> tuple[Any, ...]:
        return tuple(
            (alpha, beta, "array" if not callable(c) and c.ndim else c)
            for alpha, beta, c in self.coefficients
        )

    def __str__(self) -> str:
        parts = [
            f"{'c(x)' if callable(c) or c.ndim else f'{float(c):g}'} d{a}f d{b}g"
            for a, b, c in self.coefficients
        ]
        return f"differential({' + '.join(parts)})"


def differential(coefficients: Mapping[tuple[MultiIndex, MultiIndex], Any]) -> Form:
    """Return the form E[sum over (alpha, beta) of c(X) d^alpha f(X) d^beta g(X)].

    It is symmetric, and has eigenvalues, where (alpha, beta) and (beta, alpha) have the same
    coefficient; otherwise it has singular values, the smallest first, as the large ones of an
    unbounded operator are artifacts of the basis.

    Parameters
    ----------
    coefficients
        A dictionary {(alpha, beta): c} with multi-indices of one integer a coordinate and c a
        number, a function of points (b, d) that returns (b,), or an array (n,).

    Examples
    --------
    The derivative along the first of two coordinates, f d_1 g:

    >>> import ritz
    >>> print(ritz.differential({((0, 0), (1, 0)): 1.0}))
    differential(1 d(0, 0)f d(1, 0)g)
    """
    if not isinstance(coefficients, Mapping) or not coefficients:
        raise parameter_error("coefficients", "a dictionary {(alpha, beta): c}", coefficients)
    items: list[tuple[MultiIndex, MultiIndex, Any]] = []
    for key, c in coefficients.items():
        if not (
            isinstance(key, tuple)
            and len(key) == 2
            and all(isinstance(a, tuple | list) for a in key)
        ):
            example = "((0, 0), (1, 0)) for f d_1 g in two dimensions"
            raise parameter_error("coefficients", "keyed by pairs of multi-indices", key, example)
        dimension = len(key[0])
        alpha = as_multi_index(key[0], dimension)
        beta = as_multi_index(key[1], dimension, "beta")
        field = as_field(c, f"coefficients[{key}]")
        if not callable(field):
            require_finite(np.atleast_1d(field), f"coefficients[{key}]")
        items.append((alpha, beta, field))
    return Differential(tuple(items), _is_symmetric(items))


def _is_symmetric(items: list[tuple[MultiIndex, MultiIndex, Any]]) -> bool:
    table = {(alpha, beta): c for alpha, beta, c in items}

    def same(c: Any, other: Any) -> bool:
        return other is not None and (c is other or np.array_equal(c, other))

    return all(same(c, table.get((beta, alpha))) for alpha, beta, c in items)
