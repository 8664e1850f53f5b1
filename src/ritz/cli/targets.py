"""Which columns hold the derivatives of a surrogate."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ritz.cli.data import Source, listed


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
