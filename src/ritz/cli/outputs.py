"""The files that a command may write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import typer


def require_outputs(outputs: dict[str, Path | None], inputs: Sequence[str]) -> None:
    """Raise for a file that cannot be written, before anything is computed.

    Parameters
    ----------
    outputs
        The files to write, by option.
    inputs
        The files to read.
    """
    taken = {os.path.realpath(path): "the data" for path in inputs}
    for option, path in outputs.items():
        if path is None:
            continue
        folder = path.resolve().parent
        if not folder.is_dir():
            message = f"must be in a folder that exists. There is no {str(folder)!r}."
            raise typer.BadParameter(message, param_hint=option)
        if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
            message = f"must be a file that may be written. {str(path)!r} is not."
            raise typer.BadParameter(message, param_hint=option)
        other = taken.setdefault(os.path.realpath(path), option)
        if other != option:
            message = f"must be another file than that of {other}. Got {str(path)!r}."
            raise typer.BadParameter(message, param_hint=option)


def require_table(output: Path | None, keep: Sequence[str] | None = None) -> None:
    """Raise for a file of rows whose name says no format that can be written, or none for names."""
    from ritz.streams.write import output_format

    try:
        if output is not None:
            output_format(output)
    except ValueError:
        message = f"must end in .parquet, .csv, .csv.gz, .feather or .npy. Got {str(output)!r}."
        raise typer.BadParameter(message, param_hint="--output") from None
    if keep and output is not None and output.suffix.lower() == ".npy":
        message = "needs an output with named columns, .parquet or .csv: .npy holds numbers alone."
        raise typer.BadParameter(message, param_hint="--keep")


def require_page(page: Path | None, option: str) -> None:
    """Raise for a report whose name says that it is no page for a browser."""
    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"must end in .html. Got {str(page)!r}.", param_hint=option)
