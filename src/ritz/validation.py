"""Checks of arguments, and the one error sentence: what must be, what came, what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite, prod
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _get_feature_names

from ritz.namespaces import device_of, is_device_array, namespace, on_host, placed, to_host
from ritz.reading import array_and_missing, computed, first_without_number, has_dates

Array = NDArray[np.float64]
# The names of the columns of a view, or None where they have none.
Names = tuple[str, ...] | None

# What to do about entries that are no finite numbers.
ENCODE = "Encode it, for example by sklearn.preprocessing.OneHotEncoder in a ColumnTransformer."
FILL = "Fill it, for example by sklearn.impute.SimpleImputer, or drop such rows."
# Folds, each with matrices of its own: more than this say nothing new about errors.
MOST_FOLDS = 1000
# The size of numbers whose squares, and sums of many squares, neither overflow nor underflow.
SMALLEST_SIZE, LARGEST_SIZE = 1e-152, 1e152


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


@contextmanager
def renamed(**names: str) -> Iterator[None]:
    """Raise errors of arguments under the names that the caller knows them by.

    Parameters
    ----------
    names
        The caller's name of each argument, as in `renamed(A="D")`.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        for name, known in names.items():
            for end in ("' parameter", " (called"):
                start = f"The '{name}{end}"
                if str(error).startswith(start):
                    text = f"The '{known}{end}{str(error).removeprefix(start)}"
                    raise type(error)(text) from error
        raise


def split_missing(
    value: Any, name: str = "y", requirement: str = "an array"
) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return an array, and which entries are masked, None, NA or NaT; None where none is.

    NaN counts as missing in arrays of objects only: elsewhere it is a number like others.

    Parameters
    ----------
    value, name, requirement
        The argument, its name, a target's by default, and what it must be.
    """
    try:
        return array_and_missing(computed(value))
    except (TypeError, ValueError) as error:
        raise _conversion_error(value, name, requirement, error) from None


def _conversion_error(value: Any, name: str, requirement: str, error: Exception) -> Exception:
    """Return the error of an argument that NumPy, for a reason of its own, cannot convert."""
    dtype = getattr(value, "dtype", None)
    got = type(value).__name__ + ("" if dtype is None else f" of {dtype}")
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return parameter_error(name, requirement, got, f"({error})", kind=kind)


def as_numeric(
    value: Any,
    name: str,
    *,
    requirement: str = "real, an array of numbers",
    allow_missing: bool = True,
    first_row: int = 0,
) -> NDArray[Any]:
    """Return an array of real numbers, without a copy where possible; raise for anything else.

    Parameters
    ----------
    value, name, requirement
        The argument, its name, and what it must be.
    allow_missing
        Whether missing entries become NaN. Otherwise they are refused.
    first_row
        The number in the data of the first row, for errors.
    """
    value = computed(value)
    # Raise for names of columns here, where the name of the argument is known.
    column_names(value, name)
    array, missing = split_missing(value, name, requirement)
    try:
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if missing is not None and not array.ndim:
            raise ValueError("nothing is given")
        if has_dates(value, array):
            example = "(t - t[0]) / np.timedelta64(1, 's')"
            raise ValueError(f"turn dates into numbers first, as in {example}")
    except ValueError as error:
        raise _conversion_error(value, name, requirement, error) from None
    numbers = array if missing is None else np.where(missing, np.nan, array)
    columns = getattr(value, "columns", None)
    try:
        if numbers.dtype.kind not in "fiub":
            numbers = numbers.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        place = first_without_number(numbers) if numbers.ndim == 2 else None
        if place is None:
            raise _conversion_error(value, name, requirement, error) from None
        where = location(np.array(place), first_row, columns)
        got = f"{numbers[place]!r:.60}{where}"
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise parameter_error(name, requirement, got, f"({error}) {ENCODE}", kind=kind) from None
    if missing is not None and not allow_missing:
        require_present(missing, name, first_row, columns)
    return numbers


def as_real(value: Any, name: str, **options: Any) -> Array:
    """Return real numbers as a float64 array of any shape; raise where one is missing."""
    return np.asarray(as_numeric(value, name, allow_missing=False, **options), dtype=np.float64)


def as_real_like(value: Any, like: Array, name: str, **options: Any) -> Array:
    """Return real numbers in float64 as an array of the library of `like`, on its device."""
    if not (is_device_array(value) and is_device_array(like)):
        return cast(Array, placed(as_real(value, name, **options), like))
    if type(value) is not type(like) or device_of(value) != device_of(like):
        what = f"of the library and on the device of the rows, {device_of(like)}"
        got = f"{type(value).__module__} on {device_of(value)}"
        raise parameter_error(name, what, got)
    xp = namespace(value)
    return cast(Array, xp.astype(value, xp.float64, copy=False))


def require_present(
    missing: NDArray[np.bool_], name: str, first_row: int = 0, columns: Any = None
) -> None:
    """Raise if an entry is missing, naming the first; columns may have names."""
    if missing.any():
        place = np.argwhere(missing)[0]
        got = f"a masked or missing entry{location(place, first_row, columns)}"
        requirement = "an array without missing entries"
        remedy = FILL if missing.ndim == 2 else "Fill it, or drop such rows."
        raise parameter_error(name, requirement, got, remedy)


def location(place: NDArray[np.intp], first_row: int = 0, columns: Any = None) -> str:
    """Return where an entry is, in words, for the row and column numbers of an array."""
    where = f" in row {first_row + place[0]}" if len(place) else ""
    if len(place) > 1:
        where += f", column {place[1] if columns is None else repr(columns[place[1]])}"
    return where


def as_number(
    value: Any, name: str, requirement: str = "a finite number", lowest: float = -np.inf
) -> float:
    """Return a finite number that is at least `lowest`."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if isinstance(value, bool | str | np.timedelta64) or not isfinite(number) or number < lowest:
        raise parameter_error(name, requirement, repr(value))
    return number


