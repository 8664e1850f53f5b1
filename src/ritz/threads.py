"""Threads: how many there are, and BLAS kept to one thread while ours are at work."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from ritz.validation import as_count

# Functions up to which an eigenvalue problem takes no longer with one thread than with two.
SERIAL_SOLVE = 1200


@cache
def _blas() -> ThreadpoolController:
    # Finding the libraries takes longer than many a small problem, so it is done once.
    return ThreadpoolController().select(user_api="blas")


class _SharedLimit:
    """A limit of one BLAS thread for the whole process, as long as somebody holds it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holders: set[object] = set()
        self.original: list[tuple[Any, int]] = []

    def acquire(self, holder: object) -> None:
        with self.lock:
            self.holders.add(holder)
            if not self.original:
                libraries = _blas().lib_controllers
                self.original = [(library, library.num_threads) for library in libraries]
            # OpenBLAS may crash if its limit is set while other threads compute.
            if len(self.holders) == 1:
                for library, _ in self.original:
                    library.set_num_threads(1)

    def release(self, holder: object) -> None:
        """End what `acquire` began, also where Ctrl-C came before its end. May be called twice."""
        with self.lock:
            self.holders.discard(holder)
            if not self.holders:
                for library, threads in self.original:
                    library.set_num_threads(threads)
                self.original = []


_limit = _SharedLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread in the whole process, until the last of all callers is done.

    Idle threads of BLAS wait busily on the cores that our own threads need.
    """
    holder = object()
    try:
        _limit.acquire(holder)
        yield
    finally:
        try:
            _limit.release(holder)
        finally:
            # Again, in case Ctrl-C came in between.
            _limit.release(holder)


def solver_threads(size: int) -> AbstractContextManager[None]:
    """Keep BLAS to one thread for problems of small matrices (size, size).

    They take no longer with one thread, and do not wait for cores that other processes use.
    """
    return one_blas_thread() if size < SERIAL_SOLVE else nullcontext()


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for; None and -1 mean one for each core."""
    if n_jobs is None or n_jobs == -1:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return as_count(n_jobs, "n_jobs", "a positive integer, or None for all cores")


def thread_map(
    function: Callable[..., Any],
    items: Iterable[Any],
    threads: int,
    stop: threading.Event | None = None,
) -> list[Any]:
    """Return the results of a function on items, computed by some threads.

    On an error or Ctrl-C, items not yet begun are dropped, and `stop` is set: functions that take
    long should look at it now and then and return, since they are waited for.
    """
    if threads == 1:
        return list(map(function, items))
    with ThreadPoolExecutor(threads) as pool:
        try:
            return list(pool.map(function, items))
        except BaseException:
            if stop is not None:
                stop.set()
            raise
