"""The arguments and options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

SELECTION, RESULTS, RUNNING = "Which rows and columns", "What to write", "How it runs"
# How a tab can be typed.
TABS = {"tab": "\t", "\\t": "\t"}


class Nulls(StrEnum):
    """What to do with rows that lack a number."""

    error = "error"
    drop = "drop"


class Operator(StrEnum):
    """The operators that need no more arguments."""

    auto = "auto"
    laplacian = "laplacian"
    neighbors = "neighbors"


class Scale(StrEnum):
    """What columns are divided by."""

    auto = "auto"
    standard = "standard"
    none = "none"


def count_or_auto(text: str) -> str:
    """Return a positive number or "auto"; raise for any other text."""
    if text != "auto" and not (text.isdecimal() and int(text) > 0):
        raise typer.BadParameter(f"must be a positive integer or auto. Got {text!r}.")
    return text


def letter(text: str) -> str:
    """Return the one character that a text stands for; raise for any other text."""
    text = TABS.get(text, text)
    if len(text) != 1:
        raise typer.BadParameter(f"must be one character, or tab. Got {text!r}.")
    return text


def file_to_write(help: str, *names: str) -> Any:
    """Return an option that names a file to write."""
    return typer.Option(
        *names, metavar="FILE", show_default=False, rich_help_panel=RESULTS, help=help
    )


def column(help: str, metavar: str = "NAME", panel: str | None = None) -> Any:
    """Return an option that names one column, or several."""
    return typer.Option(metavar=metavar, show_default=False, rich_help_panel=panel, help=help)


def columns_by(default: str) -> Any:
    """Return the option that names columns, with a word for those without it."""
    return typer.Option(
        metavar="NAMES",
        show_default=default,
        rich_help_panel=SELECTION,
        help="The columns to use: names and patterns, as in 'bill_*,mass'.",
    )


def number(help: str) -> Any:
    """Return the option -k, with what it counts."""
    return typer.Option("-k", metavar="N|auto", callback=count_or_auto, help=help)


def rows_of(help: str) -> Any:
    """Return the argument that names files of rows."""
    return typer.Argument(metavar="DATA", show_default=False, help=help)


# What is read.
Data = Annotated[
    list[str],
    rows_of("CSV, Parquet, Feather or .npy files, a folder of them, or a quoted pattern."),
]
ShownData = Annotated[
    list[str] | None,
    rows_of("Rows to show the model on; without them the page holds what the model knows."),
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", show_default=False, help="A file that --save wrote.")
]

# What is computed.
Functions = Annotated[
    str, number("How many functions; auto takes those that two halves of the rows agree on.")
]
Clusters = Annotated[str, number("How many clusters; auto looks for a gap between eigenvalues.")]
Eigenvalues = Annotated[str, number("How many eigenvalues besides the 0 of the constant.")]
Target = Annotated[str, column("The column to predict; it may have gaps.")]
ShownTarget = Annotated[
    str | None,
    column("A column: colors the rows, or checks the intervals of a surrogate by its numbers."),
]
Gradient = Annotated[
    list[str] | None,
    column(
        "Its partial derivatives: 'dy_*' where dy_a goes with column a. Gaps are allowed.", "NAMES"
    ),
]

# Which rows and columns.
Columns = Annotated[list[str] | None, columns_by("all that hold numbers")]
Exclude = Annotated[
    list[str] | None,
    column("Columns to leave out of those used: names and patterns.", "NAMES", SELECTION),
]
ModelColumns = Annotated[list[str] | None, columns_by("those of the fit")]
Weight = Annotated[str | None, column("The column with weights of the rows.", panel=SELECTION)]
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
        metavar="LETTER|tab",
        callback=letter,
        rich_help_panel=SELECTION,
        help="What separates the columns of a CSV file; in .tsv files tabs.",
    ),
]

# What is written.
_OUTPUT = file_to_write(
    "The file to write: .parquet, .csv, .csv.gz, .feather or .npy.", "-o", "--output"
)
Output = Annotated[Path, _OUTPUT]
OptionalOutput = Annotated[Path | None, _OUTPUT]
Page = Annotated[Path, file_to_write("The page to write (.html).", "-o", "--output")]
Report = Annotated[Path | None, file_to_write("Write a page about the fit (.html).")]
Save = Annotated[Path | None, file_to_write("Save the model, for ritz transform.")]
Keep = Annotated[
    list[str] | None,
    column(
        "Columns to copy to the output; the fit uses them only if --columns names them.",
        "NAMES",
        RESULTS,
    ),
]

Std = Annotated[
    bool,
    typer.Option(
        "--std", rich_help_panel=RESULTS, help="Of a surrogate: its standard deviations, as std."
    ),
]
Slopes = Annotated[
    bool,
    typer.Option(
        "--gradient",
        rich_help_panel=RESULTS,
        help="Of a surrogate: its partial derivatives, as d_a by column a.",
    ),
]

# How it runs.
OperatorOption = Annotated[
    Operator,
    typer.Option(
        "--operator",
        rich_help_panel=RUNNING,
        help="laplacian where rows fill their space, neighbors where they do not; auto decides.",
    ),
]
Centers = Annotated[
    str,
    typer.Option(
        "--centers",
        metavar="N|auto",
        callback=count_or_auto,
        rich_help_panel=RUNNING,
        help="How many kernel sections functions are made of: more are more exact, and slower.",
    ),
]
ScaleOption = Annotated[
    Scale,
    typer.Option(
        "--scale",
        rich_help_panel=RUNNING,
        help="standard divides columns by their standard deviations; auto does where they differ.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        max=2**32 - 1,
        rich_help_panel=RUNNING,
        help="Equal seeds give equal results.",
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", rich_help_panel=RUNNING, help="Print the result as one JSON object."),
]
Debug = Annotated[
    bool, typer.Option("--debug", rich_help_panel=RUNNING, help="Show the traceback of an error.")
]
