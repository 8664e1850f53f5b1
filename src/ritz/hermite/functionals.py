"""Values and directional derivatives as linear functionals, and their covariances.

A functional l maps f to f(x) or to <grad f(x), u>. Its section is the function y -> l k(., y). The
covariance of two functionals, l applied to the section of the other, is their covariance under
the Gaussian process whose kernel is k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.kernels import Kernel
from ritz.validation import Array


@dataclass(frozen=True, eq=False)
class Functionals:
    """Linear functionals f -> v f(x) + <grad f(x), u>.

    They have points x (n, d), directions u (n, d), zero for values, and numbers v (n,) that are 1
    for values and 0 for derivatives.
    """

    file_tag: ClassVar[str] = "Functionals"

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
        """Return partial derivatives at the points X[rows], along the coordinates (m,) given."""
        return cls.along(X[rows], np.eye(X.shape[1])[columns])

    @property
    def is_value(self) -> NDArray[np.bool_]:
        """Which functionals (n,) are values."""
        return np.asarray(self.values == 1.0)

    @property
    def order(self) -> int:
        """The highest order of derivative: 0 for values alone, else 1."""
        return int((self.values == 0).any())

    def take(self, which: NDArray[np.intp]) -> Functionals:
        """Return some of them, by their indices."""
        return Functionals(self.points[which], self.directions[which], self.values[which])

    def __truediv__(self, scale: Array) -> Functionals:
        """Return the functionals in coordinates x / scale, for scales (d,)."""
        return Functionals(self.points / scale, self.directions / scale, self.values)

    def __add__(self, other: Functionals) -> Functionals:
        return Functionals(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.directions, other.directions]),
            np.concatenate([self.values, other.values]),
        )


class CovarianceTerms(NamedTuple):
    """The arrays (n, m) of which the covariance of functionals at x and at y is made.

    With q the kernel's profile at the invariant u of x and y, the covariance is
    K = v w q + (v b + w a + c) q' + a b q''. Here a is the derivative of u along the first
    direction in x, b that along the second direction in y, and c is the mixed derivative. The
    factors of q, q' and q'' are called values, mixed and both.
    """

    values: Array
    mixed: Array
    both: Array
    w: Array
    b: Array

    @classmethod
    def of(cls, kernel: Kernel, F: Functionals, G: Functionals) -> CovarianceTerms:
        """Return those of functionals F (n,) and G (m,), in length scales."""
        X, Y, A, B = F.points, G.points, F.directions, G.directions
        v, w = F.values[:, None], G.values
        if kernel.family == "distance":
            # The kernel does not see a shift; without it products of far points lose digits.
            shift = Y.mean(axis=0) if len(Y) else 0.0
            X, Y = X - shift, Y - shift
            a = np.einsum("ij,ij->i", A, X)[:, None] - A @ Y.T
            b = np.einsum("ij,ij->i", B, Y) - X @ B.T
            c = A @ -B.T
        else:
            a, b, c = A @ Y.T, X @ B.T, A @ B.T
        mixed = v * b
        mixed += w * a
        mixed += c
        a *= b
        return cls(v * w, mixed, a, w, b)

    def covariance(self, q: tuple[Array, ...]) -> Array:
        """Return K (n, m) from the profile and as many of its derivatives as are needed."""
        result = q[0] * self.values
        if len(q) > 1:
            result += q[1] * self.mixed
        if len(q) > 2:
            result += q[2] * self.both
        return result


def covariance(kernel: Kernel, F: Functionals, G: Functionals) -> Array:
    """Return the covariances (n, m) of functionals F (n,) and G (m,)."""
    order = F.order + G.order
    kernel.require_order(order)
    scale = kernel.scales(F.points.shape[1])
    F, G = F / scale, G / scale
    q = kernel.profile(kernel.invariant(F.points, G.points), order)
    return CovarianceTerms.of(kernel, F, G).covariance(q)


def variances(kernel: Kernel, F: Functionals) -> Array:
    """Return the variances (n,) of functionals, the diagonal of their covariance."""
    F = F / kernel.scales(F.points.shape[1])
    order, squares = F.order, np.einsum("ij,ij->i", F.directions, F.directions)
    if kernel.family == "distance":
        q = kernel.profile(np.zeros(1), order)
        return np.asarray(F.values * q[0] - (squares * q[1] if order else 0.0))
    q = kernel.profile(np.einsum("ij,ij->i", F.points, F.points), 2 * order)
    result = F.values * q[0]
    if order:
        a = np.einsum("ij,ij->i", F.directions, F.points)
        result = result + (2 * F.values * a + squares) * q[1] + a**2 * q[2]
    return np.asarray(result)
