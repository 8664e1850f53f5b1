"""Which files a path stands for, and what the ends of their names say."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from glob import glob

from ritz.streams.formats import SUFFIXES, format_of
from ritz.validation import parameter_error

# CSV files whose columns tabs separate.
TABS = (".tsv", ".tsv.gz", ".tsv.bz2")
# How files of two formats begin, whatever their names.
MARKS = {b"PAR1": "parquet", b"ARROW1": "feather"}
# Files of tables that are not read, and files of arrays, which other files may not stand beside.
SHEETS, PLAIN = (".xlsx", ".xls", ".ods"), (".npy", ".zarr")


def read_format(path: str) -> str | None:
    """Return the format of a file to read, or None where its name does not say it."""
    return "csv" if path.lower().endswith(TABS) else format_of(path)


def require_format(path: str) -> str:
    """Return the format of a file to read, or raise where neither name nor first bytes say it."""
    format = read_format(path) or begun_as(path)
    if format is None:
        endings = f"{', '.join([*SUFFIXES, '.tsv'])}, or all in .npy"
        remedy = 'Rename it, or pass format="csv" or another one.'
        if path.lower().endswith(SHEETS):
            remedy = "Save its sheet as CSV."
        elif path.lower().endswith(PLAIN):
            remedy = "Leave it out, as it has no named columns."
        raise parameter_error("path", f"files whose names end in {endings}", repr(path), remedy)
    return format


def begun_as(path: str) -> str | None:
    """Return the format that the first bytes of a file stand for, or None."""
    with open(path, "rb") as file:
        start = file.read(6)
    return next((format for mark, format in MARKS.items() if start.startswith(mark)), None)


def delimiter_of(path: str, delimiter: str) -> str:
    """Return what separates the columns of a file: tabs, not commas, where its name says so."""
    return "\t" if delimiter == "," and path.lower().endswith(TABS) else delimiter


def found_at(path: str, format: str | None) -> list[str]:
    """Return the files that a path, a folder or a pattern stands for, in order."""
    if os.path.isdir(path):
        inside = [
            os.path.join(folder, name)
            for folder, folders, names in os.walk(path)
            for name in shown(folders, names)
        ]
        found = [name for name in inside if format is not None or read_format(name) is not None]
        if not found:
            endings = ", ".join(SUFFIXES)
            what = "a folder that holds files of rows" + ("" if format else f" ({endings})")
            raise parameter_error("path", what, f"the folder {path} without any")
        return sorted(found)
    if os.path.exists(path):
        return [path]
    found = sorted(glob(path, recursive=True))
    if not found:
        if not any(letter in path for letter in "*?["):
            raise no_file(path)
        raise FileNotFoundError(f"{path!r} fits the name of no file.")
    files = [file for name in found for file in found_at(name, format)]
    # A pattern may fit a folder and the files in it.
    return list({os.path.realpath(file): file for file in files}.values())


def shown(folders: list[str], names: list[str]) -> list[str]:
    """Return the names of files that are not hidden; take hidden folders from a walk.

    Copies of editors and unfinished files of Spark lie in folders such as ".ipynb_checkpoints" and
    "_temporary".
    """
    hidden = (".", "_")
    folders[:] = [folder for folder in folders if not folder.startswith(hidden)]
    return [name for name in names if not name.startswith(hidden)]


def ending_of(path: str) -> str:
    """Return the end of a name; of a folder of .npy files or of Zarr arrays that of its files."""
    end = os.path.splitext(path.rstrip("/"))[1].lower()
    if end in PLAIN or not os.path.isdir(path):
        return end
    inside = os.listdir(path)
    ends = {os.path.splitext(name)[1].lower() for name in shown([], inside)}
    return ends.pop() if len(ends) == 1 and ends <= set(PLAIN) else end


def plain_at(path: str, end: str) -> list[str]:
    """Return the .npy files or Zarr arrays that a path, a folder or a pattern stands for."""
    if os.path.isdir(path) and not path.rstrip("/").lower().endswith(end):
        return sorted(os.path.join(path, name) for name in shown([], os.listdir(path)))
    if end == ".npy" or not any(letter in path for letter in "*?["):
        return found_at(path, "npy") if end == ".npy" else [path]
    found = sorted(glob(path, recursive=True))
    if not found:
        raise FileNotFoundError(f"{path!r} fits the name of no array.")
    return found


def meant(name: str, known: Iterable[str]) -> str:
    """Return the question whether a name is a mistyped one, or nothing."""
    near = get_close_matches(name, list(known), 1)
    return f" Did you mean {near[0]!r}?" if near else ""


def no_file(path: str | os.PathLike[str]) -> FileNotFoundError:
    """Return the error of a file that is not there, with a name that is like its own."""
    folder, name = os.path.split(os.path.abspath(path))
    if not os.path.isdir(folder):
        return FileNotFoundError(f"There is no folder {folder!r}, and no file {name!r} in it.")
    text = f"There is no file {name!r} in {folder!r}.{meant(name, os.listdir(folder))}"
    return FileNotFoundError(text)
