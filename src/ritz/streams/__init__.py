"""Streams: where blocks of rows come from."""

from ritz.streams.batches import Batches
from ritz.streams.dask import DaskStream
from ritz.streams.files import Table
from ritz.streams.source import as_stream
from ritz.streams.stream import ArrayStream, Stream

__all__ = ["ArrayStream", "Batches", "DaskStream", "Stream", "Table", "as_stream"]
