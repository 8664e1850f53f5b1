"""Whether gradients agree with the values they came with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from ritz.hermite.choosing import PenaltyPath
from ritz.hermite.functionals import Functionals, covariance
from ritz.hermite.lengths import maximize
from ritz.hermite.likelihood import Likelihood, robust_cholesky
from ritz.hermite.observations import Batch
from ritz.kernels import Kernel
from ritz.search import NearestRows
from ritz.validation import Array

# Columns whose deviation along a direction is below this share of the largest one determine each
# other: 1e-6 is above the rounding of coordinates that were computed from each other.
DEPENDENT_SHARE = 1e-6


# Below this correlation the values hardly determine the gradients of a column; above the other,
# gradients given in another column resemble those of this one.
LEAST_CORRELATION, RESEMBLANCE = 0.7, 0.85
# The number of neighbors of a row, and by how many standard errors a correction must explain the
# differences between neighbors better. Pairs share rows, so that 3 gave false alarms.
N_NEIGHBORS, LEAST_GAIN = 6, 4.0
# The error on values left out, in their standard deviations, above which gradients do harm: that of
# the mean is 1, and few folds err by a quarter.
WORSE_THAN_MEAN = 1.25


@dataclass(frozen=True, eq=False)
class GradientAudit:
    """The factor between each column's gradients and those that the values alone suggest.

    A factor of 1 is right. Columns that determine each other are compared together, so that one
    wrong column makes the others look wrong too.

    Parameters
    ----------
    factors
        Estimates (d,). NaN where nothing was observed, where the values do not determine the
        gradient, where the differences between neighbors do not confirm that it is wrong, and where
        the gradients of the column are in another one.
    low, high
        The ends (d,) of their intervals.
    sources
        For each column (d,) the one whose gradients resemble its own: itself, unless the columns of
        the gradients are in another order than those of X.
    """

    file_tag: ClassVar[str] = "GradientAudit"
    unbounded_fields: ClassVar[tuple[str, ...]] = ("factors", "low", "high")

    factors: Array
    low: Array
    high: Array
    sources: NDArray[np.intp]

    @property
    def suspicious(self) -> NDArray[np.bool_]:
        """Which intervals exclude 1, and which gradients are in another column."""
        with np.errstate(invalid="ignore"):
            moved = self.sources != np.arange(len(self.sources))
            return np.asarray((self.low > 1) | (self.high < 1) | moved)

    def describe(self, c: int, names: Any) -> str:
        """Return what was found about a column, by the columns' names or numbers (d,)."""
        if self.sources[c] != c:
            return f"the gradients of column {names[c]!r} are in column {names[self.sources[c]]!r}"
        interval = f"{self.low[c]:.3g} to {self.high[c]:.3g}"
        return f"column {names[c]!r} has the factor {self.factors[c]:.3g} ({interval})"

    def __str__(self) -> str:
        names = range(len(self.factors))
        return "\n".join(
            self.describe(c, names) + " !" * bool(bad) for c, bad in enumerate(self.suspicious)
        )


def audit_gradients(kernel: Kernel, batch: Batch) -> GradientAudit:
    """Compare the partial derivatives at some rows with those expected from the values.

    Given the values, a Gaussian process expects gradients t' with errors of known covariance E,
    uncorrelated with t'. So the slope of the observed t on t' estimates the factor, with variance
    t'E t' / |t'|^4. Where rows differ along some directions only, both are projected on those. The
    length scales of the kernel, a distance kernel with two derivatives, are fitted to the values.

    A Gaussian process can be wrong about a function that is not like its samples. What it finds
    wrong is therefore reported only if the differences of values between neighbors agree.
    """
    d = batch.X.shape[1]
    rows = np.flatnonzero(batch.weight[:, 0] > 0)
    y, weight = batch.targets[rows, 0], batch.weight[rows, 0]
    weight = weight / weight.mean()
    F = Functionals.at(batch.X[rows])
    fit = maximize(Likelihood(kernel, F, y, weight), steps=40)
    F = F / fit.lengths
    K = covariance(kernel, F, F)
    K[np.diag_indices_from(K)] += max(fit.noise[0], 1e-10) / weight
    factor = (robust_cholesky(K), True)
    ones = cho_solve(factor, np.ones(len(rows)))
    z = y - ones @ y / ones.sum()
    alpha = cho_solve(factor, z)
    amplitude = np.einsum("ij,ij->j", z, alpha) / len(z)
    projector = varying_directions(batch.X[rows])
    needed = np.abs(projector) > DEPENDENT_SHARE
    known = (batch.weight[:, 1:] > 0).astype(int) @ needed == needed.sum(axis=0)
    observed = np.einsum("njo,jc->nco", batch.targets[:, 1:], projector)

    # The covariances of all columns at once would take memory for d matrices (n, n).
    def slopes(c: int) -> Functionals:
        U = np.broadcast_to(projector[:, c], batch.X.shape)
        return Functionals.along(batch.X, U) / fit.lengths

    expected = np.stack([covariance(kernel, slopes(c), F) @ alpha for c in range(d)], axis=1)
    sources = resembling_columns(expected, observed, known)
    result = np.full((3, d), np.nan)
    for c, source in enumerate(sources):
        at = np.flatnonzero(known[:, source])
        # The values say nothing about a column on which they hardly depend, or that is constant.
        if fit.lengths[c] > 30.0 or not projector[c, c] > 1e-3 or not len(at):
            continue
        G = slopes(c).take(at)
        cross = covariance(kernel, G, F)
        errors = covariance(kernel, G, G) - cross @ cho_solve(factor, cross.T)
        result[:, c] = factor_interval(expected[at, c], observed[at, source], errors, amplitude)
    own = np.arange(d)
    sources = np.where(np.isnan(result[0]), own, sources)
    audit = GradientAudit(result[0], result[1], result[2], sources)
    bad = audit.suspicious
    if not bad.any():
        return audit
    factors = np.where(bad, result[0], 1.0)[:, None]
    given = np.where(known[:, :, None], observed, expected)
    corrected = np.where(known[:, sources, None], observed[:, sources] / factors, expected)
    better = corrections_that_help(batch.X[rows], y, given[rows], corrected[rows], fit.lengths)
    # The interval of a column whose gradients are in another one says nothing about its own.
    unsure = (bad & ~better) | (sources != own)
    factors, low, high = np.where(unsure, np.nan, result)
    return GradientAudit(factors, low, high, np.where(better, sources, own))


