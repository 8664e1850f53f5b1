"""The loss that ranks bases, kernels and penalties on held-out rows."""

from __future__ import annotations

import numpy as np

from ritz.arrays import Array
from ritz.assembly import Matrices, assemble
from ritz.bases import Nystrom
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


def reference_mu(form: Form, X: Array, weight: Array, m: int) -> float:
    """Return a number a little above the m-th eigenvalue of a reference fit to the rows.

    It depends on the rows, the operator and m alone, so that no candidate chooses its own scale.
    """
    rows, totals = distinct_rows(np.asarray(X, dtype=np.float64), weight)
    kernel = Gaussian(auto_length_scale(rows, totals, 0))
    basis = Nystrom(kernel, min(REFERENCE_CENTERS, len(rows)))
    sums = assemble(form, basis, X, sample_weight=weight, n_folds=1, random_state=0)
    rank = decompose_sums(sums, 1).rank
    value = float(decompose_sums(sums, min(m, rank), regularization=1e-6).values[-1])
    return REFERENCE_MARGIN * value if value > 0 else 1.0
