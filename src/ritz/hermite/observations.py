"""Observed values and derivatives: the user's arrays, and batches of them in standard units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.hermite.functionals import Functionals
from ritz.hermite.units import Units
from ritz.rows import hash_rows, row_slices, sample_rows
from ritz.streams import ArrayStream
from ritz.streams.stream import CHUNK_ROWS
from ritz.validation import Array


@dataclass(frozen=True, eq=False)
class Batch:
    """A value and r derivatives at each of some rows, in standard units.

    Parameters
    ----------
    X
        Points (b, d).
    targets, weight
        The numbers (b, 1 + r, outputs), values first, and their weights (b, 1 + r). Both are zero
        where nothing was observed.
    directions
        The unit vectors (b, d, r) of the derivatives, or None for partial derivatives.
    first, squares, n_merged
        Where equal rows were merged: the first row (b,) of each set, the weighted squares
        (2, outputs) of values and of derivatives about their means, and how many of each (2,) were
        merged with numbers that differ.
    """

    X: Array
    targets: Array
    weight: Array
    directions: Array | None
    first: NDArray[np.intp]
    squares: Array
    n_merged: Array

    def merged(self) -> Batch:
        """Return each distinct row once, with the weighted means of what was observed there.

        Rows with different directions are distinct.
        """
        views, U = [self.X], self.directions
        if U is not None:
            views.append(U.reshape(len(U), -1))
        _, first, which = np.unique(hash_rows(*views), return_index=True, return_inverse=True)

        def total(array: Array) -> Array:
            result = np.zeros((len(first), *array.shape[1:]))
            np.add.at(result, which, array)
            return result

        weight = total(self.weight)
        means = total(self.weight[..., None] * self.targets)
        means /= np.where(weight > 0, weight, 1.0)[..., None]
        squares = self.weight[..., None] * (self.targets - means[which]) ** 2
        # Rows equal in all numbers are one row of a larger weight: only rows that differ, by more
        # than rounding (1e-10 in standard units), tell the noise.
        repeats = total((self.weight > 0).astype(np.float64)) - 1.0
        repeats *= total(squares.sum(axis=2)) > 1e-20
        return Batch(
            self.X[first],
            means,
            weight,
            None if U is None else U[first],
            first,
            by_kind(squares.sum(axis=0)),
            by_kind(repeats.sum(axis=0)),
        )

    def weighted_vectors(self, slopes: Array) -> Array:
        """Return sum_r w_r s_r u_r (b, d, outputs), for derivatives s (b, r, outputs)."""
        weighted = self.weight[:, 1:, None] * slopes
        return weighted if self.directions is None else self.directions @ weighted

    def scaled_directions(self) -> Array:
        """Return the directions (b, d, r) times the square roots of their weights."""
        root = np.sqrt(self.weight[:, None, 1:])
        return root * (np.eye(self.X.shape[1]) if self.directions is None else self.directions)

    def numbers(self) -> tuple[Functionals, Array, Array, NDArray[np.intp]]:
        """Return what has a positive weight one by one, first the values, then the derivatives.

        These are functionals (N,), targets (N, outputs), weights (N,), and rows (N,) of the batch.
        """
        rows = np.flatnonzero(self.weight[:, 0] > 0)
        row, column = np.nonzero(self.weight[:, 1:] > 0)
        if self.directions is None:
            slopes = Functionals.partials(self.X, row, column)
        else:
            slopes = Functionals.along(self.X[row], self.directions[row, :, column])
        return (
            Functionals.at(self.X[rows]) + slopes,
            np.concatenate([self.targets[rows, 0], self.targets[row, 1 + column]]),
            np.concatenate([self.weight[rows, 0], self.weight[row, 1 + column]]),
            np.concatenate([rows, row]),
        )


def by_kind(array: Array) -> Array:
    """Return the sums (2, ...) of an array (1 + r, ...) over values and over derivatives."""
    return np.array([array[0], array[1:].sum(axis=0)])


@dataclass(frozen=True, eq=False)
class Observations:
    """The user's rows X (n, d), and values and derivatives that are NaN where not observed.

    Parameters
    ----------
    X, values
        Rows (n, d), and values (n, outputs).
    slopes, directions
        Derivatives (n, r, outputs) or None, and their directions (n, d, r), or None for partial
        derivatives.
    weight, slope_weight
        The weights (n,) of values and of derivatives.
    has_value, has_slope
        Which rows (n,) have a value, or a derivative, of positive weight.
    units
        The standard units.
    """

    X: NDArray[Any]
    values: NDArray[Any]
    slopes: NDArray[Any] | None
    directions: NDArray[Any] | None
    weight: Array
    slope_weight: Array
    has_value: NDArray[np.bool_]
    has_slope: NDArray[np.bool_]
    units: Units

    @property
    def size(self) -> int:
        """How many values and derivatives there are, NaN included."""
        return len(self.X) * (1 if self.slopes is None else 1 + self.slopes.shape[1])

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which rows (n,) have an observation of positive weight."""
        return self.has_value | self.has_slope

    @cached_property
    def stream(self) -> ArrayStream:
        """The rows, with the larger one of both weights."""
        weight = self.weight
        if self.slope_weight is not weight:
            weight = np.maximum(weight, self.slope_weight)
        return ArrayStream((self.X,), weight)

    def batch(self, index: Any) -> Batch:
        """Return what was observed at the rows `index`."""
        units = self.units
        targets = (np.asarray(self.values[index], dtype=np.float64) - units.y_mean)[:, None]
        weight, U = self.weight[index][:, None], None
        if self.slopes is not None:
            t = np.asarray(self.slopes[index], dtype=np.float64)
            if self.directions is None:
                t = t * units.x_scale[:, None]
            else:
                # By the chain rule, the derivative along u is one along u / x_scale.
                U = np.asarray(self.directions[index], dtype=np.float64) / units.x_scale[:, None]
                length = np.sqrt(np.einsum("kdr,kdr->kr", U, U))
                # A derivative along the zero vector says nothing.
                t = np.where(length[:, :, None] > 0, t, np.nan)
                length[length == 0] = 1.0
                U, t = U / length[:, None, :], t / length[:, :, None]
            targets = np.concatenate([targets, t], axis=1)
            slope_weight = np.repeat(self.slope_weight[index][:, None], t.shape[1], axis=1)
            weight = np.concatenate([weight, slope_weight], axis=1)
        is_observed = np.asarray(~np.isnan(targets).any(axis=2))
        return Batch(
            units.standardize(np.asarray(self.X[index], dtype=np.float64)),
            np.where(is_observed[:, :, None], targets / units.y_scale, 0.0),
            is_observed * weight,
            U,
            np.arange(len(targets)),
            np.zeros((2, targets.shape[2])),
            np.zeros(2),
        )

    def total_weight(self) -> Array:
        """Return the total weights (2,) of the values and of the derivatives observed."""
        parts = row_slices(len(self.X), CHUNK_ROWS)
        sums = [by_kind(self.batch(rows).weight.sum(axis=0)) for rows in parts]
        return np.asarray(np.sum(sums, axis=0))


