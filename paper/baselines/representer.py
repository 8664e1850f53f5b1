"""The representer estimator, with sections of values and derivatives at every sample."""

from __future__ import annotations

from dataclasses import dataclass
from time import thread_time

import numpy as np

import ritz
from paper import Array

# Unlike ritz.gevd it may return fewer pairs, as kernels much wider than the data have low rank.
from ritz.solve.gevd import lowest_eigenpairs

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Representer:
    r"""The span of the representers of values and gradients at n samples.

    Minimizers of :math:`E|\nabla f|^2 + \gamma |f|_H^2` with given variance are combinations of the
    n (d + 1) representers of f -> f(x_i) and f -> d_a f(x_i). The time is O(n^3 d^3), the memory
    O(n^2 d^2).

    Parameters
    ----------
    L, Phi
        Energies and covariances (r, r) of functions that are orthonormal in the RKHS.
    seconds
        CPU time.
    """

    L: Array
    Phi: Array
    seconds: float

    @classmethod
    def of(cls, kernel: ritz.Kernel, X: Array) -> Representer:
        """Return the span for a distance kernel with two derivatives and samples (n, d)."""
        start = thread_time()
        n = len(X)
        eigenvalues, vectors = np.linalg.eigh(gram(kernel, X))
        keep = eigenvalues > len(eigenvalues) * EPS * eigenvalues[-1]
        B = vectors[:, keep] * np.sqrt(eigenvalues[keep])
        values, slopes = B[:n] - B[:n].mean(axis=0), B[n:]
        return cls(slopes.T @ slopes / n, values.T @ values / n, thread_time() - start)

    def inverses(self, penalty: float, k: int) -> Array:
        """Return k - 1 inverse eigenvalues for gamma = penalty * trace(L) / r."""
        r = len(self.L)
        gamma = penalty * np.trace(self.L) / r
        found = lowest_eigenpairs(self.L, self.Phi, k - 1, penalty=gamma * np.eye(r))
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.maximum(found.values, 0.0))


def gram(kernel: ritz.Kernel, X: Array) -> Array:
    r"""Return the Gram matrix (n (d + 1), n (d + 1)) of values and derivatives at X.

    For k(x, y) = q(x - y) a derivative in y is minus that in x, so

    .. math:: K = \begin{pmatrix} k & -\partial_b k \\ \partial_a k & -\partial_a \partial_b k
        \end{pmatrix}.
    """
    sections = ritz.KernelSections(kernel, X)
    axes = np.eye(X.shape[1], dtype=int)
    first = [sections.partial(X, tuple(a)) for a in axes]
    second = [[-sections.partial(X, tuple(a + b)) for b in axes] for a in axes]
    top = np.hstack([kernel(X, X), *(-column for column in first)])
    below = [np.hstack([left, *row]) for left, row in zip(first, second, strict=True)]
    K = np.vstack([top, *below])
    return np.asarray((K + K.T) / 2)
