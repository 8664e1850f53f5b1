"""Rows of Parquet, CSV or Feather files, read in batches (extra `files`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ritz.rows import Block
from ritz.streams.stream import Stream, rows_per_chunk
from ritz.validation import (
    Names,
    as_choice,
    as_real,
    as_rows,
    as_weights,
    parameter_error,
    require_finite,
)


@dataclass(frozen=True, eq=False)
class Table(Stream):
    """Rows of a file, or of a folder of files, larger than memory.

    Parameters
    ----------
    path
        A Parquet, CSV or Feather file, or a folder of such files.
    columns
        The names of the columns to use, by default all.
    weight
        The name of the column with the weights of the rows, if any.
    format
        "parquet", "csv" or "feather"; by default what the suffix of the path says, else Parquet.
    """

    path: str | PathLike[str]
    columns: Sequence[str] | None = None
    weight: str | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        if self.format is None:
            known = {".csv": "csv", ".feather": "feather", ".arrow": "feather"}
            format = known.get(Path(self.path).suffix.lower(), "parquet")
            object.__setattr__(self, "format", format)
        names = self._dataset().schema.names
        if self.weight is not None:
            as_choice(self.weight, "weight", names, "None")
        columns = self.columns
        if columns is None:
            columns = [name for name in names if name != self.weight]
        listed = isinstance(columns, Iterable) and not isinstance(columns, str)
        chosen = tuple(as_choice(name, "columns", names) for name in columns) if listed else ()
        if not chosen:
            raise parameter_error("columns", f"a list of names among {names}", repr(columns))
        object.__setattr__(self, "columns", chosen)

    def _dataset(self) -> Any:
        try:
            dataset = import_module("pyarrow.dataset")
        except ImportError:
            raise ImportError("Files need pyarrow: pip install 'ritz[files]'.") from None
        return dataset.dataset(self.path, format=self.format)

    @property
    def dimensions(self) -> tuple[int, ...]:
        assert self.columns is not None
        return (len(self.columns),)

    @property
    def names(self) -> tuple[Names, ...]:
        assert self.columns is not None
        return (tuple(self.columns),)

    @property
    def n_rows(self) -> int | None:
        return int(self._dataset().count_rows()) if self.format != "csv" else None

    def blocks(self) -> Iterator[Block]:
        assert self.columns is not None
        wanted = [*self.columns, *([self.weight] if self.weight else [])]
        rows = rows_per_chunk(len(wanted))
        start = 0
        for batch in self._dataset().to_batches(columns=wanted, batch_size=rows):
            n = batch.num_rows
            if not n:
                continue
            columns = []
            for name in wanted:
                numbers = batch.column(name).to_numpy(zero_copy_only=False)
                columns.append(as_real(numbers, f"column {name}", first_row=start))
            X = as_rows(np.stack(columns[: len(self.columns)], axis=1), f"rows from {start} of X")
            require_finite(X, f"rows from {start} of X", for_squares=True)
            weight = as_weights(columns[-1] if self.weight else None, n, f"column {self.weight}")
            yield Block((X,), weight, np.arange(start, start + n))
            start += n