def observed_rows(array: NDArray[Any], weight: Array) -> NDArray[np.bool_]:
    """Return which rows (n,) of an array (n, ...) have a number that is not NaN, and a weight."""
    result = np.empty(len(array), dtype=bool)
    for part in row_slices(len(array), CHUNK_ROWS):
        numbers = np.asarray(array[part], dtype=np.float64).reshape(len(array[part]), -1)
        result[part] = (weight[part] > 0) & ~np.isnan(numbers).all(axis=1)
    return result


def subsample(observations: Observations, size: int, seed: int, with_slopes: bool) -> Batch:
    """Return some rows with at most about `size` numbers, equal rows merged.

    The numbers are values and derivatives, or values alone without slopes.
    """
    r = observations.slopes.shape[1] if with_slopes and observations.slopes is not None else 0
    m = max(size // (1 + r), min(30, size))
    rng = np.random.default_rng(seed)
    observed = np.flatnonzero(observations.observed)
    if len(observed) > 100_000:
        # Hashing so many rows would take longer than the fit of the sample.
        pick = np.sort(rng.choice(observed, min(m, len(observed)), replace=False))
    else:
        # By a hash of the rows, so that repeated rows count once.
        rows = np.asarray(observations.X, dtype=np.float64)[observed]
        chosen = rows[sample_rows(rows, m, seed)]
        pick = observed[np.isin(hash_rows(rows), hash_rows(chosen))]
    batch = observations.batch(pick).merged()
    numbers = len(batch.X) * (1 + r)
    if numbers > 2 * size:
        keep = rng.random((len(batch.X), batch.weight.shape[1] - 1)) < size / numbers
        batch = replace(
            batch, weight=np.column_stack([batch.weight[:, 0], batch.weight[:, 1:] * keep])
        )
    return batch
