"""Least squares on values and derivatives by a QR decomposition."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ritz.hermite.calibration import Numbers
from ritz.hermite.choosing import choose_penalties
from ritz.hermite.functionals import Functionals
from ritz.hermite.moments import Moments
from ritz.hermite.observations import Observations
from ritz.hermite.sections import OrthonormalSections, choose_sections
from ritz.hermite.settings import MAX_FUNCTIONS, Settings, require_memory
from ritz.hermite.solution import Solution
from ritz.kernels import Kernel
from ritz.rows import hash_rows, row_slices
from ritz.solve.triangular import triangular_factor
from ritz.validation import Array


def fit_by_qr(
    observations: Observations, kernel: Kernel, settings: Settings, noise: Array | None
) -> Solution:
    """Fit all observations at once, without squaring the condition number.

    The kernel is in standard units; `noise` are the variances (2,) of values and derivatives that
    the likelihood found, or None.
    """
    batch = observations.batch(slice(None)).merged()
    F, targets, weight, rows = batch.numbers()
    functions, H = functions_of(batch.X, F, observations, kernel, settings)
    rho, gamma, path = settings.gradient_weight, settings.regularization, None
    if rho is None or gamma is None:
        keys = hash_rows(np.asarray(observations.X, dtype=np.float64)[batch.first])[rows]
        fold = keys % np.uint64(settings.n_folds)
        parts = [np.flatnonzero(fold == k) for k in range(settings.n_folds)]
        folds = [moments_of(F.take(k), H[k], targets[k], weight[k]) for k in parts]
        rho, gamma, path = choose_penalties(folds, settings, noise)
    # The function 1 has a column of its own, unless no value determines its coefficient.
    free = int(settings.constant and F.is_value.any())
    ones = [F.values[:, None]] * free
    loss_weight = np.where(F.is_value, weight, rho * weight)[:, None]
    penalty = np.append(np.zeros(free), np.full(functions.size, gamma))
    R, x = solve_least_squares([*ones, H], targets, loss_weight, penalty)
    # The gradient of the loss at the solution, and at zero.
    errors = H @ x[free:] + sum(column * x[0] for column in ones) - targets
    slope, at_zero = (
        np.vstack([A.T @ (loss_weight * b) for A in (*ones, H)]) for b in (errors, targets)
    )
    slope += penalty[:, None] * x
    chosen, observed = (rho, gamma, path), (Numbers(F, targets, weight), H)
    n_fitted = 0 if noise is None else batch.X.shape[1] + 2
    return Solution.of(functions, x, R, chosen, (slope, at_zero), observed, n_fitted)


def functions_of(
    X: Array, F: Functionals, observations: Observations, kernel: Kernel, settings: Settings
) -> tuple[OrthonormalSections, Array]:
    """Return the functions psi, and the functionals F of them (N, p)."""
    # Two arrays (N, p) are held: the functionals of psi, and a copy of them by folds.
    held = 2 * len(F)
    if settings.centers is not None:
        require_memory(len(settings.centers), settings.n_folds, held, "centers")
        points = Functionals.at(observations.units.standardize(settings.centers))
        functions, _ = choose_sections(kernel, points, len(points))
    elif kernel.smoothness is None or kernel.smoothness >= 2:
        return choose_sections(kernel, F, settings.n_functions(len(F), MAX_FUNCTIONS, held))
    else:
        # Derivatives of the kernel have no derivatives: sections of values alone.
        points = Functionals.at(X)
        p = settings.n_functions(len(points), MAX_FUNCTIONS, held)
        functions, _ = choose_sections(kernel, points, p)
    return functions, functions.apply(F)


def solve_least_squares(
    columns: list[Array], targets: Array, weight: Array, penalty: Array
) -> tuple[Array, Array]:
    """Minimize the weighted squares of A x - b, plus the penalties (m,) times x^2, by QR.

    Parameters
    ----------
    columns, targets
        The columns of A, as arrays (N, ...), and b (N, outputs).
    weight
        Nonnegative weights (N, 1).
    penalty
        Numbers (m,).

    Returns
    -------
    The triangle R (m, m) of the problem, and x (m, outputs).
    """
    m, root = len(penalty), np.sqrt(weight)
    blocks = (
        np.hstack([array[rows] for array in (*columns, targets)]) * root[rows]
        for rows in row_slices(len(targets), 2048)
    )
    R = triangular_factor(blocks, m + targets.shape[1], np.sqrt(penalty))
    return R[:m, :m], np.asarray(solve_triangular(R[:m, :m], R[:m, m:]))


def moments_of(F: Functionals, H: Array, targets: Array, weight: Array) -> Moments:
    """Return the sums over observed numbers, H (N, p) being their functionals of psi."""
    m = Moments.zeros(H.shape[1], targets.shape[1])
    for kind, which in enumerate((F.is_value, ~F.is_value)):
        root = np.sqrt(weight[which])[:, None]
        A = np.column_stack([F.values[which], H[which]]) * root
        b = targets[which] * root
        # NumPy computes half of A'A and copies the other half.
        m.gram[kind], m.cross[kind], m.squares[kind] = A.T @ A, A.T @ b, (b * b).sum(axis=0)
        m.weight[kind], m.count[kind] = weight[which].sum(), which.sum()
    return m
