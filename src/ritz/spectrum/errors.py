"""Error bars by leaving out one fold at a time."""

from __future__ import annotations

import numpy as np

from ritz.assembly import Sums
from ritz.assembly.sums import Folds
from ritz.forms.form import Order
from ritz.solve.gsvd import singular_triples
from ritz.solve.whiten import is_positive
from ritz.spectrum.folds import FoldMatrices
from ritz.spectrum.held_out import FEWEST_FOLDS, heavy_folds
from ritz.validation import Array


def fold_matrices(sums: Sums, A: Array, B: Array) -> FoldMatrices | None:
    """Return the sums of each fold over a span of functions.

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
    folds = heavy_folds(sums)
    if len(folds) < FEWEST_FOLDS:
        return None

    def small(matrices: Folds, left: Array, right: Array) -> Array:
        return np.array([left.T @ matrices[fold] @ right for fold in folds])

    L, Phi = small(sums.L, A, B), small(sums.Phi, A, A)
    shared = sums.Psi is sums.Phi and A is B
    return FoldMatrices(L, Phi, None if shared else small(sums.Psi, B, B), sums.weight[folds])


def left_out_values(small: FoldMatrices, form_order: Order | None) -> Array | None:
    """Return the values (folds, k) of a fixed span, without each fold in turn.

    To first order in 1/n the span found from all rows gives the same values as the span found
    from the rest, so only k by k problems need to be solved.

    Parameters
    ----------
    small
        The matrices of the span.
    form_order
        The order of singular values, or None for eigenvalues.
    """
    weight = small.weight
    others = (weight.sum() - weight)[:, None, None]

    def without_each(M: Array) -> Array:
        return np.asarray((M.sum(axis=0) - M) / others)

    L, Phi = without_each(small.L), _symmetrized(without_each(small.Phi))
    if form_order is None:
        return _eigenvalues(_symmetrized(L), Phi)
    return _singular_values(L, Phi, _symmetrized(without_each(small.second)), form_order)


def _symmetrized(M: Array) -> Array:
    """Return (M + M') / 2 for matrices (m, k, k), halved first to prevent overflow."""
    return M / 2 + M.transpose(0, 2, 1) / 2


def _eigenvalues(L: Array, Phi: Array) -> Array | None:
    """Return the eigenvalues (m, k) of matrices (m, k, k), or None if a metric is not positive."""
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(Phi))
        return np.asarray(np.linalg.eigvalsh(inverse @ L @ inverse.transpose(0, 2, 1)))
    except np.linalg.LinAlgError:
        return None


def _singular_values(L: Array, Phi: Array, Psi: Array, order: Order) -> Array | None:
    """Return the singular values (m, k) of matrices (m, k, k), or None if some have fewer."""
    if not all(map(is_positive, (*Phi, *Psi))):
        # Some functions are independent only on the rows left out.
        return None
    k = L.shape[-1]
    parts = zip(L, Phi, Psi, strict=True)
    found = [singular_triples(*part, k, order=order).values for part in parts]
    return np.array(found) if all(len(values) == k for values in found) else None


def jackknife(left_out: Array) -> Array:
    """Return standard errors (k,) from values (folds, k) with each fold left out."""
    m = len(left_out)
    # Division by the unit prevents overflow and underflow of the squares.
    unit = float(np.abs(left_out).max()) or 1.0
    part = left_out / unit
    part -= part.sum(axis=0) / m
    return np.asarray(unit * np.sqrt((m - 1) / m * (part**2).sum(axis=0)))


def noise_of(small: FoldMatrices, values: Array) -> tuple[Array, Array]:
    """Return how sampling moves the symmetric part of L - V (Phi + Psi) V / 2, V = roots of values.

    On functions of one repeated value that matrix is noise, and its eigenvalues are how far
    sampling spreads the copies of the value apart.

    Returns
    -------
    The variances (k, k) of its entries, and the covariances (k, k) of its diagonal.
    """
    root, weight = np.sqrt(np.abs(values)), small.weight
    deviation = small.L - np.sign(values) * root[:, None] * root * (small.Phi + small.second) / 2
    deviation = deviation - weight[:, None, None] / weight.sum() * deviation.sum(axis=0)
    deviation = _symmetrized(deviation / weight.sum())
    m = len(weight)
    diagonal = np.einsum("fii->fi", deviation)
    variances = m / (m - 1) * (deviation**2).sum(axis=0)
    return np.asarray(variances), np.asarray(m / (m - 1) * diagonal.T @ diagonal)
