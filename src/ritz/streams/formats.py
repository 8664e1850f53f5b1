"""Rows of one file at a time: Parquet, CSV and Feather, through pyarrow (extra `files`)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ritz.streams.texts import COMMAS, encoding_error, has_commas, is_number
from ritz.validation import parameter_error

# What the end of a name says about a file's format.
SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".csv.bz2": "csv",
    ".feather": "feather",
    ".arrow": "feather",
}
FORMATS = ("parquet", "csv", "feather")
# Bytes of a CSV file that are parsed at a time.
CSV_BYTES = 16_000_000


def arrow(module: str = "pyarrow") -> Any:
    """Return a module of pyarrow, or say how to install it."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError("Files need pyarrow: pip install 'ritz[files]'.") from None


def format_of(path: str) -> str | None:
    """Return the format that the end of a file's name stands for, or None."""
    name = os.path.basename(path).lower()
    found = [format for suffix, format in SUFFIXES.items() if name.endswith(suffix)]
    return found[0] if found else None


@dataclass(frozen=True)
class File:
    """A file of rows.

    Parameters
    ----------
    path, format
        Where it is, and "parquet", "csv" or "feather".
    delimiter
        What separates the columns of a CSV file.
    stamp
        Its size and the time of its last change when it was opened first.
    """

    path: str
    format: str
    delimiter: str
    stamp: tuple[int, int]

    @classmethod
    def at(cls, path: str, format: str, delimiter: str) -> File:
        return cls(path, format, delimiter, stamp_of(path))

    def require_unchanged(self) -> None:
        """Raise if the file is not as it was when it was opened first."""
        require_unchanged(self.path, self.stamp)

    def schema(self) -> Any:
        """Return the names and types of the columns; those of a CSV file are a guess."""
        with self._readable():
            if self.format == "parquet":
                return arrow("pyarrow.parquet").read_schema(self.path)
            if self.format == "csv":
                with self._csv() as reader:
                    schema = reader.schema
                # Names are decoded when they are asked for.
                _ = schema.names
                return schema
            with arrow().memory_map(self.path) as source:
                return arrow("pyarrow.ipc").open_file(source).schema

    def count_rows(self) -> int | None:
        """Return the number of rows where the file says it."""
        if self.format == "csv":
            return None
        with self._readable():
            if self.format == "parquet":
                return int(arrow("pyarrow.parquet").read_metadata(self.path).num_rows)
            with arrow().memory_map(self.path) as source:
                reader = arrow("pyarrow.ipc").open_file(source)
                batches = map(reader.get_batch, range(reader.num_record_batches))
                return sum(int(batch.num_rows) for batch in batches)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Name the file in errors of pyarrow, which does not."""
        try:
            yield
        except (FileNotFoundError, PermissionError):
            raise
        except failures() as error:
            raise self.unreadable("", error) from None

    def batches(
        self, names: Sequence[str], numeric: Sequence[str], rows: int, texts: Sequence[str] = ()
    ) -> Iterator[tuple[int, Any]]:
        """Yield some columns, a batch of rows after the other, with the number of its first row.

        Parameters
        ----------
        names, numeric
            The columns to read, and which of them are numbers.
        rows
            The most rows of a batch, where the format leaves it open.
        texts
            The columns of a CSV file whose entries stay texts, though all may look like numbers.
        """
        self.require_unchanged()
        start = 0
        for batch in self._batches(list(names), numeric, rows, texts):
            if batch.num_rows:
                yield start, batch
                start += batch.num_rows
        self.require_unchanged()

    def _batches(
        self, names: list[str], numeric: Sequence[str], rows: int, texts: Sequence[str]
    ) -> Iterator[Any]:
        if self.format == "csv":
            types = dict.fromkeys(texts, arrow().string())
            types |= dict.fromkeys(numeric, arrow().float64())
            try:
                with self._csv(names, types) as reader:
                    yield from reader
            except failures() as error:
                # The same failure may come again before a wrong entry is found.
                with suppress(*failures()):
                    self._require_numbers(numeric)
                raise self.unreadable("", error) from error
        elif self.format == "parquet":
            parquet = arrow("pyarrow.parquet")
            with parquet.ParquetFile(self.path, page_checksum_verification=True) as file:
                start = 0
                for group in range(file.num_row_groups):
                    end = start + file.metadata.row_group(group).num_rows
                    try:
                        for batch in file.iter_batches(rows, row_groups=[group], columns=names):
                            yield batch.select(names)
                    except failures() as error:
                        where = f" row group {group} (rows {start} to {end - 1})"
                        raise self.unreadable(where, error) from error
                    start = end
        else:
            with arrow().memory_map(self.path) as source:
                reader = arrow("pyarrow.ipc").open_file(source)
                for number in range(reader.num_record_batches):
                    try:
                        batch = reader.get_batch(number).select(names)
                    except failures() as error:
                        raise self.unreadable(f" batch {number}", error) from error
                    for start in range(0, batch.num_rows, rows):
                        yield batch.slice(start, rows)

    def _csv(self, names: Sequence[str] = (), types: Any = None) -> Any:
        csv = arrow("pyarrow.csv")
        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(block_size=CSV_BYTES),
            parse_options=csv.ParseOptions(delimiter=self.delimiter),
            convert_options=csv.ConvertOptions(include_columns=list(names), column_types=types),
        )

    def _require_numbers(self, numeric: Sequence[str]) -> None:
        """Raise with the first entry of a CSV file that should be a number and is none."""
        start, nulls = 0, arrow("pyarrow.csv").ConvertOptions().null_values
        with self._csv(numeric, dict.fromkeys(numeric, arrow().string())) as reader:
            for batch in reader:
                for row, entries in enumerate(batch.to_pylist(), start):
                    for name, entry in entries.items():
                        if entry not in nulls and not is_number(entry):
                            remedy = COMMAS if has_commas(entry) else ""
                            raise self.wrong(name, row, repr(entry), remedy)
                start += batch.num_rows

    def unreadable(self, where: str, error: Exception) -> ValueError:
        """Return the error of a file, or of a part of it, that cannot be decoded."""
        if self.format == "csv" and (found := encoding_error(self.path)) is not None:
            return found
        of, why = f"{where} of " if where else " ", str(error).strip().rstrip(".")
        return ValueError(
            f"The{of}file {self.path} cannot be read: {why}. Write it again, or leave it out."
        )

    def wrong(self, column: str, row: int, got: str, remedy: str = "") -> ValueError:
        """Return the error of an entry that is no finite number."""
        text = f"Column {column!r} of {self.path} must hold finite numbers. Got {got} in row {row}."
        return ValueError(f"{text} {remedy}" if remedy else text)


def failures() -> tuple[type[Exception], ...]:
    """Return the errors that pyarrow raises for files that it cannot read."""
    return arrow().ArrowException, OSError, UnicodeDecodeError


def stamp_of(path: str) -> tuple[int, int]:
    """Return the size of a file and when it was changed last."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def require_unchanged(path: str, stamp: tuple[int, int]) -> None:
    """Raise if a file has another size or time of its last change than it had."""
    if not os.path.exists(path) or stamp_of(path) != stamp:
        raise ValueError(
            f"The file {path} has changed since it was opened: passes over its rows would not "
            "agree. Open it again with ritz.open, and fit again."
        )


def require_once(wanted: Iterable[str], names: Sequence[str], path: str) -> None:
    """Raise where a column that is wanted has the name of another one."""
    counts = Counter(names)
    for name in wanted:
        if counts[name] > 1:
            remedy = "Rename one of the columns in the file."
            got = f"{name!r} twice in {path}"
            raise parameter_error("columns", "names that occur once", got, remedy)
