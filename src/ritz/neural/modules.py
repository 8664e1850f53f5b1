"""Modules to start from, and checks of a user's module before training."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ritz.forms import Form
from ritz.neural.averages import averages
from ritz.neural.derivatives import as_tensor, values
from ritz.neural.jet import TensorJet, require_parameter_graph
from ritz.rows import Block, row_slices
from ritz.validation import Array, as_count, as_number, as_rows, parameter_error

ZERO_GRADIENTS = (
    "outputs whose gradients are all zero",
    "Rounding, sign, argmax and detach() have zero derivatives, and so has a last layer that "
    "starts at zero.",
)


def mlp(
    inputs: int,
    hidden: Sequence[int],
    outputs: int,
    activation: Callable[[], Any] = torch.nn.SiLU,
    first_scale: float = 3.0,
) -> Any:
    """Return a multilayer perceptron for rows of about unit size.

    A smooth activation gives smooth gradients. Torch starts the first layer with small weights,
    so that all functions are nearly linear; larger ones give curved functions from the start. On
    the sphere, for functions up to degree three, training then takes half the steps.

    Parameters
    ----------
    inputs, outputs
        The number of columns of a row, and of functions.
    hidden
        The number of units of each hidden layer.
    activation
        A function that makes the activation between two layers. Second derivatives in the input
        need one that torch differentiates forward twice, such as `torch.nn.Tanh`.
    first_scale
        The factor of the initial weights and biases of the first layer.
    """
    if isinstance(hidden, str | bytes) or not np.iterable(hidden):
        raise parameter_error("hidden", "a sequence of positive integers", repr(hidden))
    sizes = [as_count(inputs, "inputs"), *(as_count(n, "hidden") for n in hidden)]
    scale = as_number(first_scale, "first_scale")
    layers: list[Any] = []
    for n_in, n_out in pairwise(sizes):
        layers += [torch.nn.Linear(n_in, n_out), activation()]
    layers.append(torch.nn.Linear(sizes[-1], as_count(outputs, "outputs")))
    with torch.no_grad():
        for parameter in layers[0].parameters():
            parameter.mul_(scale)
    return torch.nn.Sequential(*layers)


class Standardized(torch.nn.Module):
    """A layer that subtracts the mean of a sample (n, d) and divides by its standard deviation."""

    mean: Tensor
    scale: Tensor

    def __init__(self, rows: Array) -> None:
        super().__init__()
        rows = as_rows(rows, "rows", at_least=1)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, spread = rows.mean(axis=0), rows.std(axis=0)
        # The computed deviation of a constant column need not be zero, by rounding.
        varies = spread > np.finfo(np.float32).eps * np.abs(mean)
        scale = 1 / np.where(varies, spread, 1.0)
        if not (scale.min() > 1e-38 and max(np.abs(mean).max(), scale.max()) < 1e38):
            got = f"columns of size up to {np.abs(rows).max():.2g}"
            raise parameter_error("rows", "between 1e-38 and 1e38 in size", got, "Scale the data.")
        self.register_buffer("mean", torch.as_tensor(mean).float())
        self.register_buffer("scale", torch.as_tensor(scale).float())

    def forward(self, X: Tensor) -> Tensor:
        """Return the standardized rows."""
        return (X - self.mean) * self.scale


class _Columns(torch.nn.Module):
    """Some columns of the output of a layer."""

    def __init__(self, layer: torch.nn.Module, columns: slice) -> None:
        super().__init__()
        self.layer, self.columns = layer, columns

    def forward(self, X: Tensor) -> Tensor:
        outputs: Tensor = self.layer(X)[:, self.columns]
        return outputs


def equalize_energies(layer: Standardized, form: Form, block: Block) -> None:
    """Rescale standardized columns in place so that all have the same Rayleigh quotient.

    Where one column is much narrower than another, the smooth functions of the Laplacian hardly
    depend on it, and a network that sees both at the same size has to learn to ignore it very
    precisely. Column i is divided by sqrt(r_i / min r), where r_i = E_L(x_i) / E[x_i^2], so that
    the column of lowest r keeps its size. For the Laplacian all columns then have the units of the
    widest. The form is prepared for the data, of which the block has some rows.
    """
    quotients = []
    # The Jacobian of c columns has b d c entries, so only a few columns are taken at a time.
    for columns in row_slices(block.views[0].shape[1], 32):
        jet = TensorJet(_Columns(layer, columns), block.views[0])
        found = averages(form, jet, jet, block, 1)
        quotients.append(found.energy[1:] / found.second_moments.diagonal()[1:])
    r = torch.cat(quotients)
    usable = r.isfinite() & (r > 0)
    if usable.any():
        layer.scale *= torch.where(usable, (r[usable].min() / r).sqrt(), 1.0).to(layer.scale)


def as_module(module: Any, name: str) -> Any:
    """Return a copy of a module, or the module that a function without arguments makes."""
    what = "a torch.nn.Module, a function without arguments that returns one, or None"
    if isinstance(module, torch.nn.Module):
        return deepcopy(module)
    if not callable(module):
        raise parameter_error(name, what, type(module).__name__, kind=TypeError)
    try:
        signature(module).bind()
    except (TypeError, ValueError):
        remedy = "Functions of rows have no parameters to train; ritz.Functions takes them."
        raise parameter_error(
            name, what, f"{module!r}, which needs some,", remedy, kind=TypeError
        ) from None
    result = module()
    if not isinstance(result, torch.nn.Module):
        raise parameter_error(
            name, what, f"one that returns {type(result).__name__}", kind=TypeError
        )
    return result


def require_trainable(module: Any, rows: Array, n_outputs: int, name: str) -> None:
    """Raise unless a module has parameters to train and the right outputs at some rows."""
    trained = [p for p in module.parameters() if p.requires_grad]
    if not trained:
        remedy = "ritz.decompose with ritz.neural.Network(module) uses a module without training."
        raise parameter_error(name, "a module with parameters that can be trained", "none", remedy)
    found = values(module.eval(), as_tensor(rows, module), name)
    if found.shape[1] != n_outputs:
        what = f"a module with n_components={n_outputs} outputs"
        raise parameter_error(name, what, f"{found.shape[1]} outputs", "Change one of the two.")
    require_parameter_graph(found, name)
    if not found.isfinite().all():
        raise parameter_error(name, "a module with finite outputs", "nan or inf at some rows")
    # The weights differ, since the outputs of a row may add up to a constant, as after a softmax.
    weights = torch.linspace(1, 2, found.numel()).reshape(found.shape).to(found)
    gradients = torch.autograd.grad((weights * found).sum(), trained, allow_unused=True)
    if not any(gradient is not None and gradient.any() for gradient in gradients):
        raise parameter_error(name, "differentiable in its parameters", *ZERO_GRADIENTS)


def require_input_gradients(module: Any, rows: Array, name: str) -> None:
    """Raise where the derivatives of all outputs in the input are zero at some rows."""
    if not TensorJet(module.eval(), rows).jacobian.detach().any():
        raise parameter_error(name, "differentiable in its input", *ZERO_GRADIENTS)


def warn_unless_unit_size(module: Any, rows: Array) -> None:
    """Warn where a module gets rows so large or so small that training hardly moves it."""
    if any(isinstance(part, Standardized) for part in module.modules()):
        return
    spread = rows.std(axis=0)
    largest = float((abs(rows.mean(axis=0)) + spread).max())
    if largest > 100.0 or spread.max() < 0.01:
        warnings.warn(
            f"Columns of X reach {largest:.3g} and spread by up to {spread.max():.3g}. Networks "
            "learn from rows of about unit size; from others, eigenvalues come out too large. "
            "Scale X, or let the module begin with ritz.neural.Standardized(X).",
            RuntimeWarning,
            stacklevel=5,
        )
