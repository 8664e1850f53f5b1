"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from secrets import token_hex
from stat import S_ISREG
from typing import IO


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes that takes the place of `path` once it is written and synced.

    The bytes go to a hidden file in the same folder. An exception removes that file, and so leaves
    what was at `path` as it was; a killed process leaves the hidden file behind too, which nothing
    reads. Symbolic links are followed, and a file keeps its permissions. What cannot be replaced,
    such as a pipe or /dev/stdout, is written to directly.

    Parameters
    ----------
    path
        The file. Its folder must exist and be writable.
    """
    target = os.path.realpath(os.fsdecode(path))
    exists = os.path.exists(target)
    if exists and not S_ISREG(os.stat(target).st_mode):
        with open(target, "wb") as file:
            yield file
        return
    if exists and not os.access(target, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), os.fspath(path))
    hidden = os.path.join(os.path.dirname(target), f".ritz-{token_hex(8)}.part")
    try:
        with open(hidden, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if exists:
            shutil.copymode(target, hidden)
        os.replace(hidden, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(hidden)
        if isinstance(error, OSError) and error.filename == hidden:
            error.filename = os.fspath(path)
        raise
