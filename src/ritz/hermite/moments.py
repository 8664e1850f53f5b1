"""Sums of products of functions with themselves and with targets, fold by fold in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_solve, cholesky

from ritz.assembly.folds import over_folds
from ritz.bases import Centered
from ritz.features import Jet
from ritz.hermite.observations import Batch, Observations, by_kind
from ritz.hermite.sections import OrthonormalSections
from ritz.rows import Block
from ritz.validation import Array


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted sums over rows, of values (first) and of derivatives (second) of functions (1, psi).

    Parameters
    ----------
    gram
        Products (2, 1 + p, 1 + p) of the functions with each other.
    cross
        Products (2, 1 + p, outputs) of the functions with the targets.
    squares, weight, count
        The squares (2, outputs), the total weight (2,) and the number (2,) of the targets.
    """

    file_tag: ClassVar[str] = "Moments"

    gram: Array
    cross: Array
    squares: Array
    weight: Array
    count: Array

    @classmethod
    def zeros(cls, p: int, outputs: int) -> Moments:
        """Return sums of no rows."""
        shapes = (2, 1 + p, 1 + p), (2, 1 + p, outputs), (2, outputs), (2,), (2,)
        return cls(*map(np.zeros, shapes))

    def __add__(self, other: Moments) -> Moments:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Moments(*(a + b for a, b in pairs))

    def __sub__(self, other: Moments) -> Moments:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Moments(*(a - b for a, b in pairs))

    def squared_errors(self, x: Array) -> Array:
        """Return the sums of squared errors (2,) of values and derivatives, for x (1 + p, k)."""
        products = np.sum(x * (self.gram @ x) - 2 * x * self.cross, axis=(1, 2))
        return np.asarray(self.squares.sum(axis=1) + products)


def solve_moments(m: Moments, rho: float, gamma: float, constant: bool) -> tuple[Array, Array]:
    """Return the coefficients x (1 + p, outputs) over (1, psi), and the Cholesky factor R.

    They minimize the squared errors of values plus rho times those of derivatives plus gamma |x|^2,
    the constant being free of the penalty. R is upper triangular over (1, psi); over psi alone
    where the constant is zero, because there is none or no value determines it.
    """
    first = 0 if constant and m.count[0] > 0 else 1
    A = m.gram[0, first:, first:] + rho * m.gram[1, first:, first:]
    psi = np.arange(1 - first, len(A))
    A[psi, psi] += gamma
    R = cholesky(A, check_finite=False, overwrite_a=True)
    x = np.zeros_like(m.cross[0])
    target = m.cross[0, first:] + rho * m.cross[1, first:]
    x[first:] = cho_solve((R, False), target, check_finite=False)
    return x, R


def fold_moments(
    functions: OrthonormalSections,
    offset: Array,
    observations: Observations,
    n_folds: int,
    n_jobs: int | None = None,
) -> list[Moments]:
    """Return the sums of each fold over (1, psi), psi being made of sections less an offset (p,).

    The offset, about the means of the sections, keeps the sums from losing digits.
    """
    basis = Centered(functions.basis, offset)
    outputs = observations.values.shape[1]
    folds = [Moments.zeros(basis.size, outputs) for _ in range(n_folds)]

    def add(fold: int, batch: Batch) -> None:
        m, weight = folds[fold], batch.weight[:, 1:]
        f = basis.jet(batch.X)
        m.gram[0] += (f.value * f.value).gram(batch.weight[:, 0])
        # Rows whose partial derivatives have one weight take the products of whole gradients.
        uniform = np.zeros(len(batch.X))
        if weight.shape[1] and batch.directions is None:
            uniform = np.where(weight.min(axis=1) == weight.max(axis=1), weight[:, 0], 0.0)
            m.gram[1] += (f.gradient @ f.gradient).gram(uniform)
        others = np.flatnonzero((weight.max(axis=1, initial=0.0) > 0) & (uniform == 0))
        if len(others):
            slopes = basis.jet(batch.X[others]).gradient.along(batch.scaled_directions()[others])
            m.gram[1] += (slopes * slopes).gram(np.ones(len(others)))
        m.cross[:] += products_with(f, batch, batch.targets)
        m.squares[:] += weighted_squares(batch, batch.targets)
        m.weight[:] += by_kind(batch.weight.sum(axis=0))
        m.count[:] += by_kind((batch.weight > 0).sum(axis=0))

    for_each_batch(observations, basis.size, add, n_folds, n_jobs)
    for m in folds:
        m.cross[:] = [functions.change_products(part) for part in m.cross]
        for part in m.gram:
            part[:] = functions.change_products(functions.change_products(part).T)
            part[:] = (part + part.T) / 2
    return folds


def for_each_batch(
    observations: Observations,
    n_functions: int,
    add: Callable[[int, Batch], None],
    n_folds: int,
    n_jobs: int | None,
) -> None:
    """Call `add(fold, batch)` for all rows of positive weight, each fold in one thread."""
    # A thread's features of a batch, four arrays (rows, p), take up to 16 MB.
    width = 4 * n_functions + observations.X.shape[1]
    rows = int(np.clip(16_000_000 // (8 * width), 16, 2048))

    def add_block(fold: int, block: Block) -> None:
        add(fold, observations.batch(block.index))

    over_folds(observations.stream, add_block, n_folds, rows, n_jobs)


def products_with(f: Jet, batch: Batch, targets: Array) -> Array:
    """Return the products (2, 1 + p, outputs) of (1, phi) with values, and with derivatives."""
    phi, values = f.value.dense(), batch.weight[:, :1] * targets[:, 0]
    result = np.zeros((2, 1 + phi.shape[1], targets.shape[2]))
    result[0, 0], result[0, 1:] = values.sum(axis=0), phi.T @ values
    if targets.shape[1] > 1:
        result[1, 1:] = f.gradient.against(batch.weighted_vectors(targets[:, 1:]))
    return result


def weighted_squares(batch: Batch, targets: Array) -> Array:
    """Return the weighted sums of squares (2, outputs) of values and of derivatives."""
    return by_kind(np.einsum("kr,kro->ro", batch.weight, targets**2))
