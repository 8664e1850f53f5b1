"""Sections of functionals: as a basis, chosen by pivoted Cholesky, and made orthonormal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from ritz.bases import Basis, KernelSections
from ritz.features import CachedJet, FactoredGradients, Gradients, Jet, Values
from ritz.features.terms import RowFactor
from ritz.hermite.functionals import CovarianceTerms, Functionals, covariance, variances
from ritz.kernels import Kernel
from ritz.rows import row_slices
from ritz.validation import Array, require_columns


@dataclass(frozen=True, eq=False, repr=False)
class FunctionalSections(Basis):
    """The sections l_j k(., y) of functionals l (p,) of a kernel.

    They are kernel sections where the functional is a value, and directional derivatives of kernel
    sections otherwise. Least squares with the kernel's norm as penalty has its solution in the
    span of the sections of all that is observed.
    """

    file_tag: ClassVar[str] = "FunctionalSections"

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

    def jet(self, X: Array) -> Jet:
        return FunctionalJet(self, X)


class FunctionalJet(CachedJet):
    """Sections of functionals at some points."""

    def __init__(self, basis: FunctionalSections, X: Array) -> None:
        require_columns(X, basis.dimension, "points")
        kernel = basis.kernel
        self.basis, self.scale = basis, kernel.scales(X.shape[1])
        self.X, self.F = X / self.scale, basis.functionals / self.scale
        self.terms = CovarianceTerms.of(kernel, Functionals.at(self.X), self.F)
        # The gradient takes one derivative more than the values, where the kernel has it.
        highest = 1 + self.F.order
        if kernel.smoothness is not None:
            highest = min(highest, kernel.smoothness)
        self.q = kernel.profile(kernel.invariant(self.X, self.F.points), highest)

    def _at(self, X: Array) -> Jet:
        return FunctionalJet(self.basis, X)

    def _value(self) -> Values:
        return Values(self.terms.covariance(self.q[: 1 + self.F.order]), 1.0)

    def _gradient(self) -> Gradients:
        """Return w q' grad u + q'' b grad u + q' grad b, u being the kernel's invariant."""
        kernel, F, q = self.basis.kernel, self.F, self.q
        kernel.require_order(1 + F.order)
        factors = self.terms.w * q[1]
        if F.order:
            factors += self.terms.b * q[2]
        distance = kernel.family == "distance"
        Y, U = F.points / self.scale, F.directions / self.scale
        first = FactoredGradients(factors, Y, self.X / self.scale if distance else None)
        second = FactoredGradients(q[1], -U if distance else U)
        return GradientSum(first, second) if F.order else first

    def partial(self, alpha: tuple[int, ...]) -> Values:
        if sum(alpha) == 0:
            return self.value
        if sum(alpha) == 1:
            return Values(self.gradient.dense()[:, alpha.index(1)], 0.0)
        raise ValueError("Sections of functionals have partial derivatives of first order only.")


@dataclass(frozen=True, eq=False)
class GradientSum(Gradients):
    """The sum of two gradients in factors; combinations need no array (b, d, p)."""

    first: FactoredGradients
    second: FactoredGradients
    factor: RowFactor = 1.0

    def unweighted(self) -> Array:
        return self.first.unweighted() + self.second.unweighted()

    def _combined(self, A: Array) -> Array:
        return self.first.combine(A) + self.second.combine(A)


