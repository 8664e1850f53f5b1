"""Arrays of other libraries, on any device, by the functions of the array API standard.

NumPy is one of the namespaces, so that a formula written with `namespace` is written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np


def is_device_array(value: Any) -> bool:
    """Return whether a value is an array of torch, cupy or another library of the standard.

    NumPy's are not, nor are those of libraries that NumPy reads (JAX) or that have ways of their
    own (dask, sparse).
    """
    if isinstance(value, np.ndarray | np.generic):
        return False
    others = (
        array_api_compat.is_dask_array,
        array_api_compat.is_jax_array,
        array_api_compat.is_pydata_sparse_array,
    )
    return array_api_compat.is_array_api_obj(value) and not any(test(value) for test in others)


def namespace(*arrays: Any) -> Any:
    """Return the functions of the standard for arrays of one library."""
    return array_api_compat.array_namespace(*arrays)


def device_of(array: Any) -> Any:
    """Return the device of an array, "cpu" for one of NumPy."""
    return array_api_compat.device(array)


def on_host(array: Any) -> bool:
    """Return whether NumPy reads the memory of an array as it is."""
    return str(getattr(device_of(array), "type", device_of(array))) == "cpu"


def placed(array: Any, like: Any) -> Any:
    """Return an array of NumPy as one of the library of `like`, on its device."""
    if not (isinstance(array, np.ndarray) and is_device_array(like)):
        return array
    return namespace(like).asarray(array, device=device_of(like))


def zeros(shape: Sequence[int], like: Any) -> Any:
    """Return zeros in float64 of the library of `like`, on its device."""
    xp = namespace(like)
    return xp.zeros(tuple(shape), dtype=xp.float64, device=device_of(like))


def to_host(array: Any) -> Any:
    """Return an array of any device as one of NumPy, a copy unless it is in NumPy's memory."""
    if not is_device_array(array):
        return array
    if array_api_compat.is_torch_array(array):
        return array.detach().cpu().numpy()
    if array_api_compat.is_cupy_array(array):
        return array.get()
    host = namespace(array).__array_namespace_info__().default_device()
    return np.asarray(array_api_compat.to_device(array, host))


def take_rows(array: Any, rows: Any) -> Any:
    """Return some rows of an array, by numbers that are an array of NumPy."""
    if isinstance(array, np.ndarray):
        # The method is four times as fast as indexing.
        return array.take(rows, axis=0)
    return namespace(array).take(array, placed(rows, array), axis=0)
