"""A torch module as a basis, and the simplest of modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ritz.arrays import Array, as_count, as_multi_index, must, require_columns, require_finite
from ritz.bases import Basis
from ritz.bases.basis import RandomState
from ritz.cached import cached_property
from ritz.features import CachedJet, DenseGradients, Gradients, Jet, Values
from ritz.features.terms import Plan, Rows
from ritz.neural.derivatives import along, as_tensor, jacobian, partial, values


@dataclass(frozen=True, eq=False, repr=False)
class Network(Basis):
    """The outputs of a torch module as functions, with input gradients by `torch.func`.

    It holds a copy of the module as it is, in float64 and set to evaluation, so that training it
    further changes nothing here.

    Parameters
    ----------
    module
        A module that maps rows (b, d) to (b, p), each on its own.
    columns
        The number d of columns of points; by default that of the data.

    Examples
    --------
    >>> import numpy as np, torch, ritz
    >>> from ritz.neural import Network
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> basis = Network(torch.nn.Sequential(torch.nn.Linear(2, 50), torch.nn.Tanh()))
    >>> spectrum = ritz.decompose(ritz.laplacian(), basis, X, k=4)
    """

    module: Any
    columns: int | None = None

    def __post_init__(self) -> None:
        require_module(self.module, "module")
        module = deepcopy(self.module).double().eval().requires_grad_(False)
        object.__setattr__(self, "module", module)

    @cached_property
    def size(self) -> int:
        if self.columns is None:
            remedy = "Pass Network(module, columns=d), or let ritz.assemble fit it to data."
            raise ValueError(must("columns", "known before the module is called", None, remedy))
        probe = as_tensor(np.zeros((2, self.columns)), self.module)
        return int(values(self.module, probe).shape[1])

    @property
    def dimension(self) -> int | None:
        return self.columns

    def fit(self, X: Array, random_state: RandomState = None) -> Network:
        """Return the functions, of points with as many columns as X, checked on a few of them."""
        basis = replace(self, columns=X.shape[1])
        few = as_tensor(X[:8], basis.module)
        together = values(basis.module, few)
        alone = torch.cat([values(basis.module, row[None]) for row in few])
        gap = float((together - alone).abs().max())
        if gap > 1e-6 * float(together.abs().max()):
            what = "a module that maps each row on its own"
            raise ValueError(must("module", what, f"outputs that differ by {gap:.2g} among others"))
        return basis

    def jet(self, X: Array) -> Jet:
        return NetworkJet(self, X)


class NetworkJet(CachedJet):
    """The outputs of a module at some points, as arrays."""

    def __init__(self, basis: Network, X: Array) -> None:
        require_columns(X, basis.dimension, "points")
        self.basis, self.X = basis, X

    def _at(self, X: Array) -> Jet:
        return NetworkJet(self.basis, X)

    def compute(self, function: Callable[..., Tensor], *arguments: Any) -> Array:
        """Return a function of the module and the points as an array, which must be finite."""
        module = self.basis.module
        X = as_tensor(self.X, module)
        tensors = (as_tensor(a, module) if isinstance(a, np.ndarray) else a for a in arguments)
        with torch.no_grad():
            result = function(module, X, *tensors).cpu().numpy()
        require_finite(result, "module(x)")
        return np.ascontiguousarray(result, dtype=np.float64)

    def _value(self) -> Values:
        return Values(self.compute(values), 1.0)

    def _gradient(self) -> Gradients:
        return NetworkGradients(self)

    def partial(self, alpha: tuple[int, ...]) -> Values:
        alpha = as_multi_index(alpha, self.X.shape[1])
        return Values(self.compute(partial, alpha), 0.0) if any(alpha) else self.value


@dataclass(frozen=True, eq=False)
class NetworkGradients(Gradients):
    """Gradients of a module: all of them, or along few directions without the others."""

    jet: NetworkJet
    weight: Rows = 1.0

    @cached_property
    def _all(self) -> Array:
        return self.jet.compute(jacobian, self.jet.basis.size)

    def unweighted(self) -> Array:
        return self._all

    def map(self, R: Array) -> Gradients:
        return DenseGradients(np.matmul(R.T, self._all), self.weight)

    def _along(self, U: Array) -> Values:
        if "_all" in self.__dict__ or U.shape[2] >= min(U.shape[1], self.jet.basis.size):
            return Values(np.matmul(U.transpose(0, 2, 1), self._all), 0.0, weight=self.weight)
        return Values(self.jet.compute(along, U), 0.0, weight=self.weight)

    def _combined(self, A: Array) -> Array:
        return self._all @ A

    def plan(self, other: Gradients) -> Plan:
        return DenseGradients(self._all).plan(DenseGradients(other.unweighted()))


def require_module(module: Any, name: str) -> None:
    """Raise unless it is a torch module."""
    if not isinstance(module, torch.nn.Module):
        remedy = "ritz.Functions takes plain functions."
        raise TypeError(must(name, "a torch.nn.Module", type(module).__name__, remedy))


def mlp(
    inputs: int,
    hidden: Sequence[int],
    outputs: int,
    activation: Callable[[], Any] = torch.nn.SiLU,
    first_scale: float = 3.0,
) -> Any:
    """Return a multilayer perceptron for rows of about unit size.

    Smooth activations make gradients smooth, and a first layer larger than torch's own makes
    functions that bend from the start: on the sphere, where those of degree three are wanted,
    training takes half the steps.

    Parameters
    ----------
    inputs, outputs
        The number of columns of a row, and of functions.
    hidden
        The number of units of each hidden layer.
    activation
        What makes the activation between layers.
    first_scale
        The factor of the weights and biases that the first layer starts with.
    """
    sizes = [as_count(n, "hidden") for n in (inputs, *hidden)]
    layers: list[Any] = []
    for one, next_one in pairwise(sizes):
        layers += [torch.nn.Linear(one, next_one), activation()]
    layers.append(torch.nn.Linear(sizes[-1], as_count(outputs, "outputs")))
    with torch.no_grad():
        for parameter in layers[0].parameters():
            parameter.mul_(first_scale)
    return torch.nn.Sequential(*layers)
