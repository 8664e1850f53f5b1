"""The Galerkin method of the paper: sections without the constant, and its own solver."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, eigh

import ritz
from paper import Array

# With zero offsets, the sums are those of the functions without centering.
from ritz.bases import Centered

EPS = float(np.finfo(np.float64).eps)


def galerkin_inverses(sections: ritz.KernelSections, X: Array, k: int) -> Array:
    """Return k - 1 inverse eigenvalues of the ambient Laplacian on the span of kernel sections.

    These are the paper's algorithms 2 and 3. The constant is not added to the span, and the first
    function that is found is taken for the constant.

    Parameters
    ----------
    sections
        The functions.
    X
        Samples (n, d).
    k
        The number of eigenvalues, including the constant's.
    """
    functions = Centered(sections, np.zeros(sections.size))
    sums = ritz.assemble(ritz.laplacian(), functions, X, n_jobs=1, progress=False)
    matrices = sums.mean()
    return pencil_inverses(matrices.L[1:, 1:], matrices.Phi[1:, 1:], k)


def pencil_inverses(L: Array, Phi: Array, k: int) -> Array:
    r"""Return the k largest eigenvalues of :math:`\Phi a = \mu L a` without the first.

    As in the paper's experiments, ten times the absolute value of the most negative eigenvalue of L
    is added to its diagonal before inversion. If L is still singular, no eigenvalues are returned.

    Parameters
    ----------
    L, Phi
        Symmetric matrices (p, p).
    k
        The number of eigenvalues, including the constant's.
    """
    p = len(L)
    lowest = float(eigh(L, eigvals_only=True, subset_by_index=(0, 0))[0])
    shift = 10 * max(-lowest, EPS * float(np.trace(L)))
    top = (max(p - k, 0), p - 1)
    try:
        found = eigh(Phi, L + shift * np.eye(p), eigvals_only=True, subset_by_index=top)
    except LinAlgError:
        return np.zeros(0)
    return np.asarray(found[::-1][1:])
