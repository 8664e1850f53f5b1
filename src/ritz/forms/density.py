"""The density of the samples, up to a factor, by a kernel estimate on a subsample."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ritz.arrays import Array, squared_distances


class Density:
    """The estimate mean_j exp(-|x - y_j|^2 / 2 h^2) over a subsample y (m, d).

    The bandwidth h is the median distance from a point to its 32nd neighbor in the subsample (or
    to the farthest, if there are fewer).
    """

    def __init__(self, points: Array) -> None:
        self.points = points
        k = min(32, len(points) - 1)
        if k < 1:
            raise ValueError("A density estimate needs at least two distinct rows. Got one.")
        distances, _ = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
        self.bandwidth = float(np.median(distances[:, -1]))

    def __call__(self, X: Array) -> Array:
        """Return the estimate (b,) at points (b, d); positive, if tiny, everywhere."""
        S = squared_distances(X, self.points)
        nearest = S.min(axis=1, keepdims=True)
        total = np.exp((nearest - S) / (2 * self.bandwidth**2)).mean(axis=1)
        # Far from all points the tail falls only as 1/distance^2, so that weights stay finite.
        far = nearest[:, 0] / (2 * self.bandwidth**2)
        return np.asarray(total * np.where(far < 50, np.exp(-np.minimum(far, 50)), np.exp(-50.0)))
