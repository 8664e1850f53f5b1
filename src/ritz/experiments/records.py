"""Records: what a task of an experiment found, as plain values in a file of JSON lines.

A line is one finished task: `{"key": {"function", "ritz", "task"}, "records": [...]}`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from typing import Any

import numpy as np

from ritz.arrays import must

Record = dict[str, Any]

# What a machine and its other users decide; all else follows from the seed.
MEASURED = ("seconds", "megabytes")


class DamagedError(ValueError):
    """A file of records has a line that is none."""


def without_timings(records: Iterable[Record]) -> list[Record]:
    """Return records less what is measured on the machine: names that end in seconds, megabytes."""
    return [
        {name: value for name, value in record.items() if not name.endswith(MEASURED)}
        for record in records
    ]


def canonical(value: Mapping[str, Any]) -> str:
    """Return the one JSON text of a dictionary, whatever the order of its names."""
    return json.dumps(value, sort_keys=True, allow_nan=False, default=_plain)


def as_records(found: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Return records as a file gives them back: lists for tuples and arrays, Python's numbers."""
    try:
        text = json.dumps(list(found), allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        what = "finite numbers, text, None, and lists and dictionaries of them"
        raise ValueError(must("records", what, f"other values ({error})")) from None
    records: list[Record] = json.loads(text)
    return records


@dataclass(frozen=True)
class Notebook:
    """The file of an experiment's finished tasks; a line cut short by an interruption is dropped.

    Parameters
    ----------
    path
        A file of JSON lines; it need not exist.
    """

    path: Path

    def read(self) -> dict[str, list[Record]]:
        """Return the records of each finished task, by its canonical key."""
        if not self.path.exists():
            return {}
        finished = {}
        # What follows the last newline was never finished.
        for number, line in enumerate(self.path.read_text("utf-8").split("\n")[:-1], start=1):
            try:
                entry = json.loads(line)
                finished[canonical(entry["key"])] = entry["records"]
            except (ValueError, KeyError, TypeError):
                raise DamagedError(
                    f"{self.path}, line {number}, is not a task and its records. "
                    "Delete that line, or the file, to have them computed again."
                ) from None
        return finished

    def append(self, key: Mapping[str, Any], records: list[Record]) -> None:
        """Write one finished task, as a line of its own, when no other process writes."""
        line = json.dumps({"key": key, "records": records}, allow_nan=False, default=_plain)
        with self.alone() as file:
            _drop_unfinished(file)
            file.write(line.encode() + b"\n")

    @contextmanager
    def alone(self) -> Iterator[Any]:
        """Open the file to append to it, once no other process or thread has it open so."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            # Until the file is closed, or its process ends.
            _lock(file)
            yield file


def read_records(path: str | Path) -> list[Record]:
    """Return all records of a file that `ritz reproduce` wrote, in the order they were found.

    They are those of every run in that folder: quick and full, of every seed and version. Those of
    one run are what `run(config, Runner(folder=...))` returns, without computing them again.
    """
    path = Path(path)
    if not path.exists():
        remedy = "It is written by `ritz reproduce NAME` as reproduced/NAME/records.jsonl."
        raise FileNotFoundError(must("path", "a file of records", f"{path}, not there,", remedy))
    return [record for records in Notebook(path).read().values() for record in records]


if sys.platform == "win32":
    import msvcrt

    def _lock(file: Any) -> None:
        # A byte that is never written, as locked ones cannot be read; ten seconds, then an error.
        file.seek(2**30)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(file: Any) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)


def _drop_unfinished(file: Any) -> None:
    if size := file.seek(0, SEEK_END):
        file.seek(size - 1)
        if file.read(1) != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a number, text, list or dictionary")
