"""Functions found without a fold, measured on that fold: what is left of a value on unseen rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ritz.assembly import Sums
from ritz.spectrum.solve_sums import Found, solve_sums
from ritz.threads import n_threads, one_blas_thread, thread_map
from ritz.validation import Array

# A function has variance 1 on the rows it was found from. Where its variance on other rows is
# smaller or larger by this factor, it belongs to single rows.
VARIANCE_FACTOR = 3.0
# A function that rests on fewer rows, or of small samples on a smaller share of them, says little
# about others.
FEWEST_EFFECTIVE_ROWS, LEAST_ROW_SHARE = 10.0, 0.02
# With fewer folds, those that remain without one hold too few of the rows to find functions from.
FEWEST_FOLDS = 3
# The rounding of a correlation.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Sums over each fold of the energies and squares of functions found without it.

    Parameters
    ----------
    energies
        H(f_i, g_i), (folds, k); zero where a function has no counterpart without the fold.
    left, right
        f_i^2 and g_i^2, (folds, k); equal where the operator is symmetric.
    weight
        The weight (folds,) of the rows.
    """

    file_tag: ClassVar[str] = "HeldOut"

    energies: Array
    left: Array
    right: Array
    weight: Array

    def pick(self, which: NDArray[np.intp]) -> HeldOut:
        """Return some of the functions."""
        return replace(
            self,
            energies=self.energies[:, which],
            left=self.left[:, which],
            right=self.right[:, which],
        )

    @property
    def gaps(self) -> HeldOut:
        """The same for 1 - c in place of correlations c: half the squares of f/|f| - g/|g|.

        As eigenvalues do, these are the smaller the better, and near zero for slow processes.
        """
        size, tiny = self._sizes, np.finfo(np.float64).tiny
        shares = [part / np.maximum(part.sum(axis=0), tiny) for part in (self.left, self.right)]
        squares = size * (shares[0] + shares[1]) / 2
        # The rounding of c keeps 1 - c above zero.
        energies = squares * (1 + ROUNDING) - self.energies
        return replace(self, energies=energies, left=squares, right=squares)

    @property
    def values(self) -> Array:
        """The values (k,) on unseen rows: energies over squares, each summed over folds first."""
        return np.asarray(self.energies.sum(axis=0) / self._sizes)

    @property
    def _sizes(self) -> Array:
        """The roots (k,) of the squares of both sides, 1 where they vanish."""
        size = np.sqrt(self.left.sum(axis=0)) * np.sqrt(self.right.sum(axis=0))
        return np.where(size > 0, size, 1.0)

    @property
    def variances(self) -> Array:
        """The variance (k,) on unseen rows, 1 on those seen; of two sides the farther from 1."""
        both = np.stack([self.left.sum(axis=0), self.right.sum(axis=0)]) / self.weight.sum()
        far = np.abs(np.log(np.maximum(both, np.finfo(np.float64).tiny)))
        return np.asarray(both[far.argmax(axis=0), np.arange(both.shape[1])])

    @property
    def generalize(self) -> NDArray[np.bool_]:
        """Which functions (k,) have about the same variance on unseen rows as on those seen."""
        ratio = self.variances
        return np.asarray((ratio > 1 / VARIANCE_FACTOR) & (ratio < VARIANCE_FACTOR))

    @property
    def errors(self) -> Array:
        """Standard errors (k,) of the values, from the folds' deviations."""
        m = len(self.weight)
        expected = self.values * np.sqrt(self.left) * np.sqrt(self.right)
        residual = (self.energies - expected) / self._sizes
        # Division by the unit prevents overflow and underflow of the squares.
        unit = np.maximum(np.abs(residual).max(axis=0), np.finfo(np.float64).tiny)
        return np.asarray(unit * np.sqrt(m / (m - 1) * ((residual / unit) ** 2).sum(axis=0)))


def effective_rows(squares: Array, weight: Array) -> Array:
    """Return over how many rows (k,) the squares of functions are spread, judged by the folds.

    If all squares lay in equal parts on m rows of random folds, the variance of the folds' shares
    would be 1 / m of that of a single row.

    Parameters
    ----------
    squares
        The sums (folds, k) of the functions' squares over each fold.
    weight
        The weight (folds,) of the rows.
    """
    expected = weight / weight.sum()
    total = np.maximum(squares.sum(axis=0), np.finfo(np.float64).tiny)
    # Squares that are all rounding errors have shares of any size, and are spread over no rows.
    with np.errstate(over="ignore"):
        spread = ((squares / total - expected[:, None]) ** 2).sum(axis=0)
    return np.asarray((1 - (expected**2).sum()) / np.maximum(spread, np.finfo(np.float64).eps))


def heavy_folds(sums: Sums) -> list[int]:
    """Return the folds whose weight is above the rounding error of the total."""
    floor = np.finfo(np.float64).eps * sums.weight.sum()
    return [int(fold) for fold in np.flatnonzero(sums.weight > floor)]


def hold_out(
    sums: Sums, found: Found, regularization: float, n_jobs: int | None = None
) -> HeldOut | None:
    """Find functions from all folds but one, measure them on that fold, and do so for each fold.

    Centers are rows: those in the fold are left out of the basis, or narrow kernels would look
    good in many dimensions. Functions are matched with those found from all rows by their overlap.

    Parameters
    ----------
    sums, regularization
        As in `solve_sums`.
    found
        The functions found from all rows.
    n_jobs
        The number of threads.

    Returns
    -------
    None where there are too few folds, or too few rows in the others.
    """
    folds = heavy_folds(sums)
    if len(folds) < FEWEST_FOLDS or not len(found):
        return None
    metric = sum(sums.Phi[fold] for fold in folds) / sums.weight.sum()
    images = metric @ found.left

    def on(fold: int) -> Any:
        try:
            other = solve_sums(sums, len(found), regularization, without=fold)
        except ValueError:
            return None
        A, B = other.left, other.right
        if not (np.isfinite(A).all() and np.isfinite(B).all() and np.isfinite(images).all()):
            return None
        mine, theirs = matched(images, A)
        parts = np.zeros((3, len(found)))
        for part, matrix, f, g in zip(
            parts, (sums.L, sums.Phi, sums.Psi), (A, A, B), (B, A, B), strict=True
        ):
            part[mine] = np.einsum("ij,ij->j", f, matrix[fold] @ g)[theirs]
        # Squares are below zero only by rounding.
        np.maximum(parts[1:], 0.0, out=parts[1:])
        return parts if np.isfinite(parts).all() else None

    with one_blas_thread():
        results = thread_map(on, folds, min(n_threads(n_jobs), len(folds)))
    if any(result is None for result in results):
        return None
    energies, left, right = np.stack(results, axis=1)
    return HeldOut(energies, left, right, sums.weight[folds])


def matched(images: Array, A: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which functions correspond to which, such that the squared overlaps are largest.

    Parameters
    ----------
    images
        The metric times the coefficients (1 + p, k) of some functions.
    A
        The coefficients (1 + p, m) of others.
    """
    mine, theirs = linear_sum_assignment(-((images.T @ A) ** 2))
    return mine, theirs
