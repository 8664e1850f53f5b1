"""Which columns hold the derivatives of a surrogate."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ritz.cli.console import note
from ritz.cli.data import Source, listed


def note_derivatives(source: Source, target: str, inputs: Sequence[str]) -> None:
    """Say which of the inputs have names of derivatives of the target by other columns."""
    for start in (f"d{target}_", f"d{target}/d", f"d{target}_d"):
        ends = {name: name.removeprefix(start) for name in inputs if name.startswith(start)}
        found = [name for name, end in ends.items() if end in (source.kinds or {})]
        if found:
            what = f"By their names, {listed(found)} are derivatives of {target}, not inputs"
            note(f"{what}: pass --gradient '{start}*' to fit to them.")


def gradient_columns(source: Source, patterns: Sequence[str], inputs: Sequence[str]) -> list[str]:
    """Return the columns with the partial derivatives, one for each column of the inputs.

    What a * stands for in "dy_*" is the name of an input. Other names are taken in their order,
    that of the command line or of the file.
    """
    names = source.named(patterns, "--gradient")
    for pattern in patterns:
        if pattern.count("*") == 1 and pattern not in (source.kinds or {}):
            wanted = [pattern.replace("*", column) for column in inputs]
            if set(wanted) == set(names):
                return wanted
    if names and len(names) != len(inputs):
        message = (
            f"must name a column for each of the {len(inputs)} inputs ({listed(inputs)}). Got "
            f"{len(names)} ({listed(names)}). Choose the inputs with --columns."
        )
        raise typer.BadParameter(message, param_hint="--gradient")
    return names
