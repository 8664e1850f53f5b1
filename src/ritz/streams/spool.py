"""Rows that can be read once only, kept in temporary files.

On Linux these files have no name, on macOS only while they are made, and a map of one keeps its
numbers once it is closed: nothing is left behind whatever happens.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack

import numpy as np

from ritz.progress import tracked
from ritz.streams.stream import ArrayStream, Stream
from ritz.validation import parameter_error

# The most bytes of such files, and the variable of the environment that sets another limit.
SPOOL_BYTES, SPOOL_VARIABLE = 20_000_000_000, "RITZ_SPOOL_BYTES"
# The share of the free space of the disk that they may take.
SPOOL_SHARE = 0.9


def spooled(stream: Stream) -> ArrayStream:
    """Return the rows of a stream from temporary files, which go when they are no longer used.

    Each view has a file of float64 numbers, and so have weights with the groups, if there are any.
    """
    widths, grouped = [*stream.dimensions, 2], False
    rows, weighted, limit = 0, False, most_bytes()
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile(prefix="ritz-")) for _ in widths]
        for block in tracked(stream.blocks(), "keeping rows", stream.n_rows, len, "rows"):
            rows += len(block)
            if 8 * rows * sum(widths) > limit:
                raise ValueError(
                    "Rows that are needed more than once are kept in a temporary file, and it "
                    f"would take more than {limit / 1e9:.3g} GB after {rows:,} rows. Set "
                    f"{SPOOL_VARIABLE} to more bytes and TMPDIR to a larger disk, or pass rows "
                    "that can be read again: files by ritz.open, or ritz.Batches(function)."
                )
            grouped = block.groups is not None
            weighted |= not (block.weight == 1).all()
            groups = np.zeros(len(block)) if block.groups is None else block.groups
            labels = np.column_stack([block.weight, groups])
            for file, part in zip(files, (*block.views, labels), strict=True):
                file.write(np.ascontiguousarray(part, dtype=np.float64).data)
        if not rows:
            raise parameter_error("X", "rows", "none")
        maps = []
        for file, width in zip(files, widths, strict=True):
            file.flush()
            maps.append(np.memmap(file, np.float64, "r", shape=(rows, width)))
    *views, labels = maps
    # Weights that are all one are none.
    columns = labels[:, 0] if weighted else None, labels[:, 1] if grouped else None
    return ArrayStream(tuple(views), *columns, stream.names)


def most_bytes() -> float:
    """Return how many bytes temporary files may have."""
    given = os.environ.get(SPOOL_VARIABLE)
    try:
        limit = float(given) if given else SPOOL_BYTES
    except ValueError:
        raise parameter_error(SPOOL_VARIABLE, "a number of bytes", repr(given)) from None
    return min(limit, SPOOL_SHARE * shutil.disk_usage(tempfile.gettempdir()).free)
