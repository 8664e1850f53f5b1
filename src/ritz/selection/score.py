"""Scores that rank bases, kernels and penalties on rows that a fit has not seen."""

from __future__ import annotations

import numpy as np

from ritz.assembly import Matrices
from ritz.assembly.assemble import assemble_samples
from ritz.bases import Centered, Combination, Nystrom
from ritz.forms import Form
from ritz.kernels import Gaussian
from ritz.selection.candidates import SCALE_ROWS, auto_length_scale
from ritz.selection.rows import Rows
from ritz.spectrum.solve_sums import solve_sums
from ritz.validation import Array

# Centers of the reference fit: enough for the order of magnitude of an eigenvalue.
REFERENCE_CENTERS = 100
# The eigenvalue that mu lies above: functions beyond it do not count in the score.
REFERENCE_FUNCTIONS = 30
# The ratio of mu to the last eigenvalue: at 1 the last function would have no weight in the loss.
REFERENCE_MARGIN = 1.1


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


def reference_mu(form: Form, data: Rows, n_jobs: int | None = None) -> float:
    """Return a number a little above the 30th eigenvalue of a reference fit to the rows.

    It depends only on the rows and the operator, so that all candidates share one scale.
    """
    some = data.sample(SCALE_ROWS, 0)
    kernel = Gaussian(auto_length_scale(some.X.astype(np.float64), some.weight, 0))
    basis = Nystrom(kernel, min(REFERENCE_CENTERS, data.n_distinct))
    sums = assemble_samples(form, basis, data.samples, n_folds=1, random_state=0, n_jobs=n_jobs)
    value = float(solve_sums(sums, REFERENCE_FUNCTIONS, 1e-6).values[-1])
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
