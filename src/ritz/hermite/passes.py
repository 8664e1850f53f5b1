"""Least squares on any number of rows: from sums, or by conjugate gradients in passes."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular
from scipy.sparse.linalg import LinearOperator, cg

from ritz.hermite.calibration import Numbers
from ritz.hermite.choosing import choose_penalties
from ritz.hermite.functionals import Functionals
from ritz.hermite.moments import (
    Moments,
    fold_moments,
    for_each_batch,
    products_with,
    solve_moments,
)
from ritz.hermite.observations import Batch, Observations, subsample
from ritz.hermite.qr import solve_least_squares
from ritz.hermite.sections import OrthonormalSections, choose_sections
from ritz.hermite.settings import MAX_FUNCTIONS, MAX_FUNCTIONS_MANY, Settings, require_memory
from ritz.hermite.solution import Solution
from ritz.kernels import Kernel
from ritz.validation import Array

# Functions whose squared distance from the span of those before is below this share of the largest
# are not used: in sums of products, which square it, the root of the machine's precision.
SUMS_PIVOT_FLOOR = 1e-8
# In passes, which square nothing, what is above rounding.
PASSES_PIVOT_FLOOR = 1e-13


def fit_by_passes(
    observations: Observations, kernel: Kernel, settings: Settings, noise: Array | None
) -> Solution:
    """Fit any number of rows, in passes of O(n p d); the arguments are those of `fit_by_qr`.

    Sums of products of the well-conditioned functions choose rho and gamma where they are "auto".
    They would square the condition number of the solution: that is found by conjugate gradients on
    the rows themselves, preconditioned by the QR decomposition of a sample of the rows.
    """
    cap = cap_of(observations.size)
    functions, means = sections_at_rows(observations, kernel, settings, PASSES_PIVOT_FLOOR, cap)
    rho, gamma, path = settings.gradient_weight, settings.regularization, None
    if rho is None or gamma is None:
        pivots = np.diag(functions.triangle) ** 2
        few = max(1, int((pivots > SUMS_PIVOT_FLOOR * pivots.max()).sum()))
        some = functions.first(few)
        folds = fold_moments(some, means[:few], observations, settings.n_folds, settings.n_jobs)
        floor = smallest_penalty(some, folds)
        rho, gamma, path = choose_penalties(folds, settings, noise, floor)
    problem = RowProblem(functions, observations, rho, gamma, settings)
    sample = subsample(observations, sample_size(functions.size), settings.seed + 1, True)
    numbers = Numbers.of(sample)
    observed = numbers, functions.apply(numbers.functionals)
    R, x = problem.solve_sample(sample.X, *observed)
    x = problem.refine(x, R)
    chosen, n_fitted = (rho, gamma, path), 0 if noise is None else sample.X.shape[1] + 2
    return Solution.of(functions, x, R, chosen, problem.residual(x), observed, n_fitted)


def sections_at_rows(
    observations: Observations, kernel: Kernel, settings: Settings, floor: float, cap: int
) -> tuple[OrthonormalSections, Array]:
    """Return sections of values at rows, or at the centers given, and their means (p,).

    Sections with less than a share `floor` of the largest variance are left out, and there are up
    to `cap` where their number is "auto".
    """
    units = observations.units
    rows = units.standardize(observations.stream.sample(5000, settings.seed))
    if settings.centers is None:
        points = Functionals.at(rows)
        held = sample_size(cap if settings.n_centers is None else len(points))
        p = settings.n_functions(len(points), cap, held)
    else:
        points = Functionals.at(units.standardize(settings.centers))
        p = len(points)
        require_memory(p, settings.n_folds, sample_size(p), "centers")
    functions, _ = choose_sections(kernel, points, p, floor)
    return functions, np.asarray(functions.basis(rows[:2000]).mean(axis=0))


def fit_by_sums(
    functions: OrthonormalSections,
    offset: Array,
    folds: list[Moments],
    settings: Settings,
    noise: Array | None,
    some: Numbers,
) -> Solution:
    """Fit from the sums of each fold, with a penalty above their rounding errors.

    The sums are those of `fold_moments` for the same functions and offset (p,). The variance is
    calibrated on some of the numbers.
    """
    floor = smallest_penalty(functions, folds)
    rho, gamma, path = settings.gradient_weight, settings.regularization, None
    if rho is None or gamma is None:
        rho, gamma, path = choose_penalties(folds, settings, noise, floor)
    total, gamma = sum(folds[1:], folds[0]), max(gamma, floor)
    for _ in range(20):
        try:
            x, R = solve_moments(total, rho, gamma, settings.constant)
            break
        except LinAlgError:
            # The sums have larger rounding errors than was estimated.
            gamma *= 10
    else:
        raise LinAlgError("The sums of products are not positive definite, whatever the penalty.")
    target = total.cross[0] + rho * total.cross[1]
    residual = target - (total.gram[0] + rho * total.gram[1]) @ x
    residual[1:] -= gamma * x[1:]
    # Without a constant that was fitted, the function 1 is left out.
    x, residual = x[-len(R) :], residual[-len(R) :]
    chosen, observed = (rho, gamma, path), (some, functions.apply(some.functionals))
    n_fitted = 0 if noise is None else some.functionals.points.shape[1] + 2
    return Solution.of(functions, x, R, chosen, (residual, target), observed, n_fitted, offset)


def smallest_penalty(functions: OrthonormalSections, folds: list[Moments]) -> float:
    """Return the smallest penalty that is above the rounding errors of the sums of folds."""
    pivots = np.diag(functions.triangle) ** 2
    rounding = 50 * float(np.finfo(np.float64).eps) / float(pivots.min() / pivots.max())
    return rounding * float(sum(fold.weight.sum() for fold in folds))


def cap_of(numbers: int) -> int:
    """Return the largest number p of functions for so many values and derivatives.

    From a million to four million of them p falls, so that the cost n p^2 does not grow.
    """
    return max(MAX_FUNCTIONS_MANY, round(float(np.sqrt(1e6 / max(numbers, 1e6))) * MAX_FUNCTIONS))


def sample_size(p: int) -> int:
    """Return how many numbers precondition p functions: 32 p, but 8,000 to 40,000, or 8 p."""
    return max(8000, min(32 * p, max(40_000, 8 * p)))


class RowProblem:
    """Least squares over all rows and the functions (1, psi), or psi alone without a constant."""

    def __init__(
        self,
        functions: OrthonormalSections,
        observations: Observations,
        rho: float,
        gamma: float,
        settings: Settings,
    ) -> None:
        self.functions, self.observations = functions, observations
        self.rho, self.n_jobs = rho, settings.n_jobs
        self.weight = observations.total_weight()
        # Whether there is a constant, and a value that determines it.
        self.free = int(settings.constant and self.weight[0] > 0)
        self.penalty = np.append(np.zeros(self.free), np.full(functions.size, gamma))

    def solve_sample(self, X: Array, numbers: Numbers, psi: Array) -> tuple[Array, Array]:
        """Return R and x (m, outputs) of a sample of the rows, weighted up to stand for all.

        R'R approximates the matrix of the problem. The sample has rows X, with numbers (N,) whose
        functionals of psi are (N, p).
        """
        F, targets, weight = numbers.functionals, numbers.targets, numbers.weight
        ones = F.values
        factor = np.where(F.is_value, self.weight[0], self.rho * self.weight[1])
        for kind in (F.is_value, ~F.is_value):
            factor[kind] *= weight[kind] / max(weight[kind].sum(), 1e-300)
        if self.weight[0] > 0 and not F.is_value.any():
            # Few values are known, and none in the sample: one row stands for them.
            mean = self.functions.apply(Functionals.at(X)).mean(axis=0)
            psi, ones = np.vstack([psi, mean]), np.append(ones, 1.0)
            targets = np.vstack([targets, np.zeros((1, targets.shape[1]))])
            factor = np.append(factor, self.weight[0])
        columns = [ones[:, None]] * self.free + [psi]
        return solve_least_squares(columns, targets, factor[:, None], self.penalty)

    def refine(self, x: Array, R: Array) -> Array:
        """Improve a solution x (m, outputs) by conjugate gradients, preconditioned by R'R.

        The unknowns are R (x' - x), in which the matrix is near the identity, and those of all
        outputs are one long vector, so that a pass serves all outputs. Thirty passes, or a residual
        a million times smaller, end it.
        """

        def matrix(z: Array) -> Array:
            step = solve_triangular(R, z.reshape(x.shape))
            image = self.products(step) + self.penalty[:, None] * step
            return np.asarray(solve_triangular(R, image, trans=1)).ravel()

        residual, _ = self.residual(x)
        operator = LinearOperator((x.size, x.size), matvec=matrix, dtype=np.float64)
        start = solve_triangular(R, residual, trans=1).ravel()
        z, _ = cg(operator, start, rtol=1e-6, maxiter=30)
        return np.asarray(x + solve_triangular(R, z.reshape(x.shape)))

    def products(self, x: Array) -> Array:
        """Return the matrix of the problem, without the penalty, times x (m, outputs)."""
        return self._pass(x, of_residual=False)[0]

    def residual(self, x: Array) -> tuple[Array, Array]:
        """Return the residuals (m, outputs) of the normal equations at x and at zero."""
        residual, at_zero = self._pass(x, of_residual=True)
        return residual - self.penalty[:, None] * x, at_zero

    def _pass(self, x: Array, of_residual: bool) -> tuple[Array, Array]:
        """Return products of the functions with those of coefficients x, or with its errors.

        Then follow the products with the targets.
        """
        functions, outputs = self.functions, x.shape[1]
        constants = x[0] if self.free else np.zeros(outputs)
        a = functions.coefficients(x[self.free :])
        # Eight folds, for up to eight threads.
        sums = np.zeros((8, 2, 1 + functions.size, outputs))
        rho = np.array([1.0, self.rho])[:, None, None]

        def add(fold: int, batch: Batch) -> None:
            f = functions.basis.jet(batch.X)
            fitted = (f.value.dense() @ a + constants)[:, None]
            if batch.targets.shape[1] > 1:
                gradient = f.gradient.combine(a)
                if batch.directions is not None:
                    gradient = batch.directions.transpose(0, 2, 1) @ gradient
                fitted = np.concatenate([fitted, gradient], axis=1)
            if of_residual:
                fitted = batch.targets - fitted
                sums[fold, 1] += (rho * products_with(f, batch, batch.targets)).sum(axis=0)
            sums[fold, 0] += (rho * products_with(f, batch, fitted)).sum(axis=0)

        for_each_batch(self.observations, functions.size, add, 8, self.n_jobs)
        first = 1 - self.free
        found, target = (functions.change_products(M)[first:] for M in sums.sum(axis=0))
        return found, target
