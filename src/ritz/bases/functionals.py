"""Values and directional derivatives as functionals, and the kernel sections that belong to them.

A functional l takes f to f(x) or to <grad f(x), u>. Its section is the function y -> l k(., y), and
the covariance of two functionals is l applied to the section of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, require_columns
from ritz.bases.basis import Basis
from ritz.cached import cached_property
from ritz.features import CachedJet, Gradients, Jet, Values
from ritz.features.gradients import DenseGradients, moments_of
from ritz.features.terms import Parts, Plan, Rows
from ritz.kernels import Kernel


@dataclass(frozen=True, eq=False)
class Functionals:
    """Linear functionals f -> v f(x) + <grad f(x), u>.

    Parameters
    ----------
    points
        The points x (n, d).
    directions
        The directions u (n, d), zero for values.
    values
        The numbers v (n,), 1 for values and 0 for derivatives.
    """

    points: Array
    directions: Array
    values: Array

    def __len__(self) -> int:
        return len(self.points)

    @classmethod
    def at(cls, X: Array) -> Functionals:
        """Return the values at points (n, d)."""
        return cls(X, np.zeros_like(X), np.ones(len(X)))

    @classmethod
    def along(cls, X: Array, U: Array) -> Functionals:
        """Return the derivatives at points (n, d) along directions (n, d)."""
        return cls(X, U, np.zeros(len(X)))

    @classmethod
    def partials(cls, X: Array, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Functionals:
        """Return partial derivatives: of coordinates (m,) at the points with numbers (m,)."""
        return cls.along(X[rows], np.eye(X.shape[1])[columns])

    def take(self, which: NDArray[np.intp]) -> Functionals:
        """Return some of them."""
        return Functionals(self.points[which], self.directions[which], self.values[which])

    def __add__(self, other: Functionals) -> Functionals:
        return Functionals(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.directions, other.directions]),
            np.concatenate([self.values, other.values]),
        )


@dataclass(frozen=True, eq=False)
class Invariants:
    """What the covariance of functionals at x and y is made of, all in length scales.

    It is K = v w q + (v b + w a + c) q' + a b q'', where u is the kernel's invariant of x and y,
    a and b are its derivatives along the first direction in x and the second in y, and c its mixed
    derivative.
    """

    v: Array
    w: Array
    u: Array
    a: Array
    b: Array
    c: Array

    @classmethod
    def of(cls, kernel: Kernel, F: Functionals, G: Functionals) -> Invariants:
        """Return those of all pairs (n, m)."""
        scale = kernel.scales(F.points.shape[1])
        X, Y = F.points / scale, G.points / scale
        A, B = F.directions / scale, G.directions / scale
        if kernel.family == "distance":
            shift = Y.mean(axis=0) if len(Y) else 0.0
            X, Y = X - shift, Y - shift
            a = np.einsum("ij,ij->i", A, X)[:, None] - A @ Y.T
            b = np.einsum("ij,ij->i", B, Y) - X @ B.T
            c = -(A @ B.T)
        else:
            a, b, c = A @ Y.T, X @ B.T, A @ B.T
        return cls(F.values[:, None], G.values, kernel.invariant(X, Y), a, b, c)

    def covariance(self, q: tuple[Array, ...]) -> Array:
        """Return K from the kernel's profile and its derivatives."""
        result = q[0] * (self.v * self.w)
        if len(q) > 1:
            result += q[1] * (self.v * self.b + self.w * self.a + self.c)
        if len(q) > 2:
            result += q[2] * (self.a * self.b)
        return np.asarray(result)


def order_of(F: Functionals, G: Functionals) -> int:
    """Return how many derivatives of the profile covariances take."""
    return int((F.values == 0).any()) + int((G.values == 0).any())


def covariance(kernel: Kernel, F: Functionals, G: Functionals) -> Array:
    """Return l_i m_j k for functionals l (n,) in the first argument and m (m,) in the second."""
    order = order_of(F, G)
    kernel.require_order(order)
    parts = Invariants.of(kernel, F, G)
    return parts.covariance(kernel.profile(parts.u, order))


