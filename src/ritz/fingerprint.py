"""A short name of a value: equal values have equal ones, in every process."""

from __future__ import annotations

from collections.abc import Iterator
from dis import get_instructions
from functools import partial
from hashlib import blake2b
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ritz.namespaces import is_device_array, to_host

# The types of numbers and texts.
PLAIN = bool | int | float | complex | str | bytes | np.generic


def fingerprint(value: Any) -> str:
    """Return 16 digits that follow from the numbers and texts of a value, and its functions.

    Functions are told apart by their instructions, constants, defaults, what they enclose, and the
    numbers, texts, arrays, tuples and functions of Python that they read as global names. What else
    they read or call is not looked at.
    """
    parts = blake2b(digest_size=8)
    functions: list[FunctionType] = []
    _feed(parts, value, [], functions)
    # This adds the functions that they call: each is looked at once.
    for function in functions:
        _feed(parts, _inside_function(function), [], functions)
    return parts.hexdigest()


def _feed(parts: Any, value: Any, above: list[int], functions: list[FunctionType]) -> None:
    """Add a value to a hash.

    `above` are the identities of the values that contain it. Functions have a number in the hash,
    their place among the `functions` met so far.
    """
    kind = type(value)
    parts.update(f"{kind.__module__}.{kind.__qualname__};".encode())
    if id(value) in above:
        return
    above = [*above, id(value)]
    if value is None or isinstance(value, PLAIN):
        parts.update(f"{value!r};".encode())
    elif isinstance(value, FunctionType):
        if value not in functions:
            functions.append(value)
        parts.update(f"{functions.index(value)};".encode())
    elif isinstance(value, np.ndarray):
        parts.update(f"{value.dtype.str}{value.shape};".encode())
        if value.dtype.kind == "O":
            _feed(parts, value.tolist(), above, functions)
        else:
            parts.update(np.ascontiguousarray(value).data)
    elif isinstance(value, tuple | list | dict):
        items = list(value.items()) if isinstance(value, dict) else value
        parts.update(f"{len(items)};".encode())
        for item in items:
            _feed(parts, item, above, functions)
    elif isinstance(value, set | frozenset):
        # Sets have no order.
        _feed(parts, sorted(map(fingerprint, value)), above, functions)
    else:
        _feed(parts, _inside(value), above, functions)


def _inside(value: Any) -> Any:
    """Return what distinguishes an object from others of its class."""
    if isinstance(value, ModuleType):
        return value.__name__
    if is_device_array(value) and not isinstance(value, type):
        return to_host(value)
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
    state = value.__getstate__()
    return _reduced(value) if state is None else state


def _reduced(value: Any) -> Any:
    """Return how an object without a dictionary is made, where it says that, as pickles do."""
    try:
        return value.__reduce_ex__(2)
    except TypeError:
        return None


def _inside_function(function: FunctionType) -> tuple[Any, ...]:
    """Return what distinguishes a function from others."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    names = _names_read(function.__code__)
    found = [(name, function.__globals__[name]) for name in names if name in function.__globals__]
    known = [pair for pair in found if _is_constant(pair[1])]
    inside = function.__code__, function.__defaults__, function.__kwdefaults__, cells, known
    return function.__qualname__, *inside


def _names_read(code: CodeType) -> list[str]:
    """Return the global names that instructions read and do not assign, in order."""
    names: dict[str, set[str]] = {"LOAD_GLOBAL": set(), "STORE_GLOBAL": set()}
    for part in _with_nested(code):
        for instruction in get_instructions(part):
            if instruction.opname in names:
                names[instruction.opname].add(instruction.argval)
    return sorted(names["LOAD_GLOBAL"] - names["STORE_GLOBAL"])


def _with_nested(code: CodeType) -> Iterator[CodeType]:
    """Yield the instructions of a function, and those of functions within it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _with_nested(part)


def _is_constant(value: Any) -> bool:
    """Return whether a global value is one that functions read and do not keep results in."""
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return isinstance(value, PLAIN | np.ndarray | FunctionType)
