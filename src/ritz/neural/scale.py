"""Rows of a size that networks learn from."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from ritz.arrays import Array, Block, row_slices
from ritz.forms import Form
from ritz.neural.averages import averages
from ritz.neural.jet import TensorJet

LARGE = 100.0
COLUMNS = 32


class Standardized(torch.nn.Module):
    """Rows less their mean, over their standard deviation, as found in a sample (n, d)."""

    mean: Tensor
    scale: Tensor

    def __init__(self, rows: Array) -> None:
        super().__init__()
        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        # A column that is constant has a spread too, by rounding.
        varies = spread > np.finfo(np.float32).eps * np.abs(mean)
        scale = 1 / np.where(varies, spread, 1.0)
        self.register_buffer("mean", torch.as_tensor(mean).float())
        self.register_buffer("scale", torch.as_tensor(scale).float())

    def forward(self, X: Tensor) -> Tensor:
        """Return the rows standardized."""
        return (X - self.mean) * self.scale


class _Some(torch.nn.Module):
    """Some of the columns of a layer, as functions."""

    def __init__(self, layer: torch.nn.Module, columns: slice) -> None:
        super().__init__()
        self.layer, self.columns = layer, columns

    def forward(self, X: Tensor) -> Tensor:
        outputs: Tensor = self.layer(X)[:, self.columns]
        return outputs


def balance(layer: Standardized, form: Form, block: Block) -> None:
    """Scale standardized columns in place, so that all have the same energy.

    Where a column is much narrower than another, the Laplacian has no low function of it, and a
    network that sees both at one size must unlearn the narrow one to a precision it hardly reaches.
    Column i is divided by sqrt(r_i / min r), r_i = E_L(x_i) / E[x_i^2], which leaves the one of
    lowest r as it is; for the Laplacian all columns are then in the units of the widest.

    Parameters
    ----------
    layer
        The layer.
    form
        The operator, prepared for the data.
    block
        Some rows.
    """
    quotients = []
    # A few columns at a time, as each has d derivatives at each row.
    for columns in row_slices(block.views[0].shape[1], COLUMNS):
        jet = TensorJet(_Some(layer, columns), block.views[0])
        found = averages(form, jet, jet, block, 1)
        quotients.append(found.energy[1:] / found.second.diagonal()[1:])
    r = torch.cat(quotients)
    counts = r.isfinite() & (r > 0)
    if counts.any():
        layer.scale *= torch.where(counts, (r[counts].min() / r).sqrt(), 1.0).to(layer.scale)


def warn_of_scale(pilot: Array) -> None:
    """Warn where rows are so large or small that training hardly moves a network."""
    spread = pilot.std(axis=0)
    largest = float((np.abs(pilot.mean(axis=0)) + spread).max())
    if largest > LARGE or spread.max() < 1 / LARGE:
        warnings.warn(
            f"Columns of X reach {largest:.3g} and spread by up to {spread.max():.3g}. Networks "
            "learn from rows of about unit size; otherwise eigenvalues come out too large. Scale "
            "X, or let the module begin with ritz.neural.Standardized(X).",
            RuntimeWarning,
            stacklevel=5,
        )
