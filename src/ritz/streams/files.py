"""Rows of Parquet, CSV or Feather files, read in batches (extra `files`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.rows import Block
from ritz.streams.formats import FORMATS, File, arrow, require_once
from ritz.streams.labels import as_numbers, numbers_of_texts
from ritz.streams.paths import delimiter_of, found_at, require_format
from ritz.streams.stream import Stream, rows_per_chunk
from ritz.streams.texts import encoding_error
from ritz.validation import (
    Array,
    Names,
    as_choice,
    as_weights,
    parameter_error,
    require_finite,
)

Path = str | PathLike[str]
DROP = 'Fill it, or pass nulls="drop" to leave such rows out.'


@dataclass(frozen=True, eq=False)
class Table(Stream):
    """Rows of files of columns, larger than memory; `ritz.open` makes one.

    Parameters
    ----------
    path
        A Parquet, CSV or Feather file, a folder of such files, a pattern such as "data/*.parquet",
        or a list of these.
    columns
        The names of the columns to use, by default all others than weight and groups. A pair of
        lists makes two views.
    weight, groups
        The names of the columns with the weights of the rows, and with labels of rows that belong
        together, if any.
    format
        "parquet", "csv" or "feather"; by default what the end of each name says.
    delimiter
        What separates the columns of a CSV file; by default tabs in .tsv files.
    nulls
        "error", or "drop" for leaving out rows in which one of these columns has no number.
    partial
        The names of columns whose missing numbers stay, as NaN.
    """

    path: Path | Sequence[Path]
    columns: Any = None
    weight: str | None = None
    format: str | None = None
    groups: str | None = None
    delimiter: str = ","
    nulls: str = "error"
    partial: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        as_choice(self.nulls, "nulls", ("error", "drop"))
        if self.format is not None:
            as_choice(self.format, "format", FORMATS, "None")
        if not isinstance(self.delimiter, str) or len(self.delimiter) != 1:
            raise parameter_error("delimiter", "one character", repr(self.delimiter))
        names = self.files[0].schema().names
        for name in ("weight", "groups"):
            if getattr(self, name) is not None:
                as_choice(getattr(self, name), name, names, "None")
        object.__setattr__(self, "columns", self._chosen(names))
        used = [*chain(*(view or () for view in self.names)), self.weight, self.groups]
        require_once(filter(None, used), names, self.files[0].path)

    def _chosen(self, names: list[str]) -> Any:
        """Return the columns of each view; a tuple of names where there is one view."""
        columns = self.columns
        if columns is None:
            columns = [name for name in names if name not in (self.weight, self.groups)]
        listed = isinstance(columns, Iterable) and not isinstance(columns, str)
        views = list(columns) if listed else []
        if len(views) == 2 and not any(isinstance(view, str) for view in views):
            return tuple(self._names(list(view), names) for view in views)
        return self._names(views, names)

    def _names(self, columns: list[Any], names: list[str]) -> tuple[str, ...]:
        chosen = tuple(as_choice(name, "columns", names) for name in columns)
        if not chosen:
            raise parameter_error("columns", f"a list of names among {names}", repr(self.columns))
        return chosen

    @cached_property
    def files(self) -> tuple[File, ...]:
        """The files, in the order of their names."""
        found = files_of(self.path, self.format, self.delimiter)
        # The name that the first file's format stands for is what users see.
        object.__setattr__(self, "format", found[0].format)
        return found

    def beside(self, columns: Sequence[str]) -> Table:
        """Return the same rows with other columns as a second view, NaN where they are missing."""
        names = self.files[0].schema().names
        for name in columns:
            as_choice(name, "columns", names)
        # The copy has the same files, and knows when they were changed last.
        table = copy(self)
        object.__setattr__(table, "columns", (tuple(self.names[0] or ()), tuple(columns)))
        object.__setattr__(table, "partial", tuple(columns))
        return table

    @property
    def names(self) -> tuple[Names, ...]:
        if isinstance(self.columns[0], str):
            return (self.columns,)
        return tuple(self.columns)

    @property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(len(names or ()) for names in self.names)

    @cached_property
    def n_rows(self) -> int | None:
        if self.nulls == "drop":
            return None
        counts = [file.count_rows() for file in self.files]
        return None if None in counts else sum(count or 0 for count in counts)

    def no_rows(self, some: bool) -> Exception:
        if some:
            return ValueError(f"Column {self.weight!r} holds no positive weight.")
        if self.nulls == "drop":
            remedy = "Fill gaps, or leave out columns that have many."
            return parameter_error("path", "files of which some row has no gap", "none", remedy)
        return parameter_error("path", "files that hold rows", "none")

    def blocks(self) -> Iterator[Block]:
        return (block for block, _ in self.with_columns(()))

    def with_columns(self, keep: Sequence[str]) -> Iterator[tuple[Block, Any]]:
        """Yield blocks of rows, each with other columns of the same rows as Arrow has them."""
        views = [list(names or ()) for names in self.names]
        weight, labels = ([name] if name else [] for name in (self.weight, self.groups))
        numeric = list(dict.fromkeys([*chain(*views), *weight]))
        wanted = list(dict.fromkeys([*numeric, *labels, *keep]))
        rows, start = rows_per_chunk(len(wanted)), 0
        for file in self.files:
            require_numeric(file, numeric, wanted)
            for first_row, batch in file.batches(wanted, numeric, rows, labels):
                columns = {name: numbers_of(batch, name) for name in numeric}
                missing = self._missing(file, columns, batch, first_row)
                # Errors name the rows of the file, so rows are checked before some are left out.
                weights = self._weights(file, columns, first_row, missing)
                arrays = tuple(np.stack([columns[name] for name in view], axis=1) for view in views)
                for view, array in zip(views, arrays, strict=True):
                    if not set(view) & set(self.partial):
                        array[missing] = 0.0
                        require_finite(array, f"rows of {file.path}", first_row, for_squares=True)
                if missing.any():
                    batch = batch.filter(arrow().array(~missing))
                    arrays, weights = tuple(a[~missing] for a in arrays), weights[~missing]
                n = batch.num_rows
                if not n:
                    continue
                groups = None if self.groups is None else self._group_numbers(file, batch)
                block = Block(arrays, weights, np.arange(start, start + n), groups)
                yield block, batch.select(list(keep))
                start += n

    def _group_numbers(self, file: File, batch: Any) -> Array:
        """Return the labels of rows as numbers; those of CSV files are texts, whatever follows."""
        assert self.groups is not None
        labels = labels_of(batch, self.groups)
        return numbers_of_texts(labels) if file.format == "csv" else as_numbers(labels)

    def _missing(
        self, file: File, columns: dict[str, Array], batch: Any, first_row: int
    ) -> NDArray[np.bool_]:
        """Return which rows lack a number or a label, or raise for the first wrong entry."""
        missing = np.zeros(batch.num_rows, dtype=np.bool_)
        wrong: list[tuple[int, str]] = []
        for name, numbers in columns.items():
            if name not in self.partial:
                missing |= np.isnan(numbers)
            allowed = name in self.partial or self.nulls == "drop"
            bad = np.isinf(numbers) if allowed else ~np.isfinite(numbers)
            if bad.any():
                wrong.append((int(bad.argmax()), name))
        if wrong:
            row, name = min(wrong)
            null = not batch.column(batch.schema.get_field_index(name))[row].is_valid
            number = columns[name][row]
            remedy = DROP if np.isnan(number) else "Leave such rows out."
            raise file.wrong(name, first_row + row, "a null" if null else str(number), remedy)

        if self.groups is not None:
            column = batch.column(batch.schema.get_field_index(self.groups))
            # NaN is no label either, but equal to none in tables of floats.
            nothing = np.asarray(column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False))
            if nothing.any() and self.nulls == "error":
                row = first_row + int(nothing.argmax())
                text = f"Column {self.groups!r} of {file.path} must have a label in each row."
                raise ValueError(f"{text} Got a null in row {row}. {DROP}")
            missing |= nothing
        return missing

    def _weights(
        self, file: File, columns: dict[str, Array], first_row: int, missing: NDArray[np.bool_]
    ) -> Array:
        """Return the weights of rows, zero where something is missing; raise for negative ones."""
        if self.weight is None:
            return np.ones(len(missing))
        weights = np.where(missing, 0.0, columns[self.weight])
        if (weights < 0).any():
            row = int((weights < 0).argmax())
            text = f"Column {self.weight!r} of {file.path} must hold nonnegative weights."
            got = f"Got {weights[row]} in row {first_row + row}."
            raise ValueError(f"{text} {got} Drop such rows instead.")
        return as_weights(weights, len(weights), f"column {self.weight} of {file.path}")


def files_of(path: Path | Sequence[Path], format: str | None, delimiter: str) -> tuple[File, ...]:
    """Return the files that paths, folders or patterns stand for, in the order of their names."""
    arrow()
    paths = [path] if isinstance(path, str | PathLike) else list(path)
    found = [file for one in paths for file in found_at(os.fspath(one), format)]
    if not found:
        raise parameter_error("path", "files, a folder or a pattern", repr(path))
    return tuple(
        File.at(file, format or require_format(file), delimiter_of(file, delimiter))
        for file in found
    )


def labels_of(batch: Any, name: str) -> NDArray[Any]:
    """Return a column of labels, none of which is null: nulls would make numbers of integers."""
    column = batch.column(batch.schema.get_field_index(name))
    return np.asarray(column.to_numpy(zero_copy_only=False))


def numbers_of(batch: Any, name: str) -> Array:
    """Return a column as numbers, NaN where it has a null."""
    column = batch.column(batch.schema.get_field_index(name))
    if arrow().types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if arrow().types.is_boolean(column.type):
        column = column.cast("int8")
    numbers = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.float64)


def require_numeric(file: File, numeric: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise unless a file has the columns wanted, with numbers where they are needed."""
    schema, types = file.schema(), arrow().types
    for name in wanted:
        if name not in schema.names:
            raise ValueError(f"The file {file.path} has no column {name!r}, but {schema.names}.")
    require_once(wanted, schema.names, file.path)
    if file.format == "csv":
        # Their types are a guess: numbers are read as such, or an error names the row. Texts that
        # are not UTF-8 are guessed to be bytes.
        texts = any(types.is_binary(schema.field(name).type) for name in wanted)
        if texts and (error := encoding_error(file.path)) is not None:
            raise error
        return
    for name in numeric:
        kind = schema.field(name).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        if not any(test(kind) for test in tests):
            raise file.wrong(name, 0, f"entries of type {kind}", "Turn them into numbers first.")
