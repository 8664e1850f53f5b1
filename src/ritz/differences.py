"""Derivatives that users give, compared with finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from ritz.validation import Array, parameter_error

# The number of rows at which derivatives are compared, and the fewest where there is a slope. Among
# more rows, steps to neighbors would be so short that rounding decides.
COMPARED_ROWS, FEWEST_ROWS = 64, 3
# Where to compare and the steps, in units of the way from a row to its neighbor.
PLACE, STEPS = 0.2, (0.01, 0.1)
# The share by which derivative and difference may differ: the error sought is a wrong sign, factor
# or term, and tangential gradients of functions on a manifold are right along chords up to this.
TOLERANCE = 0.2
# Rounding errors: functions may compute in float32, and are zero up to that of their largest value.
SINGLE, DOUBLE = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps)


def points_and_steps(X: Array) -> tuple[Array, Array]:
    """Return points next to some rows of X (n, d), and the steps (m, d) to the rows' neighbors.

    The points are on the way to the nearest neighbor, and so in the range of the data, and near the
    manifold where the data lie on one. Where all rows are equal the step is zero.
    """
    X = X[:COMPARED_ROWS]
    unit = X.std(axis=0)
    Z = X / np.where(unit > 0, unit, 1.0)
    distances = cdist(Z, Z)
    distances[distances == 0] = np.inf
    V = X[distances.argmin(axis=1)] - X
    return X + PLACE * V, V


def require_derivative(
    function: Callable[[Array], Array],
    gradient: Callable[[Array], Array],
    points: Array,
    V: Array,
    name: str,
    requirement: str,
) -> None:
    """Raise if most derivatives along steps between rows disagree with finite differences.

    A derivative disagrees if at two step sizes it is not between the forward and the backward
    difference, so that a kink is no error. Where the function is flat or not finite nothing is
    compared.

    Parameters
    ----------
    function
        Maps points (m, d) to values (m,).
    gradient
        Maps points (m, d) to gradients (m, d), or (m,) where d = 1.
    points, V
        What `points_and_steps` returns.
    name, requirement
        What the error says that the derivatives belong to, and must be.
    """
    with np.errstate(all="ignore"):
        f, given = function(points), (gradient(points).reshape(V.shape) * V).sum(axis=1)
        wrong = compared = np.isfinite(given)
        largest = np.abs(f[np.isfinite(f)]).max(initial=0.0)
        rounding = 4 * SINGLE * np.abs(f) + 4 * DOUBLE * largest
        for h in STEPS:
            ahead, behind = (function(points + h * V) - f) / h, (f - function(points - h * V)) / h
            low, high = np.minimum(ahead, behind), np.maximum(ahead, behind)
            size = np.maximum(np.maximum(np.abs(low), np.abs(high)), np.abs(given))
            margin = high - low + TOLERANCE * size + rounding / h
            wrong = wrong & ((given < low - margin) | (given > high + margin))
            compared = compared & (size > rounding / h)
    wrong = wrong & compared
    n_wrong, n_compared = int(wrong.sum()), int(compared.sum())
    if n_compared < FEWEST_ROWS or 2 * n_wrong <= n_compared:
        return
    row = int(np.argmax(np.where(wrong, np.abs(given), -1.0)))
    # The derivative along an axis is that in its positive direction.
    length = np.copysign(np.linalg.norm(V[row]), V[row, np.abs(V[row]).argmax()])
    difference = (low[row] + high[row]) / 2 / length
    raise parameter_error(
        name,
        requirement,
        f"{given[row] / length:.6g} where finite differences are {difference:.6g} (and so at "
        f"{n_wrong} of {n_compared} rows)",
        "Check signs and factors. check_derivatives=False skips this comparison.",
    )
