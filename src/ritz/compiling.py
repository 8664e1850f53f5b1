"""How functions are compiled. Imported only where the compiler is to be loaded."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, addressof, c_byte, c_double, c_int64, c_void_p
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np
from numba import cfunc, njit, types
from numpy.typing import NDArray

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
# What an argument of a routine is: a number, or the address of numbers.
INTEGER, REAL = types.int64, types.float64
_address_of: Any = types.CPointer
INTEGERS, HASHES = _address_of(types.int64), _address_of(types.uint64)
DOUBLES, SINGLES = _address_of(types.float64), _address_of(types.float32)
NUMBERS = {
    INTEGERS: np.dtype(np.int64),
    HASHES: np.dtype(np.uint64),
    DOUBLES: np.dtype(np.float64),
    SINGLES: np.dtype(np.float32),
}
_BYTES = c_byte * 0

Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Return a function to be written out wherever a compiled one calls it."""
    return njit(inline="always", **OPTIONS)(function)  # type: ignore[no-any-return]


def compiled(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function of arrays that is compiled when first called, and kept on disk."""
    machine_code = njit(cache=True, nogil=True, **OPTIONS)(function)

    @wraps(function)
    def call(*arguments: Any) -> None:
        if machine_code.overloads:
            machine_code(*arguments)
            return
        with no_collection():
            machine_code(*arguments)

    return call


class Routine:
    """A function of numbers and addresses, compiled when first asked for, and kept on disk.

    It takes less time to compile than one of arrays does. Python may call it, which releases
    Python's lock, and compiled code by its address. Nothing looks at shapes: those who call it do.

    Parameters
    ----------
    function
        The function.
    kinds
        What its arguments are, as named above.
    """

    def __init__(self, function: Callable[..., None], *kinds: Any) -> None:
        self.function, self.kinds = function, kinds
        self.types = [NUMBERS.get(kind) for kind in kinds]

    @cached_property
    def machine_code(self) -> Any:
        with no_collection():
            return cfunc(types.void(*self.kinds), cache=True, **OPTIONS)(self.function)

    @cached_property
    def address(self) -> int:
        return int(self.machine_code.address)

    @cached_property
    def _call(self) -> Callable[..., None]:
        given: Any = [{INTEGER: c_int64, REAL: c_double}.get(kind, c_void_p) for kind in self.kinds]
        return CFUNCTYPE(None, *given)(self.address)

    def __call__(self, *arguments: Any) -> None:
        """Call it with numbers, addresses, and arrays, which it is given the addresses of."""
        # The arguments are held until it returns.
        given = []
        for argument, kind in zip(arguments, self.types, strict=True):
            if isinstance(argument, np.ndarray):
                if argument.dtype != kind:
                    raise TypeError(f"{self.function.__name__}: {argument.dtype} for {kind}")
                argument = address(argument)
            given.append(argument)
        self._call(*given)


def address(array: NDArray[Any]) -> int:
    """Return where the numbers of an array begin, which lie one after the other."""
    buffer: Any = array
    try:
        return addressof(_BYTES.from_buffer(buffer))
    except TypeError:
        if not array.flags.c_contiguous:
            raise TypeError("Only arrays without gaps have one address.") from None
        # Three times as slow, but serves for arrays that must not be written to.
        return array.ctypes.data


def real(dtype: Any) -> Any:
    """Return the kind of addresses of numbers of a type."""
    return DOUBLES if dtype == np.float64 else SINGLES


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
