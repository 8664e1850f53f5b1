"""The arguments and options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

SELECTION, RESULTS, RUNNING = "Which rows and columns", "What to write", "How it runs"


class Nulls(StrEnum):
    """What to do with rows that lack a number."""

    error = "error"
    drop = "drop"


class Operator(StrEnum):
    """The operators that need no more arguments."""

    auto = "auto"
    laplacian = "laplacian"
    neighbors = "neighbors"


def count_or_auto(text: str) -> str:
    """Return a positive number or "auto"; raise for any other text."""
    if text != "auto" and not (text.isdecimal() and int(text) > 0):
        raise typer.BadParameter(f"must be a positive integer or auto. Got {text!r}.")
    return text


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help="CSV, Parquet, Feather or .npy files, a folder of them, or a pattern in quotes.",
    ),
]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", show_default=False, help="A file that --save wrote."),
]
Output = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        show_default=False,
        rich_help_panel=RESULTS,
        help="The file to write: .parquet, .csv, .csv.gz, .feather or .npy.",
    ),
]
OptionalOutput = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        show_default=False,
        rich_help_panel=RESULTS,
        help="The file to write: .parquet, .csv, .csv.gz, .feather or .npy.",
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        show_default=False,
        rich_help_panel=RESULTS,
        help="Save the model, for ritz transform.",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        show_default=False,
        rich_help_panel=RESULTS,
        help="Write a page about the fit (.html).",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        show_default=False,
        rich_help_panel=RESULTS,
        help="Columns to copy to the output; the fit uses them only if --columns names them.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        show_default="all that hold numbers",
        rich_help_panel=SELECTION,
        help="The columns to use: names and patterns, as in 'bill_*,mass'.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        rich_help_panel=SELECTION,
        help="The column with weights of the rows.",
    ),
]
NullsOption = Annotated[
    Nulls,
    typer.Option(
        "--nulls",
        rich_help_panel=SELECTION,
        help="Rows that lack a number: end with an error, or drop them.",
    ),
]
Delimiter = Annotated[
    str,
    typer.Option(
        metavar="LETTER",
        rich_help_panel=SELECTION,
        help="What separates the columns of a CSV file.",
    ),
]
OperatorOption = Annotated[
    Operator,
    typer.Option(
        "--operator",
        rich_help_panel=RUNNING,
        help="laplacian where rows fill their space, neighbors where they do not; auto decides.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, rich_help_panel=RUNNING, help="Equal seeds give equal results."
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", rich_help_panel=RUNNING, help="Print the result as one JSON object."),
]
Debug = Annotated[
    bool, typer.Option("--debug", rich_help_panel=RUNNING, help="Show the traceback of an error.")
]
