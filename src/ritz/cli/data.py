"""The rows and columns that a command names, and the files it may write."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import ritz
from ritz.cli.console import note

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ritz.streams import Stream
    from ritz.validation import Array

# Rows that a report is made of: all, or a random sample where there are more.
REPORT_ROWS = 20_000
# Names that a note lists.
MOST_NAMES = 12
# Rows that are counted at a time.
COUNTED_ROWS = 131_072
# Rows that say what a column of text holds.
HEAD_ROWS = 1000
# Names of columns that identify rows: id, customer_id, customerId, customerID.
IDENTIFIER = re.compile(r"(?i:^|_)(?i:id)$|[a-z]I[dD]$")
# Files without named columns.
PLAIN = (".npy", ".zarr")


@dataclass(frozen=True)
class Source:
    """Files of rows, before columns are chosen.

    Parameters
    ----------
    paths, nulls, weight, delimiter
        As on the command line.
    kinds
        The columns of the first file and what each holds, "number" or another word; None for files
        without named columns.
    """

    paths: tuple[str, ...]
    nulls: str
    weight: str | None
    delimiter: str
    kinds: dict[str, str] | None

    @classmethod
    def at(cls, paths: Sequence[str], nulls: str, weight: str | None, delimiter: str) -> Source:
        if len(delimiter) != 1:
            raise typer.BadParameter("must be one character.", param_hint="--delimiter")
        kinds = None
        if not is_plain(paths):
            schema = ritz.Table(list(paths), delimiter=delimiter).files[0].schema()
            kinds = {field.name: kind_of(field.type) for field in schema}
        source = cls(tuple(paths), nulls, weight, delimiter, kinds)
        if weight is not None:
            source.named([weight], "--weight")
        return source

    def named(self, patterns: Sequence[str], option: str, *, any_kind: bool = False) -> list[str]:
        """Return the columns that names and patterns, maybe with commas, stand for.

        A pattern stands for the numeric columns among those that it fits, unless any kind will do.
        """
        from ritz.streams.formats import meant

        if not patterns:
            return []
        if self.kinds is None:
            raise typer.BadParameter(
                f"needs named columns, which {self.paths[0]} has not.", param_hint=option
            )
        chosen: dict[str, None] = {}
        for text in patterns:
            for part in [text] if text in self.kinds else text.split(","):
                name = part.strip()
                found = [name] if name in self.kinds else self._fitting(name, any_kind)
                if not found:
                    columns = listed(self.kinds)
                    message = f"{name!r} is no column of {self.paths[0]}, which has {columns}."
                    message += meant(name, self.kinds)
                    raise typer.BadParameter(message, param_hint=option)
                chosen |= dict.fromkeys(found)
        return list(chosen)

    def _fitting(self, pattern: str, any_kind: bool) -> list[str]:
        kinds = self.kinds or {}
        found = [name for name in kinds if fnmatchcase(name, pattern)]
        if any_kind:
            return found
        numbers = [name for name in found if kinds[name] == "number"]
        if numbers:
            self._note_left([name for name in found if name not in numbers])
        return numbers or found

    def _note_left(self, names: Sequence[str]) -> None:
        """Say which columns are left out."""
        left = [f"{name} ({(self.kinds or {})[name]})" for name in names]
        if left:
            note(f"Left out, as they hold no numbers: {listed(left)}.")
        for name in names:
            if (self.kinds or {})[name] == "text" and (wrong := self._wrong_entry(name)):
                warnings.warn(
                    f"{name} holds numbers but for {wrong}: mend that, or name the columns to use "
                    "with --columns.",
                    stacklevel=2,
                )

    def _wrong_entry(self, name: str) -> str | None:
        """Return the first entry that is no number in a column of text that mostly holds numbers.

        None for a column whose first rows are mostly words.
        """
        from ritz.streams.formats import arrow, is_number

        file = ritz.Table(list(self.paths), delimiter=self.delimiter).files[0]
        _, batch = next(file.batches([name], (), HEAD_ROWS), (0, None))
        entries = [] if batch is None else batch.column(0).slice(0, HEAD_ROWS).to_pylist()
        missing = (None, *arrow("pyarrow.csv").ConvertOptions().null_values)
        there = {row: text for row, text in enumerate(entries) if text not in missing}
        words = {row: text for row, text in there.items() if not is_number(text)}
        if not words or 2 * len(words) >= len(there):
            return None
        row = min(words)
        more = f" and {len(words) - 1} more" if len(words) > 1 else ""
        return f"{words[row]!r} in row {row}{more}"

    def target(self, name: str, *, text: bool = False) -> str:
        """Return the column of --target, which must hold numbers, or text where that will do."""
        found = self.named([name], "--target")
        if len(found) > 1:
            message = f"names {len(found)} columns ({listed(found)}), and must name one."
            raise typer.BadParameter(message, param_hint="--target")
        [target] = found
        kind = (self.kinds or {})[target]
        if kind == "time" or (kind == "text" and not text):
            message = f"must be a numeric column. {target!r} holds {kind}."
            raise typer.BadParameter(message, param_hint="--target")
        return target

    def kept(self, keep: Sequence[str] | None) -> list[str]:
        """Return the columns to copy to the output."""
        return self.named(keep or (), "--keep", any_kind=True)

    def chosen(self, columns: Sequence[str] | None, others: Sequence[str] = ()) -> list[str] | None:
        """Return the columns named, or all numeric ones but some; None for files without names."""
        if columns:
            return self.named(columns, "--columns")
        return None if self.kinds is None else self._numeric(others)

    def _numeric(self, others: Sequence[str]) -> list[str]:
        kinds = self.kinds or {}
        rest = {name: kind for name, kind in kinds.items() if name not in (*others, self.weight)}
        chosen = [name for name, kind in rest.items() if kind == "number"]
        if not chosen:
            what = listed(f"{name} ({kind})" for name, kind in rest.items()) or "there are none"
            remedy = "Name others with --columns, or another separator with --delimiter."
            raise ValueError(f"No column of {self.paths[0]} holds numbers: {what}. {remedy}")
        self._note_left([name for name in rest if name not in chosen])
        numbers = [name for name in chosen if self._numbers_rows(name)]
        if numbers and len(numbers) < len(chosen):
            what = f"Left out, as they number or identify the rows: {listed(numbers)}."
            note(f"{what} --columns can name them.")
            chosen = [name for name in chosen if name not in numbers]
        return chosen

    def _numbers_rows(self, name: str) -> bool:
        """Return whether a column counts its first rows one by one, or identifies them."""
        table = ritz.Table(list(self.paths), [name], delimiter=self.delimiter, partial=(name,))
        some = table.head(COUNTED_ROWS)[:, 0]
        if len(some) < 3:
            return False
        named = IDENTIFIER.search(name) and (some % 1 == 0).all()
        return bool((some[1:] - some[:-1] == 1.0).all() or (named and len(set(some)) == len(some)))

    def open(self, columns: Sequence[str] | None, others: Sequence[str] = ()) -> Stream:
        """Return the rows of some columns as a stream, or of all of a file without names.

        Other columns follow, unless they are among the first.
        """
        if self.kinds is None:
            paths = list(self.paths)
            return ritz.open(paths if len(paths) > 1 else paths[0])
        note(f"Columns used: {listed(columns or ())}.")
        return ritz.Table(
            list(self.paths),
            list(dict.fromkeys([*(columns or ()), *others])),
            weight=self.weight,
            nulls=self.nulls,
            delimiter=self.delimiter,
        )

    def count_rows(self) -> int:
        """Return how many rows there are, those that lack a number included."""
        total = 0
        for file in ritz.Table(list(self.paths), delimiter=self.delimiter).files:
            known = file.count_rows()
            if known is None:
                names = file.schema().names[:1]
                known = sum(batch.num_rows for _, batch in file.batches(names, (), COUNTED_ROWS))
            total += known
        return total


def is_plain(paths: Sequence[str]) -> bool:
    """Return whether files have no named columns."""
    return all(path.rstrip("/").lower().endswith(PLAIN) for path in paths)


def kind_of(kind: Any) -> str:
    """Return "number", or a word for what else a column of Arrow holds."""
    from ritz.streams.formats import arrow

    types = arrow("pyarrow.types")
    kind = kind.value_type if types.is_dictionary(kind) else kind
    if any(test(kind) for test in (types.is_integer, types.is_floating, types.is_decimal)):
        return "number"
    if any(test(kind) for test in (types.is_string, types.is_large_string)):
        return "text"
    if types.is_boolean(kind):
        return "true or false"
    if types.is_temporal(kind):
        return "time"
    return "empty" if types.is_null(kind) else str(kind)


def listed(names: Any) -> str:
    """Return names with commas, the first of them where there are many."""
    names = list(map(str, names))
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


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


def with_target(
    source: Source, columns: Sequence[str], target: str, seed: int
) -> tuple[Array, Array | NDArray[np.str_]]:
    """Return some columns and another, numbers or text, of all rows or of a random sample."""
    import numpy as np

    if (source.kinds or {})[target] != "text":
        rows = sampled(source.open(columns, [target]), seed)
        place = [*columns, target].index(target)
        return rows[:, : len(columns)], rows[:, place]
    table, rng = source.open(columns), np.random.default_rng(seed)
    assert isinstance(table, ritz.Table)
    X, y, key = np.empty((0, len(columns))), np.empty(0, dtype=np.str_), np.empty(0)
    for block, kept in table.with_columns([target]):
        words = [text or "missing" for text in kept.column(0).to_pylist()]
        X, y = np.concatenate([X, block.views[0]]), np.concatenate([y, words])
        key = np.concatenate([key, rng.random(len(words))])
        if len(key) > REPORT_ROWS:
            # The rows of the smallest keys, in their order.
            first = np.sort(np.argpartition(key, REPORT_ROWS)[:REPORT_ROWS])
            X, y, key = X[first], y[first], key[first]
    return X, y


def sampled(rows: Stream, seed: int) -> Array:
    """Return all rows of a stream, or a random sample where there are many."""
    head = rows.head(REPORT_ROWS + 1)
    return head if len(head) <= REPORT_ROWS else rows.sample(REPORT_ROWS, seed)