def resembling_columns(
    expected: Array, observed: Array, known: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return for each column (d,) the one whose observed gradients look like those expected.

    That is the column itself unless its own gradients do not, and those of another column do. The
    gradients are (n, d, outputs), and `known` (n, d) are those that were observed.
    """
    observed = np.where(known[:, :, None], observed, 0.0)
    sizes = np.einsum("nco,nk->ck", expected**2, known) * (observed**2).sum(axis=(0, 2))
    products = np.abs(np.einsum("nco,nko->ck", expected, observed))
    correlation = products / np.sqrt(np.where(sizes > 0, sizes, np.inf))
    other = (np.diag(correlation) < LEAST_CORRELATION) & (correlation.max(axis=1) > RESEMBLANCE)
    return np.asarray(np.where(other, correlation.argmax(axis=1), np.arange(len(other))))


def corrections_that_help(
    X: Array, y: Array, given: Array, corrected: Array, lengths: Array
) -> NDArray[np.bool_]:
    """Return the columns (d,) whose corrected gradients explain the values better than those given.

    By the trapezoid rule y_j - y_i = (t_i + t_j).(x_j - x_i) / 2, up to third derivatives. For each
    column its squared residuals over pairs of neighbors are compared, all other columns corrected.

    Parameters
    ----------
    X, y
        Points (n, d) and values (n, outputs).
    given, corrected
        Gradients (n, d, outputs).
    lengths
        The scales (d,) in which distances of neighbors are measured.
    """
    k = min(N_NEIGHBORS, len(X) - 1)
    _, found = NearestRows(X / lengths).others(k)
    ends = np.column_stack([np.repeat(np.arange(len(X)), k), found.ravel()])
    pairs = np.unique(np.sort(ends, axis=1), axis=0)
    i, j = pairs[:, 0], pairs[:, 1]
    steps = (X[j] - X[i])[:, :, None] / 2
    before, after = (steps * (T[i] + T[j]) for T in (given, corrected))
    residual = (y[j] - y[i] - after.sum(axis=1))[:, None]
    gain = ((residual + after - before) ** 2 - residual**2).sum(axis=2)
    return np.asarray(gain.mean(axis=0) > LEAST_GAIN * gain.std(axis=0) / np.sqrt(len(gain)))


def factor_interval(
    expected: Array, observed: Array, errors: Array, amplitude: Array
) -> tuple[float, float, float]:
    """Return the factor of observed on expected derivatives (n, outputs), and its interval.

    The expected ones have errors of covariance (n, n), times a variance (outputs,) of each output.
    """
    product, size = float((expected * observed).sum()), float((expected**2).sum())
    norms = float(np.sqrt((observed**2).sum() * size))
    if norms <= 0 or abs(product) < LEAST_CORRELATION * norms:
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
        columns = "; ".join(audit.describe(c, names) for c in bad)
        warnings.warn(
            "Gradients look wrong in sign, scale or order. Compared with those that the values "
            f"suggest, {columns}. Check signs (forces are minus the gradient), units, and the "
            "order of columns; see gradient_audit_.",
            stacklevel=5,
        )


def warn_of_errors(path: PenaltyPath | None) -> None:
    """Warn where a fit with gradients misses values left out by more than their mean does."""
    if path is None or not np.isfinite(path.errors).any():
        return
    error = float(np.sqrt(path.errors[np.isfinite(path.errors)].min()))
    if error > WORSE_THAN_MEAN:
        warnings.warn(
            f"Values left out are missed by {error:.2g} of their standard deviations, so that "
            "their mean would predict them better. Check signs, units and the order of the columns "
            "of the gradients, or fit the values alone.",
            stacklevel=4,
        )
