"""Sums of one-dimensional operators, whose eigenvalues add and eigenfunctions multiply."""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from ritz.validation import Array

__all__ = ["Separable"]


@dataclass(frozen=True)
class Separable:
    r"""The spectrum of a sum of one-dimensional operators over independent coordinates.

    .. math:: \lambda_a = c \sum_i w_i \ell(a_i), \qquad
        f_a(x) = \prod_i h_{a_i}(u_i(x)), \qquad a \in N^d.

    With integer levels and unit weights, equal eigenvalues are equal to the last bit.

    Parameters
    ----------
    level : callable
        Nondecreasing integers l(0) = 0, l(1), ...
    table : callable
        `table(u, m)` returns the values (n, m) of h_0, ..., h_{m-1} at the numbers u (n,).
    coordinates : callable
        `coordinates(X)` returns u (n, d), one column for each one-dimensional operator.
    weights : tuple of float
        One w_i for each coordinate.
    factor : float
        The constant c.

    """

    level: Callable[[int], int]
    table: Callable[[Array, int], Array]
    coordinates: Callable[[Array], Array]
    weights: tuple[float, ...]
    factor: float

    def eigenvalues(self, k: int) -> Array:
        """Return the k smallest eigenvalues (k,)."""
        values = [self._sum(tuple(index)) for index in self.indices(k).tolist()]
        return self.factor * np.array(values, dtype=np.float64)

    def eigenfunctions(self, X: Array, k: int) -> Array:
        """Return the eigenfunctions (n, k) of the k smallest eigenvalues."""
        U = self.coordinates(X)
        F = np.ones((len(X), k))
        for u, column in zip(U.T, self.indices(k).T, strict=True):
            F *= self.table(u, int(column.max()) + 1)[:, column]
        return F

    def indices(self, k: int) -> NDArray[np.int64]:
        """Return the multi-indices a (k, d) of the k smallest eigenvalues."""
        start = (0,) * len(self.weights)
        heap = [(self._sum(start), start)]
        found: list[tuple[int, ...]] = []
        while len(found) < k:
            _, index = heappop(heap)
            found.append(index)
            # Incrementing only the last nonzero entry or a later one reaches each index once.
            last = max((i for i, a in enumerate(index) if a), default=0)
            for i in range(last, len(index)):
                child = (*index[:i], index[i] + 1, *index[i + 1 :])
                heappush(heap, (self._sum(child), child))
        return np.array(found, dtype=np.int64)

    def _sum(self, index: tuple[int, ...]) -> float:
        return sum(w * self.level(a) for w, a in zip(self.weights, index, strict=True))
