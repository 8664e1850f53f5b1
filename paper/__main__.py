"""The command `python -m paper NAME`: compute a figure, draw it, and print its numbers."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from paper.figures import NAMES, FigureModule, contents, load, missing_packages, sentence
from paper.records import DamagedError, Record
from paper.runner import Runner
from ritz.atomic import write_atomically


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = command_line()
    options = parser.parse_args(arguments)
    if options.list or options.name is None:
        print(contents())
        return 0
    try:
        names = chosen(options.name)
        if options.trials is not None and not any(has_trials(load(name)) for name in names):
            raise ValueError(f"{options.name} has no trials. Leave --trials out.")
        runner = Runner(options.jobs, progress=True, backend=options.backend)
        options.out.mkdir(parents=True, exist_ok=True)
    except (ImportError, OSError, ValueError) as error:
        parser.error(str(error))
    for name in names:
        try:
            reproduce(name, options, runner)
        except (DamagedError, OSError) as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            kept = f"Finished tasks are kept in {options.out}"
            print(f"Stopped in {name}. {kept}; the same command continues.", file=sys.stderr)
            # The exit code that shells expect after Ctrl-C.
            return 130
    return 0


def command_line() -> ArgumentParser:
    """Return the parser of the options."""
    description = "Compute a figure of the paper, draw it, and print its numbers."
    parser = ArgumentParser("python -m paper", description=description)
    add = parser.add_argument
    add("name", nargs="?", help="a figure, or all; without it the figures are listed")
    add("--full", action="store_true", help="the paper's sizes instead of quick ones")
    add("--out", type=Path, default=Path("reproduced"), help="folder of records and pictures")
    add("--jobs", type=at_least(1), help="number of processes; default one per core")
    add("--seed", type=at_least(0), default=0, help="seed of all samples")
    add("--trials", type=at_least(1), help="repetitions, for figures that have them")
    add("--backend", choices=("loky", "threading", "dask"), default="loky", help="joblib's backend")
    add("--list", action="store_true", help="list the figures")
    return parser


def at_least(lowest: int) -> Callable[[str], int]:
    """Return a converter of options to integers that are at least `lowest`."""

    def convert(text: str) -> int:
        if not text.isdecimal() or int(text) < lowest:
            raise ArgumentTypeError(f"must be an integer, at least {lowest}. Got {text} instead.")
        return int(text)

    return convert


def chosen(name: str) -> list[str]:
    """Return the figures of a name; "all" leaves out those whose packages are not installed."""
    ready = []
    for each in NAMES if name == "all" else (name,):
        missing = missing_packages(load(each))
        if not missing:
            ready.append(each)
            continue
        remedy = f"{each} needs {missing[0]}: pip install 'ritz[{missing[0]}]'."
        if name != "all":
            raise ImportError(remedy)
        print(f"Left out: {remedy}", file=sys.stderr)
    return ready


def has_trials(figure: FigureModule) -> bool:
    """Return whether a figure's config has a number of trials."""
    return any(field.name == "trials" for field in fields(figure.QUICK))


def reproduce(name: str, options: Namespace, runner: Runner) -> None:
    """Run one figure's tasks, save its picture, and print its numbers."""
    figure = load(name)
    config = replace(figure.FULL if options.full else figure.QUICK, seed=options.seed)
    if options.trials is not None and has_trials(figure):
        config = replace(config, trials=options.trials)
    folder = options.out / getattr(figure, "RECORDS", name)
    records = figure.run(config, replace(runner, folder=folder))
    picture = options.out / name / f"{name}.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(picture) as file:
        figure.plot(records).savefig(file, format="png", dpi=120)
    print(f"\n{name}: {sentence(figure)}\n\n{table(figure.numbers(records))}\n")
    print(f"records: {folder / 'records.jsonl'}\nfigure:  {picture}")


def table(rows: Sequence[Record]) -> str:
    """Return rows with equal keys as lines of aligned text."""
    cells = [list(rows[0]), *([text(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def text(value: Any) -> str:
    """Return a value as it is printed, floats with three digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
