"""Squared distances of points and centers, by one matrix product and one compiled pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ritz.arrays import Array


class Products(NamedTuple):
    """What squared distances of points x and centers y follow from.

    Parameters
    ----------
    G
        -2 x.y (n, p), about the centers' mean.
    X, Y
        The points (n, d) and centers (p, d).
    x2, y2
        Their squared lengths, about the centers' mean.
    """

    G: Array
    X: Array
    Y: Array
    x2: Array
    y2: Array

    @classmethod
    def of(cls, X: Array, Y: Array) -> Products:
        """Return the products of points X (n, d) and centers Y (p, d)."""
        X, Y = (np.ascontiguousarray(A, dtype=np.float64) for A in (X, Y))
        mean = Y.mean(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            A, B = X - mean, Y - mean
            x2, y2 = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
            return cls(A @ (-2.0 * B.T), X, Y, x2, y2)

    def outputs(self, wanted: tuple[bool, ...], dtype: Any) -> list[Array]:
        """Return an array (n, p) to be filled for each result, an empty one if not wanted."""
        return [np.empty(self.G.shape if want else (0, 0), dtype) for want in wanted]

    def in_place(self, wanted: bool, dtype: Any) -> Array:
        """Return an array to be filled, in the place of -2 x.y if that has the same type."""
        return self.G if wanted and dtype == np.float64 else self.outputs((wanted,), dtype)[0]


def filled(array: Array) -> Array | None:
    """Return an array that was wanted, or None."""
    return array if array.size else None


def pairwise_squares(X: Array, Y: Array) -> Array:
    """Return |x - y|^2 (n, p), close pairs by their coordinates' differences."""
    from ritz.kernels import compiled

    products = Products.of(X, Y)
    compiled.squares(*products)
    return products.G
