"""The loss that ranks bases, kernels and penalties on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.arrays import Array
from ritz.assembly import Matrices, Sums, assemble
from ritz.bases import Centered, Combination, Nystrom
from ritz.estimators.defaults import auto_length_scale, distinct_rows
from ritz.forms import Form
from ritz.kernels import Gaussian
from ritz.spectrum.decompose import decompose_sums

REFERENCE_CENTERS = 100
REFERENCE_MARGIN = 1.1


def held_out_loss(matrices: Matrices, values: Array, mu: float) -> float:
    """Return 2 / mu sum_j E_L(g_j) + |E[g g'] - I|^2 at g_j = sqrt((1 - lambda_j / mu)_+) f_j.

    Its population minimum is m - sum_j (1 - lambda_j / mu)_+^2, and no inverse is needed.

    Parameters
    ----------
    matrices
        The form and the scalar products of (f_0, f_1, ...) on held-out rows, f_0 = 1.
    values
        The eigenvalues found, the constant's first.
    mu
        The scale, the same for all that are to be compared.
    """
    scale = np.sqrt(np.maximum(1 - values / mu, 0.0))
    energy = np.diag(matrices.L) @ scale**2
    second = matrices.Phi * scale * scale[:, None]
    return float(2 / mu * energy + ((second - np.eye(len(scale))) ** 2).sum())


def explained_correlation(matrices: Matrices, values: Array) -> float:
    """Return 2 sum_j s_j E[f_j(X) g_j(Y)] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j].

    That is |T|^2 - |T - sum_j s_j f_j g_j'|^2 for the operator T between the two views, the
    norms being those of Hilbert and Schmidt; its largest value for m functions is the sum of the
    m largest squared correlations.

    Parameters
    ----------
    matrices
        Products of (f_0, f_1, ...) and (g_0, g_1, ...) on held-out rows.
    values
        The singular values s found.
    """
    fitted = values[:, None] * values * matrices.Phi * matrices.Psi
    return float(2 * values @ np.diag(matrices.L) - fitted.sum())


def held_out_correlation(sums: Sums, k: int, regularization: float) -> tuple[float, Array]:
    """Return the correlation explained on each fold by functions of the others, on average.

    The constants' 1 is taken off. The second result is the correlation (k - 1,) of each pair of
    functions, zero where a fold has none.
    """
    folds = [int(fold) for fold in np.flatnonzero(sums.weight > 0)]
    scores, correlations = [], []
    for fold in folds:
        rest = sums.of(other for other in folds if other != fold)
        found: Any = decompose_sums(rest, k, regularization=regularization, fewer=True)
        A, B = over_sums(found.left, sums.left), over_sums(found.right, sums.right)
        held = sums.of([fold]).mean()
        small = Matrices(A.T @ held.L @ B, A.T @ held.Phi @ A, B.T @ held.Psi @ B)
        scores.append(explained_correlation(small, found.values) - 1.0)
        each = np.zeros(k - 1)
        variances = np.diag(small.Phi) * np.diag(small.Psi)
        cosines = np.diag(small.L) / np.sqrt(np.where(variances > 0, variances, 1.0))
        each[: len(cosines) - 1] = cosines[1:]
        correlations.append(each)
    weights = sums.weight[folds]
    return float(np.average(scores, weights=weights)), np.average(correlations, 0, weights)


def over_sums(functions: Combination, basis: Centered) -> Array:
    """Return coefficients (1 + p, k) of functions over the function 1 and those of sums."""
    inner: Any = functions.basis
    moved = inner.offset - basis.offset
    constants = functions.constants - moved @ functions.coefficients
    return np.vstack([constants, functions.coefficients])


def reference_mu(form: Form, X: Array, weight: Array, m: int) -> float:
    """Return a number a little above the m-th eigenvalue of a reference fit to the rows.

    It depends on the rows, the operator and m alone, so that no candidate chooses its own scale.
    """
    rows, totals = distinct_rows(np.asarray(X, dtype=np.float64), weight)
    kernel = Gaussian(auto_length_scale(rows, totals, 0))
    basis = Nystrom(kernel, min(REFERENCE_CENTERS, len(rows)))
    sums = assemble(form, basis, X, sample_weight=weight, n_folds=1, random_state=0)
    value = float(decompose_sums(sums, m, regularization=1e-6, fewer=True).values[-1])
    return REFERENCE_MARGIN * value if value > 0 else 1.0
