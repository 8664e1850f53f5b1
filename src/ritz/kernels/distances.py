"""Squared distances of points and centers: few coordinates one by one, many by a matrix product."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ritz import native
from ritz.arrays import Array, in_one_piece

FEW = 32


class Distances(NamedTuple):
    """What squared distances of points x and centers y follow from, row by row.

    Parameters
    ----------
    S
        |x - y|^2 (n, p), or an empty array where they are to be computed from the coordinates.
    X
        The points (n, d); d = 0 where S is known.
    Y
        The centers (d, p).
    """

    S: Array
    X: Array
    Y: Array

    @classmethod
    def of(cls, X: Array, Y: Array) -> Distances:
        """Return the distances of points X (n, d) and centers Y (p, d)."""
        if X.shape[1] <= FEW:
            return cls(np.empty((0, 0)), in_one_piece(X), in_one_piece(Y.T))
        return cls(by_products(X, Y), np.empty((len(X), 0)), np.empty((0, len(Y))))


def by_products(X: Array, Y: Array) -> Array:
    """Return |x - y|^2 (n, p) as |x|^2 + |y|^2 - 2 x.y about the centers' mean, and mend it."""
    if not (len(X) and len(Y)):
        return np.empty((len(X), len(Y)))
    X, Y = in_one_piece(X), in_one_piece(Y)
    mean = Y.mean(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        A, B = X - mean, Y - mean
        x2, y2 = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
        S: Array = A @ (-2.0 * B.T)
    native.squares(S, X, Y, x2, y2)
    return S


def pairwise_squares(X: Array, Y: Array) -> Array:
    """Return |x - y|^2 (n, p), close pairs by their coordinates' differences."""
    if not (len(X) and len(Y)):
        return np.empty((len(X), len(Y)))
    S, X, Y = Distances.of(X, Y)
    if not S.size:
        S = np.empty((len(X), Y.shape[1]))
        native.differences(len(X), Y.shape[1], X, Y, S)
    return S
