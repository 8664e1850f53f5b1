"""Who uses the cores: our threads, or those of the linear algebra libraries."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from ritz.arrays import as_count


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes longer than many a small problem, so it is done once.
    return ThreadpoolController()


def blas_threads(n: int) -> AbstractContextManager[Any]:
    """Limit the linear algebra libraries to n threads each."""
    return _controller().limit(limits=n)  # type: ignore[no-any-return]


def jobs(n_jobs: int | None) -> int:
    """Return the number of threads asked for, or one for each core in reach."""
    if n_jobs is None or n_jobs == -1:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return as_count(n_jobs, "n_jobs", "a positive integer, or None for all cores")
