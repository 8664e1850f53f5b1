"""Scores that rank bases, kernels and penalties on rows that a fit has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ritz.assembly import Matrices, Sums, assemble
from ritz.bases import Centered, Combination, Nystrom
from ritz.forms import Form
from ritz.kernels import Gaussian
from ritz.selection.candidates import SCALE_ROWS, auto_length_scale
from ritz.selection.rows import WeightedRows
from ritz.spectrum import decompose_sums
from ritz.validation import Array

# The least variance on unseen rows of functions whose variance is 1 on the rows seen: functions
# below it are narrow peaks at single rows.
LEAST_UNSEEN_VARIANCE = 0.05
# Centers of the reference fit: enough for the order of magnitude of an eigenvalue.
REFERENCE_CENTERS = 100
# The ratio of mu to the last eigenvalue: at 1 the last function would have no weight in the loss.
REFERENCE_MARGIN = 1.1


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows, and the form prepared for them."""

    rows: WeightedRows
    form: Form

    def sums(self, basis: Any) -> Sums:
        """Average the form over the rows; all of them form one fold."""
        return assemble(
            self.form,
            basis,
            self.rows.X,
            sample_weight=self.rows.weight,
            n_folds=1,
            random_state=0,
            n_jobs=1,
        )


def unseen_energy(basis: Any, seen: Sample, unseen: Sample, k: int, regularization: float) -> float:
    """Return the sum of the first k eigenvalues, on unseen rows, of functions found from others.

    By Rayleigh and Ritz it is smallest for the true eigenfunctions. It is infinite where there are
    fewer than k functions, or where they hardly vary on the unseen rows.

    Parameters
    ----------
    basis
        The recipe for the functions.
    seen, unseen
        The rows to find the eigenfunctions from, and those to measure them on.
    k
        The number of functions, the constant not counted.
    regularization
        As in `ritz.decompose`.
    """
    try:
        sums = seen.sums(basis)
        found: Any = decompose_sums(sums, 1 + k, regularization=regularization, fewer=True)
    except ValueError:
        # The candidate fails on these rows. If the data are the reason, the fit itself raises.
        return np.inf
    if len(found) < 1 + k:
        return np.inf
    there = unseen.sums(without_offset(found[1:])).mean()
    means = there.Phi[0, 1:]
    covariance = there.Phi[1:, 1:] - np.outer(means, means)
    if eigh(covariance, eigvals_only=True)[0] < LEAST_UNSEEN_VARIANCE:
        return np.inf
    return float(eigh(there.L[1:, 1:], covariance, eigvals_only=True).sum())


def without_offset(functions: Combination) -> Centered:
    """Return functions for `assemble` as they are, with nothing subtracted from them."""
    return Centered(functions, np.zeros(functions.size), repeats=False)


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
        The scale, the same for all that are compared.
    """
    scale = np.sqrt(np.maximum(1 - values / mu, 0.0))
    energy = np.diag(matrices.L) @ scale**2
    second = matrices.Phi * scale * scale[:, None]
    return float(2 / mu * energy + ((second - np.eye(len(scale))) ** 2).sum())


def reference_mu(form: Form, X: Array, weight: Array, m: int, n_jobs: int | None = None) -> float:
    """Return a number a little above the m-th eigenvalue of a reference fit to the rows.

    It depends only on the rows, the operator and m, so that all candidates share one scale.
    """
    rows = WeightedRows(X, weight).distinct
    some = rows.sample(SCALE_ROWS, 0)
    kernel = Gaussian(auto_length_scale(some.X.astype(np.float64), some.weight, 0))
    basis = Nystrom(kernel, min(REFERENCE_CENTERS, len(rows)))
    sums = assemble(form, basis, X, sample_weight=weight, n_folds=1, random_state=0, n_jobs=n_jobs)
    value = float(decompose_sums(sums, m, regularization=1e-6, fewer=True).values[-1])
    return REFERENCE_MARGIN * value if value > 0 else 1.0


def explained_correlation(matrices: Matrices, values: Array) -> float:
    """Return 2 sum_j s_j E[f_j(X) g_j(Y)] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] - 1.

    With the constants among the functions it is |T|^2 - |T - sum_j s_j f_j g_j'|^2 - 1 for the
    operator T between the two views, in Hilbert-Schmidt norms. Its largest value for m pairs of
    functions besides the constants is the sum of the m largest squared correlations.

    Parameters
    ----------
    matrices
        Products of (f_0, f_1, ...) and (g_0, g_1, ...) on held-out rows, f_0 = g_0 = 1.
    values
        The singular values s found.
    """
    fitted = values[:, None] * values * matrices.Phi * matrices.Psi
    return float(2 * values @ np.diag(matrices.L) - fitted.sum()) - 1.0


def held_out_correlation(sums: Sums, k: int, regularization: float) -> tuple[float, Array]:
    """Return the mean over folds of the correlation explained by functions of the other folds.

    The second result is the correlation (k - 1,) of each pair of functions, zero where a fold has
    fewer pairs.
    """
    folds = np.flatnonzero(sums.weight > 0).tolist()
    scores, correlations = [], np.zeros((len(folds), k - 1))
    for number, fold in enumerate(folds):
        rest = sums.of(other for other in folds if other != fold)
        found: Any = decompose_sums(rest, k, regularization=regularization, fewer=True)
        A, B = _coefficients(found.left, sums.left), _coefficients(found.right, sums.right)
        held = sums.of([fold]).mean()
        small = Matrices(A.T @ held.L @ B, A.T @ held.Phi @ A, B.T @ held.Psi @ B)
        scores.append(explained_correlation(small, found.values))
        variances = np.diag(small.Phi) * np.diag(small.Psi)
        cosines = np.diag(small.L) / np.sqrt(np.where(variances > 0, variances, 1.0))
        correlations[number, : len(cosines) - 1] = cosines[1:]
    weights = sums.weight[folds]
    return float(np.average(scores, weights=weights)), np.average(correlations, 0, weights)


def _coefficients(functions: Combination, basis: Centered) -> Array:
    """Return coefficients (1 + p, k) of functions over the function 1 and a basis of sums."""
    inner: Any = functions.basis
    constants = functions.constants - (inner.offset - basis.offset) @ functions.coefficients
    return np.vstack([constants, functions.coefficients])
