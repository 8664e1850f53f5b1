"""The runner: tasks in parallel, each finished one kept, none run twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed, parallel_config

import ritz
from ritz.experiments.records import Notebook, Record, as_records, canonical
from ritz.threads import blas_threads

Task = Mapping[str, Any]


def seeds(seed: int, n: int, *place: int) -> list[int]:
    """Return n independent seeds, the i-th of which depends on (seed, place, i) only.

    Parameters
    ----------
    seed
        The experiment's own seed.
    n
        How many; more of them leave the first ones as they are.
    place
        Where in the experiment they are used, such as the index of a dimension.
    """
    children = (np.random.SeedSequence(seed, spawn_key=(*place, i)) for i in range(n))
    return [int(child.generate_state(1)[0]) for child in children]


@dataclass(frozen=True)
class Runner:
    """How tasks are run and where their records go.

    Parameters
    ----------
    n_jobs
        Processes at once, each with one thread of linear algebra; None for one a core, or all
        workers of a cluster.
    folder
        Where records.jsonl is; None to keep nothing.
    progress
        Whether to show a bar that advances with each task.
    backend
        joblib's: "loky", "threading", or "dask" for the cluster of dask's own configuration
        (DASK_SCHEDULER_ADDRESS).
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

        A finished task is appended to records.jsonl in the folder. Tasks found there are not run
        again, if function, task and version of ritz are the same.

        Parameters
        ----------
        function
            A function of a module, which returns records: dictionaries of plain values.
        tasks
            Its arguments by name, plain values; a random task has its seed among them.
        """
        name = f"{function.__module__}.{function.__qualname__}"
        keys: list[dict[str, Any]] = [
            {"function": name, "ritz": ritz.__version__, "task": dict(task)} for task in tasks
        ]
        texts = [canonical(key) for key in keys]
        notebook = Notebook(self.folder / "records.jsonl") if self.folder else None
        finished = notebook.read() if notebook else {}
        missing = [i for i, text in enumerate(texts) if text not in finished]
        with self._bar(name, len(tasks), len(tasks) - len(missing)) as advance:
            for i, records in self._run(function, tasks, missing):
                finished[texts[i]] = records
                if notebook:
                    notebook.append(keys[i], records)
                advance()
        return [record for text in texts for record in finished[text]]

    def _run(
        self, function: Callable[..., Any], tasks: Sequence[Task], missing: list[int]
    ) -> Iterator[tuple[int, list[Record]]]:
        if not missing:
            return
        # Of a cluster, -1 means all workers; of this machine, all cores in reach.
        n_jobs = -1 if self.n_jobs is None else self.n_jobs
        # Limits belong to a process, and threads that end would lift those of the others.
        threads = self.backend == "threading"
        work = _work if threads else _work_limited
        limits = blas_threads(1) if threads else nullcontext()
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

    @contextmanager
    def _bar(self, name: str, total: int, done: int) -> Iterator[Callable[[], None]]:
        if not self.progress:
            yield lambda: None
            return
        progress = import_module("rich.progress")
        columns = (*progress.Progress.get_default_columns(), progress.MofNCompleteColumn())
        with progress.Progress(*columns) as bar:
            task = bar.add_task(name.removeprefix("ritz.experiments."), total=total, completed=done)
            yield lambda: bar.advance(task)


def _work(function: Callable[..., Any], i: int, task: Task) -> tuple[int, list[Record]]:
    return i, as_records(function(**task))


def _work_limited(function: Callable[..., Any], i: int, task: Task) -> tuple[int, list[Record]]:
    with blas_threads(1):
        return _work(function, i, task)
