"""Records: the results of tasks as plain values, and the file of JSON lines that keeps them.

Each line is one finished task: `{"key": {"function", "ritz", "task"}, "records": [...]}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Record = dict[str, Any]

# Names of measured values end in these words. All other values are determined by the seed.
MEASURED = ("seconds", "megabytes")


class DamagedError(ValueError):
    """A line in a file of records cannot be read."""


def without_timings(records: Iterable[Record]) -> list[Record]:
    """Return records without measured values, whose names end in seconds or megabytes."""
    return [
        {name: value for name, value in record.items() if not name.endswith(MEASURED)}
        for record in records
    ]


def canonical(key: Mapping[str, Any]) -> str:
    """Return a JSON text of a dictionary that does not depend on the order of its names."""
    return json.dumps(key, sort_keys=True, allow_nan=False, default=_plain)


def as_records(found: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Convert records to what a file returns: lists for tuples and arrays, and Python numbers."""
    try:
        text = json.dumps(list(found), allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "Records must be dictionaries of finite numbers, text, None, and lists of them. "
            f"Got other values instead ({error})."
        ) from None
    records: list[Record] = json.loads(text)
    return records


def read_records(path: str | Path) -> list[Record]:
    """Return all records of a file in the order of their computation.

    They are those of every run in that folder: quick and full, of every seed and version. For the
    records of one run call `run(config, Runner(folder=...))`, which does not compute them again.
    """
    return [record for records in read_tasks(Path(path)).values() for record in records]


def read_tasks(path: Path) -> dict[str, list[Record]]:
    """Return the records of each finished task by its canonical key."""
    finished = {}
    # Text after the last newline is a line that was cut short by an interruption.
    for number, line in enumerate(path.read_text("utf-8").split("\n")[:-1], start=1):
        try:
            entry = json.loads(line)
            finished[canonical(entry["key"])] = entry["records"]
        except (ValueError, KeyError, TypeError):
            raise DamagedError(
                f"{path}, line {number}, is not a task and its records. "
                "Delete that line, or the file, to compute them again."
            ) from None
    return finished


def append_task(path: Path, key: Mapping[str, Any], records: list[Record]) -> None:
    """Append one finished task to the file, which is created if needed."""
    line = json.dumps({"key": key, "records": records}, allow_nan=False, default=_plain)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(line.encode() + b"\n")


def drop_unfinished_line(path: Path) -> None:
    """Remove a last line that was cut short by an interruption."""
    content = path.read_bytes()
    if not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a number, text, list or dictionary")