def variances(kernel: Kernel, F: Functionals) -> Array:
    """Return the covariance (n,) of each functional with itself."""
    scale = kernel.scales(F.points.shape[1])
    A, X = F.directions / scale, F.points / scale
    squares = np.einsum("ij,ij->i", A, A)
    order = order_of(F, F)
    if kernel.family == "distance":
        q = kernel.profile(np.zeros(1), min(order, 1))
        return np.asarray(F.values * q[0] - (squares * q[1] if order else 0.0))
    q = kernel.profile(np.einsum("ij,ij->i", X, X), order)
    a = np.einsum("ij,ij->i", A, X)
    result = F.values * q[0]
    if order:
        result = result + (2 * F.values * a + squares) * q[1] + a**2 * q[2]
    return np.asarray(result)


@dataclass(frozen=True, eq=False, repr=False)
class FunctionalSections(Basis):
    """The sections l_j k(., y) of functionals: kernel sections at values, their slopes elsewhere.

    Least squares with the penalty of the kernel's own norm has its solution in the span of the
    sections of all that is observed.

    Parameters
    ----------
    kernel
        The kernel.
    functionals
        The functionals l (p,).
    """

    kernel: Kernel
    functionals: Functionals

    @property
    def size(self) -> int:
        return len(self.functionals)

    @property
    def dimension(self) -> int | None:
        return int(self.functionals.points.shape[1])

    def floats_per_row(self, dimension: int) -> int:
        return (dimension + 6) * self.size

    def gram_root(self) -> Array:
        values, vectors = np.linalg.eigh(
            covariance(self.kernel, self.functionals, self.functionals)
        )
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def jet(self, X: Array) -> Jet:
        return FunctionalJet(self, X)


class FunctionalJet(CachedJet):
    """Sections of functionals at some points."""

    def __init__(self, basis: FunctionalSections, X: Array) -> None:
        require_columns(X, basis.dimension, "points")
        self.basis, self.X = basis, X

    def _at(self, X: Array) -> Jet:
        return FunctionalJet(self.basis, X)

    @cached_property
    def _parts(self) -> tuple[Invariants, tuple[Array, ...]]:
        kernel, F = self.basis.kernel, self.basis.functionals
        parts = Invariants.of(kernel, Functionals.at(self.X), F)
        order = 1 + order_of(Functionals.at(self.X), F)
        highest = order if kernel.smoothness is None else min(order, kernel.smoothness)
        return parts, kernel.profile(parts.u, highest)

    def _value(self) -> Values:
        parts, q = self._parts
        order = order_of(Functionals.at(self.X), self.basis.functionals)
        return Values(parts.covariance(q[: 1 + order]), 1.0)

    def _gradient(self) -> Gradients:
        kernel, F = self.basis.kernel, self.basis.functionals
        order = 1 + order_of(Functionals.at(self.X), F)
        kernel.require_order(order)
        parts, q = self._parts
        slopes = parts.w * q[1]
        if order == 2:
            slopes += parts.b * q[2]
        scale = kernel.scales(self.X.shape[1])
        moving = kernel.family == "distance"
        return SectionGradients(
            slopes,
            q[1] if order == 2 else None,
            self.X / scale**2 if moving else None,
            F.points / scale**2,
            F.directions / scale**2 * (-1.0 if moving else 1.0),
        )

    def partial(self, alpha: tuple[int, ...]) -> Values:
        if sum(alpha) == 0:
            return self.value
        if sum(alpha) == 1:
            return Values(self.gradient.dense()[:, alpha.index(1)], 0.0)
        raise ValueError("Sections of derivatives have no partial derivatives beyond the first.")


