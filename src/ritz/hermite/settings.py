"""The parameters of a fit, checked, and how many functions fit into memory."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.estimators.checks import seed_of
from ritz.kernels import Kernel
from ritz.selection.candidates import KERNELS
from ritz.threads import n_threads
from ritz.validation import (
    Array,
    as_choice,
    as_count,
    as_n_folds,
    as_number,
    as_rows,
    parameter_error,
)

# The number of functions where it is "auto": products of more take minutes on a common machine.
MAX_FUNCTIONS = 2400
# The same from four million numbers on, and for `partial_fit`.
MAX_FUNCTIONS_MANY = 1200


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of `HermiteRegressor`, checked; None stands for "auto"."""

    solver: str
    n_centers: int | None
    centers: Array | None
    gradient_weight: float | None
    regularization: float | None
    constant: bool
    n_folds: int
    n_jobs: int | None
    seed: int

    @classmethod
    def of(cls, estimator: Any, d: int) -> Settings:
        """Check the parameters of an estimator, for rows of d columns."""
        solver = as_choice(estimator.solver, "solver", ("auto", "qr", "sums"))
        if not isinstance(estimator.constant, bool | np.bool_):
            raise parameter_error("constant", "True or False", repr(estimator.constant))
        n_threads(estimator.n_jobs)
        n_centers, centers = estimator.n_centers, estimator.centers
        what = "'auto' or a positive integer"
        if not is_auto(n_centers, "n_centers", what):
            n_centers = as_count(n_centers, "n_centers", what)
        if centers is not None:
            centers = as_rows(centers, "centers", d)
        penalties: list[float | None] = []
        for name in ("gradient_weight", "regularization"):
            value, what = getattr(estimator, name), "'auto' or a nonnegative number"
            auto = is_auto(value, name, what)
            penalties.append(None if auto else as_number(value, name, what, 0.0))
        rho, gamma = penalties
        return cls(
            solver,
            None if n_centers == "auto" else n_centers,
            centers,
            rho,
            # Without any penalty the least squares problem can be singular.
            None if gamma is None else max(gamma, 1e-18),
            bool(estimator.constant),
            as_n_folds(estimator.n_folds),
            estimator.n_jobs,
            seed_of(estimator.random_state),
        )

    def require_loss(self, has_values: bool) -> None:
        """Raise an error where nothing that was observed counts."""
        if self.gradient_weight == 0 and not has_values:
            remedy = "Derivatives of weight 0 do not count, and nothing else was observed."
            what = "positive where no value of y is known"
            raise parameter_error("gradient_weight", what, "0", remedy)

    def n_functions(self, available: int, cap: int, held: int) -> int:
        """Return how many functions to choose of those available, up to `cap` if it is "auto".

        They fit into memory together with `held` rows of features.
        """
        if self.n_centers is None:
            return max(1, min(available, cap, max_functions(self.n_folds, held)))
        require_memory(self.n_centers, self.n_folds)
        p = min(self.n_centers, available)
        require_memory(p, self.n_folds, held)
        return p


def is_auto(value: Any, name: str, what: str) -> bool:
    """Return whether a parameter is "auto"; any other string is an error."""
    if isinstance(value, str) and value != "auto":
        raise parameter_error(name, what, repr(value))
    return isinstance(value, str)


def as_kernel(kernel: Any, length_scale: Any = 1.0) -> Kernel:
    """Return the kernel given, or that of a name with some length scale."""
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise parameter_error("kernel", f"a kernel or one of {list(KERNELS)}", kernel)
    return KERNELS[kernel](length_scale)


def given_lengths(kernel: Any, length_scale: Any, x_scale: Array) -> Array | None:
    """Return the length scales (d,) in standard units, or None where the data are to choose them.

    Kernel and length scale are the estimator's parameters; x_scale are the columns' deviations.
    """
    auto = is_auto(length_scale, "length_scale", "'auto' or positive")
    if isinstance(kernel, Kernel):
        if not auto:
            what = "'auto' where the kernel is an object with a length scale of its own"
            raise parameter_error("length_scale", what, length_scale)
        return np.array(kernel.scales(len(x_scale)))
    if auto:
        return None if as_kernel(kernel).family == "distance" else np.ones(len(x_scale))
    scale = tuple(np.asarray(length_scale, dtype=float)) if np.ndim(length_scale) else length_scale
    return np.array(as_kernel(kernel, scale).scales(len(x_scale))) / x_scale


def max_functions(n_folds: int, held: int = 0) -> int:
    """Return the largest p for which p by p matrices, and `held` rows of p numbers, fit.

    They may take four fifths of the machine's memory.
    """
    try:
        memory = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return sys.maxsize
    # Systems that do not know it return -1.
    if memory <= 0:
        return sys.maxsize
    matrices = n_matrices(n_folds)
    half = held / matrices / 2
    return int(np.sqrt(0.8 * memory / 8 / matrices + half**2) - half)


def require_memory(p: int, n_folds: int, held: int = 0, name: str = "n_centers") -> None:
    """Raise an error where p functions do not fit into memory."""
    largest = max_functions(n_folds, held)
    if p > largest:
        needed = 8 * p * (n_matrices(n_folds) * p + held)
        requirement = f"at most {largest:,} on this machine"
        remedy = f"They would take {needed // 10**9:,} GB."
        raise parameter_error(name, requirement, f"{p:,}", remedy)


def n_matrices(n_folds: int) -> int:
    """Return how many p by p matrices are held at once: two a fold, and six others."""
    return 2 * n_folds + 6
