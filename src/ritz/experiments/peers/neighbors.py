"""The graph of nearest neighbors, sparse: what scikit-learn's users have."""

from __future__ import annotations

import numpy as np
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh
from sklearn.neighbors import kneighbors_graph

from ritz.arrays import Array


def neighbor_inverses(X: Array, n_neighbors: int, k: int) -> Array:
    r"""Return k - 1 inverse eigenvalues of :math:`I - D^{-1/2} A D^{-1/2}`, up to a factor.

    A joins each row with its nearest neighbors, made symmetric, as in scikit-learn's
    `SpectralEmbedding(affinity="nearest_neighbors")`. There is no span: functions are vectors.

    Parameters
    ----------
    X
        Samples (n, d).
    n_neighbors
        The number of neighbors of each.
    k
        The number of eigenvalues, the constant's among them.
    """
    A = kneighbors_graph(X, n_neighbors, include_self=False)
    A = (A + A.T) / 2
    root = np.sqrt(A.sum(axis=1)).A1
    N = diags_array(1 / root) @ A @ diags_array(1 / root)
    # Lanczos finds what its start has a part of; a start of its own would differ at each call.
    start = np.random.default_rng(0).normal(size=len(X))
    found = eigsh(N, k, which="LA", v0=start, tol=1e-8, return_eigenvectors=False)
    with np.errstate(divide="ignore"):
        return np.asarray(1 / np.maximum(1 - np.sort(found)[::-1][1:], 0.0))
