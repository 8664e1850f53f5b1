"""Checks of what users pass to an estimator, in scikit-learn's terms."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ritz.validation import (
    SMALLEST_SIZE,
    Array,
    Names,
    as_numeric,
    as_weights,
    computed,
    parameter_error,
    require_size,
    split_missing,
)


def checked_rows(estimator: Any, X: Any, *, reset: bool, at_least: int = 1) -> NDArray[Any]:
    """Return X (n, d) as finite float64 or float32 numbers; an error names the first bad column.

    Parameters
    ----------
    estimator
        The estimator, which holds the number and the names of the columns.
    X
        The rows, as an array or a frame.
    reset
        Whether the columns are those of a new fit, or must be those of the last one.
    at_least
        The smallest number of rows.
    """
    plain = type(X) in (np.ndarray, np.memmap) and X.dtype.kind in "fiub"
    # scikit-learn names no argument, and takes masked entries and dates for numbers.
    if not (plain or issparse(X)):
        X = computed(X)
        numbers = as_numeric(X, "X", allow_missing=False)
        # A frame has names, which scikit-learn keeps.
        X = X if hasattr(X, "columns") else numbers
    X = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        ensure_min_samples=at_least,
        ensure_all_finite=False,
    )
    # The extremes are finite only if all numbers are, and need no memory.
    if not (np.isfinite(X.max(initial=0)) and np.isfinite(X.min(initial=0))):
        row, column = np.argwhere(~np.isfinite(X))[0]
        names = getattr(estimator, "feature_names_in_", None)
        name = f"column {column}" if names is None else f"column {names[column]!r}"
        value = "NaN" if np.isnan(X[row, column]) else "inf (infinity)"
        got = f"{value} in row {row}, {name}"
        raise parameter_error("X", "finite", got, "Drop or impute such rows first.")
    require_size(X, "X", SMALLEST_SIZE if reset else 0.0)
    return X  # type: ignore[no-any-return]


def names_of(estimator: Any) -> Names:
    """Return the names of the columns that an estimator was fitted to, if they had any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def set_names(estimator: Any, names: Names) -> None:
    """Let an estimator that was fitted to sums or a stream expect columns of their names."""
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def checked_weights(sample_weight: Any, X: NDArray[Any]) -> Array:
    """Return one nonnegative weight for each row of X, 1 by default."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(len(X), sample_weight)
    weight = as_weights(sample_weight, len(X))
    if not weight.any():
        raise parameter_error("sample_weight", "positive for some rows", "only zero weights")
    return weight


def require_y(estimator: Any, y: Any) -> None:
    """Raise unless a target is given."""
    if y is None:
        what = "requires y to be passed, but the target y is None"
        raise ValueError(f"{type(estimator).__name__} {what}.")


def require_aligned(y: Any, n: int) -> None:
    """Raise unless a target (n,) or (n, outputs) has as many rows as X; none is complex."""
    array = split_missing(y, "y")[0]
    if array.ndim not in (1, 2) or len(array) != n:
        raise parameter_error("y", f"an array with {n} rows, as X", f"shape {array.shape}")
    if array.dtype.kind == "c":
        raise parameter_error("y", "real", f"dtype {array.dtype}", "(Complex data not supported)")


def determination(predicted: Array, y: Any, sample_weight: Any) -> float:
    """Return the coefficient of determination on the rows whose target y is known, not NaN."""
    y = np.asarray(as_numeric(y, "y"), dtype=np.float64)
    targets, predicted = (a[:, None] if a.ndim == 1 else a for a in (y, predicted))
    if targets.shape != predicted.shape:
        n, outputs = predicted.shape
        expected = (n,) if outputs == 1 else (n, outputs)
        raise parameter_error("y", f"of shape {expected}", f"shape {y.shape}")
    require_size(y, "y")
    rows, weight = known_rows(~np.isnan(targets.sum(axis=1)), sample_weight)
    return float(r2_score(targets[rows], predicted[rows], sample_weight=weight))


def known_rows(
    known: NDArray[np.bool_], sample_weight: Any
) -> tuple[NDArray[np.intp], Array | None]:
    """Return the numbers of the rows that have a target, and their weights, if any are given."""
    if not known.any():
        raise parameter_error("y", "known for at least one row", "no row with a target")
    weight = None if sample_weight is None else as_weights(sample_weight, len(known))[known]
    if weight is not None and not weight.any():
        raise parameter_error("sample_weight", "positive for some rows", "only zero weights")
    return np.flatnonzero(known), weight


def seed_of(random_state: Any) -> int:
    """Return a seed drawn from a generator, a seed or None, as scikit-learn takes them."""
    try:
        generator = check_random_state(random_state)
    except ValueError:
        what = "None, an integer from 0 to 2**32 - 1 or a numpy.random.RandomState"
        raise parameter_error("random_state", what, repr(random_state)) from None
    return int(generator.randint(2**31 - 1))
