"""Every figure of the paper, one small module each: `ritz reproduce NAME` runs and draws them.

A module has

- a frozen dataclass `Config` of plain values with a `seed`, and two of them, `QUICK` and `FULL`;
- `run(config, runner=Runner()) -> list[Record]`, through `runner.map` over tasks;
- `plot(records) -> Figure`;
- `numbers(records) -> list[Record]`, the rows of the table that is printed: what to look at;
- `RECORDS = "other"` where the records are those of another experiment;
- `NEEDS`, packages beyond the extra `reproduce`, where there are any.

The first line of its docstring says what it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, cast

from ritz.arrays import must
from ritz.experiments.records import DamagedError, Record, read_records, without_timings
from ritz.experiments.runner import Runner, seeds

__all__ = [
    "NAMES",
    "DamagedError",
    "Experiment",
    "Record",
    "Runner",
    "lacking",
    "load",
    "read_records",
    "seeds",
    "without_timings",
]

# In the order of the paper; best-p is the module best_p.
NAMES = (
    "moons",
    "harmonics",
    "convergence",
    "best-p",
    "best-hyper",
    "dimension",
    "kernels",
    "beyond",
    "theorems",
    "hermite-constant",
    "hermite-2d",
    "network",
    "complexity",
    "jacobian-variance",
)


class Experiment(Protocol):
    """What a module of this folder offers."""

    __doc__: str
    QUICK: Any
    FULL: Any

    def run(self, config: Any, runner: Runner) -> list[Record]:
        """Return the records of all tasks of a config."""

    def plot(self, records: Sequence[Record]) -> Any:
        """Return the figure that the records make."""

    def numbers(self, records: Sequence[Record]) -> list[Record]:
        """Return what to look at, a row of a table each."""


def lacking(experiment: Experiment) -> list[str]:
    """Return the packages that an experiment needs and that are not installed."""
    return [name for name in getattr(experiment, "NEEDS", ()) if find_spec(name) is None]


def load(name: str) -> Experiment:
    """Return the experiment of a name, or say which there are."""
    if name not in NAMES:
        near = get_close_matches(name.lower().replace("_", "-"), (*NAMES, "all"), n=1)
        remedy = f"Did you mean {near[0]}?" if near else ""
        raise ValueError(must("name", f"one of {', '.join(NAMES)}, or all", repr(name), remedy))
    module = import_module(f"ritz.experiments.{name.replace('-', '_')}")
    return cast(Experiment, module)
