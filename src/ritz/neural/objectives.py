"""The loss of an operator on a batch, for training loops: ours, or yours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from ritz.arrays import Array, Block, as_count, as_real, as_rows, must, require_finite
from ritz.forms import Form
from ritz.forms.pairs import Cross
from ritz.neural.averages import Averages, averages
from ritz.neural.jet import TensorJet
from ritz.neural.losses import contrastive, energy, two_towers, variance_covariance, whitening
from ritz.neural.module import require_module

Regularizer = Literal["contrastive", "whitening", "variance_covariance"]
REGULARIZERS = ("contrastive", "whitening", "variance_covariance")
PARTS = 8


@dataclass(frozen=True, eq=False)
class SpectralLoss:
    """The loss 2 / mu sum_j E_L(f_j) + R(f), least at the first eigenfunctions of an operator.

    Where the operator has no energy for the function 1, as the Laplacian, that is one of the
    functions, given, and the module learns those after it.

    Parameters
    ----------
    form
        A symmetric operator, such as `ritz.laplacian()` or `ritz.pairs()`.
    mu
        The scale: functions with eigenvalues above it vanish. A number, or an increasing vector
        with one for each output.
    regularizer
        "contrastive", "whitening" or "variance_covariance"; see `ritz.neural.losses`.
    n_parts
        In how many independent parts a batch is cut for "contrastive", at most one a row.
    n_directions
        With a number r, products of gradients are estimated along r random unit directions a row,
        scaled by d: r Jacobian-vector products in place of all gradients.
    kills_one
        Whether the operator has no energy for the function 1, so that it is one of the functions.
        By default each batch tells; say it where some batches may not, as those without a row at
        which a potential acts.

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
    n_parts: int = PARTS
    n_directions: int | None = None
    kills_one: bool | None = None

    def __post_init__(self) -> None:
        require_averages(self.form)
        if not self.form.symmetric:
            remedy = "Between two views, use SingularLoss."
            raise ValueError(must("form", "a symmetric operator", self.form, remedy))
        object.__setattr__(self, "mu", as_mu(self.mu))
        if self.regularizer not in REGULARIZERS:
            raise ValueError(must("regularizer", f"one of {REGULARIZERS}", repr(self.regularizer)))
        if as_count(self.n_parts, "n_parts") < 2:
            raise ValueError(must("n_parts", "at least 2", self.n_parts))
        if self.n_directions is not None:
            as_count(self.n_directions, "n_directions", "a positive integer, or None")

    def __call__(self, module: Any, X: Any, *, generator: torch.Generator | None = None) -> Tensor:
        """Return the loss of a module on samples (b, d), or on a pair of arrays of them."""
        require_module(module, "module")
        batch = self.averages([module], as_block(X, self.form.views), generator)
        _require_slopes(batch)
        return _finite(self.value(batch))

    def averages(
        self, modules: Any, block: Block, generator: torch.Generator | None = None
    ) -> Averages:
        """Return the averages over a batch that the loss is made of."""
        f = TensorJet(modules[0], block.views[0], self.n_directions, generator)
        return averages(self.form, f, f, block, parts_of(block, self.n_parts))

    def value(self, batch: Averages) -> Tensor:
        """Return the loss from averages."""
        outputs = len(batch.energy) - 1
        mu = np.broadcast_to(self.mu, (outputs,)) if np.ndim(self.mu) == 0 else self.mu
        if len(mu) != outputs:
            raise ValueError(must("mu", f"a number or {outputs}, one an output", f"{len(mu)}"))
        scale = torch.as_tensor(mu.copy()).to(batch.energy)
        cost = energy(batch.energy[1:], scale)
        if self.regularizer == "variance_covariance":
            second = batch.second
            mean = second[0, 1:]
            return cost + variance_covariance(second[1:, 1:] - torch.outer(mean, mean))
        kills_one = batch.kills_one if self.kills_one is None else self.kills_one
        batch = batch if kills_one else batch.without_one()
        if self.regularizer == "whitening":
            return cost + whitening(batch.second)
        return cost + contrastive(batch.left)

    def settings(self) -> dict[str, Any]:
        """Return what the loss is, in plain values."""
        names = ("regularizer", "n_parts", "n_directions", "kills_one")
        plain = {name: getattr(self, name) for name in names}
        return {"operator": str(self.form), "mu": np.asarray(self.mu).tolist(), **plain}


