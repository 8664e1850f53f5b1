"""Averages of a form and of second moments over a batch, as tensors; the function 1 comes first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ritz.features import Jet, Terms
from ritz.forms import Form
from ritz.forms.neighbors import Differences
from ritz.rows import Block
from ritz.validation import parameter_error


@dataclass(frozen=True, eq=False)
class Averages:
    """The averages over a batch from which a loss is computed.

    `energy` has E[H(f_j, g_j, X)] for each j, (1 + p,); `left` and `right` have E[f f'] and E[g g']
    over K independent parts of the batch, (K, 1 + p, 1 + p), and are the same tensor where f is g.
    `share` is the weight of each part (K,) relative to `total`, the weight of the batch.
    `kills_one` says that H(1, g_j, X) is zero for all functions g_j, 1 included.
    """

    energy: Tensor
    left: Tensor
    right: Tensor
    share: Tensor
    total: float
    kills_one: bool

    @property
    def second_moments(self) -> Tensor:
        """E[f f'] over the whole batch."""
        return torch.einsum("k,kij->ij", self.share, self.left)

    def without_one(self) -> Averages:
        """Return the averages of the other functions."""
        left = self.left[:, 1:, 1:]
        right = left if self.right is self.left else self.right[:, 1:, 1:]
        return replace(self, energy=self.energy[1:], left=left, right=right)


def averages(form: Form, f: Jet, g: Jet, block: Block, n_parts: int) -> Averages:
    """Average a prepared form over a batch, and second moments over parts of about equal size.

    The jets f and g are the same object for symmetric forms. There is at most one part a row.
    """
    if len(block) < 2:
        raise parameter_error("X", "batches of at least 2 rows", f"{len(block)} rows")
    factor = form.row_weight(block)
    weight = torch.from_numpy(block.weight if factor is None else block.weight * factor)
    parts = torch.tensor_split(torch.arange(len(weight)), min(n_parts, len(block)))
    totals = torch.stack([weight[part].sum() for part in parts])
    total = float(totals.sum())
    energy, row_of_one = _energies(form.terms(f, g, block), weight)
    left = _second_moments(form.metric(f, block), weight, parts)
    right = left if f is g else _second_moments(form.metric(g, block), weight, parts)
    kills_one = not row_of_one.any().item()
    return Averages(energy / total, left, right, (totals / total).to(left), total, kills_one)


def merged(batches: Sequence[Averages]) -> Averages:
    """Return the averages over several batches; each keeps its own parts."""
    total = sum(batch.total for batch in batches)
    shares = [batch.total / total for batch in batches]
    energy = sum(share * batch.energy for share, batch in zip(shares, batches, strict=True))
    left = torch.cat([batch.left for batch in batches])
    symmetric = batches[0].right is batches[0].left
    right = left if symmetric else torch.cat([batch.right for batch in batches])
    share = torch.cat([s * batch.share for s, batch in zip(shares, batches, strict=True)])
    return Averages(energy, left, right, share, total, all(b.kills_one for b in batches))


def _second_moments(terms: Terms, weight: Tensor, parts: Sequence[Tensor]) -> Tensor:
    """Return the average of the matrix of some terms over each part, (K, 1 + p, 1 + p)."""
    result: Any = 0.0
    for left, right, rows in _factors(terms, weight):
        sums = [
            torch.einsum("k,kmi,kmj->ij", rows[part], left[part], right[part])
            / float(weight[part].sum())
            for part in parts
        ]
        result = result + torch.stack(sums)
    return result


def _energies(terms: Terms, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the diagonal and the first row (1 + p,) of the matrix of some terms, summed."""
    diagonal: Any = 0.0
    first: Any = 0.0
    for left, right, rows in _factors(terms, weight):
        diagonal = diagonal + torch.einsum("k,kmj,kmj->j", rows, left, right)
        first = first + torch.einsum("k,km,kmj->j", rows, left[:, :, 0], right).detach()
    return diagonal, first


def _factors(terms: Terms, weight: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield both probes of each term, the function 1 first, (b, m, 1 + p), and weights (b,)."""
    for term in terms.terms:
        left = _with_one(term.left)
        right = left if term.right is term.left else _with_one(term.right)
        own = torch.from_numpy(np.broadcast_to(np.asarray(term.factor), weight.shape).copy())
        yield left, right, (weight * own).to(left)


def _with_one(values: Any) -> Tensor:
    if isinstance(values, Differences):
        return _differences(values)
    array = values.array if values.array.ndim == 3 else values.array[:, None]
    one = torch.as_tensor(values.constant, dtype=array.dtype, device=array.device)
    one = one.reshape(-1, 1, 1).expand(*array.shape[:2], 1)
    return torch.cat([one, array], dim=2)


def _differences(values: Differences) -> Tensor:
    """Return the weighted differences (b, k, 1 + p) between rows and each of their neighbors."""
    here, links = values.here, values.links
    shape = len(here), links.nnz // len(here)
    near = torch.from_numpy(links.indices.reshape(shape).astype(np.int64)).to(here.device)
    root = torch.from_numpy(np.sqrt(links.data).reshape(shape)).to(here)
    steps = (here[:, None] - values.there[near]) * root[:, :, None]
    return torch.cat([torch.zeros_like(steps[:, :, :1]), steps], dim=2)
