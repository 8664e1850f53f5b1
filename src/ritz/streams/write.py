"""Writing rows to files, a block at a time (extra `files`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from gzip import GzipFile
from itertools import chain
from os import PathLike
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ritz.atomic import write_atomically
from ritz.streams.files import Table, require_numeric
from ritz.streams.formats import SUFFIXES, arrow, failures, format_of
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
                    if name in columns:
                        what = "names that the new columns do not have"
                        raise parameter_error("keep", what, repr(name))
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


def require_apart(stream: Stream, name: str, columns: Sequence[str]) -> None:
    """Raise where columns that hold targets are among those of the rows, which would tell them."""
    for column in columns:
        if column in (stream.names[0] or ()):
            what = "the name of a column that is not one of X"
            remedy = "Name those of X: ritz.open(path, columns=[...])."
            raise parameter_error(name, what, f"{column!r}, which is a column of X too", remedy)


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
    if len(stream.files) == 1:
        return stream.with_columns(keep)
    return in_types(stream, keep, common_types(stream, keep))


def in_types(table: Table, keep: Sequence[str], types: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield blocks, each with other columns of the same rows, which have some types of Arrow."""
    for block, batch in table.with_columns(keep):
        columns = []
        for name, column, type in zip(keep, batch.columns, types, strict=True):
            try:
                columns.append(column.cast(type))
            except failures() as error:
                where = f"rows {block.index[0]} to {block.index[-1]}"
                raise ValueError(
                    f"Column {name!r} has entries in {where} that are no {type}, as all others: "
                    f"{error}. Write all files with one type, or leave the column out."
                ) from None
        yield block, arrow().record_batch(columns, names=list(keep))


def common_types(table: Table, keep: Sequence[str]) -> list[Any]:
    """Return the type of each of some columns, or one that holds its types in several files."""
    numeric = {*chain(*(names or () for names in table.names)), table.weight}
    types: dict[str, Any] = {}
    for file in table.files:
        require_numeric(file, [], keep)
        schema = file.schema()
        for name in keep:
            # Of CSV files the columns of X are read as such, and types of others are a guess.
            is_read_as_number = file.format == "csv" and name in numeric
            type = arrow().float64() if is_read_as_number else schema.field(name).type
            merged = merged_type(types.get(name, type), type)
            if merged is None:
                before = f"{types[name]} in files before, as {table.files[0].path}"
                raise ValueError(
                    f"Column {name!r} must have one type in all files. Got {type} in {file.path}, "
                    f"and {before}. Write all with one type, for example as text in Parquet files, "
                    "or leave the column out."
                )
            types[name] = merged
    return [types[name] for name in keep]


def merged_type(one: Any, other: Any) -> Any:
    """Return a type of Arrow that holds what two types hold, or None where there is none."""
    if one == other:
        return one
    # Texts may be stored as numbers that stand for them.
    is_coded = arrow().types.is_dictionary
    pair = [type.value_type if is_coded(type) else type for type in (one, other)]
    schemas = [arrow().schema([("", type)]) for type in pair]
    try:
        return arrow().unify_schemas(schemas, promote_options="permissive").field(0).type
    except failures():
        return None
