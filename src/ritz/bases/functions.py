"""A user's own functions as a basis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ritz.bases.basis import Basis, RandomState
from ritz.differences import points_and_steps, require_derivative
from ritz.features import CachedJet, DenseGradients, Gradients, Jet, Values
from ritz.validation import (
    Array,
    as_multi_index,
    as_real,
    parameter_error,
    require_columns,
    require_finite,
)

Function = Callable[[Array], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Functions(Basis):
    """Functions given as callables of points (b, d), each returning (b,).

    Parameters
    ----------
    callables
        The functions. Several threads may call them at once.
    gradients
        Their gradients, each returning (b, d); needed by operators with first derivatives.
    columns
        The number d of columns of points; by default that of the data.
    check_derivatives
        Whether a fit compares the gradients with finite differences, and raises if most disagree.
        It calls functions and gradients at a few points between the rows.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> basis = ritz.Functions(
    ...     [lambda x: np.cos(x[:, 0])],
    ...     gradients=[lambda x: -np.sin(x)],
    ... )
    >>> basis([[0.0], [np.pi]])
    array([[ 1.],
           [-1.]])
    """

    callables: Sequence[Function]
    gradients: Sequence[Function] | None = None
    columns: int | None = None
    check_derivatives: bool = True

    def __post_init__(self) -> None:
        for name in ("callables", "gradients"):
            functions = getattr(self, name)
            if name == "gradients" and functions is None:
                continue
            functions = tuple(functions) if isinstance(functions, tuple | list) else ()
            if not functions or not all(callable(f) for f in functions):
                raise parameter_error(name, "a list of functions", getattr(self, name))
            object.__setattr__(self, name, functions)
        if self.gradients is not None and len(self.gradients) != len(self.callables):
            what = f"{len(self.callables)} functions"
            raise parameter_error("gradients", what, len(self.gradients))

    @property
    def size(self) -> int:
        return len(self.callables)

    @property
    def dimension(self) -> int | None:
        return self.columns

    def fit(self, X: Array, random_state: RandomState = None) -> Functions:
        """Return the functions, of points with as many columns as X, their gradients checked."""
        if self.check_derivatives and self.gradients is not None:
            points, steps = points_and_steps(X)
            for j, (f, gradient) in enumerate(zip(self.callables, self.gradients, strict=True)):
                require_derivative(
                    partial(_called_between_rows, f, f"callables[{j}]", 1),
                    partial(_called_between_rows, gradient, f"gradients[{j}]", 2),
                    points,
                    steps,
                    f"gradients[{j}]",
                    f"the gradient of callables[{j}]",
                )
        return replace(self, columns=X.shape[1])

    @property
    def differentiable(self) -> bool:
        return self.gradients is not None

    def jet(self, X: Array) -> Jet:
        return FunctionsJet(self, X)


class FunctionsJet(CachedJet):
    """A user's functions at some points."""

    def __init__(self, basis: Functions, X: Array) -> None:
        require_columns(X, basis.dimension, "points")
        self.basis, self.X = basis, X

    def _at(self, X: Array) -> Jet:
        return FunctionsJet(self.basis, X)

    def _value(self) -> Values:
        columns = [
            _finite(f, f"callables[{j}]", 1, self.X) for j, f in enumerate(self.basis.callables)
        ]
        return Values(np.stack(columns, axis=1), 1.0)

    def _gradient(self) -> Gradients:
        if self.basis.gradients is None:
            raise ValueError(
                "This operator needs derivatives of the functions. "
                "Pass gradients=[...] to ritz.Functions, one function (b, d) -> (b, d) each."
            )
        columns = [
            _finite(f, f"gradients[{j}]", 2, self.X) for j, f in enumerate(self.basis.gradients)
        ]
        return DenseGradients(np.stack(columns, axis=2))

    def partial(self, alpha: tuple[int, ...]) -> Values:
        alpha = as_multi_index(alpha, self.X.shape[1])
        if not any(alpha):
            return self.value
        if sum(alpha) > 1:
            raise ValueError(
                f"ritz.Functions has first derivatives only; {alpha} was asked for. "
                "Use a kernel or polynomial basis."
            )
        return Values(self.gradient.dense()[:, alpha.index(1), :], 0.0)


def _called(function: Function, name: str, ndim: int, X: Array) -> Array:
    """Return the values (b,) or, where ndim is 2, the gradients (b, d) at points (b, d)."""
    result, shape = as_real(function(X), name), X.shape[:ndim]
    if result.shape != shape:
        what = f"a function that returns shape {shape} for points of shape {X.shape}"
        raise parameter_error(name, what, f"shape {result.shape}")
    return result


def _called_between_rows(function: Function, name: str, ndim: int, X: Array) -> Array:
    """Call a function at points that need not be rows, and say so if it fails."""

    def noted(X: Array) -> Any:
        try:
            return function(X)
        except Exception as error:
            error.add_note(
                f"{name} was called at points between the rows of X, to compare gradients with "
                "finite differences. check_derivatives=False skips this comparison."
            )
            raise

    return _called(noted, name, ndim, X)


def _finite(function: Function, name: str, ndim: int, X: Array) -> Array:
    result = _called(function, name, ndim, X)
    require_finite(result, f"{name}(x)")
    return result
