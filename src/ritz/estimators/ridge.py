"""Weighted ridge regression with a free constant, for many penalties from three passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.solve.triangular import triangular_factor
from ritz.validation import Array

Rows = tuple[Array, Array, Array]
# A row whose 1 - h is below this decides its own prediction: rounding hides its error.
LEAST_FREEDOM = 1e-10


@dataclass(frozen=True, eq=False)
class RidgePath:
    """The solutions of sum_i w_i |y_i - c - a_i' beta|^2 / sum_i w_i + tau |beta|^2 in tau.

    Parameters
    ----------
    penalties
        The numbers tau (t,), ascending.
    errors
        The mean squared error (t,), over rows and outputs, of each row's prediction from the
        others; infinite where rounding hides how far a row decides its own prediction.
    means, target_means
        Means of the features (m,) and of the targets (outputs,).
    axes, sizes
        Principal axes (m, r) of the features about their means, and their variances (r,).
    moments
        Mean products of features along the axes with targets (r, outputs).
    """

    file_tag: ClassVar[str] = "RidgePath"
    unbounded_fields: ClassVar[tuple[str, ...]] = ("errors",)

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
        # Files of earlier versions hold axes without variance.
        with np.errstate(divide="ignore"):
            shrunk = np.where(self.sizes > 0, 1 / (self.sizes + penalty), 0.0)
        beta = self.axes @ (self.moments * shrunk[:, None])
        return beta, self.target_means - self.means @ beta


def ridge_path(rows: Callable[[], Iterable[Rows]], penalties: Array) -> RidgePath:
    """Solve ridge regression for every penalty, each with its leave-one-out error.

    With the hat values h_i = w_i (1 / W + (a_i - a)' (A + tau)^-1 (a_i - a) / W), W the sum of
    weights and A the covariance of the features, the prediction of row i from the others misses
    by (y_i - f(x_i)) / (1 - h_i).

    Parameters
    ----------
    rows
        Called three times, for blocks of features (b, m), targets (b, outputs) and weights (b,).
    penalties
        Nonnegative numbers (t,), ascending.
    """
    n, total, first = 0, 0.0, np.zeros(0)
    for A, T, w in rows():
        both = np.hstack([A, T])
        first = w @ both + (first if len(first) else 0.0)
        n, total, m = n + len(w), total + w.sum(), A.shape[1]
    means = first / total
    # By QR: products of the features would square their condition number.
    centered = ((np.hstack([A, T]) - means) * np.sqrt(w / total)[:, None] for A, T, w in rows())
    # Of fewer rows than columns the triangle has as many rows, and rounding errors below.
    R = triangular_factor(centered, len(means))[:n]
    # Unlike SciPy 1.12, NumPy decomposes matrices without columns.
    U, sizes, axes = np.linalg.svd(R[:, :m], full_matrices=False)
    moments = sizes[:, None] * (U.T @ R[:, m:])
    axes, sizes = axes.T, sizes**2
    # Along the other axes features vary by rounding alone.
    varies = sizes > (np.finfo(np.float64).eps * max(n, m)) ** 2 * sizes.max(initial=0.0)
    axes, sizes, moments = axes[:, varies], sizes[varies], moments[varies]
    losses = np.zeros(len(penalties))
    for A, T, w in rows():
        P = (A - means[:m]) @ axes
        missed = T - means[m:]
        share = w / total
        for number, penalty in enumerate(penalties):
            shrunk = 1 / (sizes + penalty)
            free = 1 - share * (1 + P**2 @ shrunk)
            rest = missed - P @ (shrunk[:, None] * moments)
            squares = np.where(free < LEAST_FREEDOM, np.inf, (rest**2).sum(axis=1))
            losses[number] += w @ (squares / np.maximum(free, LEAST_FREEDOM) ** 2)
    errors = losses / (total * (len(means) - m))
    return RidgePath(penalties, errors, means[:m], means[m:], axes, sizes, moments)
