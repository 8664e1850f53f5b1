"""Whether two halves of the samples give the same functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.assembly import Sums
from ritz.spectrum.held_out import heavy_folds, matched
from ritz.spectrum.solve_sums import Found, solve_sums
from ritz.validation import Array

# Two halves of the folds, of at least two each.
FEWEST_HALVED_FOLDS = 4


def half_overlaps(sums: Sums, found: Found, regularization: float) -> Array | None:
    """Return scalar products (k, k) of the functions of one half of the folds with the other's.

    Functions of each half are matched with those of all rows by their overlap, and have unit
    variance. A function without a counterpart counts as zero.

    Parameters
    ----------
    sums, regularization
        As in `solve_sums`.
    found
        The functions found from all rows.

    Returns
    -------
    None where there are fewer than four folds, or too few rows in a half.
    """
    folds = heavy_folds(sums)
    if len(folds) < FEWEST_HALVED_FOLDS:
        return None
    metric = sums.mean().Phi
    images = metric @ found.left
    halves = []
    for half in (folds[::2], folds[1::2]):
        try:
            other = solve_sums(sums.of(half), len(found), regularization).left
        except ValueError:
            return None
        norms = np.sqrt(np.maximum(np.einsum("ij,ij->j", other, metric @ other), 0.0))
        other = other / np.where(norms > 0, norms, 1.0)
        if not np.isfinite(images.T @ other).all():
            return None
        mine, theirs = matched(images, other)
        functions = np.zeros_like(found.left)
        functions[:, mine] = other[:, theirs]
        halves.append(functions)
    return np.asarray(halves[0].T @ metric @ halves[1])


def cosine(overlaps: Array, which: NDArray[np.intp]) -> float:
    """Return the cosine of the largest angle between the spaces that some functions span."""
    found = np.linalg.svd(overlaps[np.ix_(which, which)], compute_uv=False)
    return min(1.0, float(found[-1]))


def stability(overlaps: Array | None, groups: NDArray[np.intp]) -> Array | None:
    """Return the cosine (k,) of the largest angle between the eigenspaces of two halves.

    The eigenspace is that of the value's group. Near 1 the samples determine it, near 0 they do
    not.
    """
    if overlaps is None:
        return None
    result = np.zeros(len(groups))
    for number in np.unique(groups):
        members = np.flatnonzero(groups == number)
        result[members] = cosine(overlaps, members)
    return result
