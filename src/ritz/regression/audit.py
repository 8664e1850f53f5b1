"""Whether gradients agree with the values they came with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ritz.arrays import Array
from ritz.bases.functionals import Functionals, covariance
from ritz.kernels import Kernel
from ritz.regression.likelihood import Likelihood, most_likely
from ritz.regression.observations import Part

SIGMAS = 3.5


@dataclass(frozen=True, eq=False)
class GradientAudit:
    """The factor of each coordinate's gradients, as the values alone tell it: 1 if all is well.

    Parameters
    ----------
    factors
        Estimates (d,), NaN where nothing was observed.
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


def audit(kernel: Callable[[Array], Kernel], part: Part) -> GradientAudit:
    """Compare the gradients observed with those expected from the values.

    Given the values, a Gaussian process expects gradients t' with errors of known covariance E,
    uncorrelated with t'. So the slope of the observed t on t' is the factor of t, with variance
    t'E t' / |t'|^4.

    Parameters
    ----------
    kernel
        The kernel of length scales (d,).
    part
        A few rows of values and partial derivatives.
    """
    d = part.X.shape[1]
    rows = np.flatnonzero(part.known > 0)
    F, z = Functionals.at(part.X[rows]), part.y[rows]
    fitted = most_likely(Likelihood(kernel, F, z, part.known[rows]), d, steps=40)
    k = kernel(fitted.lengths)
    K = covariance(k, F, F)
    K[np.diag_indices_from(K)] += max(fitted.noise[0], 1e-10) / part.known[rows]
    factor = cho_factor(K, lower=True)
    weight = cho_solve(factor, np.ones(len(rows)))
    z = z - weight @ z / weight.sum()
    amplitude = np.einsum("ij,ij->j", z, cho_solve(factor, z)) / len(z)
    result = np.full((3, d), np.nan)
    for c in range(d):
        told = np.flatnonzero(part.told[:, c] > 0)
        if not len(told):
            continue
        G = Functionals.partials(part.X, told, np.full(len(told), c))
        cross = covariance(k, G, F)
        expected = cross @ cho_solve(factor, z)
        errors = covariance(k, G, G) - cross @ cho_solve(factor, cross.T)
        size = float((expected**2).sum())
        if size <= 0:
            continue
        spread = np.einsum("io,ij,jo,o->", expected, errors, expected, amplitude)
        reach = SIGMAS * np.sqrt(max(float(spread), 0.0)) / size
        slope = float((expected * part.t[told, c]).sum()) / size
        # A model that misses by more than it expects is trusted less.
        rest = float(((part.t[told, c] - slope * expected) ** 2).sum())
        reach *= max(1.0, np.sqrt(rest / max(float(np.trace(errors) * amplitude.sum()), 1e-300)))
        result[:, c] = slope, slope - reach, slope + reach
    return GradientAudit(*result)
