"""The eigenvalue problem of few functions, by compiled code in one go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ritz import native
from ritz.arrays import Array, in_one_piece


class FewPairs(NamedTuple):
    """Eigenvalues, ascending, and functions, over 1 and the functions less their means.

    Parameters
    ----------
    means
        Means (p,) of the functions.
    values, residuals
        Eigenvalues (k,), the first of which is the constant's, and residuals as `Eigenpairs` has.
    constants, coefficients
        The functions found: multiples of 1 (k,) and of the functions less their means (p, k).
    rank
        How many finite eigenvalues there are, the constant's among them.
    """

    means: Array
    values: Array
    residuals: Array
    constants: Array
    coefficients: Array
    rank: int


def lowest_of_few(
    weight: float,
    L: tuple[Array, ...],
    Phi: tuple[Array, ...],
    offset: Array,
    k: int,
    squares: bool = True,
) -> FewPairs | None:
    """Find the k smallest eigenvalues of a positive form that the function 1 has no part in.

    By the steps of `center` and `lowest_eigenpairs`. None where something is out of the ordinary:
    functions that do not vary, too few directions, more than 32 functions, or sums that are not
    positive.

    Parameters
    ----------
    weight
        The weight of all rows.
    L, Phi
        Sums of each fold (1 + p, 1 + p) of the form and of the scalar products.
    offset
        What was taken off the functions (p,) before they were multiplied.
    k
        The number of eigenvalues.
    squares
        Whether the sums are of squares, none taken off; else it is looked at whether they might be.
    """
    p = len(offset)
    if not p or k > 1 + p:
        return None
    means, (values, residuals, constants) = np.empty(p), np.empty((3, k))
    coefficients = np.empty((p, k))
    sums = in_one_piece(np.concatenate(L)), in_one_piece(np.concatenate(Phi))
    rank = native.solve_few(
        int(squares), weight, *sums, offset, means, values, constants, residuals, coefficients
    )
    return FewPairs(means, values, residuals, constants, coefficients, rank) if rank else None
