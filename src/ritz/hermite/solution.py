"""A function fitted to values and gradients, and its posterior variance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ritz.bases import Basis, Combination
from ritz.hermite.calibration import Numbers, Posterior, calibrate
from ritz.hermite.choosing import PenaltyPath
from ritz.hermite.functionals import Functionals, variances
from ritz.hermite.observations import Observations
from ritz.hermite.sections import OrthonormalSections
from ritz.rows import row_slices
from ritz.validation import Array


@dataclass(frozen=True, eq=False)
class Solution:
    """A fitted function in standard units.

    Parameters
    ----------
    functions
        The functions psi, made of sections phi.
    coefficients, constants
        The numbers (p, outputs) over phi, and the constants (outputs,).
    posterior
        The posterior variance, over (1, psi), or over psi alone where the constant was not fitted.
    gradient_weight, regularization
        The numbers rho and gamma.
    residual
        The gradient of the loss at the solution, relative to that at zero.
    path
        The errors on folds left out by which rho and gamma were chosen, or None.
    offset
        The numbers (p,) that were subtracted from phi in the features of the posterior.
    mean_points
        Points (m, d) over which the function has mean zero, or None: where no value was observed,
        the function is known up to a constant.
    """

    file_tag: ClassVar[str] = "Solution"

    functions: OrthonormalSections
    coefficients: Array
    constants: Array
    posterior: Posterior
    gradient_weight: float
    regularization: float
    residual: float
    path: PenaltyPath | None = None
    offset: float | Array = 0.0
    mean_points: Array | None = None

    @classmethod
    def of(
        cls,
        functions: OrthonormalSections,
        x: Array,
        R: Array,
        chosen: tuple[float, float, PenaltyPath | None],
        gradients: tuple[Array, Array],
        observed: tuple[Numbers, Array],
        n_fitted: int,
        offset: float | Array = 0.0,
    ) -> Solution:
        """Return the solution x (m, outputs) over the functions of R (m, m).

        What was chosen are rho, gamma and the path; the gradients (m, outputs) are those of the
        loss at the solution and at zero. The variance is calibrated on the numbers observed,
        given their functionals of psi (N, p) and how many length scales and noises were fitted.
        """
        free = len(R) - functions.size
        a = functions.coefficients(x[free:])
        constants = x[:free].sum(axis=0) - np.sum(offset * a.T, axis=1)
        slope, at_zero = (float(np.abs(g).max(initial=0.0)) for g in gradients)
        rho, gamma, path = chosen
        residual = slope / at_zero if at_zero > 0 else 0.0
        numbers, psi = observed
        F = numbers.functionals
        shift = functions.from_sections(np.broadcast_to(offset, (1, functions.size)))
        h = np.column_stack([F.values] * free + [psi - F.values[:, None] * shift])
        rounding = np.zeros_like(numbers.targets)
        function = Combination(functions.basis, a, constants)
        rounding[F.is_value] = h[F.is_value] @ x - function(F.points[F.is_value])
        fit = x, R, rho, gamma
        posterior = calibrate(functions, fit, numbers, psi, h, rounding, n_fitted)
        return cls(functions, a, constants, posterior, rho, gamma, residual, path, offset)

    @property
    def function(self) -> Combination:
        """The fitted function, one for each output."""
        return Combination(self.functions.basis, self.coefficients, self.constants)

    def variance(self, X: Array) -> Array:
        """Return the posterior variance (n, outputs) at points (n, d)."""
        functions, kernel, points = self.functions, self.functions.kernel, self.mean_points
        phi, offset = functions.basis(X), self.offset
        prior = variances(kernel, Functionals.at(X))
        psi = functions.from_sections(phi)
        if points is not None:
            # The prior variance of the difference from the mean over the points.
            offset = functions.basis(points).mean(axis=0)
            psi = functions.from_sections(phi - offset)
            prior += kernel(points, points).mean() - 2 * kernel(X, points).mean(axis=1)
        h = functions.from_sections(phi - offset)
        if len(self.posterior.root) > functions.size:
            h = np.column_stack([np.ones(len(X)), h])
        return self.posterior.variance(h, prior - np.einsum("ij,ij->i", psi, psi))


@dataclass(frozen=True, eq=False)
class RowSums:
    """Sums (p,) of functions over rows with observations, their number, and up to 1,000 of them.

    They fix the constant of a function of which only derivatives were observed, such that its mean
    over the rows is zero. The sums of two sets of rows add up.
    """

    file_tag: ClassVar[str] = "RowSums"

    total: Array
    count: int
    points: Array

    @classmethod
    def of(cls, basis: Basis, observations: Observations) -> RowSums:
        """Return the sums over all rows that have observations."""
        X, units, observed = observations.X, observations.units, observations.observed
        total = np.zeros(basis.size)
        for part in row_slices(len(X), 2048):
            rows = units.standardize(X[part][observed[part]])
            if len(rows):
                total += basis(rows).sum(axis=0)
        first = np.asarray(X[np.flatnonzero(observed)[:1000]], dtype=np.float64)
        return cls(total, int(observed.sum()), units.standardize(first))

    def __add__(self, other: RowSums) -> RowSums:
        points = np.concatenate([self.points, other.points])[:1000]
        return RowSums(self.total + other.total, self.count + other.count, points)

    def center(self, solution: Solution) -> Solution:
        """Return the solution less its mean over the rows."""
        constants = -(self.total @ solution.coefficients) / self.count
        return replace(solution, constants=constants, mean_points=self.points)
