"""Rows of an array on a device, which are read and computed with there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.namespaces import (
    device_of,
    is_device_array,
    namespace,
    placed,
    take_rows,
    to_host,
    zeros,
)
from ritz.rows import Keys, hash_rows, small_parts
from ritz.validation import Array, parameter_error, require_columns, require_finite, require_host


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """The rows of an array (n, d) of torch, cupy or another library of the array API standard.

    Indexing selects rows, which stay on the device; `np.asarray` copies them to the host, as is
    done for small samples.
    """

    array: Any
    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        n, d = self.array.shape
        return int(n), int(d)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> DeviceRows:
        if isinstance(rows, slice):
            # The standard has no slices beyond the end.
            return DeviceRows(self.array[slice(*rows.indices(len(self))), :])
        rows = np.arange(len(self))[rows]
        return DeviceRows(take_rows(self.array, rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(to_host(self.array), dtype=dtype)

    @cached_property
    def keys(self) -> Keys:
        """The hash (n,) of each row: the one use for which all rows are copied to the host."""
        hashes = (hash_rows(np.asarray(self[part], np.float64)) for part in small_parts(self))
        return np.concatenate([np.empty(0, np.uint64), *hashes])

    def block(self, rows: slice, name: str = "X", *, for_squares: bool = False) -> Array:
        """Return some rows as finite float64 numbers, on the device."""
        xp = namespace(self.array)
        part: Array = xp.astype(self.array[rows, :], xp.float64, copy=False)
        require_finite(part, name, first_row=rows.start, for_squares=for_squares)
        return part

    def returned(self, values: Array) -> Any:
        """Return values (n, k) at the rows in their type of numbers, float64 if they are whole."""
        xp, dtype = namespace(self.array), self.array.dtype
        floating = xp.isdtype(dtype, "real floating")
        return xp.astype(values, dtype if floating else xp.float64, copy=False)

    def divided(self, units: Array) -> DeviceRows:
        """Return the rows divided by numbers on the host, in their type unless they are whole."""
        xp = namespace(self.array)
        return DeviceRows(
            self.returned(xp.astype(self.array, xp.float64) / placed(units, self.array))
        )

    def to_file(self) -> NDArray[Any]:
        """Return the rows as files hold them, on the host."""
        return np.asarray(self)

    def stacked(self, other: Any) -> DeviceRows:
        """Return these rows and others of the same device."""
        require_same_device(other, self, "X")
        return DeviceRows(namespace(self.array).concat([self.array, other.array], axis=0))

    def as_host(self, reason: str) -> NDArray[Any]:
        """Return an array of NumPy in the same memory; raise for a reason if there is none."""
        require_host(self.array, "X", reason)
        return np.asarray(to_host(self.array))


def as_device_rows(X: Any, name: str = "X", dimension: int | None = None) -> DeviceRows:
    """Return an array (n, d) on a device as rows, in `dimension` columns if it is fixed."""
    if isinstance(X, DeviceRows):
        require_columns(X, dimension, name)
        return X
    xp = namespace(X)
    if X.ndim != 2:
        remedy = "A single column needs reshape(-1, 1)." if X.ndim == 1 else ""
        raise parameter_error(name, "an array (n, d)", f"shape {tuple(X.shape)}", remedy)
    require_columns(X, dimension, name)
    if not xp.isdtype(X.dtype, ("real floating", "integral", "bool")):
        raise parameter_error(name, "real, a matrix of numbers", f"dtype {X.dtype}")
    require_float64(X, name)
    return DeviceRows(X.detach() if hasattr(X, "detach") else X)


def is_on_device(X: Any) -> bool:
    """Return whether X is an array of another library than NumPy, or rows of one."""
    return isinstance(X, DeviceRows) or is_device_array(X)


def require_float64(X: Any, name: str) -> None:
    """Raise unless the device of an array has float64 numbers."""
    try:
        known = zeros((1,), X).dtype == namespace(X).float64
    except (TypeError, ValueError, RuntimeError):
        known = False
    if not known:
        what = "on a device with float64, in which sums are computed"
        remedy = "Copy it to the CPU, as X.cpu() does."
        raise parameter_error(name, what, f"an array on {device_of(X)}", remedy)


def require_same_device(X: Any, other: DeviceRows, name: str) -> None:
    """Raise unless X has rows of the same library and device as others."""
    same = isinstance(X, DeviceRows) and type(X.array) is type(other.array)
    if not same or device_of(X.array) != device_of(other.array):
        kind = type(other.array).__module__
        what = f"of {kind.partition('.')[0]} on the device {device_of(other.array)}, as other rows"
        got = type(X).__name__ if not isinstance(X, DeviceRows) else f"on {device_of(X.array)}"
        raise parameter_error(name, what, got, kind=TypeError)
