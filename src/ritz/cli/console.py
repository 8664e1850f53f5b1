"""What the command line prints: results, notes, warnings and errors."""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from ritz.cli.interrupted import INTERRUPTED

# How remedies of the library read on the command line.
OPTIONS = {
    'pass nulls="drop"': "pass --nulls drop",
    ', or pass format="csv" or another one': "",
    "Leave such rows out.": "Leave such rows out of the file.",
    "needs groups='auto'": "needs a fit in Python with groups='auto'",
    "See `evidence_` and `stability_`, or set n_clusters": "See a --report, or set -k",
    "Lower n_components": "Lower -k",
    "Lower n_clusters": "Lower -k",
    "Raise n_centers": "Raise --centers",
    "Put sklearn.preprocessing.StandardScaler before the estimator": "Pass --scale standard",
    "scale=None": "--scale none",
    "Compare with n_clusters=": "Compare with -k ",
    "Let n_clusters='auto'": "Let -k auto",
    "ritz.ClusterDisplay.from_estimator(model, X)": "a page of ritz report",
    "ritz.EigenfunctionDisplay.from_estimator(model, X)": "a page of ritz report",
    "ritz.EmbeddingDisplay.from_estimator(model, X)": "a page of ritz report",
    "ritz.CalibrationDisplay.from_estimator(model, X_held, y_held)": (
        "a page of ritz report with rows that the fit has not seen, and --target"
    ),
}
# The most letters of a line of a table that goes to a file or a pipe.
FILE_WIDTH = 200
# Warnings of one command, in the order in which they came.
_warned: list[str] = []


def printed(text: str, *, error: bool = False, style: str | None = None) -> None:
    """Print a line, broken between words on a terminal and nowhere else."""
    console = Console(stderr=error, highlight=False)
    console.print(text, style=style, markup=False, emoji=False, soft_wrap=not console.is_terminal)


def note(text: str) -> None:
    """Say something about the work on the error stream."""
    printed(text, error=True)


def in_words(text: object) -> str:
    """Return a message on one line, with options in place of the library's arguments."""
    line = " ".join(str(text).split())
    for theirs, ours in OPTIONS.items():
        line = line.replace(theirs, ours)
    return line


def warned(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning in one line, once."""
    line = in_words(message)
    if line not in _warned:
        _warned.append(line)
        printed(f"warning: {line}", error=True, style="yellow")


class Command(TyperCommand):
    """A command that says in a sentence what went wrong."""

    def invoke(self, ctx: Any) -> Any:
        with errors_in_words(ctx.params.get("debug", False)), warnings_in_words():
            return super().invoke(ctx)


@contextmanager
def warnings_in_words() -> Iterator[None]:
    """Print warnings about data and fits in one line each, and no others."""
    _warned.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.filterwarnings("always", category=category)
        # Columns are found by their names before, so that the rows of a model need none.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        warnings.showwarning = warned
        yield


@contextmanager
def errors_in_words(debug: bool) -> Iterator[None]:
    """Turn errors into a sentence and an exit code, with the traceback only for debugging."""
    try:
        yield
    except (typer.BadParameter, typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except KeyboardInterrupt:
        note(INTERRUPTED)
        raise typer.Exit(130) from None
    except Exception as error:
        if was_interrupted(error):
            note(INTERRUPTED)
            raise typer.Exit(130) from None
        if debug:
            traceback.print_exc()
        text = in_words(error) or type(error).__name__
        if isinstance(error, OSError) and error.strerror:
            where = f": {str(error.filename)!r}" if error.filename else ""
            text = f"{error.strerror}{where}."
        if not isinstance(error, ValueError | TypeError | OSError | ImportError | MemoryError):
            text = f"{type(error).__name__}: {text}. This is a fault of ritz; --debug shows where."
        printed(f"error: {text}", error=True, style="bold red")
        raise typer.Exit(1) from None


def was_interrupted(error: BaseException | None) -> bool:
    """Return whether an error comes from Ctrl-C, which compiled modules report as their own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def finish(as_json: bool, facts: Mapping[str, Any], parts: Sequence[str | Table]) -> None:
    """Print a result: one JSON object, or texts and tables."""
    if as_json:
        text = json.dumps(plain({**facts, "warnings": _warned}), allow_nan=False)
        sys.stdout.write(f"{text}\n")
        return
    for part in parts:
        if isinstance(part, str):
            printed(part)
        else:
            print_table(part)


def print_table(part: Table) -> None:
    """Print a table that is as wide as the terminal or, in a file, as it needs."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    with console.capture() as captured:
        console.print(part)
    for line in captured.get().splitlines():
        console.file.write(f"{line.rstrip()}\n")


def plain(value: Any) -> Any:
    """Return a value as JSON holds it; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if isinstance(value, bool | int | float) else str(value)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table of texts whose empty columns are left out."""
    kept = [j for j in range(len(headers)) if any(row[j] for row in rows)]
    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for j in kept:
        made.add_column(headers[j], justify="left" if j == len(headers) - 1 else "right")
    for row in rows:
        made.add_row(*(Text(row[j]) for j in kept))
    return made


def listing(heading: str, rows: Sequence[Sequence[str]]) -> Table:
    """Return rows of texts below a heading; the last text of each is broken between words."""
    made = Table.grid(padding=(0, 2, 0, 0))
    made.title, made.title_justify, made.title_style = f"\n{heading}", "left", "bold"
    for row in rows:
        made.add_row(*map(Text, row))
    return made
