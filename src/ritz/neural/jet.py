"""What forms see of a module in training: probes as tensors, so that averages can be descended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ritz.arrays import Array, as_multi_index, must
from ritz.cached import cached_property
from ritz.features import CachedJet, Gradients, Jet, Terms, Values
from ritz.features.terms import Plan, Rows, Term
from ritz.neural.derivatives import along, as_tensor, jacobian, partial, values


@dataclass(frozen=True, eq=False)
class TensorValues(Values):
    """The numbers of a linear probe as a tensor (b, p) or (b, m, p)."""

    array: Any

    def dense(self) -> Any:
        weight = torch.as_tensor(self.weight, dtype=self.array.dtype, device=self.array.device)
        return self.array * weight.reshape(weight.shape + (1,) * (self.array.ndim - 1))

    def __add__(self, other: Values) -> Values:
        if not isinstance(other, Values):
            return NotImplemented
        constant = self.constant * self.weight + other.constant * other.weight
        left, right = self.dense(), other.dense()
        # One number a row goes with each of several.
        left, right = (
            a[:, None] if a.ndim < max(left.ndim, right.ndim) else a for a in (left, right)
        )
        return TensorValues(left + right, constant)


@dataclass(frozen=True, eq=False)
class TensorGradients(Gradients):
    """Gradients R' grad f_j that are computed as they are multiplied.

    Products of two of them are traces sum_i d_i f d_i g. Where the jet has a sketch, unit
    directions U at random, they are estimated by d <grad f, U> <grad g, U> instead.
    """

    jet: TensorJet
    frame: Array | None = None
    weight: Rows = 1.0

    @cached_property
    def array(self) -> Tensor:
        """The gradients (b, e, p), or their sketch (b, r, p)."""
        U, R = self.jet.sketch, self.frame
        if R is not None and R.shape[0] != R.shape[1]:
            U = None
        if U is None:
            return self._turned(self.jet.jacobian)
        return self.jet.along(U if R is None else as_tensor(R, self.jet.module) @ U)

    def _turned(self, gradients: Tensor) -> Tensor:
        if self.frame is None:
            return gradients
        return as_tensor(self.frame.T, self.jet.module) @ gradients

    def unweighted(self) -> Any:
        return self._turned(self.jet.jacobian)

    def map(self, R: Array) -> Gradients:
        frame = R if self.frame is None else self.frame @ R
        return TensorGradients(self.jet, frame, self.weight)

    def _along(self, U: Array) -> Values:
        U = U if self.frame is None else self.frame @ U
        return TensorValues(self.jet.along(as_tensor(U, self.jet.module)), 0.0, weight=self.weight)

    def _weighted(self, array: Any) -> Any:
        return TensorValues(array, 0.0, weight=self.weight).dense()

    def _combined(self, A: Array) -> Any:
        return self.unweighted() @ as_tensor(A, self.jet.module)

    def __matmul__(self, other: Gradients) -> Terms:
        if not isinstance(other, TensorGradients):
            return NotImplemented
        left, right = TensorValues(self.array, 0.0), TensorValues(other.array, 0.0)
        return Terms((Term(left, right, self.weight * other.weight),))

    def plan(self, other: Gradients) -> Plan:
        raise NotImplementedError("Tensors are averaged by ritz.neural.averages.")


class TensorJet(CachedJet):
    """The outputs of a module at some rows.

    Parameters
    ----------
    module
        The module, from rows (b, d) to (b, p).
    X
        The rows (b, d).
    n_directions
        The number r of random unit directions a row that stand for all d of them in products of
        gradients, or None for all.
    generator
        Where directions come from.
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
        # Products of gradients here and there need the same directions at both places.
        jet.origin = self.origin
        return jet

    @cached_property
    def outputs(self) -> Tensor:
        """The values (b, p), which must remember the parameters where these are trained."""
        found = values(self.module, self.X)
        trained = torch.is_grad_enabled() and any(p.requires_grad for p in self.module.parameters())
        if trained and not found.requires_grad:
            what = "differentiable in its parameters"
            got = "outputs cut off from them"
            raise ValueError(must("module", what, got, "Do not detach them."))
        return found

    @cached_property
    def jacobian(self) -> Tensor:
        """The gradients (b, d, p)."""
        return jacobian(self.module, self.X, self.outputs.shape[1])

    @cached_property
    def sketch(self) -> Tensor | None:
        """Unit directions (b, d, r) times sqrt(d / r), so that they add up to one in the mean."""
        if self.n_directions is None:
            return None
        if self.origin is not self:
            return self.origin.sketch
        b, d = self.X.shape
        U = unit_directions(b, d, self.n_directions, self.generator)
        return (d / self.n_directions) ** 0.5 * U.to(self.X)

    def along(self, U: Tensor) -> Tensor:
        """Return <grad f_j(x_k), U_kr>, (b, r, p), by what is there or the cheaper way."""
        if "jacobian" in self.__dict__ or U.shape[2] > min(self.X.shape[1], self.outputs.shape[1]):
            return U.transpose(1, 2) @ self.jacobian
        return along(self.module, self.X, U)

    def _value(self) -> Values:
        return TensorValues(self.outputs, 1.0)

    def _gradient(self) -> Gradients:
        return TensorGradients(self)

    def partial(self, alpha: tuple[int, ...]) -> Values:
        alpha = as_multi_index(alpha, self.X.shape[1])
        if not any(alpha):
            return self.value
        return TensorValues(partial(self.module, self.X, alpha), 0.0)


def unit_directions(b: int, d: int, r: int, generator: torch.Generator | None = None) -> Tensor:
    """Return independent uniform unit vectors (b, d, r); E[d <v, U>^2] = |v|^2."""
    U = torch.randn(b, d, r, generator=generator, dtype=torch.float64)
    return U / U.norm(dim=1, keepdim=True)
