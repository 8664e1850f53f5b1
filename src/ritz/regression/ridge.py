"""Weighted ridge regression with a free constant, for many penalties from two passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ritz.arrays import Array

Rows = tuple[Array, Array, Array]
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class RidgePath:
    """The solutions of sum_i w_i |y_i - c - a_i' beta|^2 / sum_i w_i + tau |beta|^2 in tau.

    Parameters
    ----------
    penalties
        The numbers tau (t,), ascending.
    errors
        The mean squared error (t,), over rows and outputs, of each row's prediction from the
        others; infinite where a row decides its own prediction.
    means, target_means
        Means of the features (m,) and of the targets (outputs,).
    axes, sizes
        Principal axes (m, r) of the features about their means, and their variances (r,).
    moments
        Mean products of features along the axes with targets (r, outputs).
    """

    penalties: Array
    errors: Array
    means: Array
    target_means: Array
    axes: Array
    sizes: Array
    moments: Array

    @property
    def best(self) -> float:
        """The largest penalty whose error is smallest, to a thousandth."""
        return float(self.penalties[self.errors <= 1.001 * self.errors.min()][-1])

    def solution(self, penalty: float) -> tuple[Array, Array]:
        """Return beta (m, outputs) and c (outputs,) for a penalty tau."""
        beta = self.axes @ (self.moments / (self.sizes + penalty)[:, None])
        return beta, self.target_means - self.means @ beta


def ridge_path(rows: Callable[[], Iterable[Rows]], penalties: Array) -> RidgePath:
    """Solve ridge regression for every penalty, each with its leave-one-out error.

    With the hat values h_i = w_i (1 / W + (a_i - a)' (A + tau)^-1 (a_i - a) / W), W the sum of
    weights and A the covariance of the features, the prediction of row i from the others misses
    by (y_i - f(x_i)) / (1 - h_i).

    Parameters
    ----------
    rows
        Called twice, for blocks of features (b, m), targets (b, outputs) and weights (b,).
    penalties
        Nonnegative numbers (t,), ascending.
    """
    total, first, second, moments = 0.0, np.zeros(0), np.zeros(0), np.zeros(0)
    for A, T, w in rows():
        both = np.hstack([A, T])
        if not len(first):
            first, second = np.zeros(both.shape[1]), np.zeros((A.shape[1], both.shape[1]))
        total += w.sum()
        first += w @ both
        second += (A * w[:, None]).T @ both
    m = len(second)
    means = first / total
    second = second / total - np.outer(means[:m], means)
    sizes, axes = eigh((second[:, :m] + second[:, :m].T) / 2)
    firm = sizes > ROUNDING * max(sizes.max(initial=0.0), 0.0)
    sizes, axes = sizes[firm], axes[:, firm]
    moments = axes.T @ second[:, m:]
    losses = np.zeros(len(penalties))
    for A, T, w in rows():
        P = (A - means[:m]) @ axes
        R = T - means[m:]
        share = (w / total)[:, None]
        shrunk = 1 / (sizes[:, None] + penalties)
        free = 1 - share * (1 + P**2 @ shrunk)
        fitted = np.einsum("br,rt,ro->bto", P, shrunk, moments, optimize=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            missed = (R[:, None, :] - fitted) / free[:, :, None]
        missed[free < ROUNDING] = np.inf
        losses += np.einsum("b,bto->t", w, missed**2)
    errors = losses / (total * (len(means) - m))
    return RidgePath(penalties, errors, means[:m], means[m:], axes, sizes, moments)
