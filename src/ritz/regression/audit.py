"""Whether gradients agree with the values they came with."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from ritz.arrays import Array
from ritz.bases.functionals import Functionals, covariance
from ritz.kernels import Kernel
from ritz.regression.likelihood import EPS, Likelihood, most_likely, root
from ritz.regression.observations import Part

SIGMAS = 3.5
MODEL = 0.1
ALIKE = 0.7
DEPENDENT, SEEN = 1e-6, 1e-3
LONG = 30.0


@dataclass(frozen=True, eq=False)
class GradientAudit:
    """The factor of each coordinate's gradients, as the values alone tell it: 1 if all is well.

    Parameters
    ----------
    factors
        Estimates (d,), NaN where nothing was observed or the values do not tell. Columns that
        determine each other are judged together: one that is wrong makes the others look wrong.
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
    t'E t' / |t'|^4. Where rows differ along some directions only, both are projected on those.

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
    weight = part.known[rows] / part.known[rows].mean()
    fitted = most_likely(Likelihood(kernel, F, z, weight), d, steps=40)
    k = kernel(fitted.lengths)
    K = covariance(k, F, F)
    K[np.diag_indices_from(K)] += max(fitted.noise[0], 1e-10) / weight
    factor = (root(K), True)
    pull = cho_solve(factor, np.ones(len(rows)))
    z = z - pull @ z / pull.sum()
    amplitude = np.einsum("ij,ij->j", z, cho_solve(factor, z)) / len(z)
    result = np.full((3, d), np.nan)
    along = seen_directions(part.X[rows])
    for c in range(d):
        # Along a column that the values do not see, they say nothing.
        if fitted.lengths[c] > LONG or not along[c, c] > SEEN:
            continue
        needed = np.abs(along[:, c]) > DEPENDENT
        told = np.flatnonzero((part.told[:, needed] > 0).all(axis=1))
        if not len(told):
            continue
        G = Functionals.along(part.X[told], np.tile(along[:, c], (len(told), 1)))
        cross = covariance(k, G, F)
        expected = cross @ cho_solve(factor, z)
        errors = covariance(k, G, G) - cross @ cho_solve(factor, cross.T)
        size = float((expected**2).sum())
        observed = np.einsum("njo,j->no", part.t[told], along[:, c])
        # Gradients that the values hardly foretell cannot be judged by them.
        alike = float(np.sqrt((observed**2).sum() * size))
        if alike <= 0 or abs(float((expected * observed).sum())) < ALIKE * alike:
            continue
        spread = np.einsum("io,ij,jo,o->", expected, errors, expected, amplitude)
        reach = SIGMAS * np.sqrt(max(float(spread), 0.0)) / size
        slope = float((expected * observed).sum()) / size
        # A model that misses by more than it expects is trusted less.
        rest = float(((observed - slope * expected) ** 2).sum())
        reach *= max(1.0, np.sqrt(rest / max(float(np.trace(errors) * amplitude.sum()), 1e-300)))
        reach += MODEL * max(1.0, abs(slope))
        result[:, c] = slope, slope - reach, slope + reach
    return GradientAudit(*result)


def seen_directions(X: Array) -> Array:
    """Return the projector (d, d) on the directions along which some rows of X differ.

    Where columns determine each other, values tell the gradient along those directions alone.
    """
    Z = X - X.mean(axis=0)
    spreads = np.sqrt((Z**2).mean(axis=0))
    # A mean is rounded: of a column that is constant this is all there is.
    constant = spreads <= 64 * EPS * np.abs(X).max(axis=0)
    Z[:, constant] = 0.0
    # In units of the columns' own, which may be any.
    units = np.where(constant, 1.0, spreads)
    _, sizes, directions = np.linalg.svd(Z / units)
    sizes = np.pad(sizes, (0, X.shape[1] - len(sizes)))
    still = directions[sizes <= DEPENDENT * max(sizes.max(), 1.0)] / units
    Q, _ = np.linalg.qr((still / np.linalg.norm(still, axis=1, keepdims=True)).T)
    return np.asarray(np.eye(X.shape[1]) - Q @ Q.T)


def warn_of(found: GradientAudit, names: Any = None) -> None:
    """Warn of columns whose gradients look wrong, by their names (d,) where they have some."""
    bad = np.flatnonzero(found.suspicious)
    if len(bad):
        named = [str(c) if names is None else repr(names[c]) for c in bad[:10]]
        ranges = [
            f"{found.factors[c]:.3g} ({found.low[c]:.3g} to {found.high[c]:.3g})" for c in bad[:10]
        ]
        lines = ", ".join(f"column {a}: {b}" for a, b in zip(named, ranges, strict=True))
        warnings.warn(
            f"Gradients look wrong in sign or scale. They are, as far as the values tell, "
            f"these multiples of the true ones: {lines}. Check signs (forces are minus the "
            "gradient) and units; see gradient_audit_.",
            stacklevel=5,
        )
