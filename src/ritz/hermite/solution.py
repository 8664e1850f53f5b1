"""A function fitted to values and gradients, and its posterior variance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from ritz.bases import Basis, Combination
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
    root
        Upper triangular R, R'R being the matrix of the least squares problem over (1, psi), or over
        psi alone where the constant was not fitted.
    gradient_weight, regularization
        The numbers rho and gamma.
    noise
        The variance (outputs,) of the noise of one value, estimated from the residuals.
    residual
        The gradient of the loss at the solution, relative to that at zero.
    path
        The errors on folds left out by which rho and gamma were chosen, or None.
    offset
        The numbers (p,) that were subtracted from phi in the features of R.
    mean_points
        Points (m, d) over which the function has mean zero, or None: where no value was observed,
        the function is known up to a constant.
    """

    functions: OrthonormalSections
    coefficients: Array
    constants: Array
    root: Array
    gradient_weight: float
    regularization: float
    noise: Array
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
        noise: Array,
        gradients: tuple[Array, Array],
        offset: float | Array = 0.0,
    ) -> Solution:
        """Return the solution x (m, outputs) over the functions of R (m, m).

        What was chosen are rho, gamma and the path; the gradients (m, outputs) are those of the
        loss at the solution and at zero.
        """
        free = len(R) - functions.size
        a = functions.coefficients(x[free:])
        constants = x[:free].sum(axis=0) - np.sum(offset * a.T, axis=1)
        slope, at_zero = (float(np.abs(g).max(initial=0.0)) for g in gradients)
        rho, gamma, path = chosen
        residual = slope / at_zero if at_zero > 0 else 0.0
        return cls(functions, a, constants, R, rho, gamma, noise, residual, path, offset)

    @property
    def function(self) -> Combination:
        """The fitted function, one for each output."""
        return Combination(self.functions.basis, self.coefficients, self.constants)

    def variance(self, X: Array) -> Array:
        """Return the posterior variance (n, outputs) at points (n, d).

        It is noise (h' (R'R)^-1 h + (k(x, x) - |psi|^2) / gamma) with h = (1, psi(x)): what is left
        of the prior variance within the span of the functions, and outside of it.
        """
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
        if len(self.root) > functions.size:
            h = np.column_stack([np.ones(len(X)), h])
        inside = solve_triangular(self.root, h.T, trans=1)
        inside = np.einsum("ij,ij->j", inside, inside)
        outside = np.maximum(prior - np.einsum("ij,ij->i", psi, psi), 0.0)
        return np.outer(inside + outside / self.regularization, self.noise)


@dataclass(frozen=True, eq=False)
class RowSums:
    """Sums (p,) of functions over rows with observations, their number, and up to 1,000 of them.

    They fix the constant of a function of which only derivatives were observed, such that its mean
    over the rows is zero. The sums of two sets of rows add up.
    """

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
