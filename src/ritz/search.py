"""Exact search for the nearest rows, in blocks that are short enough to be interrupted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ritz.rows import row_slices
from ritz.threads import n_threads, one_blas_thread, thread_map
from ritz.validation import Array

# Columns up to which a kd-tree is faster than all distances (`python -m benchmarks.neighbors`).
TREE_COLUMNS = 6
# Rows that are searched for in a tree at a time: some hundredths of a second.
TREE_ROWS = 1024
# Distances that are computed at a time: 8 MB.
BLOCK_FLOATS = 2**20
# Points of one group: the minima of groups show which few distances are worth a look.
GROUP = 32
# With more candidates than this multiple of k, distances from products decide, if their rounding
# is below this share of them.
MANY_TIES, TIE = 8, 1e-9
EPS = float(np.finfo(np.float64).eps)


class NearestRows:
    """The nearest of some points, by Euclidean distance.

    With few columns a kd-tree is searched. With more, all distances come from matrix products, and
    those that may be among the smallest are computed again from differences. Which of the two it
    is depends on the number of columns alone, and neither depends on blocks or threads. From equal
    distances the tree picks some, the products the first points; where very many distances are
    equal up to the rounding of products, they count as equal.

    Parameters
    ----------
    points
        The points (m, d) to search among, finite.
    """

    def __init__(self, points: Array) -> None:
        # A power of two scales without rounding, and squares neither overflow nor underflow.
        self.exponent = int(np.frexp(np.abs(points).max(initial=0.0))[1])
        self.points = np.ldexp(points, -self.exponent)
        m, d = points.shape
        self.tree = cKDTree(self.points) if d <= TREE_COLUMNS else None
        if self.tree is None:
            self.mean = self.points.mean(axis=0)
            centered = self.points - self.mean
            # (a, 1) times a column (-2 b, |b|^2) is |a - b|^2 - |a|^2.
            self.factors = np.zeros((d + 1, -(-m // GROUP) * GROUP))
            self.factors[:d, :m] = -2 * centered.T
            self.factors[d] = np.inf
            self.factors[d, :m] = (centered**2).sum(axis=1)

    def __call__(self, X: Array, k: int, n_jobs: int | None = 1) -> tuple[Array, NDArray[np.intp]]:
        """Return distances and numbers (n, k) of the points nearest to each row, ascending.

        Parameters
        ----------
        X
            Rows (n, d), finite.
        k
            How many points, at most m.
        n_jobs
            The number of threads; None for all cores.
        """
        distances, index = np.empty((len(X), k)), np.empty((len(X), k), dtype=np.intp)
        block = max(16, BLOCK_FLOATS // len(self.points)) if self.tree is None else TREE_ROWS

        def fill(rows: slice) -> None:
            # From rows as far as the limit, all points are equally near up to rounding.
            part = np.clip(np.ldexp(X[rows], -self.exponent), -1e100, 1e100)
            if self.tree is None:
                distances[rows], index[rows] = self._by_products(part, k)
            else:
                # With a list the results keep their second axis where k is 1.
                distances[rows], index[rows] = self.tree.query(part, list(range(1, k + 1)))

        with one_blas_thread():
            thread_map(fill, row_slices(len(X), block), n_threads(n_jobs))
        return np.ldexp(distances, self.exponent), index

    def others(self, k: int, n_jobs: int | None = 1) -> tuple[Array, NDArray[np.intp]]:
        """Return distances and numbers (m, k) of the points nearest to each point but itself."""
        distances, index = self(np.ldexp(self.points, self.exponent), k + 1, n_jobs)
        keep = ~own_place(index)
        return distances[keep].reshape(-1, k), index[keep].reshape(-1, k)

    def _by_products(self, X: Array, k: int) -> tuple[Array, NDArray[np.intp]]:
        """Search for a block of rows by computing all distances."""
        n, d = X.shape
        A = np.ones((n, d + 1))
        A[:, :d] = X - self.mean
        squares = (A[:, :d] ** 2).sum(axis=1)
        width = self.factors.shape[1] // GROUP
        # With few groups their minima would not bound the k-th smallest distance tightly.
        groups = GROUP if width >= 2 * k else 1
        S = (A @ self.factors).reshape(n, groups, -1)
        lowest = S.min(axis=1)
        bound = np.partition(lowest, k - 1, axis=1)[:, k - 1]
        # Rounding of the products: a multiple of eps (|a| + |b|)^2, where |b| <= |a| + |a - b|.
        size = np.sqrt(squares) + np.sqrt(np.maximum(bound + squares, 0.0))
        rounding = 16 * (d + 8) * EPS * size**2
        bound += rounding
        rows, place = np.nonzero(lowest <= bound[:, None])
        which, group = np.nonzero(S[rows, :, place] <= bound[rows, None])
        rows, columns = rows[which], place[which] + group * lowest.shape[1]
        many = np.bincount(rows, minlength=n) > MANY_TIES * k
        many &= rounding <= TIE * (bound + squares)
        if many.any():
            few = ~many[rows]
            chosen = _first_of_ties(S.reshape(n, -1)[many], k, rounding[many])
            rows = np.append(rows[few], np.repeat(np.flatnonzero(many), k))
            columns = np.append(columns[few], chosen)
        exact = np.empty(len(rows))
        for part in row_slices(len(rows), max(1, BLOCK_FLOATS // d)):
            difference = X[rows[part]] - self.points[columns[part]]
            exact[part] = (difference**2).sum(axis=1)
        order = np.lexsort((columns, exact, rows))
        first = np.searchsorted(rows[order], np.arange(n))
        nearest = order[first[:, None] + np.arange(k)]
        return np.sqrt(exact[nearest]), columns[nearest]


def _first_of_ties(squares: Array, k: int, rounding: Array) -> NDArray[np.intp]:
    """Return columns (n, k) of the smallest entries, of those equal up to rounding the first."""
    kth = np.partition(squares, k - 1, axis=1)[:, k - 1 : k]
    level = np.zeros(squares.shape, dtype=np.int8)
    level += squares >= kth - rounding[:, None]
    level += squares > kth + rounding[:, None]
    return np.argsort(level, axis=1, kind="stable")[:, :k]


def own_place(index: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return where each row of neighbors (n, k + 1) has its own number, or else its last place.

    Among many copies of a row the row itself may not be found.
    """
    own = index == np.arange(len(index))[:, None]
    own[:, -1] |= ~own.any(axis=1)
    return np.asarray(own)
