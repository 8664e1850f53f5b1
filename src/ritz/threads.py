"""Who uses the cores: our threads, or those of the linear algebra libraries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from ritz.arrays import as_count

Run = Callable[..., Iterable[Any]]
REUSED_BYTES = 32_000_000


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes longer than many a small problem, so it is done once.
    return ThreadpoolController()


def blas_threads(n: int) -> AbstractContextManager[Any]:
    """Limit the linear algebra libraries to n threads each."""
    return _controller().limit(limits=n)  # type: ignore[no-any-return]


def one_library() -> AbstractContextManager[Any]:
    """Leave the cores to SciPy's linear algebra library, where NumPy brings one of its own.

    The idle threads of either keep the other's from the cores. SciPy's does what takes long.
    """
    libraries = _controller().select(internal_api="openblas").info()
    own = [found["filepath"] for found in libraries if "numpy.libs" in found["filepath"]]
    return _controller().select(filepath=own).limit(limits=1)  # type: ignore[no-any-return]


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


def keep_freed_memory() -> None:
    """Let the allocator keep the arrays of one block for the next.

    The C library of Linux maps large arrays anew each time, and clearing their pages costs more
    than the arithmetic on them, until it has once seen an array of this size freed.
    """
    np.empty(REUSED_BYTES // 8)
