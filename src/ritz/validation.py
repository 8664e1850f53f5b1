"""Checks of arguments, and the one error sentence: what must be, what came, what to do."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _get_feature_names

Array = NDArray[np.float64]
# The names of the columns of a view, or None where they have none.
Names = tuple[str, ...] | None


def parameter_error(
    name: str,
    requirement: str,
    got: object,
    remedy: str = "",
    *,
    kind: type[Exception] = ValueError,
) -> Exception:
    """Return an error that says what an argument must be, what came instead, and the remedy."""
    text = f"The {name!r} parameter must be {requirement}. Got {got} instead."
    return kind(f"{text} {remedy}" if remedy else text)


def as_real(value: Any, name: str) -> Array:
    """Return real numbers as a float64 array of any shape; raise for anything else."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise parameter_error(name, "an array without masked entries", "a masked array")
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        value = value.detach().cpu().numpy()
    try:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise ValueError(f"dtype {array.dtype} is not real")
        if array.dtype == object and any(item is None for item in array.flat):
            raise ValueError("None is not a number")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        got = type(value).__name__
        raise parameter_error(name, "real, an array of numbers", got, f"({error})") from None


def as_number(
    value: Any, name: str, requirement: str = "a finite number", lowest: float = -np.inf
) -> float:
    """Return a finite number that is at least `lowest`."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool | str) or not isfinite(number) or number < lowest:
        raise parameter_error(name, requirement, repr(value))
    return number


def as_count(value: Any, name: str, requirement: str = "a positive integer") -> int:
    """Return a positive integer."""
    if type(value) is int and value >= 1:
        return value
    number = as_number(value, name, requirement, lowest=1)
    if number != int(number):
        raise parameter_error(name, requirement, repr(value))
    return int(number)


def as_multi_index(alpha: Any, dimension: int, name: str = "alpha") -> tuple[int, ...]:
    """Return a multi-index: one nonnegative integer for each of `dimension` coordinates."""
    try:
        index = tuple(int(a) for a in alpha)
        valid = len(index) == dimension and min(index) >= 0 and index == tuple(alpha)
    except (TypeError, ValueError):
        valid = False
    if not valid:
        example = (1,) + (0,) * (dimension - 1)
        remedy = f"The derivative along the first coordinate is {example}."
        requirement = f"{dimension} nonnegative integers, one a coordinate"
        raise parameter_error(name, requirement, repr(alpha), remedy)
    return index


def as_rows(X: Any, name: str = "X", dimension: int | None = None) -> Array:
    """Return X as a finite, contiguous float64 array (n, d)."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        remedy = "Call X.toarray() first."
        raise parameter_error(name, "a dense array", "a sparse matrix", remedy, kind=TypeError)
    try:
        array = as_real(X, name)
    except ValueError as error:
        hint = "ritz.Batches reads arrays that come one by one"
        raise ValueError(f"{error} It must be a numeric array (n, d); {hint}.") from None
    if array.ndim != 2:
        remedy = ""
        if array.ndim == 1:
            remedy = "A single column needs X.reshape(-1, 1), a single point X.reshape(1, -1)."
        elif array.ndim == 3:
            remedy = "A list of batches needs ritz.Batches(list)."
        raise parameter_error(name, "an array (n, d)", f"shape {array.shape}", remedy)
    require_columns(array, dimension, name)
    array = as_contiguous(array)
    require_finite(array, name)
    return array


def as_contiguous(array: NDArray[Any]) -> Array:
    """Return a float64 array that is contiguous, aligned and in native byte order."""
    return np.require(array, np.dtype(np.float64), ["C_CONTIGUOUS", "ALIGNED"])


def require_columns(array: NDArray[Any], dimension: int | None, name: str) -> None:
    """Raise unless an array (n, d) has `dimension` columns, or at least one where that is None."""
    columns = array.shape[1]
    if columns == 0:
        got = f"shape {array.shape}"
        raise parameter_error(name, "an array with at least one column", got)
    if dimension is not None and columns != dimension:
        requirement = f"an array with {dimension} columns"
        raise parameter_error(name, requirement, f"{columns} columns")


def column_names(X: Any) -> Names:
    """Return the names of the columns of a frame, as scikit-learn sees them, else None."""
    names = _get_feature_names(X)
    return None if names is None else tuple(map(str, names))


def require_names(names: Names, expected: Names, name: str) -> None:
    """Raise where columns have other names than expected; names that are unknown fit any."""
    if names is not None and expected is not None and names != expected:
        remedy = "The feature names and their order are those of the first data."
        raise parameter_error(name, f"data with columns {expected}", f"columns {names}", remedy)


def require_finite(array: Array, name: str, first_row: int = 0) -> None:
    """Raise unless every entry is finite, naming the first row and column that is not."""
    # The extremes are finite only if every entry is, and need no array of booleans.
    if not array.size or (isfinite(array.max()) and isfinite(array.min())):
        return
    bad = ~np.isfinite(array)
    place = np.argwhere(bad)[0]
    where = f"{array[tuple(place)]}"
    if array.ndim > 0:
        where += f" in row {first_row + place[0]}"
    if array.ndim > 1:
        where += f", column {place[1]}"
    got = f"{where} ({int(bad.sum())} such entries)"
    raise parameter_error(name, "finite", got, "Drop or impute them first.")


def as_weights(weight: Any, n: int, name: str = "sample_weight") -> Array:
    """Return weights (n,) that are finite and nonnegative; None means one for each row."""
    if weight is None:
        return np.ones(n)
    array = as_contiguous(as_real(weight, name))
    if array.shape != (n,):
        raise parameter_error(name, f"an array of shape ({n},)", f"shape {array.shape}")
    require_finite(array, name)
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            got = f"weights up to {array.max():.2g}, whose sum overflows"
            raise parameter_error(name, "summable", got, "Scale them.")
    if n and array.min() < 0:
        row = int(array.argmin())
        got = f"{array[row]} in row {row}"
        raise parameter_error(name, "nonnegative", got, "Drop such rows instead.")
    if n and 0 < array.max() < np.finfo(np.float64).tiny:
        got = f"weights up to {array.max():.2g}, whose products underflow"
        raise parameter_error(name, "large enough to multiply by", got, "Scale them.")
    return array


def evaluate_field(
    field: Any, X: Array, index: NDArray[np.intp], name: str, ndim: int | None = None
) -> Array:
    """Evaluate a field on a block: a function of the points, or an array with one entry a row.

    Parameters
    ----------
    field
        A callable of the points (b, d), or an array whose first axis is the rows of the data.
    X, index
        The points of the block and their row numbers.
    name
        The argument's name, for errors.
    ndim
        The number of axes that the result must have, the first being the rows; None for any.
    """
    if callable(field):
        name = f"{name} (called on rows of shape {X.shape})"
        array = as_real(field(X), name)
    elif len(index) and index.max() >= len(field):
        requirement = "an array with as many rows as the data"
        raise parameter_error(name, requirement, f"{len(field)} rows")
    else:
        array = np.asarray(field[index], dtype=np.float64)
    if ndim is not None and (array.ndim != ndim or len(array) != len(X)):
        axes = ", ".join([str(len(X)), *"?" * (ndim - 1)])
        requirement = f"an array of shape ({axes})"
        raise parameter_error(name, requirement, f"shape {array.shape}")
    require_finite(array, name)
    return array
