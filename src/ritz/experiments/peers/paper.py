"""The Galerkin method as the paper has it: sections alone, and its own way to solve."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, eigh

import ritz
from ritz.arrays import Array

# Not among ritz's own names: it says that no means are taken off the functions.
from ritz.bases import Centered

EPS = float(np.finfo(np.float64).eps)


def galerkin_inverses(sections: ritz.KernelSections, X: Array, k: int) -> Array:
    """Return k - 1 inverse eigenvalues of the ambient Laplacian on the span of kernel sections.

    Algorithms 2 and 3: the constant is not added to the span, and the first function found is
    taken for it.

    Parameters
    ----------
    sections
        The functions.
    X
        Samples (n, d).
    k
        The number of eigenvalues, the constant's among them.
    """
    functions = Centered(sections, np.zeros(sections.size))
    sums = ritz.assemble(ritz.laplacian(), functions, X, n_jobs=1, progress=False)
    matrices = sums.mean()
    return pencil_inverses(matrices.L[1:, 1:], matrices.Phi[1:, 1:], k)


def pencil_inverses(L: Array, Phi: Array, k: int) -> Array:
    r"""Return the k largest eigenvalues of :math:`\Phi a = \mu L a`, less the first.

    L is inverted, as in the paper's experiments, with ten times its most negative eigenvalue
    added. What cannot be inverted even so has no eigenvalues.

    Parameters
    ----------
    L, Phi
        Symmetric matrices (p, p).
    k
        The number of eigenvalues, the constant's among them.
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
