"""Additive sufficient statistics of a fit, kept apart for each fold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.bases import Centered
from ritz.forms import Form
from ritz.validation import Array, as_count, parameter_error, require_names

Folds = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Matrices:
    """The matrices of a form and of the scalar products, sums or averages, the function 1 first.

    Parameters
    ----------
    L
        E[H(f_i, g_j, X)], (1 + p, 1 + q).
    Phi, Psi
        E[f_i f_j] and E[g_i g_j]; the same matrix where both sides share their functions.
    """

    L: Array
    Phi: Array
    Psi: Array


@dataclass(frozen=True, eq=False, repr=False)
class Sums:
    """Sums over rows of H(f_i, g_j, x), f_i f_j and g_i g_j, for each fold.

    Sums of disjoint data over the same functions can be added; subtraction removes data again, from
    the folds it was in if its `first_row` is the same.

    Parameters
    ----------
    form
        The operator.
    left, right
        The functions f and g, without the function 1, which comes first in the matrices.
    weight, count
        Total weight and number of rows (folds,).
    L, Phi, Psi
        Sums (1 + p, 1 + q), (1 + p, 1 + p) and (1 + q, 1 + q) of each fold; Psi is Phi where both
        sides share functions.
    """

    form: Form
    left: Centered
    right: Centered
    weight: Array
    count: NDArray[np.int64]
    L: Folds
    Phi: Folds
    Psi: Folds

    def __repr__(self) -> str:
        sizes = f"{self.left.size} by {self.right.size}"
        return f"<Sums of {self.form}: {self.n_rows:,} rows, {sizes} functions>"

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return len(self.weight)

    @property
    def n_rows(self) -> int:
        """The number of rows of positive weight."""
        return int(self.count.sum())

    def __add__(self, other: Sums) -> Sums:
        return self._combine(other, 1) if isinstance(other, Sums) else NotImplemented

    def __radd__(self, other: object) -> Sums:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Sums) -> Sums:
        return self._combine(other, -1) if isinstance(other, Sums) else NotImplemented

    def _combine(self, other: Sums, sign: int) -> Sums:
        if self.form.needs_all_rows:
            raise ValueError(f"Sums of {self.form} belong to all rows together and do not add up.")
        difference = self.form.difference(other.form)
        if difference:
            raise ValueError(f"Sums of different operators do not add up: {difference}.")
        if self.n_folds != other.n_folds:
            requirement = f"the same, {self.n_folds}"
            raise parameter_error("n_folds", requirement, other.n_folds)
        for side in ("left", "right"):
            require_names(getattr(other, side).names, getattr(self, side).names, "sums")
            if not same_functions(getattr(self, side), getattr(other, side)):
                raise ValueError(
                    "Sums add only over the same functions, fixed by the same sample. Pass those "
                    "of the first sums to the second: `assemble(form, sums.left, X)`, or "
                    "(sums.left, sums.right)."
                )

        def combined(ours: Folds, theirs: Folds) -> Folds:
            return tuple(a + sign * b for a, b in zip(ours, theirs, strict=True))

        L, Phi = combined(self.L, other.L), combined(self.Phi, other.Phi)
        Psi = Phi if self.Psi is self.Phi else combined(self.Psi, other.Psi)
        weight = self.weight + sign * other.weight
        count = self.count + sign * other.count
        if (count < 0).any():
            raise ValueError("Sums can be subtracted only from sums that contain them.")
        return Sums(self.form, self.left, self.right, weight, count, L, Phi, Psi)

    def of(self, folds: Iterable[int]) -> Sums:
        """Return the sums over some of the folds."""
        if not isinstance(folds, Iterable):
            raise parameter_error("folds", "numbers of folds", repr(folds), kind=TypeError)
        some = [as_count(fold, "folds", "numbers of folds", lowest=0) for fold in folds]
        if len(set(some)) < len(some) or max(some, default=0) >= self.n_folds:
            raise parameter_error("folds", f"different numbers below {self.n_folds}", some)
        L, Phi = (tuple(sums[fold] for fold in some) for sums in (self.L, self.Phi))
        Psi = Phi if self.Psi is self.Phi else tuple(self.Psi[fold] for fold in some)
        weight, count = self.weight[some], self.count[some]
        return replace(self, weight=weight, count=count, L=L, Phi=Phi, Psi=Psi)

    def mean(self, without: int | None = None) -> Matrices:
        """Return the averages over all rows, or over all but those of one fold."""
        if without is not None and without not in range(self.n_folds):
            raise parameter_error("without", f"None or a fold below {self.n_folds}", repr(without))
        folds = [fold for fold in range(self.n_folds) if fold != without]
        total = self.weight[folds].sum()
        if total <= 0:
            raise ValueError("There is no weight left to average over.")

        def average(sums: Folds, symmetric: bool) -> Array:
            matrix = sums[folds[0]] / total
            for fold in folds[1:]:
                matrix += sums[fold] / total
            if symmetric:
                matrix += matrix.T
                matrix /= 2
            return np.asarray(matrix)

        L, Phi = average(self.L, self.form.symmetric), average(self.Phi, True)
        return Matrices(L, Phi, Phi if self.Psi is self.Phi else average(self.Psi, True))


def same_functions(a: Centered, b: Centered) -> bool:
    """Return whether two bases are equal in all their numbers, and agree at some points.

    What they know of repeated rows must not differ, either: it decides the folds of rows.
    """
    if a is b:
        return True
    if None not in (a.repeats, b.repeats) and a.repeats != b.repeats:
        return False
    if not (equal_numbers(a.offset, b.offset) and equal_numbers(a.basis, b.basis)):
        return False
    points = np.random.default_rng(0).normal(size=(4, a.dimension or 1))
    return bool(np.array_equal(a.at_rows(points), b.at_rows(points)))


def equal_numbers(a: Any, b: Any) -> bool:
    """Return whether two values have equal fields, but for functions and other opaque objects."""
    if isinstance(a, np.ndarray) or type(a) is not type(b):
        return bool(np.array_equal(a, b)) if isinstance(b, np.ndarray) else False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal_numbers, a, b))
    if is_dataclass(a):
        return all(equal_numbers(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b) if isinstance(a, bool | int | float | str) else True
