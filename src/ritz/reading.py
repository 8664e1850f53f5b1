"""What values of other libraries hold: masks, missing entries, dates, frames, dask collections."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.namespaces import to_host

# Dates, times and spans of time, NumPy's and Python's, with pandas' among the latter.
DATES = (np.datetime64, np.timedelta64, date, time, timedelta)


def is_missing(item: Any) -> bool:
    """Return whether an entry is None, NaN, masked, NA as pandas has it, or a missing date."""
    try:
        return item is None or item is np.ma.masked or bool(item != item)
    except TypeError:
        # NA has no truth value.
        return True
    except ValueError:
        # An array in an array of objects: no number, but not missing.
        return False


def first_without_number(array: NDArray[Any]) -> tuple[int, ...] | None:
    """Return the place of the first entry that is no number, such as text, or None."""
    for place, item in np.ndenumerate(array):
        try:
            float(item)
        except (TypeError, ValueError, OverflowError):
            return place
    return None


def is_dask(value: Any) -> bool:
    """Return whether a value is a collection of dask, without importing dask."""
    return type(value).__module__.startswith("dask.") and hasattr(value, "compute")


def computed(value: Any) -> Any:
    """Return a value as it is, but the array or frame that a collection of dask stands for."""
    return value.compute() if is_dask(value) else value


def has_nullable_numbers(value: Any) -> bool:
    """Return whether a value is a frame of pandas of numbers, some of a dtype that has NA."""
    if not (hasattr(value, "isna") and hasattr(value, "columns")):
        return False
    dtypes = list(value.dtypes)
    numbers = all(dtype.kind in "fiub" for dtype in dtypes)
    return numbers and not all(isinstance(dtype, np.dtype) for dtype in dtypes)


def array_and_missing(value: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return an array, and which entries are masked, None, NA or NaT; None where none is.

    NaN counts as missing in arrays of objects only: elsewhere it is a number like others.
    """
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        value = value.detach().cpu().numpy()
    value = to_host(value)
    if isinstance(value, list | tuple) and any(np.ma.isMaskedArray(item) for item in value):
        # NumPy would drop the masks.
        value = np.ma.stack(value)
    if has_nullable_numbers(value):
        array, missing = value.to_numpy(np.float64, na_value=np.nan), np.asarray(value.isna())
        return array, missing if missing.any() else None
    array = np.asarray(value)
    masked = np.ma.isMaskedArray(value)
    if not masked and array.dtype.kind not in "OmM":
        return array, None
    missing = np.ma.getmaskarray(value) if masked else np.zeros(array.shape, dtype=bool)
    if hasattr(value, "isna"):
        # pandas knows the dtype of each column, and looks at objects only where it must.
        missing = np.asarray(value.isna())
    elif array.dtype == object:
        found = (is_missing(item) for item in array.flat)
        missing = missing | np.fromiter(found, bool, array.size).reshape(array.shape)
    elif array.dtype.kind in "mM":
        missing = missing | np.isnat(array)
    return array, missing if missing.any() else None


def columns_without_numbers(value: Any) -> list[NDArray[Any]]:
    """Return the columns of a frame of pandas or polars whose dtype is not a number's."""
    if hasattr(value, "iter_columns"):
        return [np.asarray(column) for column in value.iter_columns()]
    dtypes = enumerate(value.dtypes)
    return [np.asarray(value.iloc[:, j]) for j, dtype in dtypes if dtype.kind not in "fiub"]


def has_dates(value: Any, array: NDArray[Any]) -> bool:
    """Return whether a value, or the array made of it, holds dates, times or spans of time.

    NumPy and polars would turn them into numbers.
    """
    if hasattr(value, "dtypes") and hasattr(value, "columns"):
        return any(has_dates(column, column) for column in columns_without_numbers(value))
    if array.dtype == object:
        return any(isinstance(item, DATES) and not is_missing(item) for item in array.flat)
    return array.dtype.kind in "mM"
