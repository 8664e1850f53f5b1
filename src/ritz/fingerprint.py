"""A short name of a value: equal values have equal ones, in every process."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np


def fingerprint(value: Any) -> str:
    """Return 16 digits that follow from the numbers and texts of a value, and its functions.

    Functions are told apart by their instructions, constants, defaults and what they enclose, not
    by what they call.
    """
    parts = blake2b(digest_size=8)
    _feed(parts, value, [])
    return parts.hexdigest()


def _feed(parts: Any, value: Any, above: list[int]) -> None:
    """Add a value to a hash; `above` are the identities of the values that contain it."""
    kind = type(value)
    parts.update(f"{kind.__module__}.{kind.__qualname__};".encode())
    if id(value) in above:
        return
    above = [*above, id(value)]
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        parts.update(f"{value!r};".encode())
    elif isinstance(value, np.ndarray):
        parts.update(f"{value.dtype.str}{value.shape};".encode())
        if value.dtype.kind == "O":
            _feed(parts, value.tolist(), above)
        else:
            parts.update(np.ascontiguousarray(value).data)
    elif isinstance(value, tuple | list | dict):
        items = list(value.items()) if isinstance(value, dict) else value
        parts.update(f"{len(items)};".encode())
        for item in items:
            _feed(parts, item, above)
    elif isinstance(value, set | frozenset):
        # Sets have no order.
        _feed(parts, sorted(map(fingerprint, value)), above)
    else:
        _feed(parts, _inside(value), above)


def _inside(value: Any) -> Any:
    """Return what distinguishes an object from others of its class."""
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, cells
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    if isinstance(value, CodeType):
        return value.co_code, value.co_consts, value.co_names
    if isinstance(value, partial):
        return value.func, value.args, value.keywords
    if hasattr(value, "state_dict"):
        state = value.state_dict()
        return repr(value), {name: np.asarray(part) for name, part in state.items()}
    if hasattr(value, "__qualname__"):
        return value.__qualname__
    return value.__getstate__()
