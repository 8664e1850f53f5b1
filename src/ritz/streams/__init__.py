"""Streams: where blocks of rows come from."""

from ritz.streams.array import ArrayStream
from ritz.streams.batches import Batches
from ritz.streams.files import Table
from ritz.streams.lazy import DaskStream
from ritz.streams.source import as_stream
from ritz.streams.stream import Stream

__all__ = ["ArrayStream", "Batches", "DaskStream", "Stream", "Table", "as_stream"]
