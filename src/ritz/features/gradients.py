"""Gradients of all functions of a basis on a block of rows, in factors where they have them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz import native
from ritz.arrays import Array, as_real, must, squared_distances
from ritz.cached import cached_property
from ritz.features.products import symmetrize
from ritz.features.terms import Parts, Plan, Rows, Term, Terms, as_factor
from ritz.features.values import Values


class Gradients(ABC):
    """The gradients grad phi_j(x_k); `f.gradient @ g.gradient` is a term of a bilinear form."""

    weight: Rows
    __array_ufunc__ = None

    @abstractmethod
    def unweighted(self) -> Array:
        """Return the gradients (b, d, p) without the factor of the rows."""

    def dense(self) -> Array:
        """Return the gradients (b, d, p)."""
        return self._weighted(self.unweighted())

    @abstractmethod
    def map(self, R: Array) -> Gradients:
        """Return R' grad phi_j for a matrix R (d, e): gradients in other coordinates."""

    def along(self, U: Array) -> Values:
        """Return <grad phi_j(x_k), U_k> for directions U (b, d, r), as values (b, r, p)."""
        U = as_real(U, "U")
        if U.ndim != 3:
            what = "directions (b, d, r)"
            raise ValueError(must("U", what, f"shape {U.shape}", "One direction is u[:, :, None]."))
        return self._along(U)

    @abstractmethod
    def _along(self, U: Array) -> Values: ...

    def combine(self, A: Array) -> Array:
        """Return the gradients (b, d, k) of the functions sum_j A_jl phi_j."""
        return self._weighted(self._combined(A))

    @abstractmethod
    def _combined(self, A: Array) -> Array: ...

    def against(self, t: Array) -> Array:
        """Return sum_k <grad phi_j(x_k), t_k> (p, outputs) for vectors t (b, d, outputs)."""
        weight = np.asarray(self.weight)
        return self._against(t * (weight if weight.ndim == 0 else weight[:, None, None]))

    def _against(self, t: Array) -> Array:
        return np.asarray(np.tensordot(self.unweighted(), t, axes=((0, 1), (0, 1))))

    def _weighted(self, array: Array) -> Array:
        weight = np.asarray(self.weight)
        if weight.ndim == 0:
            return array if weight == 1.0 else np.asarray(weight * array)
        return np.asarray(weight[:, None, None] * array)

    @abstractmethod
    def plan(self, other: Gradients) -> Plan:
        """Return sum_k rows_k <grad phi_i(x_k), grad psi_j(x_k)>, without the row factors."""

    def __mul__(self, factor: Any) -> Any:
        return replace(self, weight=self.weight * as_factor(factor))  # type: ignore[type-var]

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
        return Terms((Term(self, other, self.weight * other.weight),))


# The gradient of the function 1 is zero: all of these are the inner parts of matrices.


def between_anchors(inner: Array, left: Array, right: Array) -> Parts:
    """Return (C C') * (T' T)."""
    return Parts((left @ right.T) * inner)


def between_shifted_anchors(
    inner: Array, sums: Array, weight: Rows, anchors: Array, offset: Array
) -> Parts:
    """Return (C C') * (T' T) from the products of T - offset."""
    # (V + 1 c')' diag(w) (V + 1 c') from V' diag(w) V, w' V and the sum of w.
    cross = half_shifted(sums, weight, offset)[..., :, None] * offset
    return between_anchors(inner + (cross + np.swapaxes(cross, -1, -2)), anchors, anchors)


def half_shifted(sums: Array, weight: Rows, offset: Array) -> Array:
    """Return h = w' V + (sum of w) c' / 2: with V + 1 c', V' diag(w) V grows by h c' + c h'."""
    return np.asarray(sums + np.asarray(weight)[..., None] / 2 * offset)


def between_shifted_distances(
    inner: Array,
    sums: Array,
    weight: Rows,
    stretched: Array,
    stretched_sums: Array,
    unit: float,
    spread: Array,
    offset: Array,
) -> Parts:
    """Return (M + M') / 2 - E * (T' T) / 2 from the products of T - offset, in place of M."""
    p = len(offset)
    half = half_shifted(sums, weight, offset).reshape(-1, p)
    V, M = (A.reshape(-1, p, p) for A in (inner, stretched))
    native.join_distances(
        unit, V, half, M, np.ascontiguousarray(stretched_sums).reshape(-1, p), spread, offset
    )
    return Parts(stretched)


def between_distances(inner: Array, stretched: Array, unit: float, spread: Array) -> Parts:
    """Return (M + M') / 2 - E * (T' T) / 2, in place of M."""
    symmetrize(stretched)
    stretched *= unit
    inner *= spread
    inner /= 2
    stretched -= inner
    return Parts(stretched)


def moments_of(T: Array, vectors: Array, A: Array) -> Array:
    """Return sum_j T_kj vectors_j A_jl (b, d, k) by one product, for T (b, p) and A (p, k)."""
    columns = (vectors[:, :, None] * A[:, None, :]).reshape(len(A), -1)
    return np.asarray((T @ columns).reshape(len(T), vectors.shape[1], A.shape[1]))


