"""Averages of a form over a batch as tensors: energies, second moments, the function 1 first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ritz.arrays import Block
from ritz.features import Jet, Terms
from ritz.features.terms import Term
from ritz.forms import Form


@dataclass(frozen=True, eq=False)
class Averages:
    """What a loss needs of a batch.

    Parameters
    ----------
    energy
        E[H(f_j, g_j, X)] for each j, (1 + p,).
    left, right
        E[f f'] and E[g g'] over K independent parts of the batch, (K, 1 + p, 1 + p); the same
        tensor where f is g.
    share
        Each part's share of the weight (K,).
    total
        The weight of the whole batch.
    kills_one
        Whether the form of the function 1 and any other is zero.
    """

    energy: Tensor
    left: Tensor
    right: Tensor
    share: Tensor
    total: float
    kills_one: bool

    @property
    def second(self) -> Tensor:
        """E[f f'] over the whole batch."""
        return torch.einsum("k,kij->ij", self.share, self.left)

    def without_one(self) -> Averages:
        """Return the same without the function 1."""
        left = self.left[:, 1:, 1:]
        right = left if self.right is self.left else self.right[:, 1:, 1:]
        return replace(self, energy=self.energy[1:], left=left, right=right)


def averages(form: Form, f: Jet, g: Jet, block: Block, n_parts: int) -> Averages:
    """Average a form and the scalar products over a batch, cut into independent parts.

    Parameters
    ----------
    form
        The operator, prepared for the data.
    f, g
        Jets of modules on the batch; the same one for symmetric operators.
    block
        The batch.
    n_parts
        The number K of parts, of about as many rows each.
    """
    weight = block.weight
    factor = form.row_weight(block)
    rows = torch.from_numpy(weight if factor is None else weight * factor)
    parts = torch.tensor_split(torch.arange(len(rows)), n_parts)
    totals = torch.stack([rows[part].sum() for part in parts])
    energy, with_one = _energies(form.terms(f, g, block), rows)
    left = _seconds(form.metric(f, block), rows, parts)
    right = left if f is g else _seconds(form.metric(g, block), rows, parts)
    total = float(totals.sum())
    share = (totals / total).to(left)
    kills_one = not with_one.any().item()
    return Averages(energy / total, left, right, share, total, kills_one)


def merged(batches: Sequence[Averages]) -> Averages:
    """Return the averages over several batches, their parts side by side."""
    total = sum(batch.total for batch in batches)
    shares = [batch.total / total for batch in batches]
    energy = sum(share * batch.energy for share, batch in zip(shares, batches, strict=True))
    left = torch.cat([batch.left for batch in batches])
    alike = batches[0].right is batches[0].left
    right = left if alike else torch.cat([batch.right for batch in batches])
    share = torch.cat([s * batch.share for s, batch in zip(shares, batches, strict=True)])
    kills_one = all(batch.kills_one for batch in batches)
    return Averages(energy, left, right, share, total, kills_one)


def _seconds(terms: Terms, rows: Tensor, parts: Sequence[Tensor]) -> Tensor:
    """Return the average of a matrix over each part of the rows (K, 1 + p, 1 + p)."""
    total: Any = 0.0
    for term in terms.checked():
        left, right, weight = _factors(term, rows)
        total = total + torch.stack(
            [
                torch.einsum("k,kmi,kmj->ij", weight[part], left[part], right[part])
                / float(rows[part].sum())
                for part in parts
            ]
        )
    return total


def _energies(terms: Terms, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the diagonal and the first row of a form's matrix (1 + p,), summed over rows."""
    diagonal: Any = 0.0
    first: Any = 0.0
    for term in terms.checked():
        left, right, weight = _factors(term, rows)
        diagonal = diagonal + torch.einsum("k,kmj,kmj->j", weight, left, right)
        first = first + torch.einsum("k,km,kmj->j", weight, left[:, :, 0], right).detach()
    return diagonal, first


def _factors(term: Term, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return both probes with the function 1 first, (b, m, 1 + p), and the weights (b,)."""
    left = _with_one(term.left)
    right = left if term.right is term.left else _with_one(term.right)
    weight = rows * torch.from_numpy(np.broadcast_to(np.asarray(term.weight), rows.shape).copy())
    return left, right, weight.to(left)


def _with_one(values: Any) -> Tensor:
    array = values.array if values.array.ndim == 3 else values.array[:, None]
    one = torch.as_tensor(values.constant, dtype=array.dtype, device=array.device)
    one = one.reshape(-1, 1, 1).expand(*array.shape[:2], 1)
    return torch.cat([one, array], dim=2)
