"""The rows and columns that a command names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import typer

import ritz
from ritz.cli.console import note
from ritz.cli.texts import fault_of, warn_of_numbers

if TYPE_CHECKING:
    from ritz.streams import Stream
    from ritz.streams.formats import File

# Names that a note lists.
MOST_NAMES = 12
# Rows that are counted at a time.
COUNTED_ROWS = 131_072
# Names of columns that identify or number rows: id, customer_id, customerId, nr, rowid, row_number.
IDENTIFIER = re.compile(
    r"(?i:^|[_ .-])(?i:(row)?(id|nr|no|number|index|idx)|rownum)$|[a-z](I[dD]|Nr|No|Number|Index)$"
)
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
    excluded
        The columns of --exclude.
    """

    paths: tuple[str, ...]
    nulls: str
    weight: str | None
    delimiter: str
    kinds: dict[str, str] | None
    excluded: tuple[str, ...] = ()

    @classmethod
    def at(
        cls,
        paths: Sequence[str],
        nulls: str,
        weight: str | None,
        delimiter: str,
        exclude: Sequence[str] | None = None,
    ) -> Source:
        plain = is_plain(paths)
        source = cls(tuple(paths), nulls, weight, delimiter, None if plain else {})
        if nulls == "drop":
            source._require_names("--nulls")
        if not plain:
            file = source.files[0]
            schema = file.schema()
            if file.format == "csv":
                warn_of_numbers(file.path, schema.names)
            source = replace(source, kinds=kinds_of(schema))
        if weight is not None:
            source.named([weight], "--weight")
        excluded = source.named(exclude or (), "--exclude", any_kind=True)
        return replace(source, excluded=tuple(excluded))

    @property
    def files(self) -> tuple[File, ...]:
        """The files, where columns are named."""
        from ritz.streams.files import files_of

        return files_of(self.paths, None, self.delimiter)

    def _require_names(self, option: str) -> None:
        if self.kinds is None:
            message = f"needs named columns, which {self.paths[0]} has not."
            raise typer.BadParameter(message, param_hint=option)

    def named(self, patterns: Sequence[str], option: str, *, any_kind: bool = False) -> list[str]:
        """Return the columns that names and patterns, maybe with commas, stand for.

        A pattern stands for the numeric columns among those that it fits, unless any kind will do.
        """
        from ritz.streams.paths import meant

        if not patterns:
            return []
        self._require_names(option)
        kinds, chosen = self.kinds or {}, dict[str, None]()
        for text in patterns:
            for part in [text] if text in kinds else text.split(","):
                name = part.strip()
                found = [name] if name in kinds else self._fitting(name, any_kind)
                if not found:
                    message = f"{name!r} is no column of {self.paths[0]}, which has "
                    message += f"{listed(kinds)}.{meant(name, kinds)}"
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
        for fault in self._faults(names):
            warnings.warn(f"{fault}, or name the columns to use with --columns.", stacklevel=2)

    def _faults(self, names: Sequence[str]) -> list[str]:
        """Return what is wrong with columns of text that mostly hold numbers."""
        texts = [name for name in names if (self.kinds or {})[name] == "text"]
        file = self.files[0]
        return [fault for name in texts if (fault := fault_of(file, name))]

    def kept(self, keep: Sequence[str] | None) -> list[str]:
        """Return the columns to copy to the output."""
        from ritz.streams.formats import require_once

        names = self.named(keep or (), "--keep", any_kind=True)
        if names:
            # They are read after the fit, which may take long.
            require_once(names, self.files[0].schema().names, self.paths[0])
        return names

    def chosen(self, columns: Sequence[str] | None, others: Sequence[str] = ()) -> list[str] | None:
        """Return the columns named, or all numeric ones but some; None for files without names.

        Those of --exclude are left out of either.
        """
        if columns:
            chosen = [name for name in self.named(columns, "--columns") if self.uses(name)]
            if not chosen:
                message = "names all of the columns of --columns, so that none is left."
                raise typer.BadParameter(message, param_hint="--exclude")
            return chosen
        return None if self.kinds is None else self._numeric([*others, *self.excluded])

    def uses(self, name: str) -> bool:
        """Return whether --exclude leaves a column in."""
        return name not in self.excluded

    def _numeric(self, others: Sequence[str]) -> list[str]:
        kinds = self.kinds or {}
        rest = {name: kind for name, kind in kinds.items() if name not in (*others, self.weight)}
        chosen = [name for name, kind in rest.items() if kind == "number"]
        if not chosen:
            what = listed(f"{name} ({kind})" for name, kind in rest.items()) or "there are none"
            remedy = "Name others with --columns, or another separator with --delimiter"
            [remedy, *_] = [*self._faults(list(rest)), remedy]
            where = f"{self.paths[0]}{' without those of --exclude' if self.excluded else ''}"
            raise ValueError(f"No column of {where} holds numbers: {what}. {remedy}.")
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

    def open(self, columns: Sequence[str] | None, gaps: Sequence[str] = ()) -> Stream:
        """Return the rows of some columns as a stream, or of all of a file without names.

        Columns that may have gaps follow, unless they are among the first.
        """
        if self.kinds is None:
            paths = list(self.paths)
            return ritz.open(paths if len(paths) > 1 else paths[0])
        used = list(columns or ())
        note(f"Columns used: {listed(used)}.")
        partial = tuple(name for name in gaps if name not in used)
        return ritz.Table(
            list(self.paths),
            [*used, *partial],
            weight=self.weight,
            nulls=self.nulls,
            delimiter=self.delimiter,
            partial=partial,
        )

    def count_rows(self) -> int:
        """Return how many rows there are, those that lack a number included."""
        total = 0
        for file in self.files:
            known = file.count_rows()
            if known is None:
                names = file.schema().names[:1]
                known = sum(batch.num_rows for _, batch in file.batches(names, (), COUNTED_ROWS))
            total += known
        return total


def is_plain(paths: Sequence[str]) -> bool:
    """Return whether files have no named columns."""
    return all(path.rstrip("/").lower().endswith(PLAIN) for path in paths)


def kinds_of(schema: Any) -> dict[str, str]:
    """Return what columns hold; where two have one name, numbers if one of them does."""
    kinds: dict[str, str] = {}
    for field in schema:
        kind, other = kind_of(field.type), kinds.get(field.name)
        if other is not None:
            kind = "number" if "number" in (kind, other) else "several columns"
        kinds[field.name] = kind
    return kinds


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