@dataclass(frozen=True, eq=False)
class DenseGradients(Gradients):
    """Gradients as an array (b, d, p)."""

    array: Array
    weight: Rows = 1.0

    def unweighted(self) -> Array:
        return self.array

    def map(self, R: Array) -> Gradients:
        return DenseGradients(np.matmul(R.T, self.array), self.weight)

    def _along(self, U: Array) -> Values:
        return Values(np.matmul(U.transpose(0, 2, 1), self.array), 0.0, weight=self.weight)

    def _combined(self, A: Array) -> Array:
        return self.array @ A

    def plan(self, other: Gradients) -> Plan:
        right = self.array if other is self else other.unweighted()
        return Plan(((self.array, right),), Parts)


@dataclass(frozen=True, eq=False)
class FactoredGradients(Gradients):
    """Gradients T_kj (z_k - c_j), or -T_kj c_j where there are no points z.

    Distance kernels have z = x and c = y in length scales, dot-product kernels c = -y, random
    Fourier features c = -w. No array with both d and p columns is formed.

    Parameters
    ----------
    factors, offset
        The numbers T (b, p), less an offset (p,) where there is one: T = factors + offset, and
        their products follow from those of the factors.
    anchors
        The vectors c (p, d).
    points
        The vectors z (b, d), or None for zero.
    stretched, unit
        |z_k - c_j|^2 T_kj = unit * stretched (b, p) where there are points; or a function that
        returns them, where only products of gradients need them.
    spread
        |c_i - c_j|^2 (p, p) where there are points.
    """

    factors: Array
    anchors: Array
    points: Array | None = None
    stretched: Array | Callable[[], Array] | None = None
    unit: float = 1.0
    spread: Array | None = None
    weight: Rows = 1.0
    offset: Array | None = None

    @cached_property
    def T(self) -> Array:
        """The numbers T (b, p)."""
        return self.factors if self.offset is None else self.factors + self.offset

    @cached_property
    def _stretched(self) -> Array | None:
        return self.stretched() if callable(self.stretched) else self.stretched

    def unweighted(self) -> Array:
        directions = -self.anchors.T[None]
        if self.points is not None:
            directions = self.points[:, :, None] + directions
        return self.T[:, None, :] * directions

    def map(self, R: Array) -> Gradients:
        anchors = self.anchors @ R
        if self.points is None:
            return replace(self, anchors=anchors)
        points = self.points @ R
        return FactoredGradients(
            self.T,
            anchors,
            points,
            squared_distances(points, anchors) * self.T,
            1.0,
            squared_distances(anchors, anchors),
            self.weight,
        )

    def _along(self, U: Array) -> Values:
        # -c_j . U_kr for all directions at once, then + z_k . U_kr.
        steps = U.transpose(0, 2, 1) @ -self.anchors.T
        if self.points is not None:
            steps += np.einsum("kd,kdr->kr", self.points, U)[:, :, None]
        steps *= self.T[:, None, :]
        return Values(steps, 0.0, weight=self.weight)

    def _combined(self, A: Array) -> Array:
        if self.points is None:
            return moments_of(self.T, -self.anchors, A)
        # The last column is sum_j T_kj A_jl, by the same product.
        ones = np.ones((len(self.anchors), 1))
        result = moments_of(self.T, np.hstack([-self.anchors, ones]), A)
        return np.asarray(result[:, :-1] + self.points[:, :, None] * result[:, -1:])

    def _against(self, t: Array) -> Array:
        # sum_k T_kj z_k.t_k - c_j.(sum_k T_kj t_k), by one product of (b, p) with (b, d + 1).
        b, d, outputs = t.shape
        if self.points is not None:
            t = np.concatenate([t, np.einsum("kd,kdo->ko", self.points, t)[:, None]], axis=1)
        moments = (self.T.T @ t.reshape(b, -1)).reshape(-1, t.shape[1], outputs)
        result = -np.einsum("jd,jdo->jo", self.anchors, moments[:, :d])
        return np.asarray(result if self.points is None else result + moments[:, d])

    def plan(self, other: Gradients) -> Plan:
        """Return the Gram matrix by products of (b, p) arrays.

        As (x - y).(x - z) = (|x - y|^2 + |x - z|^2 - |y - z|^2) / 2, distance kernels have
        L = (M + M') / 2 - E * (T' T) / 2 with M = (S * T)' T; the others L = (C C') * (T' T).
        """
        if isinstance(other, FactoredGradients):
            V, ST, c = self.factors, self._stretched, self.offset
            alike = other.factors is V and other.anchors is self.anchors
            if self.points is None and other.points is None:
                if c is None and other.offset is None:
                    vectors = (self.anchors, other.anchors)
                    return Plan(((V, other.factors),), between_anchors, vectors)
                if alike:
                    factors = ((V, V), (1.0, V), (1.0, 1.0))
                    return Plan(factors, between_shifted_anchors, (self.anchors, c))
            elif alike and self.points is other.points and ST is not None:
                constants = (self.unit, self.spread)
                if c is None:
                    return Plan(((V, V), (ST, V)), between_distances, constants, spent=(0, 1))
                products = ((V, V), (1.0, V), (1.0, 1.0), (ST, V), (1.0, ST))
                return Plan(products, between_shifted_distances, (*constants, c), spent=(3,))
        left = self.unweighted()
        return Plan(((left, left if other is self else other.unweighted()),), Parts)
