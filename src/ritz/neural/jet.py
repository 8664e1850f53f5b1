"""What a form sees of a torch module: tensors in training, NumPy arrays in assembly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ritz.features import CachedJet, DenseGradients, Gradients, Jet, Terms, Values
from ritz.features.terms import RowFactor, Term
from ritz.neural.derivatives import (
    as_tensor,
    directional_derivatives,
    jacobian,
    partial_derivative,
    values,
)
from ritz.validation import Array, as_multi_index, parameter_error, require_finite


@dataclass(frozen=True, eq=False)
class TensorValues(Values):
    """The numbers of a linear probe as a tensor (b, p) or (b, m, p)."""

    array: Any

    def dense(self) -> Any:
        factor = torch.as_tensor(self.factor, dtype=self.array.dtype, device=self.array.device)
        return self.array * factor.reshape(factor.shape + (1,) * (self.array.ndim - 1))

    def __add__(self, other: Values) -> Values:
        if not isinstance(other, Values):
            return NotImplemented
        constant = self.constant * self.factor + other.constant * other.factor
        left, right = self.dense(), other.dense()
        # A probe with one number a row is added to each number of a probe with several.
        left, right = (
            a[:, None] if a.ndim < max(left.ndim, right.ndim) else a for a in (left, right)
        )
        return TensorValues(left + right, constant)


@dataclass(frozen=True, eq=False)
class TensorGradients(Gradients):
    """Gradients R' grad f_j of a module in training, computed when they are multiplied.

    A product of two of them is sum_i d_i f d_i g. Where the jet has random unit directions U, the
    product is estimated by d <grad f, U> <grad g, U> instead.
    """

    jet: TensorJet
    frame: Array | None = None
    factor: RowFactor = 1.0

    @cached_property
    def probe(self) -> Tensor:
        """The gradients (b, e, p), or their derivatives along the random directions (b, r, p)."""
        U, R = self.jet.directions, self.frame
        if U is None or (R is not None and R.shape[0] != R.shape[1]):
            return self.unweighted()
        return self.jet.along(U if R is None else self.jet.tensor(R) @ U)

    def unweighted(self) -> Any:
        gradients = self.jet.jacobian
        return gradients if self.frame is None else self.jet.tensor(self.frame.T) @ gradients

    def map(self, R: Array) -> Gradients:
        frame = R if self.frame is None else self.frame @ R
        return TensorGradients(self.jet, frame, self.factor)

    def _along(self, U: Array) -> Any:
        U = U if self.frame is None else self.frame @ U
        return self.jet.along(self.jet.tensor(U))

    def _values(self, array: Any) -> Values:
        return TensorValues(array, 0.0, self.factor)

    def dense(self) -> Any:
        return self._values(self.unweighted()).dense()

    def combine(self, A: Array) -> Any:
        return self._values(self.unweighted() @ self.jet.tensor(A)).dense()

    def __matmul__(self, other: Gradients) -> Terms:
        if not isinstance(other, TensorGradients):
            return NotImplemented
        left = TensorValues(self.probe, 0.0)
        right = left if other is self else TensorValues(other.probe, 0.0)
        return Terms((Term(left, right, self.factor * other.factor),))


class TensorJet(CachedJet):
    """The outputs of a module at some rows as tensors, differentiable in its parameters.

    With a number `n_directions`, products of gradients are estimated along as many random unit
    directions at each row, drawn from `generator`; otherwise they are exact.
    """

    def __init__(
        self,
        module: Any,
        X: Any,
        n_directions: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        self.module, self.X = module, as_tensor(X, module)
        self.n_directions, self.generator = n_directions, generator
        self.origin = self

    def _at(self, X: Array) -> Jet:
        jet = TensorJet(self.module, X, self.n_directions, self.generator)
        # A product of gradients at two places needs the same directions at both.
        jet.origin = self.origin
        return jet

    def tensor(self, array: Any) -> Tensor:
        """Return an array with the dtype and on the device of the module."""
        return as_tensor(array, self.module)

    @property
    def took_gradients(self) -> bool:
        """Whether a form has asked for gradients."""
        return self._known_gradient is not None

    @cached_property
    def outputs(self) -> Tensor:
        """The values (b, p)."""
        found = values(self.module, self.X)
        if torch.is_grad_enabled() and any(p.requires_grad for p in self.module.parameters()):
            require_parameter_graph(found, "module")
        return found

    @cached_property
    def jacobian(self) -> Tensor:
        """The gradients (b, d, p)."""
        return jacobian(self.module, self.X, self.outputs.shape[1])

    @cached_property
    def directions(self) -> Tensor | None:
        """Random unit directions (b, d, r) times sqrt(d / r): E[sum_r U_r U_r'] is the identity."""
        if self.n_directions is None:
            return None
        if self.origin is not self:
            return self.origin.directions
        b, d = self.X.shape
        U = unit_directions(b, d, self.n_directions, self.generator)
        return (d / self.n_directions) ** 0.5 * U.to(self.X)

    def along(self, U: Tensor) -> Tensor:
        """Return <grad f_j(x_k), U_kr>, (b, r, p), without the Jacobian where that is cheaper."""
        few = U.shape[2] <= min(self.X.shape[1], self.outputs.shape[1])
        if few and "jacobian" not in vars(self):
            return directional_derivatives(self.module, self.X, U)
        return U.transpose(1, 2) @ self.jacobian

    def _value(self) -> Values:
        return TensorValues(self.outputs, 1.0)

    def _gradient(self) -> Gradients:
        return TensorGradients(self)

    def partial(self, alpha: tuple[int, ...]) -> Values:
        alpha = as_multi_index(alpha, self.X.shape[1])
        if not any(alpha):
            return self.value
        return TensorValues(partial_derivative(self.module, self.X, alpha), 0.0)


class NetworkJet(CachedJet):
    """The outputs of a fixed module at some points as float64 arrays."""

    def __init__(self, module: Any, X: Array) -> None:
        self.tensors = TensorJet(module, X)

    def _at(self, X: Array) -> Jet:
        return NetworkJet(self.tensors.module, X)

    def _value(self) -> Values:
        return Values(_array(lambda: self.tensors.outputs), 1.0)

    def _gradient(self) -> Gradients:
        return NetworkGradients(self.tensors)

    def partial(self, alpha: tuple[int, ...]) -> Values:
        if not any(alpha):
            return self.value
        return Values(_array(lambda: self.tensors.partial(alpha).array), 0.0)


@dataclass(frozen=True, eq=False)
class NetworkGradients(Gradients):
    """Gradients of a fixed module; those along few directions do not need all the others."""

    tensors: TensorJet
    factor: RowFactor = 1.0

    @cached_property
    def _jacobian(self) -> Array:
        return _array(lambda: self.tensors.jacobian)

    def unweighted(self) -> Array:
        return self._jacobian

    def map(self, R: Array) -> Gradients:
        return DenseGradients(np.matmul(R.T, self._jacobian), self.factor)

    def _along(self, U: Array) -> Array:
        return _array(lambda: self.tensors.along(self.tensors.tensor(U)))


def _array(compute: Callable[[], Tensor]) -> Array:
    """Return a tensor, computed without a graph, as an array, which must be finite."""
    with torch.no_grad():
        result = compute().cpu().numpy()
    require_finite(result, "module(x)")
    return np.ascontiguousarray(result, dtype=np.float64)


def require_parameter_graph(outputs: Tensor, name: str) -> None:
    """Raise where the outputs of a module are detached from its parameters."""
    if not outputs.requires_grad:
        what = "differentiable in its parameters"
        raise parameter_error(name, what, "detached outputs", "Do not call detach().")


def unit_directions(b: int, d: int, r: int, generator: torch.Generator | None = None) -> Tensor:
    """Return independent uniform unit vectors (b, d, r); E[d <v, U>^2] = |v|^2."""
    U = torch.randn(b, d, r, generator=generator, dtype=torch.float64)
    return U / U.norm(dim=1, keepdim=True)
