"""Opening files of rows as a stream."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from ritz.rows import Block
from ritz.streams.files import Table
from ritz.streams.formats import require_unchanged, stamp_of
from ritz.streams.paths import PLAIN, ending_of, plain_at
from ritz.streams.source import as_view
from ritz.streams.stream import ArrayStream, Joined, Stream
from ritz.validation import parameter_error

Path = str | PathLike[str]


def open(
    path: Path | Sequence[Path],
    columns: Any = None,
    *,
    weight: str | None = None,
    groups: str | None = None,
    format: str | None = None,
    delimiter: str = ",",
    nulls: str = "error",
) -> Stream:
    """Open files of rows, which may be larger than memory, as a stream.

    Parameters
    ----------
    path
        Parquet, CSV (also .csv.gz, .tsv) or Feather files (extra `files`), NumPy's .npy files,
        which are mapped, or an array of Zarr: one of them, a folder, a pattern such as
        "data/*.parquet", or a list of these, in the order of their names.
    columns
        The names of the columns to use, by default all others than weight and groups. A pair of
        lists makes two views, as `ritz.SingularEmbedding` takes them.
    weight, groups
        The names of the columns with the weights of the rows, and with labels of rows that belong
        together, if any.
    format
        "parquet", "csv" or "feather"; by default what the end of each name says.
    delimiter
        What separates the columns of a CSV file; by default tabs in .tsv files.
    nulls
        "error" where a row has no number in one of these columns, or "drop" to leave it out.

    Examples
    --------
    >>> import ritz
    >>> rows = ritz.open("data/*.parquet", columns=["x", "y"])  # doctest: +SKIP
    >>> model = ritz.SpectralEmbedding(3).fit(rows)  # doctest: +SKIP
    >>> model.transform_to(rows, "embedded.parquet", keep=["id"])  # doctest: +SKIP
    """
    paths = [path] if isinstance(path, str | PathLike) else list(path)
    ends = {ending_of(os.fspath(one)) for one in paths}
    if format is None and len(ends) == 1 and ends <= set(PLAIN):
        options = {"columns": columns, "weight": weight, "groups": groups}
        for name, value in options.items():
            if value is not None:
                remedy = "Pass sample_weight= and groups= to fit, with numpy.load(mmap_mode='r')."
                raise parameter_error(name, "None for files without named columns", value, remedy)
        (end,) = ends
        plain = [found for one in paths for found in plain_at(os.fspath(one), end)]
        return joined(
            [mapped_file(one) if end == ".npy" else zarr_rows(one) for one in plain], plain
        )
    return Table(path, columns, weight, format, groups, delimiter, nulls)


@dataclass(frozen=True, eq=False)
class MappedFile(ArrayStream):
    """Rows of a .npy file, which is mapped, and must not change between passes.

    Parameters
    ----------
    path, stamp
        The file, and its size and the time of its last change when it was opened.
    """

    path: str = ""
    stamp: tuple[int, int] = (0, 0)

    def blocks(self) -> Iterator[Block]:
        require_unchanged(self.path, self.stamp)
        yield from super().blocks()
        require_unchanged(self.path, self.stamp)


def mapped_file(path: str) -> Stream:
    """Return the rows of a .npy file as a map of it."""
    stamp = stamp_of(path)
    array = np.load(path, mmap_mode="r")
    if array.ndim != 2:
        raise parameter_error("path", "a file of rows (n, d)", f"shape {array.shape} in {path}")
    name = f"rows of {path}"
    return MappedFile((as_view(array, name),), labels=(name,), path=path, stamp=stamp)


def zarr_rows(path: str) -> Stream:
    """Return the rows of an array of Zarr, of which some are read at a time."""
    try:
        zarr = import_module("zarr")
    except ImportError:
        raise ImportError("Zarr arrays need zarr: pip install 'ritz[zarr]'.") from None
    array = zarr.open(path, mode="r")
    if getattr(array, "ndim", None) != 2:
        shape = getattr(array, "shape", "a group")
        raise parameter_error("path", "an array of rows (n, d)", f"{shape} in {path}")
    name = f"rows of {path}"
    return ArrayStream((as_view(array, name),), labels=(name,))


def joined(parts: list[Stream], paths: list[str]) -> Stream:
    """Return the rows of files; raise where one has another number of columns."""
    for part, path in zip(parts, paths, strict=True):
        if part.dimensions != parts[0].dimensions:
            what = f"files with {parts[0].dimensions[0]} columns each"
            raise parameter_error("path", what, f"{part.dimensions[0]} in {path}")
    n_rows = sum(part.n_rows or 0 for part in parts)
    if n_rows < 2:
        raise parameter_error("path", "files with at least 2 rows", f"{n_rows} row(s)")
    return parts[0] if len(parts) == 1 else Joined(tuple(parts))