def as_count(
    value: Any,
    name: str,
    requirement: str = "a positive integer",
    lowest: int = 1,
    highest: int | None = None,
) -> int:
    """Return an integer that is at least `lowest` and at most `highest`."""
    if highest is not None:
        requirement = f"{requirement} up to {highest:,}"
    number = value if type(value) is int else as_number(value, name, requirement, lowest=lowest)
    if number < lowest or number != int(number) or (highest is not None and number > highest):
        raise parameter_error(name, requirement, repr(value))
    return int(number)


def as_choice(value: Any, name: str, allowed: Sequence[Any], more: str = "") -> Any:
    """Return the value of `allowed` that was chosen; `more` says what else the caller takes."""
    if isinstance(value, str | Integral) and value in allowed:
        return allowed[allowed.index(value)]
    *most, last = [*map(repr, allowed), *([more] if more else [])]
    requirement = f"{', '.join(most)} or {last}" if most else last
    raise parameter_error(name, requirement, repr(value))


def as_path(value: Any, name: str) -> str:
    """Return the path of a file."""
    if not isinstance(value, str | os.PathLike):
        raise parameter_error(name, "a path or None", type(value).__name__, kind=TypeError)
    return os.fsdecode(value)


def as_n_folds(value: Any) -> int:
    """Return a number of folds: a positive integer that is not too large."""
    return as_count(value, "n_folds", highest=MOST_FOLDS)


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


def as_rows(X: Any, name: str = "X", dimension: int | None = None, *, at_least: int = 0) -> Array:
    """Return X as a finite, contiguous float64 array (n, d).

    `dimension` is the number of columns, if it is fixed, and `at_least` that of rows.
    """
    require_host(X, name)
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        remedy = "Call its toarray() first."
        raise parameter_error(name, "a dense array", "a sparse matrix", remedy, kind=TypeError)
    what = "a numeric array (n, d) of real numbers (ritz.Batches takes arrays one by one)"
    array = as_real(X, name, requirement=what)
    if array.ndim != 2:
        remedy = ""
        if array.ndim == 1:
            remedy = "A single column needs reshape(-1, 1), a single point reshape(1, -1)."
        elif array.ndim == 3:
            remedy = "A list of batches needs ritz.Batches(list)."
        raise parameter_error(name, "an array (n, d)", f"shape {array.shape}", remedy)
    require_columns(array, dimension, name)
    if len(array) < at_least:
        got = f"shape {array.shape}"
        raise parameter_error(name, f"an array with at least {at_least} row(s)", got)
    array = as_contiguous(array)
    require_finite(array, name)
    return array


def require_host(X: Any, name: str, reason: str = "It is read by NumPy.") -> None:
    """Raise if X is an array on a device whose memory NumPy does not read."""
    if is_device_array(X) and not on_host(X):
        remedy = f"{reason} Copy it to the host first, as np.asarray(tensor.cpu()) does."
        got = f"one on the device {device_of(X)}"
        raise parameter_error(name, "an array on the host", got, remedy, kind=TypeError)


def as_contiguous(array: Any) -> Array:
    """Return rows as a float64 array that is contiguous, aligned and in native byte order."""
    return np.require(array, np.dtype(np.float64), ["C_CONTIGUOUS", "ALIGNED"])


