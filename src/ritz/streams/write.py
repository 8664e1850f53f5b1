"""Writing rows to files, a block at a time (extra `files`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from gzip import GzipFile
from os import PathLike
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ritz.atomic import write_atomically
from ritz.streams.files import Table
from ritz.streams.formats import SUFFIXES, arrow, format_of
from ritz.streams.stream import Stream
from ritz.validation import parameter_error


def write_rows(
    path: str | PathLike[str], parts: Iterator[tuple[NDArray[Any], Any]], names: Sequence[str]
) -> int:
    """Write values (b, k), block after block, next to other columns of the same rows.

    A file takes the place of `path` once all is written. Memory holds one block. Returns the number
    of rows.

    Parameters
    ----------
    path
        A file whose name ends in .parquet, .csv, .csv.gz, .feather or .npy.
    parts
        Values, each with the Arrow columns that come before them, or None.
    names
        The names of the columns of values, or one that a number follows.
    """
    if (format := output_format(path)) == "npy":
        return write_npy(path, parts)
    n_rows, schema, writer = 0, None, None
    with write_atomically(path) as file:
        zipped: Any = GzipFile("", "wb", fileobj=file, mtime=0) if is_zipped(path) else file
        try:
            for values, kept in parts:
                columns = {} if kept is None else dict(zip(kept.schema.names, kept, strict=True))
                k = values.shape[1]
                labels = names if len(names) == k else [f"{names[0]}{j}" for j in range(k)]
                for name, column in zip(labels, values.T, strict=True):
                    columns[name] = arrow().array(np.ascontiguousarray(column))
                table = arrow().table(columns)
                if writer is None:
                    schema = table.schema
                    writer = writer_of(format, zipped, schema)
                writer.write_table(table.cast(schema))
                n_rows += len(values)
        finally:
            # Before the file is closed, also after an error.
            if writer is not None:
                writer.close()
        if not n_rows:
            raise parameter_error("X", "rows", "none")
        if zipped is not file:
            zipped.close()
    return n_rows


def write_npy(path: str | PathLike[str], parts: Iterator[tuple[NDArray[Any], Any]]) -> int:
    """Write values (b, k), block after block, as one array (n, k) of NumPy; return n."""
    n_rows, first = 0, None
    with write_atomically(path) as file:
        for values, kept in parts:
            if kept is not None:
                what = "left out for a .npy file, whose columns have no names"
                raise parameter_error("keep", what, repr(kept.schema.names))
            if first is None:
                first = values[:0]
                _write_header(file, first, 0)
            file.write(np.ascontiguousarray(values, dtype=first.dtype).tobytes())
            n_rows += len(values)
        if first is None:
            raise parameter_error("X", "rows", "none")
        # It is as long as before: headers leave room for any number of rows.
        file.seek(0)
        _write_header(file, first, n_rows)
    return n_rows


def _write_header(file: IO[bytes], values: NDArray[Any], n_rows: int) -> None:
    shape = (n_rows, *values.shape[1:])
    header = {"descr": npy.dtype_to_descr(values.dtype), "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(file, header)


def output_format(path: str | PathLike[str]) -> str:
    """Return the format of a file to write."""
    if os.fspath(path).lower().endswith(".npy"):
        return "npy"
    format = format_of(os.fspath(path))
    if format is None or os.fspath(path).lower().endswith(".bz2"):
        endings = ", ".join([*(suffix for suffix in SUFFIXES if suffix != ".csv.bz2"), ".npy"])
        raise parameter_error("path", f"a name that ends in one of {endings}", os.fspath(path))
    return format


def is_zipped(path: str | PathLike[str]) -> bool:
    """Return whether a file is compressed as a whole."""
    return os.fspath(path).lower().endswith(".gz")


def writer_of(format: str, file: IO[bytes] | GzipFile, schema: Any) -> Any:
    """Return what writes tables of a schema."""
    if format == "parquet":
        return arrow("pyarrow.parquet").ParquetWriter(file, schema)
    if format == "csv":
        return arrow("pyarrow.csv").CSVWriter(file, schema)
    return arrow("pyarrow.ipc").new_file(file, schema)


def with_kept(stream: Stream, keep: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Yield blocks, each with other columns of the same rows of a file, or None."""
    if not keep:
        return ((block, None) for block in stream.blocks())
    if not isinstance(stream, Table):
        what = "left out where X is no table of ritz.open: other data have no other columns"
        raise parameter_error("keep", what, repr(keep))
    if isinstance(keep, str):
        raise parameter_error("keep", "a list of names of columns", repr(keep))
    known = stream.files[0].schema().names
    for name in keep:
        if name not in known:
            raise parameter_error("keep", f"a list of names among {known}", repr(name))
    return stream.with_columns(keep)
