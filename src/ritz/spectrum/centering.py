"""Making functions orthogonal to the function 1, which is kept as a function of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.solve.whiten import EPS
from ritz.validation import Array

# Products with the function 1 below this share of the functions' own size are rounding.
BORDER_ROUNDING = 1e-13
NOT_POSITIVE = (
    "The scalar products of these sums are not positive: rows were subtracted that were never part "
    "of them, or sums made by hand are wrong."
)


@dataclass(frozen=True, eq=False)
class Side:
    """The functions (1, f - means) of one side.

    Parameters
    ----------
    means
        Means (p,) of the functions f over the samples.
    metric
        The scalar products (1 + p, 1 + p): 1, and the covariance of f.
    floor
        The share (1 + p,) of each function's variance that may be rounding.
    """

    means: Array
    metric: Array
    floor: Array

    def uncentered(self, A: Array) -> Array:
        """Return coefficients over (1, f) of combinations A (1 + p, k) of (1, f - means)."""
        A = A.copy()
        A[0] -= self.means @ A[1:]
        return A


def center(Phi: Array, sizes: Array) -> Side:
    """Subtract the means from functions whose scalar products Phi have the function 1 first.

    Parameters
    ----------
    Phi
        Scalar products (1 + p, 1 + p).
    sizes
        The size (p,) of each function before a pilot mean was subtracted. Values have rounding
        errors of eps times the size, and functions that vary by no more are left out.
    """
    means = Phi[0, 1:] / Phi[0, 0]
    metric = Phi / Phi[0, 0]
    metric[0] = metric[:, 0] = 0.0
    metric[0, 0] = 1.0
    covariance = metric[1:, 1:]
    covariance -= means[:, None] * means
    variance = covariance.diagonal().copy()
    # The rounding of the values, and the cancellation when the remaining mean is subtracted.
    noise = (4 * EPS * (sizes + np.abs(means))) ** 2 + 4 * EPS * means**2
    constant = variance <= 100 * noise
    allowance = 1e3 * len(Phi) * EPS * Phi.diagonal()[1:] / Phi[0, 0]
    if (variance < -100 * noise - allowance).any():
        raise ValueError(NOT_POSITIVE)
    floor = np.zeros(len(Phi))
    floor[1:] = np.where(constant, 0.0, 100 * noise / np.where(constant, 1.0, variance))
    covariance[constant] = 0.0
    covariance[:, constant] = 0.0
    return Side(means, metric, floor)


def center_form(L: Array, left: Side, right: Side) -> Array:
    """Return L for the functions (1, f - means) and (1, g - means); zero for constant functions."""
    L = L.copy()
    L[1:] -= left.means[:, None] * L[0]
    L[:, 1:] -= L[:, :1] * right.means
    L[left.metric.diagonal() == 0.0] = 0.0
    L[:, right.metric.diagonal() == 0.0] = 0.0
    # Where E[H(1, g)] is a multiple of E[g], centering leaves only rounding errors of it.
    for border, side in ((L[0, 1:], right), (L[1:, 0], left)):
        sizes = np.sqrt(side.metric.diagonal()[1:] + side.means**2)
        border[np.abs(border) <= BORDER_ROUNDING * abs(L[0, 0]) * sizes] = 0.0
    return L


def decouples(L: Array) -> bool:
    """Return whether L has no entries between the function 1 and the others."""
    return not (L[0, 1:].any() or L[1:, 0].any())
