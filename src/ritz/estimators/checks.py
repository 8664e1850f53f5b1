"""Checks of what users pass to an estimator, in scikit-learn's terms."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import validate_data

from ritz.devices import DeviceRows, as_device_rows, is_on_device
from ritz.progress import showing, tracked
from ritz.reading import computed, is_dask
from ritz.rows import small_parts
from ritz.sparse import canonical, is_sparse, require_finite_numbers
from ritz.streams import Stream, as_stream, is_streamed
from ritz.streams.dask import lazy_names, map_rows
from ritz.validation import (
    FILL,
    SMALLEST_SIZE,
    Array,
    Names,
    as_numeric,
    as_weights,
    parameter_error,
    require_host,
    require_names,
    require_size,
    split_missing,
)


class SparseInputMixin:
    """Say that X may be sparse: `checked_rows` then returns it as `SparseRows`."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


class DeviceInputMixin:
    """Say that X may be an array of torch or of the array API standard, on any device.

    `checked_rows` then returns it as `DeviceRows`; for other estimators NumPy reads it.
    """


def checked_rows(estimator: Any, X: Any, *, reset: bool, at_least: int = 1) -> Any:
    """Return X (n, d) as finite float64 or float32 numbers; an error names the first bad column.

    A sparse X becomes `SparseRows`, where the estimator's tags allow it, and one on a device
    `DeviceRows` where it has a `DeviceInputMixin`.

    Parameters
    ----------
    estimator
        The estimator, which holds the number and the names of the columns.
    X
        The rows, as an array, a frame or a sparse matrix.
    reset
        Whether the columns are those of a new fit, or must be those of the last one.
    at_least
        The smallest number of rows.
    """
    if is_on_device(X) and isinstance(estimator, DeviceInputMixin):
        return checked_device_rows(estimator, X, reset, at_least)
    require_host(X, "X", f"{type(estimator).__name__} reads it by NumPy.")
    plain = type(X) in (np.ndarray, np.memmap) and X.dtype.kind in "fiub"
    # scikit-learn names no argument, and takes masked entries and dates for numbers.
    if not (plain or is_sparse(X)):
        X = computed(X)
        numbers = as_numeric(X, "X", allow_missing=False)
        # A frame has names, which scikit-learn keeps.
        X = X if hasattr(X, "columns") else numbers
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr" if get_tags(estimator).input_tags.sparse else False,
        dtype=[np.float64, np.float32],
        ensure_min_samples=at_least,
        ensure_all_finite=False,
    )
    smallest = SMALLEST_SIZE if reset else 0.0
    if is_sparse(X):
        rows = canonical(X)
        require_finite_numbers(rows, "X")
        require_size(rows.numbers, "X", smallest)
        return rows
    # The extremes are finite only if all numbers are, and need no memory.
    if not (np.isfinite(X.max(initial=0)) and np.isfinite(X.min(initial=0))):
        row, column = np.argwhere(~np.isfinite(X))[0]
        names = getattr(estimator, "feature_names_in_", None)
        name = f"column {column}" if names is None else f"column {names[column]!r}"
        value = "NaN" if np.isnan(X[row, column]) else "inf (infinity)"
        got = f"{value} in row {row}, {name}"
        raise parameter_error("X", "finite", got, FILL if value == "NaN" else "Drop such rows.")
    require_size(X, "X", smallest)
    return X


def checked_device_rows(estimator: Any, X: Any, reset: bool, at_least: int) -> DeviceRows:
    """Return an array (n, d) of torch or another library as finite rows on its device."""
    rows = as_device_rows(X)
    if len(rows) < at_least:
        what = f"an array with at least {at_least} row(s)"
        raise parameter_error("X", what, f"{len(rows)} sample(s)")
    validate_data(estimator, rows, reset=reset, skip_check_array=True)
    for part in small_parts(rows):
        rows.block(part, for_squares=True)
    return rows


def checked_stream(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    views: int = 1,
    sample_weight: Any = None,
    groups: Any = None,
) -> Stream:
    """Return rows that come in blocks as a stream; check the number and the names of its columns.

    The parameters are those of `checked_rows`, and how many views there must be.
    """
    stream = as_stream(X, views, sample_weight, groups)
    columns, names = stream.dimensions[0], stream.names[0]
    if reset:
        if stream.n_rows is not None and stream.n_rows < 2:
            raise parameter_error("X", "a stream of at least 2 rows", f"{stream.n_rows}")
        estimator.n_features_in_ = columns
        set_names(estimator, names)
        return stream
    if columns != (expected := estimator.n_features_in_):
        raise parameter_error("X", f"data with {expected} columns", f"{columns} columns")
    require_names(names, names_of(estimator), "X")
    return stream


def evaluated(estimator: Any, X: Any, function: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    """Return what a function makes of rows: of an array at once, of a stream block by block.

    The results of all blocks are in memory. Of a collection of dask a lazy array is returned, with
    the same chunks.
    """
    if not is_streamed(X):
        return function(checked_rows(estimator, X, reset=False))
    if is_dask(X):
        return lazily(estimator, X, function)
    stream = checked_stream(estimator, X, reset=False)
    with showing(getattr(estimator, "verbose", None)):
        blocks = tracked(stream.blocks(), "evaluating rows", stream.n_rows, len, "rows")
        parts = [function(block.views[0]) for block in blocks]
    if not parts:
        raise parameter_error("X", "rows", "none")
    return np.concatenate(parts)


def lazily(estimator: Any, X: Any, function: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    """Return the dask array of what a function makes of each chunk of rows, computed later."""
    require_names(lazy_names(X), names_of(estimator), "X")
    # What follows may treat it as an array.
    return cast(NDArray[Any], map_rows(function, X, estimator.n_features_in_))


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


def checked_weights(sample_weight: Any, X: Any) -> Array:
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
    y, predicted = np.asarray(as_numeric(y, "y"), dtype=np.float64), computed(predicted)
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
