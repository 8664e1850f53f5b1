"""The density of the samples, up to a factor, by a kernel estimate on a subsample."""

from __future__ import annotations

import numpy as np

from ritz.kernels.sections import squared_distances
from ritz.rows import hash_rows
from ritz.search import NearestRows
from ritz.validation import Array


class Density:
    """The mean over x and a subsample y (m, d) of exp(-|x - y_j|^2 / 2 h^2), by weight.

    The point x counts once, with the mean weight if it is not in the subsample. Without it a row
    far from the subsample would have almost no density and a weight above all others. The bandwidth
    h is the median distance from a point to its 32nd neighbor in the subsample, or to the farthest
    if there are fewer.

    Parameters
    ----------
    points, weight
        Distinct rows (m, d), and the total weights (m,) of the rows equal to each.
    """

    def __init__(self, points: Array, weight: Array) -> None:
        self.points, self.weight = points, weight / weight.mean()
        self.keys = hash_rows(points)
        k = min(32, len(points) - 1)
        if k < 1:
            raise ValueError("A density estimate needs at least two distinct rows. Got one.")
        distances, _ = NearestRows(points).others(k)
        self.bandwidth = float(np.median(distances[:, -1]))

    def __call__(self, X: Array) -> Array:
        """Return the estimate (b,) at points (b, d)."""
        S = squared_distances(X, self.points)
        other = ~np.isin(hash_rows(X), self.keys)
        near = np.exp(S / (-2 * self.bandwidth**2)) @ self.weight
        return np.asarray((other + near) / (other + len(self.points)))
