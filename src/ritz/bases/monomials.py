"""Polynomials up to a degree, in a well-conditioned basis."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import PolynomialFeatures

from ritz.bases.basis import MOST_FUNCTIONS, Basis, RandomState, as_pilot
from ritz.features import CachedJet, DenseGradients, Gradients, Jet, Values
from ritz.kernels.dot import MOST_DEGREES
from ritz.namespaces import namespace, zeros
from ritz.rows import random_integers, sample_rows
from ritz.validation import (
    Array,
    as_count,
    as_multi_index,
    parameter_error,
    require_columns,
)


@dataclass(frozen=True, eq=False, repr=False)
class OrthogonalPolynomials(Basis):
    """Products of polynomials of one coordinate each, given by three-term recurrences.

    For coordinate i: b_(s+1) P_(s+1)(x) = (x - a_s) P_s(x) - b_s P_(s-1)(x), P_0 = 1.

    Parameters
    ----------
    a, b
        Recurrence coefficients (d, degree) and (d, degree + 1).
    powers
        The degree (p, d) of each function in each coordinate.
    """

    file_tag: ClassVar[str] = "OrthogonalPolynomials"

    a: Array
    b: Array
    powers: NDArray[np.int64]

    def __post_init__(self) -> None:
        d, degree = self.a.shape if self.a.ndim == 2 else (0, 0)
        if not d or degree > MOST_DEGREES:
            what = f"an array (d, degree) of a degree up to {MOST_DEGREES:,}"
            raise parameter_error("a", what, f"shape {self.a.shape}")
        if self.b.shape != (d, degree + 1):
            raise parameter_error("b", f"of shape {(d, degree + 1)}", f"shape {self.b.shape}")
        if self.b.min(initial=1) <= 0:
            raise parameter_error("b", "positive", self.b.min())
        powers = self.powers
        if powers.ndim != 2 or powers.shape[1] != d or powers.dtype.kind not in "iu":
            got = f"{powers.dtype} of shape {powers.shape}"
            raise parameter_error("powers", f"an array of integers (p, {d})", got)
        if powers.size and not 0 <= powers.min() <= powers.max() <= degree:
            got = f"{powers.min()} to {powers.max()}"
            raise parameter_error("powers", f"between 0 and {degree}", got)

    @property
    def size(self) -> int:
        return int(self.powers.shape[0])

    @property
    def dimension(self) -> int | None:
        return int(self.a.shape[0])

    @property
    def portable(self) -> bool:
        return True

    def jet(self, X: Array) -> Jet:
        return PolynomialJet(self, X)

    def table(self, X: Array, order: int) -> Array:
        """Return P_s^(order) (degree + 1, b, d) of each coordinate.

        The recurrence differentiated m times: b_(s+1) P_(s+1)^(m) = (x - a_s) P_s^(m)
        + m P_s^(m-1) - b_s P_(s-1)^(m).
        """
        degree = self.a.shape[1]
        tables: Array = zeros((order + 1, degree + 1, *X.shape), X)
        tables[0, 0, ...] = 1.0
        for s in range(degree):
            for m in range(order + 1):
                step = (X - self.a[:, s]) * tables[m, s, ...]
                if m:
                    step += m * tables[m - 1, s, ...]
                if s:
                    step -= self.b[:, s] * tables[m, s - 1, ...]
                tables[m, s + 1, ...] = step / self.b[:, s + 1]
        return tables[order, ...]


class PolynomialJet(CachedJet):
    """Products of one-coordinate polynomials and their derivatives at some points."""

    def __init__(self, basis: OrthogonalPolynomials, X: Array) -> None:
        require_columns(X, basis.dimension, "points")
        self.basis, self.X = basis, X
        self._tables: dict[int, Array] = {}

    def _at(self, X: Array) -> Jet:
        return PolynomialJet(self.basis, X)

    def _table(self, order: int) -> Array:
        if order not in self._tables:
            self._tables[order] = self.basis.table(self.X, order)
        return self._tables[order]

    def _product(self, alpha: tuple[int, ...]) -> Array:
        xp = namespace(self.X)
        result: Array = zeros((self.X.shape[0], self.basis.size), self.X) + 1.0
        for i, order in enumerate(alpha):
            powers = self.basis.powers[:, i]
            if order or xp.any(powers != 0):
                result *= xp.take(self._table(order)[:, :, i], powers, axis=0).T
        return result

    def _value(self) -> Values:
        return Values(self._product((0,) * self.X.shape[1]), 1.0)

    def _gradient(self) -> Gradients:
        axes = np.eye(self.X.shape[1], dtype=int).tolist()
        partials = [self._product(tuple(axis)) for axis in axes]
        return DenseGradients(namespace(self.X).stack(partials, axis=1))

    def partial(self, alpha: tuple[int, ...]) -> Values:
        alpha = as_multi_index(alpha, self.X.shape[1])
        return Values(self._product(alpha), 0.0) if any(alpha) else self.value


@dataclass(frozen=True, eq=False)
class Monomials:
    """All polynomials up to a total degree.

    They are products of polynomials of one coordinate that are orthonormal over a sample of the
    data, which span the same space as monomials and keep matrices well conditioned.

    Parameters
    ----------
    degree
        The total degree, from 1 to 1,000. The constant is not among the functions: sums add it.
    """

    file_tag: ClassVar[str] = "Monomials"

    degree: int

    pilot_rows = 10_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", as_count(self.degree, "degree", highest=MOST_DEGREES))

    def fit(self, X: Array, random_state: RandomState = None) -> OrthogonalPolynomials:
        """Make the polynomials orthonormal over rows of X (m, d)."""
        X = as_pilot(X)
        size = comb(X.shape[1] + self.degree, self.degree) - 1
        if size > MOST_FUNCTIONS:
            requirement = f"such that there are at most {MOST_FUNCTIONS:,} polynomials"
            got = f"{self.degree}, which makes {size:.3g} of {X.shape[1]} columns"
            raise parameter_error("degree", requirement, got, "Lower it, or use ritz.Nystrom.")
        pilot = X[sample_rows(X, self.pilot_rows, *random_integers(random_state, 1))]
        a, b, top = recurrence(pilot, self.degree)
        powers = multi_indices(X.shape[1], self.degree)[1:]
        return OrthogonalPolynomials(a, b, powers[(powers <= top).all(axis=1)])


def multi_indices(dimension: int, degree: int) -> NDArray[np.int64]:
    """List all multi-indices (p, d) of total degree up to `degree`, by degree."""
    features = PolynomialFeatures(degree).fit(np.zeros((1, dimension)))
    return np.asarray(features.powers_, dtype=np.int64)


def recurrence(X: Array, degree: int) -> tuple[Array, Array, NDArray[np.int64]]:
    """Compute the recurrence of polynomials orthonormal over each column of X (Stieltjes).

    Returns
    -------
    a (d, degree), b (d, degree + 1), and the highest degree (d,) that is independent on each
    column: one less than the number of its distinct values.
    """
    n, d = X.shape
    # Values that differ by rounding only are one value.
    steps = np.diff(np.sort(X, axis=0), axis=0)
    distinct = 1 + (steps > 1e-12 * np.abs(X).max(axis=0)).sum(axis=0)
    top = np.minimum(distinct - 1, degree)
    a, b = np.zeros((d, degree)), np.ones((d, degree + 1))
    before, now = np.zeros((n, d)), np.ones((n, d))
    for s in range(degree):
        a[:, s] = (X * now**2).mean(axis=0)
        step = (X - a[:, s]) * now - b[:, s] * before * (s > 0)
        norm = np.sqrt((step**2).mean(axis=0))
        b[:, s + 1] = np.where((s < top) & (norm > 0), norm, 1.0)
        before, now = now, np.where(s < top, step / b[:, s + 1], 0.0)
    return a, b, top
