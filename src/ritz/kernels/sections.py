"""Kernel sections at a block of points in one pass, and the squared distances behind them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ritz import compiled
from ritz.namespaces import namespace
from ritz.rows import HASHED_ROWS, row_slices
from ritz.validation import Array

# Up to this many columns, differences of coordinates cost no more than a matrix product.
DIRECT_COLUMNS = 32
# Pairs whose |x - y|^2 is below this share of |x|^2 lose more than three digits in the expansion.
CANCELLED_SHARE = 2e-3
TINY = float(np.finfo(np.float64).tiny)


class Sections(NamedTuple):
    """Kernel sections k(., y_j) at points x_i, arrays (n, p); None where not asked for.

    Parameters
    ----------
    values
        q(u), less an offset (p,) where there is one.
    slopes
        q'(u).
    stretched
        |x - y|^2 q'(u), for distance kernels.
    """

    values: Array
    slopes: Array | None = None
    stretched: Array | None = None


class Coefficients(NamedTuple):
    """The parameters of a kernel in the compiled loops.

    The Gaussian has q = exp(-r^2 / 2). A Matern kernel has, with z = a_3 r and r = |x - y|,
    q = (a_0 + a_1 z + a_2 z^2) exp(-z) and q' = (b_0 + b_1 z + b_2 / z) exp(-z).
    """

    is_matern: bool
    a: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    b: tuple[float, float, float] = (0.0, 0.0, 0.0)


def compiled_sections(
    coefficients: Coefficients,
    X: Array,
    Y: Array,
    offset: Array | None,
    slopes: bool,
    stretched: bool,
) -> Sections:
    """Do as `Kernel.sections` does, by the compiled loops."""
    p, shape = len(Y), (len(X), len(Y))
    first, second = np.empty(shape) if slopes else None, np.empty(shape) if stretched else None
    outputs = Sections(np.empty(shape), first, second)
    shift = np.zeros(p) if offset is None else offset
    a, b = np.array(coefficients.a), np.array(coefficients.b)
    # The loops take eight centers at a time.
    groups = -(-p // 8)
    work = np.empty(16 * groups)
    points = centers = distances = None
    if X.shape[1] <= DIRECT_COLUMNS:
        padded = np.zeros((8 * groups, Y.shape[1]))
        padded[:p] = Y
        points = np.ascontiguousarray(X)
        centers = np.ascontiguousarray(padded.reshape(groups, 8, X.shape[1]).transpose(0, 2, 1))
    else:
        distances = squared_distances(X, Y)
    kind = coefficients.is_matern
    compiled.fill(kind, points, centers, distances, shift, a, b, *outputs, work)
    return outputs


def squared_distances(X: Array, Y: Array) -> Array:
    """Return |x - y|^2 (n, p) for points X (n, d) and centers Y (p, d).

    With few columns differences are squared. With many the square is expanded around the mean of
    Y, |x|^2 + |y|^2 - 2 x.y, and pairs for which this cancels are computed from differences.
    """
    xp = namespace(X, Y)
    if X.shape[1] <= DIRECT_COLUMNS or not (X.shape[0] and Y.shape[0]):
        if isinstance(X, np.ndarray):
            return np.asarray(cdist(X, Y, "sqeuclidean"))
        return sum((X[:, i, None] - Y[None, :, i]) ** 2 for i in range(X.shape[1]))
    mean = xp.mean(Y, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        A, B = X - mean, Y - mean
        x2, y2 = xp.vecdot(A, A), xp.vecdot(B, B)
        S: Array = A @ (-2.0 * B.T)
        S += x2[:, None]
        S += y2
        if not (xp.all(xp.isfinite(x2)) and xp.all(xp.isfinite(y2))):
            S[xp.isnan(S)] = xp.inf
    # Where |x|^2 < |y|^2 / 4 nothing cancels, so that |x|^2 alone sets the scale. What is negative
    # by rounding lies below TINY even where x is the mean.
    cancelled = (CANCELLED_SHARE * x2 + TINY)[:, None] > S
    rows, columns = xp.nonzero(cancelled)
    if rows.shape[0]:
        differences = (
            xp.take(X, rows[part], axis=0) - xp.take(Y, columns[part], axis=0)
            for part in row_slices(rows.shape[0], HASHED_ROWS)
        )
        S[cancelled] = xp.concat([xp.vecdot(part, part) for part in differences])
    return S