@dataclass(frozen=True, eq=False)
class SectionGradients(Gradients):
    """Gradients S_kj (x_k - y_j) + Q_kj u_j of sections, or S_kj y_j + Q_kj u_j without points x.

    Parameters
    ----------
    slopes, tilts
        The numbers S and Q (b, p), or None for no tilts.
    points
        The vectors x (b, d), or None.
    anchors, directions
        The vectors y and u (p, d).
    """

    slopes: Array
    tilts: Array | None
    points: Array | None
    anchors: Array
    directions: Array
    weight: Rows = 1.0

    def unweighted(self) -> Array:
        vectors = self.anchors.T[None]
        if self.points is not None:
            vectors = self.points[:, :, None] - vectors
        result = self.slopes[:, None, :] * vectors
        if self.tilts is not None:
            result += self.tilts[:, None, :] * self.directions.T
        return result

    def map(self, R: Array) -> Gradients:
        return DenseGradients(self.unweighted(), self.weight).map(R)

    def _along(self, U: Array) -> Values:
        return DenseGradients(self.unweighted(), self.weight)._along(U)

    def _combined(self, A: Array) -> Array:
        sign = 1.0 if self.points is None else -1.0
        result = moments_of(self.slopes, sign * self.anchors, A)
        if self.points is not None:
            result += self.points[:, :, None] * (self.slopes @ A)[:, None, :]
        if self.tilts is not None:
            result += moments_of(self.tilts, self.directions, A)
        return result

    def plan(self, other: Gradients) -> Plan:
        left = self.unweighted()
        return Plan(((left, left if other is self else other.unweighted()),), Parts)


def pivoted_cholesky(
    kernel: Kernel, F: Functionals, m: int, floor: float = 5e-16, together: int = 48
) -> tuple[NDArray[np.intp], Array]:
    """Choose up to m functionals that explain the others, each the least explained so far.

    Returns their numbers and the factor H (n, r) with K = H H' up to what is not explained; the
    rows of H that were chosen are the triangle of their own covariance. Candidates are looked at
    `together`, so that most of the work is matrix products.

    Parameters
    ----------
    kernel
        The kernel.
    F
        Functionals (n,).
    m
        How many to choose.
    floor
        What is explained but for this share of the largest variance is explained.
    """
    left = variances(kernel, F)
    floor = floor * float(left.max(initial=0.0))
    m = min(m, len(F))
    H = np.zeros((len(F), m))
    chosen: list[int] = []
    while len(chosen) < m:
        most = float(left.max())
        if most <= floor:
            break
        count = min(together, len(F))
        candidates = np.argpartition(-left, count - 1)[:count]
        candidates = candidates[left[candidates] > max(floor, 0.1 * most)]
        s = len(chosen)
        rest = covariance(kernel, F, F.take(candidates)) - H[:, :s] @ H[candidates, :s].T
        # Anew: what was taken off step by step has been rounded as often.
        left[candidates] = np.diag(rest[candidates])
        if left[candidates].max() <= floor:
            continue
        order, triangle = _pivots(rest[candidates], max(floor, 0.25 * most), m - s)
        picked = candidates[order]
        columns = np.linalg.solve(triangle, rest[:, order].T).T
        H[:, s : s + len(order)] = columns
        left -= np.einsum("ij,ij->i", columns, columns)
        left[picked] = 0.0
        chosen.extend(int(row) for row in picked)
    # What was chosen is explained wholly by what was chosen until then.
    for step, row in enumerate(chosen):
        H[row, step + 1 :] = 0.0
    return np.array(chosen, dtype=np.intp), H[:, : len(chosen)]


def _pivots(M: Array, least: float, most: int) -> tuple[NDArray[np.intp], Array]:
    """Return the order of pivots of M (c, c), as long as they are large, and their triangle."""
    M = M.copy()
    left = np.diag(M).copy()
    order: list[int] = []
    columns: list[Array] = []
    while len(order) < min(most, len(M)):
        pivot = int(left.argmax())
        if order and left[pivot] < least:
            break
        column = M[:, pivot] / np.sqrt(left[pivot])
        M -= np.outer(column, column)
        left = np.diag(M).copy()
        order.append(pivot)
        left[order] = -np.inf
        columns.append(column)
    triangle = np.tril(np.column_stack(columns)[order])
    return np.array(order, dtype=np.intp), triangle
