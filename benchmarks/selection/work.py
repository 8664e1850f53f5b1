"""Run the parts of a table in processes of one thread each, and find cases by their names."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import Any

from benchmarks.selection.problems import CHOSEN_ON, SET_ASIDE, Case

FIRST_SEED = 10
THREAD_LIMITS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def seeds(count: int) -> range:
    return range(FIRST_SEED, FIRST_SEED + count)


def silence() -> None:
    """Ignore all warnings: the tables show what they warn of."""
    warnings.simplefilter("ignore")


def in_processes(
    measure: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], jobs: int
) -> Iterator[Any]:
    """Return an iterator over the results of a function, in the order of its arguments."""
    arguments = list(zip(*tasks, strict=True))
    for name in THREAD_LIMITS:
        os.environ[name] = "1"
    # New processes, since forked ones would keep the threads of the libraries loaded here.
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=silence) as pool:
        yield from pool.map(measure, *arguments)


def by_row(
    rows: Iterable[Any], results: Iterator[Any], per_row: int
) -> Iterator[tuple[Any, list[Any]]]:
    """Return an iterator over rows of a table, each with as many results as make it up."""
    for row in rows:
        yield row, list(islice(results, per_row))


def case_of(name: str) -> Case:
    return next(case for case in (*CHOSEN_ON, *SET_ASIDE) if case.name == name)


def show(line: str = "") -> None:
    print(line, flush=True)
