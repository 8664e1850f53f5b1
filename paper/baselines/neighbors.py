"""The sparse graph of nearest neighbors, as in scikit-learn."""

from __future__ import annotations

import numpy as np
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh
from sklearn.neighbors import kneighbors_graph

from paper import Array


def neighbor_inverses(X: Array, n_neighbors: int, k: int) -> Array:
    r"""Return k - 1 inverse eigenvalues of :math:`I - D^{-1/2} A D^{-1/2}`, up to a factor.

    A is the symmetrized adjacency matrix of nearest neighbors, as in scikit-learn's
    `SpectralEmbedding(affinity="nearest_neighbors")`. Functions are vectors of values at X.

    Parameters
    ----------
    X
        Samples (n, d).
    n_neighbors
        The number of neighbors of each sample.
    k
        The number of eigenvalues, including the constant's.
    """
    A = kneighbors_graph(X, n_neighbors, include_self=False)
    A = (A + A.T) / 2
    root = np.sqrt(A.sum(axis=1)).A1
    N = diags_array(1 / root) @ A @ diags_array(1 / root)
    # A fixed start makes the result of Lanczos reproducible.
    start = np.random.default_rng(0).normal(size=len(X))
    found = eigsh(N, k, which="LA", v0=start, tol=1e-8, return_eigenvectors=False)
    with np.errstate(divide="ignore"):
        return np.asarray(1 / np.maximum(1 - np.sort(found)[::-1][1:], 0.0))
