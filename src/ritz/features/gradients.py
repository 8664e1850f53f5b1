"""Gradients of all functions of a basis on a block of rows, in factors where possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ritz.features.terms import RowFactor, Term, Terms, as_factor, times_rows, weighted_product
from ritz.features.values import Values
from ritz.kernels.sections import squared_distances
from ritz.namespaces import namespace, zeros
from ritz.validation import Array, as_real_like, parameter_error


class Gradients(ABC):
    """The gradients grad phi_j(x_k); `f.gradient @ g.gradient` is a term of a bilinear form."""

    factor: RowFactor
    __array_ufunc__ = None

    @abstractmethod
    def unweighted(self) -> Array:
        """Return the gradients (b, d, p) without the factor of the rows."""

    def dense(self) -> Array:
        """Return the gradients (b, d, p)."""
        return times_rows(self.unweighted(), self.factor)

    def map(self, R: Array) -> Gradients:
        """Return R' grad phi_j for a matrix R (d, e): gradients in other coordinates."""
        gradients = self.unweighted()
        return DenseGradients(namespace(gradients).matmul(R.T, gradients), self.factor)

    def along(self, U: Array) -> Values:
        """Return <grad phi_j(x_k), U_k> for directions U (b, d, r), as values (b, r, p)."""
        U = as_real_like(U, U, "U")
        if U.ndim != 3:
            requirement, remedy = "directions (b, d, r)", "One direction is u[:, :, None]."
            raise parameter_error("U", requirement, f"shape {tuple(U.shape)}", remedy)
        return self._values(self._along(U))

    def _values(self, array: Array) -> Values:
        return Values(array, 0.0, self.factor)

    def _along(self, U: Array) -> Array:
        return _transposed(U) @ self.unweighted()

    def combine(self, A: Array) -> Array:
        """Return the gradients (b, d, k) of the functions sum_j A_jl phi_j."""
        return times_rows(self._combined(A), self.factor)

    def _combined(self, A: Array) -> Array:
        return self.unweighted() @ A

    def against(self, t: Array) -> Array:
        """Return sum_k <grad phi_j(x_k), t_k> (p, outputs) for vectors t (b, d, outputs)."""
        return self._against(times_rows(t, self.factor))

    def _against(self, t: Array) -> Array:
        return np.asarray(np.tensordot(self.unweighted(), t, axes=((0, 1), (0, 1))))

    def gram(self, other: Gradients, weight: Array) -> Array:
        """Return sum_k weight_k <grad phi_i, grad psi_j> (1 + p, 1 + q), without row factors."""
        left = self.unweighted()
        right = left if other is self else other.unweighted()
        return with_zero_border(weighted_product(left, right, weight))

    def __mul__(self, factor: Any) -> Any:
        return replace(self, factor=self.factor * as_factor(factor))  # type: ignore[type-var]

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1.0

    def __add__(self, other: Gradients) -> Gradients:
        if not isinstance(other, Gradients):
            return NotImplemented
        return DenseGradients(self.dense() + other.dense())

    def __sub__(self, other: Gradients) -> Gradients:
        if not isinstance(other, Gradients):
            return NotImplemented
        return DenseGradients(self.dense() - other.dense())

    def __matmul__(self, other: Gradients) -> Terms:
        if not isinstance(other, Gradients):
            return NotImplemented
        return Terms((Term(self, other, self.factor * other.factor),))


@dataclass(frozen=True, eq=False)
class DenseGradients(Gradients):
    """Gradients as an array (b, d, p)."""

    array: Array
    factor: RowFactor = 1.0

    def unweighted(self) -> Array:
        return self.array


