"""What estimators choose from the data where the user leaves it to them, all in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import (
    Array,
    as_count,
    as_number,
    hash_rows,
    lowest_hashed,
    must,
    squared_distances,
)
from ritz.bases import Recipe
from ritz.bases.basis import require_recipe
from ritz.bases.nystrom import Nystrom
from ritz.forms import Form, laplacian, neighbors
from ritz.kernels import (
    Exponential,
    Gaussian,
    Kernel,
    Matern,
    Polynomial,
    RationalQuadratic,
)

KERNELS: dict[str, Any] = {
    "gaussian": Gaussian,
    "exponential": Exponential,
    "matern32": lambda length: Matern(1.5, length),
    "matern52": lambda length: Matern(2.5, length),
    "rational_quadratic": lambda length: RationalQuadratic(1.0, length),
    "polynomial": lambda length: Polynomial(3, length_scale=length),
}
REGULARIZATION = 1e-8
QUANTILE = 0.1
CENTERS_FACTOR = 5.0
MANY_CENTERS = 300
SCALE_ROWS = 1000
SCALE_CENTERS = 200


def as_operator(operator: Any, n_neighbors: int) -> Form:
    """Return the form of an operator's name, or the form given."""
    if isinstance(operator, Form):
        return operator
    if operator == "laplacian":
        return laplacian()
    if operator == "neighbors":
        return neighbors(n_neighbors)
    raise ValueError(must("operator", "'laplacian', 'neighbors' or a form", repr(operator)))


def as_recipe(
    basis: Any,
    kernel: Any,
    length_scale: Any,
    n_centers: Any,
    X: Array,
    weight: Array,
    *,
    choose: Callable[[Callable[[float], Kernel], Array, Array], float],
    half: Callable[[Kernel, Array, Array], bool],
    centers_factor: float = CENTERS_FACTOR,
    most_centers: int = 1000,
) -> Recipe:
    """Return the basis given, or kernel sections with what is "auto" chosen from the data.

    Parameters
    ----------
    basis, kernel, length_scale, n_centers
        As given to an estimator.
    X, weight
        Rows (n, d) and their weights (n,).
    choose
        The length scale from the kernel of a length scale, the distinct rows and their weights.
    half
        Whether half as many centers will do, from the kernel, the distinct rows and their weights;
        asked where there would be more than 300.
    centers_factor
        How many times sqrt(n) centers there are.
    most_centers
        How many centers there are at most.
    """
    if basis is not None:
        require_recipe(basis)
        return basis  # type: ignore[no-any-return]
    distinct, totals = distinct_rows(X, weight)
    if isinstance(kernel, Kernel):
        if not (isinstance(length_scale, str) and length_scale == "auto"):
            what = "'auto' where the kernel is an object with a length scale of its own"
            raise ValueError(must("length_scale", what, length_scale))
    else:
        if not isinstance(kernel, str) or kernel not in KERNELS:
            raise ValueError(must("kernel", f"a kernel or one of {list(KERNELS)}", repr(kernel)))
        if isinstance(length_scale, str):
            if length_scale != "auto":
                raise ValueError(must("length_scale", "'auto' or positive", repr(length_scale)))
            length_scale = choose(KERNELS[kernel], distinct, totals)
        kernel = KERNELS[kernel](length_scale)
    if isinstance(n_centers, str):
        if n_centers != "auto":
            raise ValueError(must("n_centers", "'auto' or a positive integer", repr(n_centers)))
        n_centers = auto_n_centers(len(distinct), centers_factor, most_centers)
        if n_centers > MANY_CENTERS and half(kernel, distinct, totals):
            n_centers //= 2
    return Nystrom(kernel, min(as_count(n_centers, "n_centers"), len(distinct)))


def as_regularization(value: Any, auto: float = REGULARIZATION) -> float:
    """Return the regularization, small where it is "auto"."""
    if isinstance(value, str) and value == "auto":
        return auto
    return as_number(value, "regularization", "'auto' or a nonnegative number", 0.0)


def distinct_rows(X: Array, weight: Array) -> tuple[Array, Array]:
    """Return the distinct rows of positive weight, in an order of their own, and their weights."""
    X, weight = X[weight > 0], weight[weight > 0]
    first, which = equal_rows(X)
    return X[first], np.bincount(which, weights=weight).astype(np.float64)


def equal_rows(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of each set of equal rows, and the set (n,) that each row belongs to."""
    _, first, which = np.unique(hash_rows(X), return_index=True, return_inverse=True)
    return first, which


def auto_length_scale(rows: Array, weight: Array, seed: int, quantile: float = QUANTILE) -> float:
    """Return the 10% quantile, by weight, of distances from 200 rows to 1,000 others.

    A low quantile follows clusters and bends of the data that the median would blur.
    """
    pick = lowest_hashed(rows, SCALE_ROWS, seed)
    S = squared_distances(rows[pick], rows[pick[:SCALE_CENTERS]], exact_near=True)
    apart = S > 0
    if not apart.any():
        return 1.0
    distances = np.sqrt(S[apart])
    if weight.min() == weight.max():
        place = max(0, int(np.ceil(quantile * len(distances))) - 1)
        return float(np.partition(distances, place)[place])
    shares = np.broadcast_to(weight[pick][:, None], S.shape)[apart]
    order = np.argsort(distances)
    total = np.cumsum(shares[order])
    return float(distances[order][np.searchsorted(total, quantile * total[-1])])


def auto_n_centers(n: int, factor: float = CENTERS_FACTOR, most: int = 1000) -> int:
    """Return 5 sqrt(n) centers, between 100 and 1,000, fewer where n p^2 would exceed 3e10."""
    return int(max(50, min(np.clip(factor * np.sqrt(n), 100, most), np.sqrt(3e10 / n))))
