"""Streams: where blocks of rows come from."""

from ritz.streams.batches import Batches
from ritz.streams.dask import DaskStream
from ritz.streams.device import DeviceStream
from ritz.streams.files import Table
from ritz.streams.open import open
from ritz.streams.samples import Samples
from ritz.streams.source import as_stream, is_streamed
from ritz.streams.stream import ArrayStream, Stream

__all__ = [
    "ArrayStream",
    "Batches",
    "DaskStream",
    "DeviceStream",
    "Samples",
    "Stream",
    "Table",
    "as_stream",
    "is_streamed",
    "open",
]
