"""The rows that a report shows, and what colors them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ritz
from ritz.cli.data import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ritz.streams import Stream
    from ritz.validation import Array

# Rows that a report is made of: all, or a random sample where there are more.
REPORT_ROWS = 20_000
# Whole numbers from here on are not exact.
LARGEST_WHOLE = 2.0**53


def sampled(rows: Stream, seed: int) -> Array:
    """Return all rows of a stream, or a random sample where there are many."""
    head = rows.head(REPORT_ROWS + 1)
    return head if len(head) <= REPORT_ROWS else rows.sample(REPORT_ROWS, seed)


def with_target(
    source: Source, columns: Sequence[str], target: str, labels: bool, seed: int = 0
) -> tuple[Array, Any]:
    """Return some columns and another, which may have gaps, of all rows or of a random sample.

    The other column is one of numbers. Where labels will do, texts, true and false become texts.
    """
    if labels and (source.kinds or {})[target] != "number":
        return with_texts(source, columns, target, seed)
    rows = sampled(source.open(columns, [target]), seed)
    place = [*columns, target].index(target)
    y = rows[:, place]
    return rows[:, : len(columns)], with_type(y) if labels else y


def with_type(numbers: Array) -> Any:
    """Return whole numbers as integers, masked where they are missing, and others as they are.

    Pictures take integers for labels where they are few.
    """
    import numpy as np

    missing = np.isnan(numbers)
    known = numbers[~missing]
    if not len(known) or (known % 1).any() or np.abs(known).max() >= LARGEST_WHOLE:
        return numbers
    whole = np.where(missing, known[0], numbers).astype(np.int64)
    return np.ma.array(whole, mask=missing) if missing.any() else whole


def with_texts(
    source: Source, columns: Sequence[str], target: str, seed: int
) -> tuple[Array, NDArray[Any]]:
    """Return some columns and another as texts, "missing" where it has a gap."""
    import numpy as np

    table, rng = source.open(columns), np.random.default_rng(seed)
    assert isinstance(table, ritz.Table)
    X, y, key = np.empty((0, len(columns))), np.empty(0, dtype=np.str_), np.empty(0)
    for block, kept in table.with_columns([target]):
        entries = kept.column(0).to_pylist()
        texts = ["missing" if entry in (None, "") else str(entry) for entry in entries]
        X, y = np.concatenate([X, block.views[0]]), np.concatenate([y, texts])
        key = np.concatenate([key, rng.random(len(texts))])
        if len(key) > REPORT_ROWS:
            # The rows of the smallest keys, in their order.
            first = np.sort(np.argpartition(key, REPORT_ROWS)[:REPORT_ROWS])
            X, y, key = X[first], y[first], key[first]
    return X, y
