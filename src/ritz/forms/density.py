"""The density of the samples, up to a factor, by a kernel estimate on a subsample."""

from __future__ import annotations

import numpy as np

from ritz.kernels.sections import squared_distances
from ritz.search import NearestRows
from ritz.validation import Array


class Density:
    """The estimate (1 + sum_j exp(-|x - y_j|^2 / 2 h^2)) / (1 + m) over a subsample y (m, d).

    The 1 stands for the point x itself. Without it a row far from the subsample would have almost
    no density and a weight above all others. The bandwidth h is the median distance from a point to
    its 32nd neighbor in the subsample, or to the farthest if there are fewer.
    """

    def __init__(self, points: Array) -> None:
        self.points = points
        k = min(32, len(points) - 1)
        if k < 1:
            raise ValueError("A density estimate needs at least two distinct rows. Got one.")
        distances, _ = NearestRows(points).others(k)
        self.bandwidth = float(np.median(distances[:, -1]))

    def __call__(self, X: Array) -> Array:
        """Return the estimate (b,) at points (b, d)."""
        S = squared_distances(X, self.points)
        return np.asarray((1 + np.exp(S / (-2 * self.bandwidth**2)).sum(axis=1)) / (1 + len(S.T)))
