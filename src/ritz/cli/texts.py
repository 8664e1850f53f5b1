"""Texts where numbers were meant, in columns and in names of columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ritz.streams.formats import File

# Rows that say what a column of text holds.
HEAD_ROWS = 1000


def fault_of(file: File, name: str) -> str | None:
    """Return why a column that mostly holds numbers is one of text, and the remedy.

    None for a column whose first rows are mostly words.
    """
    from ritz.streams.texts import COMMAS, has_commas, is_number

    there = entries_of(file, name)
    words = {row: text for row, text in there.items() if not is_number(text)}
    others = {row: text for row, text in words.items() if not has_commas(text)}
    if not words or 2 * len(others) >= len(there):
        return None
    if len(others) < len(words):
        example = next(text for text in words.values() if has_commas(text))
        remedy = COMMAS[0].lower() + COMMAS[1:].rstrip(".")
        return f"{name} holds numbers with commas, such as {example!r}: {remedy}"
    row = min(words)
    more = f" and {len(words) - 1} more" if len(words) > 1 else ""
    return f"{name} holds numbers but for {words[row]!r} in row {row}{more}: mend that"


def entries_of(file: File, name: str) -> dict[int, str]:
    """Return the first entries of a column of text that are not missing, by row."""
    from ritz.streams.formats import arrow

    _, batch = next(file.batches([name], (), HEAD_ROWS), (0, None))
    entries = [] if batch is None else batch.column(0).slice(0, HEAD_ROWS).to_pylist()
    missing = (None, *arrow("pyarrow.csv").ConvertOptions().null_values)
    return {row: text for row, text in enumerate(entries) if text not in missing}


def warn_of_numbers(path: str, names: Sequence[str]) -> None:
    """Warn where the names of a CSV file's columns are numbers, unless these count the columns."""
    from ritz.streams.texts import is_number

    there = [name for name in names if name]
    counted = [[str(j + first) for j in range(len(there))] for first in (0, 1)]
    if there and all(map(is_number, there)) and there not in counted:
        warnings.warn(
            f"The first line of {path} holds numbers and is taken for names of columns. Add a line "
            "of names, or the first row is lost.",
            stacklevel=2,
        )
