"""Error bars by leaving out one fold at a time, and groups that they cannot separate."""

from __future__ import annotations

from contextlib import nullcontext
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from ritz.arrays import Array
from ritz.assembly import Matrices
from ritz.assembly.sums import LARGE, Folds
from ritz.threads import Workers, blas_threads, jobs

CONFIDENCE = 0.99
SMALL = 100
TINY = float(np.finfo(np.float64).tiny)


def leave_one_out(
    weight: Array, L: Folds, Phi: Folds, Psi: Folds, A: Array, B: Array
) -> Matrices | None:
    """Return the matrices (folds, k, k) of a fixed span, without each fold in turn.

    To first order in 1/n the span found from all rows gives the same values as one found
    anew, so only k by k problems are left to solve.

    Parameters
    ----------
    weight, L, Phi, Psi
        The sums of all folds, as `Sums` has them.
    A, B
        The spans: combinations (1 + p, k) of the left and (1 + q, k) of the right functions.

    Returns
    -------
    None where fewer than three folds have rows.
    """
    folds = np.flatnonzero(weight > 0)
    if len(folds) < 3:
        return None
    shared = Psi is Phi and A is B
    others = (weight.sum() - weight[folds])[:, None, None]

    def without_each(matrices: Folds, left: Array, right: Array) -> Array:
        if len(left) <= SMALL:
            small = left.T @ np.array(matrices) @ right
        else:
            # Large matrices are read sooner by two threads than by one.
            threads = jobs(None) if len(left) > LARGE else 1
            with blas_threads(1) if threads > 1 else nullcontext(), Workers(threads) as run:
                small = np.array(list(run(lambda M: left.T @ M @ right, matrices)))
        return np.asarray((small.sum(axis=0) - small[folds]) / others)

    small_L, small_Phi = without_each(L, A, B), without_each(Phi, A, A)
    return Matrices(small_L, small_Phi, small_Phi if shared else without_each(Psi, B, B))


def jackknife(left_out: Array) -> Array:
    """Return standard errors (k,) from values (folds, k) with each fold left out."""
    m = len(left_out)
    # In units where squares neither overflow nor vanish.
    unit = float(np.abs(left_out).max()) or 1.0
    part = left_out / unit
    part -= part.sum(axis=0) / m
    return np.asarray(unit * np.sqrt((m - 1) / m * (part**2).sum(axis=0)))


def group(values: Array, errors: Array | None, n_folds: int) -> NDArray[np.intp]:
    """Return group numbers (k,): values that may be one value, as far as their errors tell.

    Neighbors in a group have overlapping confidence intervals, and all its members lie as close
    as sampling would leave copies of one value. A value without an error is exact and stays
    alone. Without any errors, equal values to eight digits make a group.
    """
    if errors is None:
        reach = 1e-8 * np.abs(values)
    else:
        # The gap of a repeated pair is the length of a vector of two numbers, not one number.
        reach = np.sqrt(2 * fdtri(2, n_folds - 1, CONFIDENCE)) * errors
    # Numbers of Python's own: there are few, and arrays of one take longer.
    v, r = values.tolist(), reach.tolist()
    exact = [False] * len(v) if errors is None else (errors == 0).tolist()
    groups = [0] * len(v)
    start = 0
    for j in range(1, len(v)):
        gaps = [abs(v[j] - v[i]) / max(r[j] + r[i], TINY) for i in range(start, j)]
        groups[j] = groups[j - 1]
        # Sampling spreads a value of multiplicity m by sqrt(m / 2) times as much as a pair.
        far = gaps[-1] > 1 or max(gaps) > sqrt((j + 1 - start) / 2)
        if exact[j] or exact[j - 1] or far:
            groups[j] += 1
            start = j
    return np.array(groups, dtype=np.intp)


def group_means(values: Array, groups: NDArray[np.intp]) -> Array:
    """Return each value (..., k) replaced by the mean of its group, groups being 0, 1, ..."""
    if not len(groups):
        return values.copy()
    sizes = np.bincount(groups)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    means = np.add.reduceat(values, starts, axis=-1) / sizes
    return np.asarray(means[..., groups])
