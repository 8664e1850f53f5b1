"""Turning arrays into streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ritz.devices import DeviceRows, as_device_rows, is_on_device, require_same_device
from ritz.reading import is_dask
from ritz.sparse import as_sparse_rows, is_sparse
from ritz.streams.batches import Batches
from ritz.streams.dask import dask_stream
from ritz.streams.device import DeviceStream
from ritz.streams.labels import as_group_numbers
from ritz.streams.stream import ArrayStream, Stream
from ritz.validation import Names, as_rows, as_weights, column_names, parameter_error


def is_streamed(X: Any) -> bool:
    """Return whether rows come in blocks: a stream, an iterator or a collection of dask."""
    return isinstance(X, Stream | Iterator) or is_dask(X)


def as_stream(
    X: Any,
    views: int = 1,
    sample_weight: Any = None,
    groups: Any = None,
    names: tuple[Names, ...] | None = None,
) -> Stream:
    """Return data as a stream: a stream as it is, arrays as a stream of chunks.

    Parameters
    ----------
    X
        A stream, an iterator over arrays, or an array (n, d), also of dask or sparse; for two views
        a pair of arrays.
    views
        How many views the form compares.
    sample_weight, groups
        Weights (n,) and labels (n,) of the rows of arrays.
    names
        The names of the columns of each view, by default those that frames have.
    """
    if isinstance(X, Iterator):
        X = Batches(X, views)
    if isinstance(X, Stream):
        if len(X.dimensions) != views:
            raise parameter_error("X", f"a stream of {views} view(s)", f"{len(X.dimensions)}")
        if sample_weight is not None or groups is not None:
            raise ValueError(
                "sample_weight and groups go with arrays; a stream's blocks carry their own. "
                "Pass ritz.Batches(..., weighted=True)."
            )
        return X
    if views == 2:
        if not isinstance(X, tuple | list) or len(X) != 2:
            what = "a pair (X, Y) of aligned arrays for this operator"
            raise parameter_error("X", what, type(X).__name__)
        return array_stream(tuple(X), sample_weight, groups, names)
    if isinstance(X, tuple) and len(X) == 2:
        raise parameter_error("X", "one array for this operator", "a pair of arrays")
    return array_stream((X,), sample_weight, groups, names)


def array_stream(
    arrays: tuple[Any, ...], sample_weight: Any, groups: Any, names: tuple[Names, ...] | None
) -> Stream:
    """Return the stream of aligned arrays; memory maps and dask arrays are not read yet."""
    if any(map(is_dask, arrays)):
        return dask_stream(arrays, sample_weight, groups, names)
    views = [as_view(array, name) for name, array in zip("XY", arrays, strict=False)]
    n = int(views[0].shape[0])
    if n < 2:
        raise parameter_error("X", "an array with at least 2 rows", f"{n} row(s)")
    on_device = any(isinstance(view, DeviceRows) for view in views)
    if on_device:
        for name, view, other in zip("XY", views, views[::-1], strict=False):
            if isinstance(other, DeviceRows):
                require_same_device(view, other, name)
    if len(views) == 2 and views[1].shape[0] != n:
        raise parameter_error("Y", f"aligned with X, {n} rows", f"{views[1].shape[0]} rows")
    weight = None if sample_weight is None else as_weights(sample_weight, n)
    if weight is not None and (weight > 0).sum() < 2:
        some = int((weight > 0).sum())
        got = f"zeros but for {some} row(s)"
        raise parameter_error("sample_weight", "positive for at least 2 rows", got)
    if groups is not None:
        groups = as_group_numbers(groups, n)
    kind = DeviceStream if on_device else ArrayStream
    return kind(tuple(views), weight, groups, names or tuple(map(column_names, arrays)))


def as_view(array: Any, name: str) -> Any:
    """Return one view (n, d) as it is if its rows can be read later, else as rows in float64."""
    plain = type(array) in (np.ndarray, np.memmap) or type(array).__module__.startswith("zarr.")
    if plain and array.ndim == 2 and array.dtype.kind in "fiub":
        if array.shape[1] == 0:
            raise parameter_error(name, "an array with at least one column", array.shape)
        return array
    if is_on_device(array):
        return as_device_rows(array, name)
    return as_sparse_rows(array, name) if is_sparse(array) else as_rows(array, name)
