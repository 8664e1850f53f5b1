"""Linear combinations of the functions of a basis and of the function 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ritz.bases.basis import Basis
from ritz.features import CachedJet, DenseGradients, Gradients, Jet, Values
from ritz.kernels.sections import DIRECT_COLUMNS
from ritz.rows import equal_products, in_equal_parts
from ritz.threads import one_blas_thread
from ritz.validation import Array, Names, parameter_error


@dataclass(frozen=True, eq=False, repr=False)
class Combination(Basis):
    """The functions c_l + sum_j A_jl phi_j: call them, differentiate them, slice them.

    Parameters
    ----------
    basis
        The functions phi.
    coefficients
        The numbers A (p, k).
    constants
        The numbers c (k,).
    """

    file_tag: ClassVar[str] = "Combination"

    basis: Basis
    coefficients: Array
    constants: Array

    def __post_init__(self) -> None:
        if np.ndim(self.constants) != 1:
            raise parameter_error("constants", "of shape (k,)", np.shape(self.constants))
        p, k = self.basis.size, len(self.constants)
        if self.coefficients.shape != (p, k):
            raise parameter_error("coefficients", f"of shape {(p, k)}", self.coefficients.shape)
        # Arrays read from files are contiguous. If these are too, values agree to the last bit.
        for name in ("coefficients", "constants"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)))

    @property
    def size(self) -> int:
        return int(self.constants.shape[0])

    @property
    def dimension(self) -> int | None:
        return self.basis.dimension

    @property
    def names(self) -> Names:
        return self.basis.names

    def gram_root(self) -> Array:
        return np.asarray(self.coefficients.T @ self.basis.gram_root())

    def penalty(self, L: Array) -> Array:
        # The trace of L is taken over the functions of `basis`, so that it does not depend on A.
        back, gram = self._back_and_gram
        energy = np.abs(((L @ back) * back).sum(axis=0)).sum()
        return np.asarray(energy * gram)

    @cached_property
    def _back_and_gram(self) -> tuple[Array, Array]:
        """The pseudo-inverse (k, p) of A, and A'GA (k, k) over the trace of the Gram matrix G."""
        root = self.basis.gram_root()
        own = self.coefficients.T @ root
        return np.asarray(np.linalg.pinv(self.coefficients)), own @ own.T / (root**2).sum()

    def floats_per_row(self, dimension: int) -> int:
        return self.basis.floats_per_row(dimension) + (1 + dimension) * self.size

    @property
    def differentiable(self) -> bool:
        return self.basis.differentiable

    @property
    def portable(self) -> bool:
        return self.basis.portable

    def jet(self, X: Array) -> Jet:
        return CombinedJet(self.basis.jet(X), self.coefficients, self.constants)

    def evaluate(self, X: Array) -> Array:
        """Return the values (b, k) at the rows of a block (b, d).

        Products of matrices depend on their number of rows in the last digits. Here they all have
        the same number, so that a row has the same values alone and among others. On a device they
        do not.
        """
        if not isinstance(X, np.ndarray):
            return super().evaluate(X)
        with one_blas_thread():
            many = X.shape[1] > DIRECT_COLUMNS
            values = in_equal_parts(self.basis.evaluate, X) if many else self.basis.evaluate(X)
            return equal_products(values, self.coefficients) + self.constants

    def pick(self, which: Any) -> Combination:
        """Return some of the functions, by slice or numbers."""
        return Combination(self.basis, self.coefficients[:, which], self.constants[which])


class CombinedJet(CachedJet):
    """Combinations of the functions of a jet."""

    def __init__(self, jet: Jet, coefficients: Array, constants: Array) -> None:
        self.jet, self.coefficients, self.constants = jet, coefficients, constants

    def _at(self, X: Array) -> Jet:
        return CombinedJet(self.jet.at(X), self.coefficients, self.constants)

    def _value(self) -> Values:
        return Values(self.jet.value.dense() @ self.coefficients + self.constants, 1.0)

    def _gradient(self) -> Gradients:
        return DenseGradients(self.jet.gradient.combine(self.coefficients))

    def partial(self, alpha: tuple[int, ...]) -> Values:
        if not any(alpha):
            return self.value
        return Values(self.jet.partial(alpha).dense() @ self.coefficients, 0.0)
