"""Who uses the cores: our threads, or those of the linear algebra libraries."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from ctypes import CDLL
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from ritz.arrays import as_count

Run = Callable[..., Iterable[Any]]
KEPT_BYTES = 256 << 20
MAPPED_BYTES = 32 << 20
TINY, SMALL = 32, 600
# As <malloc.h> numbers them.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes longer than many a small problem, so it is done once.
    return ThreadpoolController().select(user_api="blas")


def blas_threads(n: int) -> AbstractContextManager[Any]:
    """Limit the linear algebra libraries, and no others, to n threads each."""
    if all(library.num_threads == n for library in _controller().lib_controllers):
        # A look takes a tenth of the time that a limit does.
        return nullcontext()
    return _controller().limit(limits=n)  # type: ignore[no-any-return]


def one_library() -> AbstractContextManager[Any]:
    """Leave the cores to SciPy's linear algebra library, where NumPy brings one of its own.

    The idle threads of either keep the other's from the cores. SciPy's does what takes long.
    """
    libraries = _controller().select(internal_api="openblas").info()
    own = [found["filepath"] for found in libraries if "numpy.libs" in found["filepath"]]
    return _controller().select(filepath=own).limit(limits=1)  # type: ignore[no-any-return]


def solving(size: int) -> AbstractContextManager[Any]:
    """Return the threads for problems of matrices (size, size).

    The library takes one by itself for tiny ones. Small ones take no longer by one, and do not wait
    for cores that others keep busy.
    """
    if size <= TINY:
        return nullcontext()
    return blas_threads(1) if size < SMALL else one_library()


def jobs(n_jobs: int | None) -> int:
    """Return the number of threads asked for, or one for each core in reach."""
    if n_jobs is None or n_jobs == -1:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return as_count(n_jobs, "n_jobs", "a positive integer, or None for all cores")


class Workers:
    """A way to map a function over items: by some threads, or without any."""

    def __init__(self, threads: int) -> None:
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> Run:
        return map if self.pool is None else self.pool.map

    def __exit__(self, *_: object) -> None:
        if self.pool is not None:
            self.pool.shutdown()


@cache
def keep_freed_memory() -> None:
    """Let the allocator keep the arrays of one block, and of one fit, for the next.

    The C library of Linux gives large arrays back to the system and gets them anew each time, and
    clearing their pages costs more than the arithmetic on them; on virtual machines, where pages
    come from further away, up to a sixth of a large fit. It is told, for good, to keep up to 256
    MB, unless the environment has told it something else (`MALLOC_TRIM_THRESHOLD_` and the like).
    """
    told = {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"} & os.environ.keys()
    if sys.platform != "linux" or told or "malloc" in os.environ.get("GLIBC_TUNABLES", ""):
        return
    set_option = getattr(CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(MMAP_THRESHOLD, MAPPED_BYTES)
        set_option(TRIM_THRESHOLD, KEPT_BYTES)