@dataclass(frozen=True, eq=False)
class SingularLoss:
    """The loss -2 E[f(X)'g(Y)] + E[(f(X)'g(Y'))^2] of two modules on two views.

    It is least at the pairs of functions that correlate most; those of constants are given, and
    the modules learn the pairs after them.

    Parameters
    ----------
    n_parts
        In how many independent parts a batch is cut.
    """

    n_parts: int = PARTS

    def __post_init__(self) -> None:
        if as_count(self.n_parts, "n_parts") < 2:
            raise ValueError(must("n_parts", "at least 2", self.n_parts))

    def __call__(self, left: Any, right: Any, X: Any, Y: Any) -> Tensor:
        """Return the loss of two modules on aligned samples (b, d) and (b, e)."""
        require_module(left, "left")
        require_module(right, "right")
        return _finite(self.value(self.averages([left, right], as_block((X, Y), 2))))

    def averages(
        self, modules: Any, block: Block, generator: torch.Generator | None = None
    ) -> Averages:
        """Return the averages over a batch that the loss is made of."""
        n_parts = parts_of(block, self.n_parts)
        f, g = (TensorJet(m, view) for m, view in zip(modules, block.views, strict=True))
        if f.outputs.shape[1] != g.outputs.shape[1]:
            what = f"{f.outputs.shape[1]} outputs, as the left one"
            raise ValueError(must("right", what, g.outputs.shape[1]))
        return averages(Cross(), f, g, block, n_parts)

    def value(self, batch: Averages) -> Tensor:
        """Return the loss from averages."""
        return two_towers(batch.energy, batch.left, batch.right)

    def settings(self) -> dict[str, Any]:
        """Return what the loss is, in plain values."""
        return {"operator": str(Cross()), "n_parts": self.n_parts}


def _require_slopes(batch: Averages) -> None:
    """Raise where outputs vary and yet have no energy at all, as those that are rounded."""
    second = batch.second.detach()[1:, 1:].diagonal()
    mean = batch.second.detach()[0, 1:]
    varies = (second - mean**2 > 1e-4 * second).any()
    if varies and not batch.energy.detach()[1:].any():
        what = "differentiable in its input"
        remedy = "Rounding, sign and argmax have no derivative to learn from. Pairs must differ."
        raise ValueError(must("module", what, "outputs that vary, but no energy", remedy))


def _finite(loss: Tensor) -> Tensor:
    """Return a loss, or stop a training before a step that would spoil the parameters."""
    if not loss.isfinite():
        raise FloatingPointError(
            f"The loss is {loss.item():.3g} on this batch, and the parameters are as the last step "
            "left them. Lower the learning rate, scale the data, or look at what the module does."
        )
    return loss


def as_mu(mu: Any) -> Array:
    """Return a positive number (), or increasing positive numbers (m,)."""
    array = as_real(mu, "mu")
    if array.ndim > 1 or not array.size:
        raise ValueError(must("mu", "a number or a vector", f"shape {array.shape}"))
    require_finite(np.atleast_1d(array), "mu")
    if array.min() <= 0:
        raise ValueError(must("mu", "positive", array.min()))
    if array.ndim and (np.diff(array) < 0).any():
        remedy = "Otherwise the loss is not least at the eigenfunctions: sort it."
        raise ValueError(must("mu", "increasing", mu, remedy))
    return array


def require_averages(form: Any) -> None:
    """Raise unless the operator is a form that batches of rows can estimate."""
    if not isinstance(form, Form):
        raise TypeError(must("operator", "a form such as ritz.laplacian()", form))
    if not form.foldable:
        what = "an average over rows"
        raise ValueError(must("operator", what, f"{form}, which compares all rows at once"))


def parts_of(block: Block, n_parts: int) -> int:
    """Return the number of parts of a batch, at most one a row; an error for a single row."""
    if len(block) < 2:
        raise ValueError(must("X", "batches of at least 2 rows", f"{len(block)} rows"))
    return min(n_parts, len(block))


def as_block(X: Any, views: int) -> Block:
    """Return samples, or a pair of them, as a batch."""
    arrays = tuple(X) if views == 2 else (X,)
    if len(arrays) != views:
        raise ValueError(must("X", f"{views} arrays", len(arrays)))
    rows = tuple(as_rows(array, name) for name, array in zip("XY", arrays, strict=False))
    if len({len(view) for view in rows}) > 1:
        raise ValueError(must("Y", f"aligned with X, {len(rows[0])} rows", f"{len(rows[1])} rows"))
    return Block(rows, np.ones(len(rows[0])), np.arange(len(rows[0])))
