"""The units of columns and the length of rows: as they are, or standard ones."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ritz.devices import DeviceRows
from ritz.estimators.advice import unequal_columns
from ritz.rows import small_parts
from ritz.selection.rows import Rows, StreamRows, WeightedRows
from ritz.sparse import SparseRows
from ritz.streams import Samples
from ritz.validation import Array, as_choice

# Units are rounded to so many bits, since blocks of rows add up with different rounding errors.
UNIT_BITS = 30


@dataclass(frozen=True, eq=False)
class Units:
    """What is done to rows before an operator sees them.

    Parameters
    ----------
    scale
        The units (d,) that columns are divided by, or None.
    metric
        "euclidean", or "cosine" for rows that are then divided by their lengths.
    """

    scale: Array | None = None
    metric: str = "euclidean"

    def __call__(self, X: Any) -> Any:
        """Return rows (n, d) in these units, sparse where they are."""
        X = in_units(X, self.scale)
        return of_unit_length(X) if self.metric == "cosine" else X

    def of(self, data: Rows) -> Rows:
        """Return the rows of a fit in these units."""
        if not str(self):
            return data
        if isinstance(data, StreamRows):
            data.samples.keep()
            return replace(data, samples=Samples(data.samples.stream.in_units(self)))
        assert isinstance(data, WeightedRows)
        return replace(data, X=self(data.X))

    def in_columns(self, X: Array, slopes: Array) -> Array:
        """Return derivatives in the columns of X (n, d) from those in these units, (n, d, k)."""
        if self.metric == "cosine":
            # The derivative of u = x / |x| is (I - u u') / |x|.
            length, unit = lengths(in_units(X, self.scale)), self(X)
            along = np.einsum("nd,ndk->nk", unit, slopes)
            slopes = (slopes - unit[:, :, None] * along[:, None]) / length[:, None, None]
        return slopes if self.scale is None else slopes / self.scale[:, None]

    def __str__(self) -> str:
        parts = ["columns in standard deviations"] if self.scale is not None else []
        return ", ".join(parts + ["rows of length 1"] * (self.metric == "cosine"))

    def named(self, spectrum: Any) -> Any:
        """Return a spectrum whose operator's name says in which units it is."""
        return replace(spectrum, operator=f"{spectrum.operator}, {self}") if str(self) else spectrum


class UnitsMixin:
    """An estimator whose functions take rows in units of their own."""

    scale_: Array | None
    metric: Any

    @property
    def units_(self) -> Units:
        """The function that puts rows in the units of the fit."""
        return Units(self.scale_, self.metric)


def warns_of_units(estimator: Any) -> bool:
    """Return whether to warn of columns of very different widths after a fit that kept them."""
    kept = estimator.scale is not None and estimator.scale_ is None
    return isinstance(estimator.operator, str) and kept and estimator.metric == "euclidean"


def chosen_scale(scale: Any, data: Rows, free: bool, seed: int) -> Array | None:
    """Return the units (d,) that columns are divided by, or None where they stay as they are.

    Parameters
    ----------
    scale
        "auto", "standard" or None, as given to an estimator.
    data
        The rows with their weights.
    free
        Whether "auto" may change units: not where the operator has units of its own.
    seed
        The seed of the rows that are looked at.
    """
    if scale is not None:
        scale = as_choice(scale, "scale", ("auto", "standard"), "None")
    if scale is None or (
        scale == "auto" and not (free and unequal_columns(data, seed) is not None)
    ):
        return None
    # Rows are chosen by hashes of their bytes, which rounding errors of units would change.
    fraction, exponent = np.frexp(deviations(data))
    return np.ldexp(np.round(fraction * 2.0**UNIT_BITS) / 2.0**UNIT_BITS, exponent)


def deviations(data: Rows) -> Array:
    """Return the standard deviation (d,) of each column, 1 where it does not vary."""
    # Each column is divided by its size first, so that squares neither overflow nor underflow.
    size = data.total(partial(_sizes, data.dimension), np.maximum)
    size = np.where(size > 0, size, 1.0)

    def mean(power: int, center: Any) -> Array:
        totals = data.total(partial(_powers, size, center, power), operator.add)
        return np.asarray(totals[1:] / totals[0])

    spread = np.sqrt(mean(2, mean(1, 0.0)))
    return np.where(spread > 1e-14, size * spread, 1.0)


def _sizes(dimension: int, parts: Iterator[WeightedRows]) -> Array:
    """Return the largest absolute value (d,) of each column."""
    size = np.zeros(dimension)
    for part in parts:
        size = np.maximum(size, np.abs(np.asarray(part.X)).max(axis=0, initial=0.0))
    return size


def _powers(size: Array, center: Any, power: int, parts: Iterator[WeightedRows]) -> Array:
    """Return the total weight, and the weighted sum of powers of each column (1 + d,)."""
    totals = np.zeros(1 + len(size))
    for part in parts:
        totals[0] += part.weight.sum()
        totals[1:] += part.weight @ (np.asarray(part.X) / size - center) ** power
    return totals


def in_units(X: Any, scale: Array | None) -> Any:
    """Return rows (n, d) with each column divided by its unit, sparse where they are."""
    if scale is None:
        return X
    if isinstance(X, SparseRows):
        # By the same quotients, to the last bit, as dense rows: folds follow from their hashes.
        return SparseRows(divided(X.matrix, scale[X.matrix.indices]))
    if isinstance(X, DeviceRows):
        return X.divided(scale)
    return np.asarray(X / scale, dtype=X.dtype)


def of_unit_length(X: Any) -> Any:
    """Return rows (n, d), each divided by its length; rows of zeros stay zeros."""
    length = np.concatenate([np.empty(0), *(lengths(np.asarray(X[p])) for p in small_parts(X))])
    if isinstance(X, SparseRows):
        return SparseRows(divided(X.matrix, np.repeat(length, np.diff(X.matrix.indptr))))
    if isinstance(X, DeviceRows):
        # By the same lengths, to the last bit, as rows of NumPy: folds follow from their hashes.
        return X.divided(length[:, None])
    return np.asarray(X / length[:, None], dtype=X.dtype)


def divided(matrix: Any, by: Array) -> Any:
    """Return a sparse matrix whose stored numbers are divided by as many others."""
    result = matrix.copy()
    result.data = (matrix.data / by).astype(matrix.dtype)
    return result


def lengths(X: Array) -> Array:
    """Return the length (n,) of each row, 1 of a row of zeros."""
    # Squares of rows divided by their sizes neither overflow nor underflow.
    size = np.abs(X).max(axis=1, initial=0.0).astype(np.float64)
    size[size == 0] = 1.0
    roots = np.sqrt(((X / size[:, None]) ** 2).sum(axis=1))
    return np.asarray(np.where(roots > 0, size * roots, 1.0))
