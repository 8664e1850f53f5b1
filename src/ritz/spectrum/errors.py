"""Error bars by leaving out one fold at a time, and groups of values that they cannot separate."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from ritz.assembly import Matrices, Sums
from ritz.assembly.sums import Folds
from ritz.validation import Array

# Values whose confidence intervals of this level overlap may belong to one group.
GROUP_CONFIDENCE = 0.99


def leave_one_out(sums: Sums, A: Array, B: Array) -> Matrices | None:
    """Return the matrices (folds, k, k) of a fixed span, without each fold in turn.

    To first order in 1/n the span found from all rows gives the same values as the span found
    from the rest, so only k by k problems need to be solved.

    Parameters
    ----------
    sums
        The sums of all folds.
    A, B
        The spans: combinations (1 + p, k) of the left and (1 + q, k) of the right functions.

    Returns
    -------
    None where fewer than three folds have rows, of more weight than rounding errors of the total.
    """
    folds = np.flatnonzero(sums.weight > np.finfo(np.float64).eps * sums.weight.sum())
    if len(folds) < 3:
        return None
    others = (sums.weight.sum() - sums.weight[folds])[:, None, None]

    def without_each(matrices: Folds, left: Array, right: Array) -> Array:
        small = np.array([left.T @ M @ right for M in matrices])
        return np.asarray((small.sum(axis=0) - small[folds]) / others)

    L, Phi = without_each(sums.L, A, B), without_each(sums.Phi, A, A)
    shared = sums.Psi is sums.Phi and A is B
    return Matrices(L, Phi, Phi if shared else without_each(sums.Psi, B, B))


def jackknife(left_out: Array) -> Array:
    """Return standard errors (k,) from values (folds, k) with each fold left out."""
    m = len(left_out)
    # Division by the unit prevents overflow and underflow of the squares.
    unit = float(np.abs(left_out).max()) or 1.0
    part = left_out / unit
    part -= part.sum(axis=0) / m
    return np.asarray(unit * np.sqrt((m - 1) / m * (part**2).sum(axis=0)))


def group(values: Array, errors: Array | None, n_folds: int) -> NDArray[np.intp]:
    """Return group numbers (k,): values that may be one value, as far as their errors tell.

    Neighbors in a group have overlapping confidence intervals, and its members lie no farther apart
    than sampling would spread copies of one value. A value of error zero is exact and stays alone.
    Where errors is None, values that agree to eight digits make a group.
    """
    if errors is None:
        reach = 1e-8 * np.abs(values)
    else:
        # The gap of a repeated pair is the length of a vector of two numbers, not one number.
        reach = np.sqrt(2 * fdtri(2, n_folds - 1, GROUP_CONFIDENCE)) * errors
    tiny = float(np.finfo(np.float64).tiny)
    v, r = values.tolist(), reach.tolist()
    exact = [False] * len(v) if errors is None else (errors == 0).tolist()
    groups = [0] * len(v)
    start = 0
    for j in range(1, len(v)):
        gaps = [abs(v[j] - v[i]) / max(r[j] + r[i], tiny) for i in range(start, j)]
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
