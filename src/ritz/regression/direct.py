"""Least squares on values and gradients by QR, where the design fits in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from ritz.arrays import Array
from ritz.bases.functionals import (
    Functionals,
)
from ritz.regression.moments import HELD, Moments, penalties
from ritz.regression.solution import Solution
from ritz.regression.validation import Choice, Validation
from ritz.regression.whitened import Whitened

Choose = Callable[[Validation], tuple[float, float, Choice | None]]


def fit_by_qr(
    functions: Whitened,
    H: Array,
    observed: tuple[Functionals, Array, Array, NDArray[np.intp]],
    lost: tuple[Array, int],
    folds: NDArray[np.intp],
    n_folds: int,
    constant: bool,
    choose: Choose,
) -> Solution:
    """Fit all that was observed by a QR decomposition: nothing is squared.

    Parameters
    ----------
    functions, H
        The functions psi, and what was observed of each of them (N, r).
    observed
        Functionals (N,), numbers (N, outputs), weights (N,) and rows (N,).
    lost
        The squares (2, outputs) that equal rows merged into one have lost, and how many numbers
        there were.
    folds
        The fold of each row (n,).
    n_folds
        The number of folds.
    constant
        Whether there is a constant.
    choose
        The weight of gradients and the penalty from the sums of folds.
    """
    F, z, weight, rows = observed
    told = F.values == 1.0
    design = np.column_stack([F.values, H])
    parts = [folds[rows] == fold for fold in range(n_folds)]
    sums = [_moments(design, z, weight, told, here) for here in parts]
    rho, gamma, choice = choose(Validation(sums, constant))
    scale = np.sqrt(np.where(told, weight, rho * weight))
    r = H.shape[1]
    down = np.sqrt(penalties(r, gamma, constant))
    if not (told & (weight > 0)).any():
        down[0] = np.sqrt(HELD)
    A = np.vstack([design * scale[:, None], np.diag(down)])
    b = np.vstack([z * scale[:, None], np.zeros((1 + r, z.shape[1]))])
    Q, R = qr(A, mode="economic", overwrite_a=True, check_finite=False)
    x = solve_triangular(R, Q.T @ b)
    rest = b - np.vstack([(design @ x) * scale[:, None], down[:, None] * x])
    A = np.vstack([design * scale[:, None], np.diag(down)])
    # A constant that is held at zero has no say.
    A = A[:, int(not constant) :]
    at_zero = np.abs(A.T @ b).max(initial=0.0)
    residual = float(np.abs(A.T @ rest).max(initial=0.0) / at_zero) if at_zero > 0 else 0.0
    loss = np.einsum("ij,ij->j", rest, rest) + lost[0][0] + rho * lost[0][1]
    count = lost[1] if rho > 0 else int((told & (weight > 0)).sum())
    noise = loss / max(count - int(constant), 1)
    return Solution(
        functions, functions.coefficients(x[1:]), x[0], R, rho, gamma, noise, residual, choice
    )


def _moments(
    design: Array, z: Array, weight: Array, told: NDArray[np.bool_], here: NDArray[np.bool_]
) -> Moments:
    parts = []
    for kind in (told, ~told):
        which = here & kind
        A, w, b = design[which], weight[which][:, None], z[which]
        squares = (w * b * b).sum(axis=0)
        parts.append((A.T @ (w * A), A.T @ (w * b), squares, w.sum(), (w > 0).sum()))
    (V, v, *rest), (G, g, *more) = parts
    squares, total, count = (np.array(pair) for pair in zip(rest, more, strict=True))
    return Moments(V, G, v, g, squares, total, count)
