"""The loss of an operator on a batch of samples, for the estimators and for your own loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from ritz.forms import Form
from ritz.forms.pairs import Cross
from ritz.neural.averages import Averages, averages
from ritz.neural.jet import TensorJet
from ritz.neural.losses import contrastive, energy, two_towers, variance_covariance, whitening
from ritz.neural.network import require_module
from ritz.rows import Block
from ritz.streams import as_stream
from ritz.validation import (
    Array,
    as_choice,
    as_count,
    as_real,
    parameter_error,
    renamed,
    require_finite,
)

Regularizer = Literal["contrastive", "whitening", "variance_covariance"]


@dataclass(frozen=True, eq=False)
class SpectralLoss:
    """The loss 2 / mu sum_j E_L(f_j) + R(f), minimal at the first eigenfunctions of an operator.

    Where the operator has no energy for the function 1, as the Laplacian, the function 1 is one
    of the functions and is not learned; the module learns those that follow it.

    Parameters
    ----------
    form
        A symmetric operator, such as `ritz.laplacian()` or `ritz.pairs()`.
    mu
        The scale: functions with eigenvalues above it vanish. A number, or an increasing vector
        with one number for each output.
    regularizer
        "contrastive", "whitening" or "variance_covariance"; see the functions of these names.
    n_parts
        The number of independent parts into which "contrastive" splits a batch, at most one a row.
    n_directions
        With a number r, products of gradients are estimated along r random unit directions at
        each row, scaled by d: r Jacobian-vector products in place of the whole Jacobian.
    kills_one
        Whether the operator has no energy for the function 1. By default each batch decides;
        pass it where some batches may be wrong, such as those without a row at which a potential
        acts.

    Examples
    --------
    >>> import torch, ritz
    >>> from ritz.neural import SpectralLoss, mlp
    >>> module = mlp(2, (32,), 3)
    >>> loss = SpectralLoss(ritz.laplacian(), mu=10.0)
    >>> loss(module, torch.randn(100, 2)).backward()
    """

    form: Form
    mu: Any
    regularizer: Regularizer = "contrastive"
    n_parts: int = 8
    n_directions: int | None = None
    kills_one: bool | None = None

    def __post_init__(self) -> None:
        require_symmetric(self.form, "form", "SingularLoss compares two views.")
        object.__setattr__(self, "mu", as_mu(self.mu))
        as_choice(self.regularizer, "regularizer", get_args(Regularizer))
        object.__setattr__(self, "n_parts", _at_least_two_parts(self.n_parts))
        if self.n_directions is not None:
            what = "a positive integer, or None"
            n_directions = as_count(self.n_directions, "n_directions", what)
            object.__setattr__(self, "n_directions", n_directions)

    def __call__(self, module: Any, X: Any, *, generator: torch.Generator | None = None) -> Tensor:
        """Return the loss of a module on samples (b, d), or on a pair of arrays of them."""
        require_module(module, "module")
        batch = self.averages([module], _as_block(X, self.form.views), generator)
        _require_energy(batch)
        return _finite(self.value(batch))

    def averages(
        self, modules: Any, block: Block, generator: torch.Generator | None = None
    ) -> Averages:
        """Return the averages over a batch from which the loss is computed."""
        f = TensorJet(modules[0], block.views[0], self.n_directions, generator)
        return averages(self.form, f, f, block, self.n_parts)

    def value(self, batch: Averages) -> Tensor:
        """Return the loss, given the averages over a batch."""
        outputs = len(batch.energy) - 1
        if self.mu.ndim and len(self.mu) != outputs:
            what = f"a number, or {outputs} numbers, one for each output"
            raise parameter_error("mu", what, f"{len(self.mu)} numbers")
        cost = energy(batch.energy[1:], torch.tensor(self.mu).to(batch.energy))
        if self.regularizer == "variance_covariance":
            second = batch.second_moments
            mean = second[0, 1:]
            return cost + variance_covariance(second[1:, 1:] - torch.outer(mean, mean))
        kills_one = batch.kills_one if self.kills_one is None else self.kills_one
        batch = batch if kills_one else batch.without_one()
        if self.regularizer == "whitening":
            return cost + whitening(batch.second_moments)
        return cost + contrastive(batch.left)

    def settings(self) -> dict[str, Any]:
        """Return the parameters as plain values, by which a checkpoint is recognized."""
        names = ("regularizer", "n_parts", "n_directions", "kills_one")
        plain = {name: getattr(self, name) for name in names}
        return {"operator": str(self.form), "mu": np.asarray(self.mu).tolist(), **plain}


@dataclass(frozen=True, eq=False)
class SingularLoss:
    """The loss -2 E[f(X)'g(Y)] + E[(f(X)'g(Y'))^2] of two modules on two views.

    It is minimal at the pairs of functions with the largest correlations. The pair of constants
    is not learned; the modules learn the pairs that follow it.

    Parameters
    ----------
    n_parts
        The number of independent parts into which a batch is split.
    """

    n_parts: int = 8

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_parts", _at_least_two_parts(self.n_parts))

    def __call__(self, left: Any, right: Any, X: Any, Y: Any) -> Tensor:
        """Return the loss of two modules on aligned samples (b, d) and (b, e)."""
        require_module(left, "left")
        require_module(right, "right")
        return _finite(self.value(self.averages([left, right], _as_block((X, Y), 2))))

    def averages(
        self, modules: Any, block: Block, generator: torch.Generator | None = None
    ) -> Averages:
        """Return the averages over a batch from which the loss is computed."""
        f, g = (TensorJet(m, view) for m, view in zip(modules, block.views, strict=True))
        sizes = []
        for name, jet in (("left", f), ("right", g)):
            with renamed(module=name):
                sizes.append(jet.outputs.shape[1])
        if sizes[0] != sizes[1]:
            what = f"a module with {sizes[0]} outputs, as many as the left one"
            raise parameter_error("right", what, f"{sizes[1]} outputs")
        return averages(Cross(), f, g, block, self.n_parts)

    def value(self, batch: Averages) -> Tensor:
        """Return the loss, given the averages over a batch."""
        return two_towers(batch.energy, batch.left, batch.right)

    def settings(self) -> dict[str, Any]:
        """Return the parameters as plain values, by which a checkpoint is recognized."""
        return {"operator": str(Cross()), "n_parts": self.n_parts}


def require_symmetric(form: Any, name: str, remedy: str) -> None:
    """Raise unless an operator is a symmetric form that batches of rows can estimate."""
    if not isinstance(form, Form):
        raise parameter_error(name, "a form such as ritz.laplacian()", form, kind=TypeError)
    if form.needs_all_rows:
        what = "an average over rows, which batches can estimate"
        raise parameter_error(name, what, f"{form}, which compares all rows at once")
    if not form.symmetric:
        raise parameter_error(name, "symmetric", form, remedy)


def as_mu(mu: Any) -> Array:
    """Return a positive number (), or increasing positive numbers (m,)."""
    array = as_real(mu, "mu")
    if array.ndim > 1 or not array.size:
        raise parameter_error("mu", "a number or a vector", f"shape {array.shape}")
    require_finite(np.atleast_1d(array), "mu")
    if array.min() <= 0:
        raise parameter_error("mu", "positive", array.min())
    if array.ndim and (np.diff(array) < 0).any():
        remedy = "Sort it: otherwise the loss is not minimal at the eigenfunctions."
        raise parameter_error("mu", "increasing", mu, remedy)
    return array


def _at_least_two_parts(n_parts: Any) -> int:
    count = as_count(n_parts, "n_parts")
    if count < 2:
        raise parameter_error("n_parts", "at least 2", n_parts)
    return count


def _as_block(X: Any, views: int) -> Block:
    """Return samples, or a pair of aligned samples, as a batch."""
    return as_stream(tuple(X) if views == 2 else X, views).whole("A loss takes one batch")


def _require_energy(batch: Averages) -> None:
    """Raise where outputs vary but have no energy, as happens if they are rounded."""
    moments = batch.second_moments.detach()
    second, mean = moments.diagonal()[1:], moments[0, 1:]
    varies = (second - mean**2 > 1e-4 * second).any()
    if varies and not batch.energy.detach()[1:].any():
        what = "differentiable in its input"
        remedy = "Rounding, sign and argmax have zero derivatives. For pairs, versions must differ."
        raise parameter_error("module", what, "outputs that vary but have no energy", remedy)


def _finite(loss: Tensor) -> Tensor:
    """Return a loss that is finite; the error comes before a step could spoil the parameters."""
    if not loss.isfinite():
        raise FloatingPointError(
            f"The loss is {loss.item():.3g} on this batch. The parameters have not been changed "
            "since the last step. Lower the learning rate, scale X, or check the module."
        )
    return loss
