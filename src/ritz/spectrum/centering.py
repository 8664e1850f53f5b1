"""Making functions orthogonal to the function 1, which stays in the span exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.arrays import Array
from ritz.assembly.single import FLOOR
from ritz.solve.whiten import EPS

NOT_POSITIVE = (
    "The scalar products of these sums are not positive: rows were taken off that were never part "
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


def center(Phi: Array, sizes: Array, rounding: float = EPS) -> Side:
    """Take the means off functions whose scalar products Phi have the function 1 first.

    Parameters
    ----------
    Phi
        Scalar products (1 + p, 1 + p).
    sizes
        The size (p,) of each function before any mean was taken off: its values were rounded at
        eps times that, and functions that vary by no more are left out.
    rounding
        What products were rounded at, relative to their size: more than eps where they were
        computed in float32.
    """
    means = Phi[0, 1:] / Phi[0, 0]
    metric = Phi / Phi[0, 0]
    metric[0] = metric[:, 0] = 0.0
    metric[0, 0] = 1.0
    covariance = metric[1:, 1:]
    covariance -= means[:, None] * means
    variance = covariance.diagonal()
    # Rounded values, and the cancellation as the rest of the mean comes off.
    noise = (4 * EPS * (sizes + np.abs(means))) ** 2 + 4 * EPS * means**2
    dead = variance <= 100 * noise
    some_dead = bool(dead.any())
    if some_dead:
        # As in `is_positive`; and what products were rounded at may add up over all functions.
        slack = len(Phi) * max(1e3 * EPS, rounding) * Phi.diagonal()[1:] / Phi[0, 0]
        if (variance < -100 * noise - slack).any():
            raise ValueError(NOT_POSITIVE)
        variance = np.where(dead, 1.0, variance)
    floor = np.zeros(len(Phi))
    floor[1:] = 100 * noise / variance
    if rounding > EPS:
        floor[1:] = np.maximum(floor[1:], FLOOR * rounding)
    if some_dead:
        floor[1:][dead] = 0.0
        covariance[dead] = 0.0
        covariance[:, dead] = 0.0
    return Side(means, metric, floor)


def center_form(L: Array, left: Side, right: Side) -> Array:
    """Return L for the functions (1, f - means) and (1, g - means)."""
    L = L.copy()
    if L[0].any() or L[:, 0].any():
        L[1:] -= left.means[:, None] * L[0]
        L[:, 1:] -= L[:, :1] * right.means
    alive = left.metric.diagonal() != 0.0
    if not alive.all():
        L[~alive] = 0.0
    if right is not left:
        alive = right.metric.diagonal() != 0.0
    if not alive.all():
        L[:, ~alive] = 0.0
    return L


def decouples(L: Array) -> bool:
    """Return whether no entry of L joins the function 1 to the others."""
    return not (L[0, 1:].any() or L[1:, 0].any())
