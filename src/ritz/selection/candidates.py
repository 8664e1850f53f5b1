"""Values that "auto" starts from, found without fitting anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.bases import Nystrom, Stack
from ritz.kernels import Exponential, Gaussian, Kernel, Matern, Polynomial, RationalQuadratic
from ritz.kernels.sections import squared_distances
from ritz.rows import sample_rows
from ritz.validation import Array, as_number, parameter_error

KERNELS: dict[str, Callable[[Any], Kernel]] = {
    "gaussian": Gaussian,
    "exponential": Exponential,
    "matern32": lambda length: Matern(1.5, length),
    "matern52": lambda length: Matern(2.5, length),
    "rational_quadratic": lambda length: RationalQuadratic(1.0, length),
    "polynomial": lambda length: Polynomial(3, length_scale=length),
}
# The kernels that "auto" chooses from: smooth, less smooth, and with a kink.
FAMILIES = ("gaussian", "matern52", "exponential")
# Rows whose distances to a fifth of them give a length scale: 200,000 distances determine a
# quantile to a percent, and take a millisecond.
SCALE_ROWS = 1000


def as_regularization(value: Any, auto: float) -> float:
    """Return the regularization, or the number that stands for "auto"."""
    if isinstance(value, str) and value == "auto":
        return auto
    return as_number(value, "regularization", "'auto' or a nonnegative number", 0.0)


def auto_length_scale(rows: Array, weight: Array, seed: int, quantile: float = 0.1) -> float:
    """Return a weighted quantile of the distances from 200 rows to 1,000 rows.

    A low quantile follows clusters and bends of the data, which the median would blur.

    Parameters
    ----------
    rows, weight
        Distinct rows (n, d) and their weights (n,).
    seed
        The seed of the choice of rows.
    quantile
        The share of the weight at smaller distances.
    """
    pick = sample_rows(rows, SCALE_ROWS, seed)
    squares = squared_distances(rows[pick], rows[pick[: SCALE_ROWS // 5]])
    apart = squares > 0
    if not apart.any():
        return 1.0
    distances = np.sqrt(squares[apart])
    if weight.min() == weight.max():
        # Without weights the quantile needs no sorting, which takes most of the time.
        place = max(0, int(np.ceil(quantile * len(distances))) - 1)
        return float(np.partition(distances, place)[place])
    # Division by the largest prevents overflow of the products.
    share = weight[pick] / weight.max()
    shares = np.outer(share, share[: SCALE_ROWS // 5])[apart]
    order = np.argsort(distances)
    total = np.cumsum(shares[order])
    return float(distances[order][np.searchsorted(total, quantile * total[-1])])


def auto_n_centers(n_rows: int, per_root: float = 5.0, most: int = 1000, share: float = 1.0) -> int:
    """Return 5 sqrt(n) centers, between 100 and 1,000, fewer where n p^2 would exceed 3e10.

    So many multiplications take about a second. A `share` below 1 is the most centers for each row.
    The number is never below 50.
    """
    wanted = np.clip(per_root * np.sqrt(n_rows), 100, most)
    if share < 1:
        wanted = min(wanted, share * n_rows)
    return int(max(50, min(wanted, np.sqrt(3e10 / n_rows))))


def is_incomplete(basis: Any) -> bool:
    """Return whether a recipe, or a part of it, leaves length scale or centers to be chosen."""
    if isinstance(basis, tuple | list):
        return any(map(is_incomplete, basis))
    if isinstance(basis, Stack):
        return any(map(is_incomplete, basis.recipes))
    if not isinstance(basis, Nystrom):
        return False
    lacks_centers = isinstance(basis.centers, str) and basis.n_centers is None
    return lacks_centers or basis.kernel.length_scale == "auto"


def complete_basis(basis: Any, complete: Callable[[Nystrom], Nystrom]) -> Any:
    """Return a recipe with every incomplete `Nystrom` in it completed.

    Parameters
    ----------
    basis
        A basis, a recipe, a `Stack` of them, or a pair for two sides.
    complete
        What completes one recipe.
    """
    if isinstance(basis, tuple | list):
        return tuple(complete_basis(part, complete) for part in basis)
    if isinstance(basis, Stack):
        return Stack(*(complete_basis(part, complete) for part in basis.recipes))
    return complete(basis) if is_incomplete(basis) else basis


def kernel_families(kernel: Any, length_scale: Any) -> tuple[Callable[[Any], Kernel], ...]:
    """Return kernels as functions of their length scale; raise if either argument is invalid."""
    auto = isinstance(length_scale, str) and length_scale == "auto"
    if isinstance(kernel, Kernel):
        if not auto:
            what = "'auto' where the kernel is an object with a length scale of its own"
            raise parameter_error("length_scale", what, length_scale)
        if kernel.length_scale == "auto":
            return (kernel.with_length_scale,)
        return (lambda _: kernel,)
    if not isinstance(kernel, str) or kernel not in (*KERNELS, "auto"):
        what = f"'auto', a kernel or one of {list(KERNELS)}"
        raise parameter_error("kernel", what, repr(kernel))
    if isinstance(length_scale, str) and not auto:
        raise parameter_error("length_scale", "'auto' or positive", repr(length_scale))
    names = FAMILIES if kernel == "auto" else (kernel,)
    return tuple(KERNELS[name] for name in names)
