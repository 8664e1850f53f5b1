"""Streams: where blocks of rows come from."""

from __future__ import annotations

from typing import Any

from ritz.arrays import must
from ritz.streams.array import ArrayStream, array_stream
from ritz.streams.batches import Batches
from ritz.streams.stream import Stream

__all__ = ["ArrayStream", "Batches", "Stream", "as_stream"]


def as_stream(
    X: Any, views: int = 1, sample_weight: Any = None, groups: Any = None, random_seed: int = 0
) -> Stream:
    """Return the stream of some data: a stream as it is, arrays in chunks.

    Parameters
    ----------
    X
        A stream, or an array (n, d); for two views a pair of them.
    views
        How many views the form compares.
    sample_weight, groups
        Weights (n,) and labels (n,) of the rows of arrays.
    random_seed
        For the random choices that forms make.
    """
    if isinstance(X, Stream):
        if len(X.dimensions) != views:
            raise ValueError(must("X", f"a stream of {views} view(s)", f"{len(X.dimensions)}"))
        if sample_weight is not None or groups is not None:
            raise ValueError(
                "sample_weight and groups go with arrays; a stream's blocks carry their own. "
                "Pass ritz.Batches(..., weighted=True)."
            )
        return X
    if views == 2:
        if not isinstance(X, tuple | list) or len(X) != 2:
            raise ValueError(
                must("X", "a pair (X, Y) of aligned arrays for this operator", type(X).__name__)
            )
        return array_stream(tuple(X), sample_weight, groups, random_seed)
    if isinstance(X, tuple) and len(X) == 2:
        raise ValueError(must("X", "one array for this operator", "a pair of arrays"))
    return array_stream((X,), sample_weight, groups, random_seed)
