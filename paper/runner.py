"""The runner: a parallel map over tasks that keeps the records of finished tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import ritz
from paper.records import (
    Record,
    append_task,
    as_records,
    canonical,
    drop_unfinished_line,
    read_tasks,
)

Task = Mapping[str, Any]


def seeds(seed: int, n: int, *place: int) -> list[int]:
    """Return n independent seeds; the i-th depends on (seed, place, i) only.

    Parameters
    ----------
    seed
        The seed of the whole figure.
    n
        Number of seeds; a larger number leaves the first ones unchanged.
    place
        Where in the figure they are used, such as the dimension of the samples.
    """
    children = (np.random.SeedSequence(seed, spawn_key=(*place, i)) for i in range(n))
    return [int(child.generate_state(1)[0]) for child in children]


@dataclass(frozen=True)
class Runner:
    """How to run tasks and where to keep their records.

    Parameters
    ----------
    n_jobs
        Number of processes, each with one thread of linear algebra. None means one per core, or
        all workers of a cluster.
    folder
        The folder of records.jsonl, or None to keep nothing.
    progress
        Whether to show a progress bar.
    backend
        The backend of joblib: "loky", "threading", or "dask" for the cluster in dask's own
        configuration (DASK_SCHEDULER_ADDRESS).
    """

    n_jobs: int | None = 1
    folder: Path | None = None
    progress: bool = False
    backend: Literal["loky", "threading", "dask"] = "loky"

    def __post_init__(self) -> None:
        if self.backend == "dask" and find_spec("distributed") is None:
            raise ImportError(
                "The 'dask' backend needs dask.distributed: pip install 'dask[distributed]'."
            )

    def map(
        self, function: Callable[..., Iterable[Mapping[str, Any]]], tasks: Sequence[Task]
    ) -> list[Record]:
        """Return the records of function(**task) for each task, in the order of the tasks.

        Each finished task is appended to records.jsonl in the folder. A task found there is not run
        again if the function, its arguments and the version of ritz are the same.

        Parameters
        ----------
        function
            A module-level function that returns records, which are dictionaries of plain values.
        tasks
            Its arguments by name, plain values; a random task has its seed among them.
        """
        name = f"{function.__module__}.{function.__qualname__}"
        keys: list[dict[str, Any]] = [
            {"function": name, "ritz": ritz.__version__, "task": dict(task)} for task in tasks
        ]
        texts = [canonical(key) for key in keys]
        path = self.folder / "records.jsonl" if self.folder else None
        finished: dict[str, list[Record]] = {}
        if path and path.exists():
            drop_unfinished_line(path)
            finished = read_tasks(path)
        missing = [i for i, text in enumerate(texts) if text not in finished]
        with tqdm(
            total=len(tasks),
            initial=len(tasks) - len(missing),
            desc=name.removeprefix("paper.figures."),
            disable=not self.progress,
        ) as bar:
            for i, records in self._run(function, tasks, missing):
                finished[texts[i]] = records
                if path:
                    append_task(path, keys[i], records)
                bar.update()
        return [record for text in texts for record in finished[text]]

    def _run(
        self, function: Callable[..., Any], tasks: Sequence[Task], missing: list[int]
    ) -> Iterator[tuple[int, list[Record]]]:
        if not missing:
            return
        n_jobs = -1 if self.n_jobs is None else self.n_jobs
        # Limits hold for a whole process, so threads of one process share a single limit.
        in_threads = self.backend == "threading"
        work = _work if in_threads else _work_limited
        limits = threadpool_limits(1, "blas") if in_threads else nullcontext()
        with self._cluster(), limits, parallel_config(self.backend, n_jobs=n_jobs):
            yield from Parallel(return_as="generator_unordered")(
                delayed(work)(function, i, tasks[i]) for i in missing
            )

    def _cluster(self) -> AbstractContextManager[Any]:
        if self.backend != "dask":
            return nullcontext()
        distributed = import_module("distributed")
        try:
            return nullcontext(distributed.get_client())
        except ValueError:
            return distributed.Client()  # type: ignore[no-any-return]


def _work(function: Callable[..., Any], i: int, task: Task) -> tuple[int, list[Record]]:
    return i, as_records(function(**task))


def _work_limited(function: Callable[..., Any], i: int, task: Task) -> tuple[int, list[Record]]:
    with threadpool_limits(1, "blas"):
        return _work(function, i, task)
