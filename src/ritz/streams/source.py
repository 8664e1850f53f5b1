"""Turning arrays into streams."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.streams.dask import DaskStream, require_known_chunks
from ritz.streams.stream import ArrayStream, Stream
from ritz.validation import (
    Array,
    Names,
    as_rows,
    as_weights,
    column_names,
    is_dask,
    parameter_error,
    require_present,
    split_missing,
)


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
        A stream, or an array (n, d), also of dask; for two views a pair of them.
    views
        How many views the form compares.
    sample_weight, groups
        Weights (n,) and labels (n,) of the rows of arrays.
    names
        The names of the columns of each view, by default those that frames have.
    """
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
    lazy = any(map(is_dask, arrays))
    views = [as_view(array, name, lazy) for name, array in zip("XY", arrays, strict=False)]
    n = int(views[0].shape[0])
    if n < 2:
        raise parameter_error("X", "an array with at least 2 rows", f"{n} row(s)")
    if len(views) == 2 and views[1].shape[0] != n:
        raise parameter_error("Y", f"aligned with X, {n} rows", f"{views[1].shape[0]} rows")
    weight = None if sample_weight is None else as_weights(sample_weight, n)
    if weight is not None and (weight > 0).sum() < 2:
        some = int((weight > 0).sum())
        got = f"zeros but for {some} row(s)"
        raise parameter_error("sample_weight", "positive for at least 2 rows", got)
    if groups is not None:
        groups, missing = split_missing(groups, "groups")
        if groups.shape != (n,):
            raise parameter_error("groups", f"of shape ({n},)", f"shape {groups.shape}")
        if missing is not None:
            require_present(missing, "groups")
        if groups.dtype.kind == "f":
            require_present(np.isnan(groups), "groups")
        groups = as_numbers(groups)
    kind = DaskStream if lazy else ArrayStream
    return kind(tuple(views), weight, groups, names or tuple(map(column_names, arrays)))


def as_numbers(labels: NDArray[Any]) -> Array:
    """Return labels of any kind as numbers; equal labels have equal numbers in all data."""
    if labels.dtype.kind in "fiub":
        numbers = labels.astype(np.float64)
        # Beyond 2^53 different integers may be equal as float64 numbers.
        large = np.abs(numbers) >= 2.0**53
        if labels.dtype.kind in "iu" and large.any():
            numbers[large] = digests(labels[large])
        return numbers
    return digests(labels)


def digests(labels: NDArray[Any]) -> Array:
    """Return a number below 2^48 for each label, a hash of its name."""
    names, which = np.unique(labels.astype(str), return_inverse=True)
    hashes = [blake2b(name.encode(), digest_size=6).digest() for name in names]
    return np.array([int.from_bytes(h, "little") for h in hashes], dtype=np.float64)[which]


def as_view(array: Any, name: str, lazy: bool) -> Any:
    """Return one view (n, d) as it is if its rows can be read later, else as a float64 array."""
    if lazy:
        if not is_dask(array):
            raise parameter_error(
                name, "a dask array like the other view", type(array).__name__, kind=TypeError
            )
        require_known_chunks(array, name)
        return array
    if type(array) in (np.ndarray, np.memmap) and array.ndim == 2 and array.dtype.kind in "fiub":
        if array.shape[1] == 0:
            raise parameter_error(name, "an array with at least one column", array.shape)
        return array
    return as_rows(array, name)
