"""Whether gradients agree with the values they came with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from ritz.hermite.functionals import Functionals, covariance
from ritz.hermite.lengths import maximize
from ritz.hermite.likelihood import Likelihood, robust_cholesky
from ritz.hermite.observations import Batch
from ritz.kernels import Kernel
from ritz.validation import Array

# Columns whose deviation along a direction is below this share of the largest one determine each
# other: 1e-6 is above the rounding of coordinates that were computed from each other.
DEPENDENT_SHARE = 1e-6


@dataclass(frozen=True, eq=False)
class GradientAudit:
    """The factor between each column's gradients and those that the values alone suggest.

    A factor of 1 is right. Columns that determine each other are compared together, so that one
    wrong column makes the others look wrong too.

    Parameters
    ----------
    factors
        Estimates (d,), NaN where nothing was observed or the values do not determine the gradient.
    low, high
        The ends (d,) of their intervals.
    """

    factors: Array
    low: Array
    high: Array

    @property
    def suspicious(self) -> NDArray[np.bool_]:
        """Which intervals exclude 1."""
        with np.errstate(invalid="ignore"):
            return np.asarray((self.low > 1) | (self.high < 1))

    def __str__(self) -> str:
        rows = zip(self.factors, self.low, self.high, self.suspicious, strict=True)
        return "\n".join(
            f"column {number}: factor {factor:.3g} ({low:.3g} to {high:.3g})" + " !" * bool(bad)
            for number, (factor, low, high, bad) in enumerate(rows)
        )


def audit_gradients(kernel: Kernel, batch: Batch) -> GradientAudit:
    """Compare the partial derivatives at some rows with those expected from the values.

    Given the values, a Gaussian process expects gradients t' with errors of known covariance E,
    uncorrelated with t'. So the slope of the observed t on t' estimates the factor, with variance
    t'E t' / |t'|^4. Where rows differ along some directions only, both are projected on those. The
    length scales of the kernel, a distance kernel with two derivatives, are fitted to the values.
    """
    d = batch.X.shape[1]
    rows = np.flatnonzero(batch.weight[:, 0] > 0)
    z, weight = batch.targets[rows, 0], batch.weight[rows, 0]
    weight = weight / weight.mean()
    F = Functionals.at(batch.X[rows])
    fit = maximize(Likelihood(kernel, F, z, weight), steps=40)
    F = F / fit.lengths
    K = covariance(kernel, F, F)
    K[np.diag_indices_from(K)] += max(fit.noise[0], 1e-10) / weight
    factor = (robust_cholesky(K), True)
    ones = cho_solve(factor, np.ones(len(rows)))
    z = z - ones @ z / ones.sum()
    alpha = cho_solve(factor, z)
    amplitude = np.einsum("ij,ij->j", z, alpha) / len(z)
    projector = varying_directions(batch.X[rows])
    result = np.full((3, d), np.nan)
    for c, u in enumerate(projector.T):
        needed = np.abs(u) > DEPENDENT_SHARE
        at = np.flatnonzero((batch.weight[:, 1:][:, needed] > 0).all(axis=1))
        # The values say nothing about a column on which they hardly depend, or that is constant.
        if fit.lengths[c] > 30.0 or not u[c] > 1e-3 or not len(at):
            continue
        G = Functionals.along(batch.X[at], np.tile(u, (len(at), 1))) / fit.lengths
        cross = covariance(kernel, G, F)
        errors = covariance(kernel, G, G) - cross @ cho_solve(factor, cross.T)
        observed = np.einsum("njo,j->no", batch.targets[at, 1:], u)
        result[:, c] = factor_interval(cross @ alpha, observed, errors, amplitude)
    return GradientAudit(*result)


def factor_interval(
    expected: Array, observed: Array, errors: Array, amplitude: Array
) -> tuple[float, float, float]:
    """Return the factor of observed on expected derivatives (n, outputs), and its interval.

    The expected ones have errors of covariance (n, n), times a variance (outputs,) of each output.
    """
    product, size = float((expected * observed).sum()), float((expected**2).sum())
    norms = float(np.sqrt((observed**2).sum() * size))
    # A correlation below 0.7: the values hardly determine these gradients.
    if norms <= 0 or abs(product) < 0.7 * norms:
        return np.nan, np.nan, np.nan
    slope = product / size
    variance = float(np.einsum("io,ij,jo,o->", expected, errors, expected, amplitude))
    # 3.5 standard deviations, as each fit tests several columns.
    reach = 3.5 * np.sqrt(max(variance, 0.0)) / size
    # Residuals larger than the model expects widen the interval in proportion.
    residual = float(((observed - slope * expected) ** 2).sum())
    reach *= max(1.0, np.sqrt(residual / max(float(np.trace(errors) * amplitude.sum()), 1e-300)))
    # The model itself is wrong by some ten percent.
    reach += 0.1 * max(1.0, abs(slope))
    return slope, slope - reach, slope + reach


def varying_directions(X: Array) -> Array:
    """Return the projector (d, d) on the directions along which some rows of X differ.

    Where columns determine each other, values determine the gradient along those directions only.
    """
    Z = X - X.mean(axis=0)
    deviations = np.sqrt((Z**2).mean(axis=0))
    # The mean of a constant column is rounded, and the column less its mean is not zero.
    constant = deviations <= 64 * np.finfo(np.float64).eps * np.abs(X).max(axis=0)
    Z[:, constant] = 0.0
    units = np.where(constant, 1.0, deviations)
    _, sizes, directions = np.linalg.svd(Z / units)
    sizes = np.pad(sizes, (0, X.shape[1] - len(sizes)))
    still = directions[sizes <= DEPENDENT_SHARE * max(sizes.max(), 1.0)] / units
    Q, _ = np.linalg.qr((still / np.linalg.norm(still, axis=1, keepdims=True)).T)
    return np.asarray(np.eye(X.shape[1]) - Q @ Q.T)


def warn_of_gradients(audit: GradientAudit, names: Any) -> None:
    """Warn of columns whose gradients look wrong, by their names or numbers (d,)."""
    bad = np.flatnonzero(audit.suspicious)[:10]
    if len(bad):
        columns = ", ".join(
            f"column {names[c]!r}: {audit.factors[c]:.3g} "
            f"({audit.low[c]:.3g} to {audit.high[c]:.3g})"
            for c in bad
        )
        warnings.warn(
            "Gradients look wrong in sign or scale. According to the values, they are these "
            f"multiples of the true ones: {columns}. Check signs (forces are minus the gradient) "
            "and units; see gradient_audit_.",
            stacklevel=5,
        )
