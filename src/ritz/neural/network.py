"""A torch module as a basis."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from ritz.bases import Basis
from ritz.bases.basis import RandomState, as_pilot
from ritz.features import Jet
from ritz.neural.derivatives import as_tensor, values
from ritz.neural.jet import NetworkJet
from ritz.validation import Array, parameter_error, require_columns


@dataclass(frozen=True, eq=False, repr=False)
class Network(Basis):
    """The outputs of a torch module as functions, with input gradients by `torch.func`.

    It holds a copy of the module, in float64 and in evaluation mode, so that training the module
    further does not change the basis.

    Parameters
    ----------
    module
        A module that maps rows (b, d) to (b, p), each row independently of the others.
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
            raise parameter_error("columns", "known before the module is called", None, remedy)
        probe = as_tensor(np.zeros((2, self.columns)), self.module)
        return int(values(self.module, probe).shape[1])

    @property
    def dimension(self) -> int | None:
        return self.columns

    def fit(self, X: Array, random_state: RandomState = None) -> Network:
        """Return the basis for points with as many columns as X, after a check on a few rows."""
        X = as_pilot(X)
        basis = replace(self, columns=X.shape[1])
        few = as_tensor(X[:8], basis.module)
        together = values(basis.module, few)
        alone = torch.cat([values(basis.module, row[None]) for row in few])
        gap = float((together - alone).abs().max())
        if gap > 1e-6 * float(together.abs().max()):
            what = "a module that maps each row independently of the others"
            got = f"outputs that differ by {gap:.2g} if a row comes alone"
            raise parameter_error("module", what, got)
        return basis

    def jet(self, X: Array) -> Jet:
        require_columns(X, self.dimension, "points")
        return NetworkJet(self.module, X)


def require_module(module: Any, name: str) -> None:
    """Raise unless an argument is a torch module."""
    if not isinstance(module, torch.nn.Module):
        remedy = "ritz.Functions takes plain functions."
        raise parameter_error(
            name, "a torch.nn.Module", type(module).__name__, remedy, kind=TypeError
        )
