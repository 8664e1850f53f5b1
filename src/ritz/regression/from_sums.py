"""Least squares on values and gradients from sums alone."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from ritz.arrays import Array
from ritz.regression.direct import Choose
from ritz.regression.moments import Moments, penalties, solve
from ritz.regression.solution import Solution
from ritz.regression.validation import Validation
from ritz.regression.whitened import Whitened


def fit_moments(
    functions: Whitened,
    offset: Array,
    folds: list[Moments],
    constant: bool,
    choose: Choose,
    least: float,
) -> Solution:
    """Fit from sums alone, as where the rows are gone, with a penalty that sums can tell."""
    rho, gamma, choice = choose(Validation(folds, constant))
    gamma = max(gamma, least)
    total = sum(folds[1:], folds[0])
    for _ in range(20):
        try:
            x, R = solve(total, rho, gamma, constant)
            break
        except LinAlgError:
            # Rounding of the sums is larger than it was taken to be.
            gamma *= 10
    else:
        raise LinAlgError("The sums of products are not positive, whatever the penalty.")
    down = penalties(len(x) - 1, gamma, constant)[:, None]
    target = total.v + rho * total.g
    left = target - (total.V + rho * total.G) @ x - down * x
    at_zero = float(np.abs(target).max(initial=0.0))
    residual = float(np.abs(left[int(not constant) :]).max() / at_zero) if at_zero > 0 else 0.0
    squares = total.squares[0] + rho * total.squares[1]
    loss = np.maximum(squares - np.einsum("ij,ij->j", x, target), 0.0)
    count = total.count.sum() if rho > 0 else total.count[0]
    noise = loss / max(int(count) - int(constant), 1)
    a = functions.coefficients(x[1:])
    constants = x[0] - offset @ a
    return Solution(functions, a, constants, R, rho, gamma, noise, residual, choice, offset)
