"""Values and derivatives observed at rows, in units where all of them are of order one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, hash_rows
from ritz.bases.functionals import Functionals

SAME = 1e-20


@dataclass(frozen=True, eq=False)
class Units:
    """The change of units x = center + spread x', f = level + size f'.

    By the chain rule a derivative along u in x is, in x', one along u / spread.
    """

    center: Array
    spread: Array
    level: Array
    size: Array


@dataclass(frozen=True, eq=False)
class Part:
    """What was observed at some rows, in units of its own.

    Parameters
    ----------
    X
        Points (b, d).
    y, known
        Values (b, outputs), zero where unknown, and the weight (b,) of each, zero where unknown.
    t, told
        Derivatives (b, r, outputs) and the weight (b, r) of each, zero where unknown.
    U
        Their directions (b, d, r) of unit length, or None where they are the partial derivatives.
    squares, count
        The weighted squares (2, outputs) about the means that rows merged into one have, and how
        many numbers there were before.
    merged_away
        How many values and derivatives (2,) were merged into others that are not the same.
    first
        The number, among all rows, of the first that each row stands for.
    """

    X: Array
    y: Array
    known: Array
    t: Array
    told: Array
    U: Array | None
    squares: Array
    count: int
    merged_away: tuple[int, int] = (0, 0)
    first: NDArray[np.intp] | None = None

    def merged(self) -> Part:
        """Return each point once, with the means of what was observed there, in a fixed order."""
        if self.U is not None:
            return self
        _, first, place = np.unique(hash_rows(self.X), return_index=True, return_inverse=True)

        def total(array: Array) -> Array:
            result = np.zeros((len(first), *array.shape[1:]))
            np.add.at(result, place, array)
            return result

        def repeated(there: NDArray[np.bool_]) -> Array:
            return total(there.astype(np.float64)) - 1.0

        known, told = total(self.known), total(self.told)
        y = total(self.known[:, None] * self.y) / np.where(known > 0, known, 1.0)[:, None]
        t = total(self.told[:, :, None] * self.t) / np.where(told > 0, told, 1.0)[:, :, None]
        values = self.known[:, None] * (self.y - y[place]) ** 2
        slopes = self.told[:, :, None] * (self.t - t[place]) ** 2
        squares = np.array([values.sum(axis=0), slopes.sum(axis=(0, 1))])
        away = tuple(
            # Rows that are equal in all are a weight; those that differ are repetitions.
            int((repeated(weight > 0) * (total(rest.sum(axis=-1)) > SAME)).sum())
            for weight, rest in ((self.known, values), (self.told, slopes))
        )
        kinds = (away[0], away[1])
        return Part(self.X[first], y, known, t, told, None, squares, self.count, kinds, first)

    def vectors(self, t: Array) -> Array:
        """Return sum_r told_r t_r u_r (b, d, outputs): what gradients are to be multiplied by."""
        weighted = self.told[:, :, None] * t
        return weighted if self.U is None else self.U @ weighted

    def directions(self) -> Array:
        """Return the directions (b, d, r), scaled by the roots of their weights."""
        root = np.sqrt(self.told)[:, None, :]
        return root * (np.eye(self.X.shape[1])[None] if self.U is None else self.U)

    def along(self, gradient: Array) -> Array:
        """Return the derivatives (b, r, outputs) of functions with gradients (b, d, outputs)."""
        return gradient if self.U is None else self.U.transpose(0, 2, 1) @ gradient

    def functionals(self) -> tuple[Functionals, Array, Array, NDArray[np.intp]]:
        """Return all that was observed one by one: functionals, numbers, weights, and rows."""
        rows = np.flatnonzero(self.known > 0)
        row, column = np.nonzero(self.told > 0)
        if self.U is None:
            slopes = Functionals.partials(self.X, row, column)
        else:
            slopes = Functionals.along(self.X[row], self.U[row, :, column])
        return (
            Functionals.at(self.X[rows]) + slopes,
            np.concatenate([self.y[rows], self.t[row, column]]),
            np.concatenate([self.known[rows], self.told[row, column]]),
            np.concatenate([rows, row]),
        )


@dataclass(frozen=True, eq=False)
class Observations:
    """Arrays of values and derivatives, NaN where they were not observed.

    Parameters
    ----------
    y
        Values (n, outputs).
    t
        Derivatives (n, r, outputs), or None.
    U
        Their directions (n, d, r), or None for partial derivatives.
    weight, slope_weight
        The weights (n,) of values and of derivatives.
    units
        The units to change to.
    """

    y: NDArray[Any]
    t: NDArray[Any] | None
    U: NDArray[Any] | None
    weight: Array
    slope_weight: Array
    units: Units

    @property
    def size(self) -> int:
        """How many values and derivatives there are, observed or not."""
        return len(self.y) * (1 if self.t is None else 1 + self.t.shape[1])

    def part(self, X: NDArray[Any], index: Any) -> Part:
        """Return what was observed at the rows with some numbers, whose points are X (b, d)."""
        units = self.units
        y = (np.asarray(self.y[index], dtype=np.float64) - units.level) / units.size
        known = np.asarray(~np.isnan(y).any(axis=1))
        b = len(X)
        U: Array | None = None
        if self.t is None:
            t = np.zeros((b, 0, y.shape[1]))
        else:
            t = np.asarray(self.t[index], dtype=np.float64) / units.size
            if self.U is None:
                t *= units.spread[:, None]
            else:
                U = np.asarray(self.U[index], dtype=np.float64) / units.spread[:, None]
                length = np.sqrt(np.einsum("kdr,kdr->kr", U, U))
                # Along no direction nothing is told.
                t = np.where(length[:, :, None] > 0, t, np.nan)
                length[length == 0] = 1.0
                U, t = U / length[:, None, :], t / length[:, :, None]
        told = np.asarray(~np.isnan(t).any(axis=2))
        weight = (known * self.weight[index], told * self.slope_weight[index][:, None])
        return Part(
            (np.asarray(X, dtype=np.float64) - units.center) / units.spread,
            np.where(known[:, None], y, 0.0),
            weight[0],
            np.where(told[:, :, None], t, 0.0),
            weight[1],
            U,
            np.zeros((2, y.shape[1])),
            int((weight[0] > 0).sum() + (weight[1] > 0).sum()),
        )
