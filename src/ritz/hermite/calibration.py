"""The posterior variance of a fit, scaled such that it explains the errors at rows left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ritz.hermite.functionals import Functionals, variances
from ritz.hermite.observations import Batch
from ritz.hermite.sections import OrthonormalSections
from ritz.rows import hash_rows
from ritz.solve.triangular import triangular_factor
from ritz.validation import Array

# Up to so many values and derivatives are left out, of 100 to 400 points.
LEFT_OUT_NUMBERS = 4000
# The smallest penalty of the variance, relative to weights and prior variance. The functions psi
# have rounding errors of 1e-7 at points far from the data: their squares would decide below it.
LEAST_NUGGET = 1e-11
# The smallest 1 - leverage of which rounding changes less than a hundredth.
RESOLVED = 1e-13
# Fewer values than these determine the constant, and little else.
FEW_VALUES = 16


@dataclass(frozen=True, eq=False)
class Numbers:
    """Observed numbers, equal ones merged: functionals (N,), targets (N, outputs), weights (N,)."""

    file_tag: ClassVar[str] = "Numbers"

    functionals: Functionals
    targets: Array
    weight: Array

    @classmethod
    def of(cls, batch: Batch) -> Numbers:
        """Return what was observed at the rows of a batch."""
        F, targets, weight, _ = batch.merged().numbers()
        return cls(F, targets, weight)

    def __add__(self, other: Numbers) -> Numbers:
        F = self.functionals + other.functionals
        keys = hash_rows(F.points, F.directions, F.values)
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        each = np.concatenate([self.weight, other.weight])
        weight = np.zeros(len(first))
        np.add.at(weight, which, each)
        targets = np.zeros((len(first), self.targets.shape[1]))
        np.add.at(targets, which, each[:, None] * np.concatenate([self.targets, other.targets]))
        return Numbers(F.take(first), targets / weight[:, None], weight)

    def some(self) -> Numbers:
        """Return those that are left out in turn."""
        k = np.sort(np.concatenate(points_left_out(self.functionals)[0]))
        return Numbers(self.functionals.take(k), self.targets[k], self.weight[k])


@dataclass(frozen=True, eq=False)
class Posterior:
    """The variance amplitude (nugget h' (R'R)^-1 h + k(x, x) - |psi|^2) of the function at x.

    The first term is what is left of the prior variance within the span of the functions psi, with
    h = (1, psi(x)); the others are what is outside of it.

    Parameters
    ----------
    root
        Upper triangular R, R'R being the matrix of least squares over h with the penalty `nugget`.
    nugget
        The penalty gamma of the fit, or the smallest one above the rounding errors of psi.
    amplitude
        The prior variance (outputs,) of the function, in units of the kernel.
    """

    file_tag: ClassVar[str] = "Posterior"

    root: Array
    nugget: float
    amplitude: Array

    def variance(self, h: Array, outside: Array) -> Array:
        """Return the variance (n, outputs), from h (n, m) and what is outside the span (n,)."""
        inside = solve_triangular(self.root, h.T, trans=1)
        inside = self.nugget * np.einsum("ij,ij->j", inside, inside)
        return np.outer(inside + np.maximum(outside, 0.0), self.amplitude)


def calibrate(
    functions: OrthonormalSections,
    fit: tuple[Array, Array, float, float],
    numbers: Numbers,
    psi: Array,
    h: Array,
    rounding: Array,
    n_fitted: int,
) -> Posterior:
    """Return the posterior whose amplitude explains the errors at points left out.

    Leave-one-out errors follow from the leverages: with B the weighted rows of all numbers of a
    point, r their residuals and H = B (R'R)^-1 B', the errors of the fit without the point are
    (I - H)^-1 r. Their variances are of the same form. The amplitude is such that 95% of the
    errors of values are within 1.96 standard deviations; with fewer than 20 errors, such that
    their mean square is one. Length scales and noise that were fitted to the same rows make the
    errors too small, by the factor (n + k) / (n - k) of Akaike's final prediction error.

    Parameters
    ----------
    functions
        The functions psi.
    fit
        The solution x (m, outputs), the triangle R (m, m), rho and gamma.
    numbers, psi, h
        What was observed, and its functionals of psi (N, p) and of the functions of R (N, m).
    rounding
        What is lost by rounding (N, outputs) when the fitted function is evaluated.
    n_fitted
        The number k of lengths and noises that were fitted to the rows.
    """
    x, R, rho, gamma = fit
    F, targets, weight = numbers.functionals, numbers.targets, numbers.weight
    least = LEAST_NUGGET * functions.triangle[0, 0] ** 2
    nugget = max(gamma, least * float(weight.mean()))
    root, smooth = R, x
    if nugget > gamma:
        extra = np.append(
            np.zeros(len(R) - functions.size), np.full(functions.size, nugget - gamma)
        )
        root = triangular_factor([R], len(R), np.sqrt(extra))
        smooth = solve_triangular(root, solve_triangular(root, R.T @ (R @ x), trans=1))
    outside = variances(functions.kernel, F) - np.einsum("ij,ij->i", psi, psi)
    weight = np.where(F.is_value, weight, rho * weight)
    used = F.is_value
    # Where the functions do not span all sections, new points are not like centers of functions.
    points, n_points = points_left_out(F, F.is_value & (outside > least))
    if used[np.concatenate(points)].sum() < FEW_VALUES:
        used = weight > 0
    scores = [np.empty((0, targets.shape[1]))]
    for k in points:
        k = k[weight[k] > 0]
        scale = np.sqrt(weight[k])[:, None]
        B = h[k] * scale
        fitted, prior = (np.eye(len(k)) - leverages(T, B) for T in (R, root))
        solution = x
        if np.linalg.eigvalsh(fitted).min(initial=1.0) < RESOLVED:
            # Far from the others both penalties give the same error; the larger one resolves it.
            fitted, solution = prior, smooth
        if np.linalg.eigvalsh(fitted).min(initial=1.0) < 1e-14:
            # No other point determines what this one does.
            continue
        error = np.linalg.solve(fitted, targets[k] * scale - B @ solution) / scale + rounding[k]
        # The noise of an observation is that of the fit, not that of a larger nugget.
        variance = nugget * (np.diag(np.linalg.inv(prior)) - 1.0) + gamma
        variance = variance / weight[k] + np.maximum(outside[k], 0.0)
        scores.append((error / np.sqrt(variance)[:, None])[used[k]])
    spread = spread_of(np.concatenate(scores))
    optimism = (n_points + n_fitted) / max(n_points - n_fitted, n_fitted, 1)
    return Posterior(root, nugget, spread**2 * optimism)


def leverages(R: Array, B: Array) -> Array:
    """Return B (R'R)^-1 B' for rows B (k, m)."""
    U = solve_triangular(R, B.T, trans=1)
    return np.asarray(U.T @ U)


def points_left_out(
    F: Functionals, preferred: NDArray[np.bool_] | None = None
) -> tuple[list[NDArray[np.intp]], int]:
    """Return the numbers at each point to be left out, and how many points there are.

    Points with values come first, in the order of their hashes. Where 20 or more points have a
    number that is preferred, the others are not left out.
    """
    _, which = np.unique(hash_rows(F.points), return_inverse=True)
    n_points = int(which.max(initial=-1)) + 1
    has_value = np.bincount(which[F.is_value], minlength=n_points) > 0
    count = int(np.clip(LEFT_OUT_NUMBERS * n_points // max(len(F), 1), 100, 400))
    order = np.argsort(which, kind="stable")
    members = np.split(order, np.searchsorted(which[order], np.arange(1, n_points)))
    chosen = np.argsort(~has_value, kind="stable")
    if preferred is not None and len(some := np.unique(which[preferred])) >= 20:
        chosen = some
    return [members[i] for i in chosen[:count]], n_points


def spread_of(scores: Array) -> Array:
    """Return the standard deviations (outputs,) of scores (n, outputs) by their 95% quantile.

    With fewer than 20 of them it is their root mean square, and without any it is one.
    """
    n = len(scores)
    if n == 0:
        return np.ones(scores.shape[1])
    if n < 20:
        return np.asarray(np.sqrt(np.mean(scores**2, axis=0)))
    rank = min(int(np.ceil(0.95 * (n + 1))), n)
    return np.asarray(np.sort(np.abs(scores), axis=0)[rank - 1] / 1.96)
