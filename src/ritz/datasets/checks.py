"""Checks of arguments: each error names the argument, what it must be, and what came."""

from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Array", "Seed", "count", "lengths_of", "points", "real"]

Array = NDArray[np.float64]
Seed = int | np.random.Generator | None


def count(value: int, name: str, owner: str, at_least: int = 1) -> int:
    """Return an integer no smaller than `at_least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise ValueError(
            f"The '{name}' parameter of {owner} must be an integer, at least {at_least}. "
            f"Got {value!r} instead."
        )
    return int(value)


def real(value: float, name: str, owner: str, low: float, high: float, *, closed: bool) -> float:
    """Return a finite number in [low, high) if `closed`, else in (low, high)."""
    inside = isinstance(value, Real) and isfinite(value) and low <= value < high
    if not inside or (value == low and not closed):
        interval = f"{'[' if closed else '('}{low:g}, {high:g})"
        raise ValueError(
            f"The '{name}' parameter of {owner} must be a number in {interval}. "
            f"Got {value!r} instead."
        )
    return float(value)


def lengths_of(values: Sequence[float], name: str, owner: str) -> tuple[float, ...]:
    """Return a nonempty tuple of positive numbers."""
    if not isinstance(values, list | tuple | np.ndarray) or len(values) == 0:
        raise ValueError(
            f"The '{name}' parameter of {owner} must be a nonempty sequence of positive numbers. "
            f"Got {values!r} instead. Pass one length per circle, as in (1.0, 2.0)."
        )
    return tuple(real(v, name, owner, 0.0, np.inf, closed=False) for v in values)


def points(X: ArrayLike, dimension: int, name: str, owner: str) -> Array:
    """Return finite points as a float64 array of shape (n, dimension)."""
    array = np.asarray(X, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != dimension:
        remedy = "Pass one point per row"
        if array.ndim == 1:
            remedy += ": X[:, None] for many numbers, X[None, :] for a single point"
        raise ValueError(
            f"The '{name}' parameter of {owner} must have shape (n, {dimension}). "
            f"Got shape {array.shape} instead. {remedy}."
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"The '{name}' parameter of {owner} must be finite. "
            "Got NaN or infinite entries instead. Drop those rows first."
        )
    return array