@dataclass(frozen=True, eq=False)
class OrthonormalSections:
    """Functions psi = phi T'^-1, orthonormal in the kernel's inner product.

    The basis phi are the sections of functionals (p,), and T T' is their Gram matrix with T (p, p)
    lower triangular, so that the squared norm of sum_j x_j psi_j is |x|^2.
    """

    file_tag: ClassVar[str] = "OrthonormalSections"

    kernel: Kernel
    functionals: Functionals
    triangle: Array
    basis: Basis

    @classmethod
    def of(cls, kernel: Kernel, F: Functionals, triangle: Array) -> OrthonormalSections:
        """Return the functions of given functionals (p,) and their triangle T."""
        plain = bool(F.is_value.all())
        basis = KernelSections(kernel, F.points) if plain else FunctionalSections(kernel, F)
        return cls(kernel, F, triangle, basis)

    @property
    def size(self) -> int:
        """The number p of functions."""
        return len(self.triangle)

    def first(self, count: int) -> OrthonormalSections:
        """Return the first functions only."""
        F = self.functionals.take(np.arange(count))
        return self.of(self.kernel, F, self.triangle[:count, :count])

    def coefficients(self, x: Array) -> Array:
        """Return the coefficients (p, k) over phi of the functions sum_j x_jk psi_j."""
        return np.asarray(solve_triangular(self.triangle, x, lower=True, trans=1))

    def from_sections(self, values: Array) -> Array:
        """Return psi (n, p) from phi (n, p), at any points."""
        return np.asarray(solve_triangular(self.triangle, values.T, lower=True)).T

    def apply(self, F: Functionals) -> Array:
        """Return the functionals (n,) of the functions psi, (n, p)."""
        result = np.empty((len(F), self.size))
        for rows in row_slices(len(F), 2048):
            some = F.take(np.arange(rows.start, rows.stop))
            result[rows] = self.from_sections(covariance(self.kernel, some, self.functionals))
        return result

    def change_products(self, M: Array) -> Array:
        """Return products (1 + p, k) with (1, psi) from those with (1, phi)."""
        result = M.copy()
        result[1:] = solve_triangular(self.triangle, M[1:], lower=True)
        return result


def choose_sections(
    kernel: Kernel, F: Functionals, count: int, floor: float = 5e-16
) -> tuple[OrthonormalSections, Array]:
    """Return functions psi made of up to `count` of the sections of F (n,), and F of psi (n, r).

    The sections are chosen by `pivoted_cholesky`.
    """
    chosen, H = pivoted_cholesky(kernel, F, count, floor)
    return OrthonormalSections.of(kernel, F.take(chosen), H[chosen]), H


def pivoted_cholesky(
    kernel: Kernel, F: Functionals, count: int, floor: float = 5e-16
) -> tuple[NDArray[np.intp], Array]:
    """Choose up to `count` functionals, each the one of largest variance given those before.

    Returns their indices (r,), and H (n, r) with K = H H' up to the variance that is left. The rows
    H[chosen] are lower triangular: the Cholesky factor of their covariance. Variances below a
    share `floor` of the largest one count as zero.
    """
    left = variances(kernel, F)
    floor = floor * float(left.max(initial=0.0))
    count = min(count, len(F))
    H = np.zeros((len(F), count))
    chosen: list[int] = []
    while len(chosen) < count:
        largest = float(left.max())
        if largest <= floor:
            break
        # The 48 largest variances are candidates, so that most of the work is matrix products.
        n_candidates = min(48, len(F))
        candidates = np.argpartition(-left, n_candidates - 1)[:n_candidates]
        candidates = candidates[left[candidates] > max(floor, 0.1 * largest)]
        s = len(chosen)
        # The covariance with the candidates, given those chosen.
        residual = covariance(kernel, F, F.take(candidates)) - H[:, :s] @ H[candidates, :s].T
        # The updates of `left` have accumulated rounding errors.
        left[candidates] = np.diag(residual[candidates])
        if left[candidates].max() <= floor:
            continue
        # One candidate is taken, and others as long as they keep a quarter of the largest
        # variance: below that, one that is not a candidate may have more.
        L, order, rank, _ = dpstrf(residual[candidates], tol=max(floor, 0.25 * largest), lower=1)
        k = min(rank, count - s)
        order = order[:k] - 1
        columns = solve_triangular(L[:k, :k], residual[:, order].T, lower=True).T
        H[:, s : s + k] = columns
        left -= np.einsum("ij,ij->i", columns, columns)
        left[candidates[order]] = 0.0
        chosen.extend(candidates[order].tolist())
    # Without rounding errors, H[chosen] is lower triangular.
    for step, row in enumerate(chosen):
        H[row, step + 1 :] = 0.0
    return np.array(chosen, dtype=np.intp), H[:, : len(chosen)]
