"""Kernel sections made orthonormal in the kernel's own products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ritz.arrays import Array, row_slices
from ritz.bases import Basis, KernelSections
from ritz.bases.functionals import (
    Functionals,
    FunctionalSections,
    covariance,
    pivoted_cholesky,
)
from ritz.kernels import Kernel


@dataclass(frozen=True, eq=False)
class Whitened:
    """Functions psi = phi T'^-1, T T' being the kernel's own products of phi: |x|^2 is their norm.

    Parameters
    ----------
    kernel
        The kernel.
    functionals, basis
        The functions phi (p,), and the functionals whose sections they are.
    triangle
        T (p, p), lower.
    """

    kernel: Kernel
    functionals: Functionals
    basis: Basis
    triangle: Array

    @classmethod
    def at(cls, kernel: Kernel, F: Functionals) -> Whitened:
        """Return the sections of functionals, but for those that the others explain."""
        chosen, H = pivoted_cholesky(kernel, F, len(F))
        return cls.of(kernel, F, chosen, H)

    @classmethod
    def of(cls, kernel: Kernel, F: Functionals, chosen: NDArray[np.intp], H: Array) -> Whitened:
        """Return the sections chosen by pivoted Cholesky."""
        F = F.take(chosen)
        plain = bool((F.values == 1).all())
        basis = KernelSections(kernel, F.points) if plain else FunctionalSections(kernel, F)
        return cls(kernel, F, basis, H[chosen])

    def first(self, count: int) -> Whitened:
        """Return the first of the functions."""
        chosen = np.arange(count)
        return Whitened.of(self.kernel, self.functionals, chosen, self.triangle[:, :count])

    def coefficients(self, x: Array) -> Array:
        """Return the coefficients over phi of sum_j x_j psi_j."""
        return np.asarray(solve_triangular(self.triangle, x, lower=True, trans=1))

    def features(self, values: Array) -> Array:
        """Return psi (n, p) from the values of phi (n, p)."""
        return np.asarray(solve_triangular(self.triangle, values.T, lower=True)).T

    def design(self, F: Functionals) -> Array:
        """Return functionals (n,) of the functions (1, psi), (n, 1 + p)."""
        result = np.empty((len(F), 1 + self.basis.size))
        result[:, 0] = F.values
        for rows in row_slices(len(F), 2048):
            some = F.take(np.arange(rows.start, rows.stop))
            result[rows, 1:] = self.features(covariance(self.kernel, some, self.functionals))
        return result


def whitened_once(functions: Whitened, m: Array) -> Array:
    """Return products with (1, psi) from those with (1, phi), along the first axis."""
    result = m.copy()
    result[1:] = solve_triangular(functions.triangle, m[1:], lower=True)
    return result


def whitened_twice(functions: Whitened, M: Array) -> Array:
    """Return products of (1, psi) from those of (1, phi)."""
    M = whitened_once(functions, whitened_once(functions, M).T)
    return (M + M.T) / 2
