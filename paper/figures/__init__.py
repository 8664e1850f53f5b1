"""One small module for each figure of the paper.

A module has

- a frozen dataclass `Config` of plain values with a `seed`, and two instances, `QUICK` and `FULL`;
- `run(config, runner=Runner()) -> list[Record]`, which calls `runner.map` on a list of tasks;
- `plot(records) -> Figure`;
- `numbers(records) -> list[Record]`, the rows of the printed table;
- `RECORDS = "other"` if it draws the records of another figure;
- `NEEDS`, the optional packages it imports, if any.

The first line of its docstring says what it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, cast

from paper.records import Record
from paper.runner import Runner

# In the order of the paper. The module of best-p is best_p.
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


class FigureModule(Protocol):
    """The interface of the modules in this folder."""

    __doc__: str
    QUICK: Any
    FULL: Any

    def run(self, config: Any, runner: Runner) -> list[Record]:
        """Return the records of all tasks of a config."""

    def plot(self, records: Sequence[Record]) -> Any:
        """Return the matplotlib figure of the records."""

    def numbers(self, records: Sequence[Record]) -> list[Record]:
        """Return the rows of the printed table."""


def load(name: str) -> FigureModule:
    """Import the module of a figure; the error for an unknown name lists all figures."""
    if name not in NAMES:
        near = get_close_matches(name.lower().replace("_", "-"), (*NAMES, "all"), n=1)
        suggestion = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(f"There is no figure {name!r}.{suggestion}\n{contents()}")
    return cast(FigureModule, import_module(f"paper.figures.{name.replace('-', '_')}"))


def contents() -> str:
    """Return a line for each figure: its name and what it shows."""
    return "\n".join(f"  {name:<18} {sentence(load(name))}" for name in NAMES)


def sentence(figure: FigureModule) -> str:
    """Return the first line of a figure's docstring."""
    return figure.__doc__.partition("\n")[0]


def missing_packages(figure: FigureModule) -> list[str]:
    """Return the packages that a figure needs and that are not installed."""
    return [name for name in getattr(figure, "NEEDS", ()) if find_spec(name) is None]
