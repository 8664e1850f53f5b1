"""Orthonormal frames of the tangent space at each sample: given, or by local PCA."""

from __future__ import annotations

from typing import cast

import numpy as np

from ritz.namespaces import namespace, placed
from ritz.search import NearestRows
from ritz.validation import Array, parameter_error


class LocalFrames:
    """Tangent frames by principal components of the nearest points of a subsample.

    Parameters
    ----------
    points
        The subsample (m, d).
    dimension
        The number r of tangent directions.
    n_neighbors
        The number of points near x whose covariance is decomposed.
    """

    def __init__(self, points: Array, dimension: int, n_neighbors: int) -> None:
        if len(points) <= dimension:
            raise ValueError(
                f"Local PCA of dimension {dimension} needs more than {dimension} distinct rows. "
                f"Got {len(points)}."
            )
        self.points, self.dimension = points, dimension
        self.nearest, self.n_neighbors = NearestRows(points), min(n_neighbors, len(points))

    def __call__(self, X: Array) -> Array:
        """Return frames (b, d, r) at points (b, d)."""
        near = self.points[self.nearest(X, self.n_neighbors)[1]]
        near = near - near.mean(axis=1, keepdims=True)
        if near.shape[1] < near.shape[2]:
            _, _, vectors = np.linalg.svd(near, full_matrices=False)
            return np.ascontiguousarray(vectors[:, : self.dimension].transpose(0, 2, 1))
        _, vectors = np.linalg.eigh(near.transpose(0, 2, 1) @ near)
        return np.ascontiguousarray(vectors[:, :, -self.dimension :])


def require_orthonormal(U: Array) -> None:
    """Raise unless U_k' U_k is the identity for each frame of U (b, d, r)."""
    if not U.shape[0]:
        return
    xp = namespace(U)
    products = xp.matrix_transpose(U) @ U
    gap = float(xp.max(xp.abs(products - placed(np.eye(U.shape[2]), U))))
    if gap > 1e-6:
        got, remedy = f"U'U off the identity by {gap:.2g}", "np.linalg.qr(U)[0] makes them so."
        raise parameter_error("tangent", "orthonormal frames (n, d, r)", got, remedy)


def complement(U: Array) -> Array:
    """Return orthonormal normals (b, d, d - r) to frames U (b, d, r)."""
    Q = namespace(U).linalg.qr(U, mode="complete")[0]
    return cast(Array, Q[:, :, U.shape[2] :])
