"""How functions are compiled. Imported only where the compiler is to be loaded."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from numba import njit

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}


Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Return a function to be written out wherever a compiled one calls it."""
    return njit(inline="always", **OPTIONS)(function)  # type: ignore[no-any-return]


def compiled(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function that is compiled when it is first called, and kept on disk."""
    machine_code = njit(cache=True, nogil=True, **OPTIONS)(function)

    @wraps(function)
    def call(*arguments: Any) -> None:
        if machine_code.overloads:
            machine_code(*arguments)
            return
        with no_collection():
            machine_code(*arguments)

    return call


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep Python's collector of garbage away while the compiler runs.

    It would go over the compiler's many objects again and again, none of them garbage yet: a tenth
    of the time that compiling takes, and more.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