def require_columns(array: Any, dimension: int | None, name: str) -> None:
    """Raise unless an array (n, d) has `dimension` columns, or at least one where that is None."""
    columns = array.shape[1]
    if columns == 0:
        got = f"shape {array.shape}"
        raise parameter_error(name, "an array with at least one column", got)
    if dimension is not None and columns != dimension:
        requirement = f"an array with {dimension} columns"
        raise parameter_error(name, requirement, f"{columns} columns")


def column_names(X: Any, name: str = "X") -> Names:
    """Return the names of the columns of a frame, as scikit-learn sees them, else None."""
    try:
        names = _get_feature_names(X)
    except TypeError:
        got = f"columns {list(X.columns)}"
        remedy = "Rename them: frame.columns = frame.columns.astype(str)."
        requirement = "an array, or a frame whose column names are all strings or all not"
        raise parameter_error(name, requirement, got, remedy, kind=TypeError) from None
    return None if names is None else tuple(map(str, names))


def require_names(names: Names, expected: Names, name: str) -> None:
    """Raise where columns have other names than expected; names that are unknown fit any."""
    if names is not None and expected is not None and names != expected:
        remedy = "The feature names and their order are those of the first data."
        raise parameter_error(name, f"data with columns {expected}", f"columns {names}", remedy)


def require_finite(array: Array, name: str, first_row: int = 0, for_squares: bool = False) -> None:
    """Raise unless every entry is finite, naming the first row and column that is not.

    Numbers `for_squares` must have squares that do not overflow, too.
    """
    # The extremes are finite only if every entry is, and need no array of booleans.
    xp = namespace(array)
    size = max(abs(float(xp.max(array))), abs(float(xp.min(array)))) if prod(array.shape) else 0.0
    if isfinite(size) and not (for_squares and size > LARGEST_SIZE):
        return
    array = to_host(array)
    if isfinite(size):
        place = np.argwhere(np.abs(array) > LARGEST_SIZE)[0]
        raise _size_error(name, f"{array[tuple(place)]:.2g}{location(place, first_row)}")
    bad = ~np.isfinite(array)
    place = np.argwhere(bad)[0]
    where = location(place, first_row)
    value = array[tuple(place)]
    got = f"{value}{where} ({int(bad.sum())} such entries)"
    raise parameter_error(name, "finite", got, FILL if np.isnan(value) else "Drop such rows.")


def require_size(array: NDArray[Any], name: str, smallest: float = SMALLEST_SIZE) -> None:
    """Raise unless squares of the numbers neither overflow nor, but for zeros, all underflow.

    Of numbers that are NaN nothing is said.
    """
    extremes = (fold.reduce(array, axis=None, initial=0) for fold in (np.fmax, np.fmin))
    size = max(abs(float(extreme)) for extreme in extremes)
    if size and not smallest <= size <= LARGEST_SIZE:
        raise _size_error(name, f"numbers up to {size:.2g}", smallest)


def _size_error(name: str, got: str, smallest: float = SMALLEST_SIZE) -> Exception:
    """Return the error of numbers that are too large or too small to be squared."""
    allowed = f"of a size between {smallest:g} and {LARGEST_SIZE:g}"
    requirement = f"{allowed}, as squares overflow or underflow otherwise"
    return parameter_error(name, requirement, got, "Scale the data.")


def as_weights(weight: Any, n: int, name: str = "sample_weight", first_row: int = 0) -> Array:
    """Return weights (n,) that are finite and nonnegative; None means one for each row."""
    if weight is None:
        return np.ones(n)
    array = as_contiguous(as_real(weight, name, first_row=first_row))
    if array.shape != (n,):
        raise parameter_error(name, f"an array of shape ({n},)", f"shape {array.shape}")
    require_finite(array, name, first_row)
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            got = f"weights up to {array.max():.2g}, whose sum overflows"
            raise parameter_error(name, "summable", got, "Scale them.")
    if n and array.min() < 0:
        row = int(array.argmin())
        got = f"{array[row]} in row {first_row + row}"
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
        name = f"{name} (called on rows of shape {tuple(X.shape)})"
        array = as_real_like(field(X), X, name)
    elif len(index) and index.max() >= len(field):
        requirement = "an array with as many rows as the data"
        raise parameter_error(name, requirement, f"{len(field)} rows")
    else:
        array = placed(np.asarray(field[index], dtype=np.float64), X)
    if ndim is not None and (array.ndim != ndim or array.shape[0] != X.shape[0]):
        axes = ", ".join([str(X.shape[0]), *"?" * (ndim - 1)])
        requirement = f"an array of shape ({axes})"
        raise parameter_error(name, requirement, f"shape {tuple(array.shape)}")
    require_finite(array, name)
    return array
