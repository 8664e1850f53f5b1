"""Which columns hold a target and its derivatives."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ritz.cli.console import note
from ritz.cli.data import Source, listed

# What a target may hold, and what is said of others.
NUMBERS, LABELS = ("number", "true or false"), ("number", "true or false", "text")
OTHERS = {"time": "times", "empty": "nothing"}


def target_of(source: Source, name: str, *, labels: bool = False) -> str:
    """Return the column of --target, which must hold numbers, or labels where those will do."""
    found = source.named([name], "--target")
    if len(found) > 1:
        message = f"names {len(found)} columns ({listed(found)}), and must name one."
        raise typer.BadParameter(message, param_hint="--target")
    [target] = found
    kind = (source.kinds or {})[target]
    if kind not in (LABELS if labels else NUMBERS):
        what = "numbers, text or true and false" if labels else "numbers"
        got = f"{target!r} holds {OTHERS.get(kind, kind)}"
        raise typer.BadParameter(f"must be a column of {what}. {got}.", param_hint="--target")
    return target


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

    What a * stands for in "dy_*" is the name of an input, and so is what each name ends in, where
    all end in different ones. Other names are taken in their order, that of the command line or of
    the file.
    """
    names = [name for name in source.named(patterns, "--gradient") if source.uses(name)]
    for pattern in patterns:
        if pattern.count("*") == 1 and pattern not in (source.kinds or {}):
            wanted = [pattern.replace("*", column) for column in inputs]
            if set(wanted) == set(names):
                return wanted
    if names and len(names) != len(inputs):
        message = (
            f"must name a column for each of the {len(inputs)} inputs ({listed(inputs)}). Got "
            f"{len(names)} ({listed(names)}). Choose the inputs with --columns, or leave out some "
            "of either with --exclude."
        )
        raise typer.BadParameter(message, param_hint="--gradient")
    by_input = {ending(name, inputs): name for name in names}
    return [by_input[column] for column in inputs] if set(by_input) == set(inputs) else names


def ending(name: str, inputs: Sequence[str]) -> str | None:
    """Return the input whose name another ends in, the longest of several, or None."""
    return max((column for column in inputs if name.endswith(column)), key=len, default=None)
