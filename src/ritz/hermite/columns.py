"""Values and gradients that are columns of files, or the second view of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ritz.streams import ArrayStream, Stream, Table, as_stream
from ritz.streams.spool import spooled
from ritz.streams.write import require_apart
from ritz.validation import parameter_error


def columns_in_memory_map(
    X: Any, y: Any, gradient: Any, sample_weight: Any
) -> tuple[ArrayStream, Any, Any, Any]:
    """Return rows, values, gradients and weights from a temporary file of numbers.

    A fit goes over the rows up to thirty times; this file is read faster than others.

    Parameters
    ----------
    X
        A stream, of one view or of two. An iterator without y and gradient yields pairs.
    y, gradient
        Arrays, None, or the names of columns of a table; None where the second view holds them.
    sample_weight
        Weights (n,) where X is an array of dask. Streams carry their own.
    """
    values, slopes = names_in(y, "y"), names_in(gradient, "gradient")
    if values or slopes:
        if not isinstance(X, Table):
            remedy = "ritz.open returns one; pass arrays with other data."
            what = "an array where X is no table with named columns"
            raise parameter_error("y" if values else "gradient", what, values or slopes, remedy)
        for name, given, names in (("y", y, values), ("gradient", gradient, slopes)):
            if given is not None and not names:
                what = "names of columns, as the other one of y and gradient is"
                raise parameter_error(name, what, type(given).__name__)
            require_apart(X, name, names)
        X = X.beside([*values, *slopes])
    if isinstance(X, Iterator):
        two = y is None and gradient is None
    else:
        two = isinstance(X, Stream) and len(X.dimensions) == 2
    rows = spooled(as_stream(X, 2 if two else 1, sample_weight))
    if not two:
        return rows, y, gradient, rows.weight
    d, targets = rows.dimensions[0], rows.views[1]
    rows = replace(rows, views=rows.views[:1], column_names=rows.names[:1])
    if not (values or slopes):
        if y is not None or gradient is not None:
            what = "None where the second view of X holds the values"
            raise parameter_error("y" if y is not None else "gradient", what, "an array")
        if targets.shape[1] not in (1, 1 + d):
            what = f"a second view of 1 column, or of {1 + d} with the gradient"
            raise parameter_error("X", what, f"{targets.shape[1]} columns")
        values, slopes = [""], [""] * (targets.shape[1] - 1)
    if slopes and (len(slopes) != d or len(values) > 1):
        what = f"{d} names, one for each column of X, where y is one column"
        raise parameter_error("gradient", what, f"{len(slopes)} names and {len(values)} of y")
    known, derivatives = targets[:, : len(values)], targets[:, len(values) :]
    flat = isinstance(y, str) or values == [""]
    return (
        rows,
        None if not values else known[:, 0] if flat else known,
        derivatives if slopes else None,
        rows.weight,
    )


def names_in(value: Any, name: str) -> list[str]:
    """Return the names of columns that an argument holds; none where it is an array or None."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, np.ndarray) or not isinstance(value, Iterable):
        return []
    items = list(value)
    if not any(isinstance(item, str) for item in items):
        return []
    if not all(isinstance(item, str) for item in items):
        raise parameter_error(name, "an array, or names of columns", "some of both")
    return items
