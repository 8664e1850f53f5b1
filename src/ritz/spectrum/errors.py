"""Error bars by leaving out one fold at a time, and groups that they cannot separate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_law

from ritz.arrays import Array
from ritz.assembly import Matrices, Sums

CONFIDENCE = 0.99


def leave_one_out(
    sums: Sums, A: Array, B: Array, values_of: Callable[[Matrices], Array | None]
) -> Array | None:
    """Return the values (folds, k) found in a fixed span without each fold in turn.

    To first order in 1/n the span found from all rows gives the same values as one found
    anew, so only k by k problems are solved.

    Parameters
    ----------
    sums
        The sums of all folds.
    A, B
        The spans: combinations (1 + p, k) of the left and (1 + q, k) of the right functions.
    values_of
        The values (k,) of small matrices, or None where they have fewer.

    Returns
    -------
    None where fewer than three folds have rows, or the functions are not independent on the rows
    of the others.
    """
    folds = np.flatnonzero(sums.weight > 0)
    if len(folds) < 3:
        return None
    shared = sums.Psi is sums.Phi and A is B
    Ls = A.T @ sums.L @ B
    Phis = A.T @ sums.Phi @ A
    Psis = Phis if shared else B.T @ sums.Psi @ B
    total = [Ls.sum(axis=0), Phis.sum(axis=0), Psis.sum(axis=0)]
    result = []
    for fold in folds:
        weight = sums.weight.sum() - sums.weight[fold]
        parts = (Ls[fold], Phis[fold], Psis[fold])
        L, Phi, Psi = ((t - part) / weight for t, part in zip(total, parts, strict=True))
        values = values_of(Matrices(L, Phi, Psi))
        if values is None:
            return None
        result.append(values)
    return np.array(result)


def jackknife(left_out: Array) -> Array:
    """Return standard errors (k,) from values (folds, k) with each fold left out."""
    m = len(left_out)
    # In units where squares neither overflow nor vanish.
    unit = np.abs(left_out).max() or 1.0
    return np.asarray(unit * np.sqrt((m - 1) * (left_out / unit).var(axis=0)))


def group(values: Array, errors: Array | None, n_folds: int) -> NDArray[np.intp]:
    """Return group numbers (k,): neighbors whose confidence intervals overlap share one.

    Without errors, equal values to eight digits make a group.
    """
    if errors is None:
        reach = 1e-8 * np.abs(values)
    else:
        # The gap of a repeated pair is the length of a vector of two numbers, not one number.
        reach = np.sqrt(2 * f_law.ppf(CONFIDENCE, 2, n_folds - 1)) * errors
    apart = np.abs(np.diff(values)) > reach[1:] + reach[:-1]
    return np.concatenate([[0], np.cumsum(apart)]).astype(np.intp)


def group_means(values: Array, groups: NDArray[np.intp]) -> Array:
    """Return each value (..., k) replaced by the mean of its group."""
    result = np.empty_like(values)
    for number in np.unique(groups):
        members = groups == number
        result[..., members] = values[..., members].mean(axis=-1, keepdims=True)
    return result
