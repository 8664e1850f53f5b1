"""Derivatives that users give, compared with finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from ritz.validation import Array, parameter_error

# The number of rows at which derivatives are compared, and the fewest where there is a slope. Among
# more rows, steps to neighbors would be so short that rounding decides.
COMPARED_ROWS, FEWEST_ROWS = 64, 3
# The steps, in units of the way from a row to its neighbor. The shortest resolves functions that
# oscillate between rows; of the longer ones rounding leaves more.
STEPS = (0.1, 0.01, 1e-4)
# The share by which derivative and difference may differ: the error sought is a wrong sign, factor
# or term.
TOLERANCE = 0.2
# Rounding errors: functions may compute in float32, and are zero up to that of their largest value.
SINGLE, DOUBLE = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps)


def points_and_steps(X: Array) -> tuple[Array, Array]:
    """Return points between some rows of X (n, d) and their neighbors, and the steps (m, d) there.

    The points are halfway to the nearest neighbor, and so in the range of the data. Where the data
    lie on a manifold, the step is tangential halfway up to second order, on a sphere exactly, so
    that tangential gradients have the right derivative along it. Where all rows are equal the step
    is zero. If the rows are too few to compare, there are no points.
    """
    if len(X) < FEWEST_ROWS:
        return X[:0], X[:0]
    X = X[:COMPARED_ROWS]
    unit = X.std(axis=0)
    Z = X / np.where(unit > 0, unit, 1.0)
    distances = cdist(Z, Z)
    distances[distances == 0] = np.inf
    V = X[distances.argmin(axis=1)] - X
    return X + 0.5 * V, V


def require_derivative(
    function: Callable[[Array], Array],
    gradient: Callable[[Array], Array],
    points: Array,
    V: Array,
    name: str,
    requirement: str,
) -> None:
    """Raise if most derivatives along steps between rows disagree with finite differences.

    A derivative disagrees if it is not between the forward and the backward difference at any step
    size that rounding leaves usable, so that a kink is no error. Where the function is flat or not
    finite nothing is compared.

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
    if len(points) == 0:
        return
    with np.errstate(all="ignore"):
        f, slopes = function(points), gradient(points).reshape(V.shape)
        given = (slopes * V).sum(axis=1)
        largest = np.abs(f[np.isfinite(f)]).max(initial=0.0)
        # The points are rounded as well, which changes values by the slope.
        rounding = 4 * DOUBLE * (largest + np.abs(slopes * points).sum(axis=1))
        rounding += 4 * SINGLE * np.abs(f)
        wrong, compared = np.isfinite(given), np.zeros(len(V), dtype=bool)
        difference = np.zeros(len(V))
        for h in STEPS:
            ahead, behind = (function(points + h * V) - f) / h, (f - function(points - h * V)) / h
            low, high = np.minimum(ahead, behind), np.maximum(ahead, behind)
            size = np.maximum(np.maximum(np.abs(low), np.abs(high)), np.abs(given))
            margin = high - low + TOLERANCE * size + rounding / h
            usable = size > rounding / h
            wrong &= ~usable | (given < low - margin) | (given > high + margin)
            compared |= usable
            difference = np.where(usable, (low + high) / 2, difference)
    wrong &= compared
    n_wrong, n_compared = int(wrong.sum()), int(compared.sum())
    if n_compared < FEWEST_ROWS or 2 * n_wrong <= n_compared:
        return
    row = int(np.argmax(np.where(wrong, np.abs(given), -1.0)))
    # The derivative along an axis is that in its positive direction.
    length = np.copysign(np.linalg.norm(V[row]), V[row, np.abs(V[row]).argmax()])
    raise parameter_error(
        name,
        requirement,
        f"{given[row] / length:.6g} where finite differences are "
        f"{difference[row] / length:.6g} (and so at {n_wrong} of {n_compared} rows)",
        "Check signs and factors. check_derivatives=False skips this comparison.",
    )