@dataclass(frozen=True, eq=False)
class FactoredGradients(Gradients):
    """Gradients T_kj (z_k - c_j), or T_kj c_j where there are no points z.

    Distance kernels have z = x / l^2 and c = y / l^2, dot-product kernels c = y / l^2, and random
    Fourier features c = w. No array with both d and p columns is formed.

    Parameters
    ----------
    T
        The numbers (b, p).
    anchors
        The vectors c (p, d).
    points
        The vectors z (b, d), or None.
    spread
        The squared distances |c_i - c_j|^2 (p, p), or None to compute them when needed.
    """

    T: Array
    anchors: Array
    points: Array | None = None
    spread: Array | None = None
    factor: RowFactor = 1.0

    def unweighted(self) -> Array:
        vectors = self.anchors.T[None, :, :]
        if self.points is not None:
            vectors = self.points[:, :, None] - vectors
        return self.T[:, None, :] * vectors

    def map(self, R: Array) -> Gradients:
        points = None if self.points is None else self.points @ R
        return FactoredGradients(self.T, self.anchors @ R, points, None, self.factor)

    def _along(self, U: Array) -> Array:
        steps = _transposed(U) @ self.anchors.T
        if self.points is not None:
            along = namespace(U).sum(self.points[:, :, None] * U, axis=1)
            steps = along[:, :, None] - steps
        return steps * self.T[:, None, :]

    def _combined(self, A: Array) -> Array:
        if self.points is None:
            return weighted_moments(self.T, self.anchors, A)
        # The last column is sum_j T_kj A_jl, computed by the same product.
        ones = zeros((self.anchors.shape[0], 1), self.anchors) + 1.0
        vectors = namespace(ones).concat([self.anchors, ones], axis=1)
        moments = weighted_moments(self.T, vectors, A)
        return self.points[:, :, None] * moments[:, -1:, :] - moments[:, :-1, :]

    def _against(self, t: Array) -> Array:
        # sum_k T_kj z_k.t_k - c_j.(sum_k T_kj t_k), by one product of (b, p) with (b, d + 1).
        b, d, outputs = t.shape
        if self.points is not None:
            t = np.concatenate([t, np.einsum("kd,kdo->ko", self.points, t)[:, None]], axis=1)
        moments = (self.T.T @ t.reshape(b, -1)).reshape(-1, t.shape[1], outputs)
        result = np.einsum("jd,jdo->jo", self.anchors, moments[:, :d])
        return np.asarray(result if self.points is None else moments[:, d] - result)

    def gram(self, other: Gradients, weight: Array) -> Array:
        """Return the same as `Gradients.gram`, by products of (b, p) arrays where possible."""
        T, c = self.T, self.anchors
        if self.points is None and isinstance(other, FactoredGradients) and other.points is None:
            return with_zero_border((c @ other.anchors.T) * weighted_product(T, other.T, weight))
        # Copies that differ in their factors, as in (c * f.gradient) @ f.gradient, share arrays.
        same = isinstance(other, FactoredGradients) and other.T is T and other.anchors is c
        if not same or self.points is None:
            return super().gram(other, weight)
        spread = squared_distances(c, c) if self.spread is None else self.spread
        stretched = squared_distances(self.points, c) * T
        TT, M = weighted_product(T, T, weight), weighted_product(stretched, T, weight)
        return with_zero_border(distance_energies(TT, M, spread))


def distance_energies(TT: Array, M: Array, spread: Array) -> Array:
    """Return sum_k T_ki T_kj (z_k - c_i).(z_k - c_j) = (M + M') / 2 - E * (T'T) / 2.

    This holds because (z - c).(z - c') = (|z - c|^2 + |z - c'|^2 - |c - c'|^2) / 2.

    Parameters
    ----------
    TT
        The products T'T (p, p).
    M
        The products (S * T)'T (p, p) with S_kj = |z_k - c_j|^2.
    spread
        E_ij = |c_i - c_j|^2 (p, p).
    """
    return (M + M.T - spread * TT) / 2


def weighted_moments(T: Array, vectors: Array, A: Array) -> Array:
    """Return sum_j T_kj vectors_j A_jl (b, d, k) by one product, for T (b, p) and A (p, k)."""
    (p, k), d, xp = A.shape, vectors.shape[1], namespace(T, vectors)
    columns = xp.reshape(vectors[:, :, None] * A[:, None, :], (p, d * k))
    return cast(Array, xp.reshape(T @ columns, (T.shape[0], d, k)))


def _transposed(U: Array) -> Array:
    """Return matrices (b, r, d) for matrices (b, d, r)."""
    return cast(Array, namespace(U).matrix_transpose(U))


def with_zero_border(inner: Array) -> Array:
    """Return a matrix (1 + p, 1 + q) whose row and column of the function 1 are zero."""
    p, q = inner.shape
    result: Array = zeros((1 + p, 1 + q), inner)
    result[1:, 1:] = inner
    return result
