"""Rows of data: blocks of them, their hashes, and random choices that follow from the hashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz import compiled
from ritz.validation import Array, as_contiguous, parameter_error

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of the data: one array for each view, aligned.

    Parameters
    ----------
    views
        Arrays (b, d), one for each view.
    weight
        Nonnegative weights (b,).
    index
        Row numbers (b,) in the whole data, for fields that are given as arrays.
    groups
        Labels (b,) of rows that must share a fold, or None.
    """

    views: tuple[Array, ...]
    weight: Array
    index: NDArray[np.intp]
    groups: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, rows: NDArray[Any]) -> Block:
        """Return the block made of some rows only, given by numbers or by a mask."""
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        return Block(
            # `take` is four times as fast as indexing.
            tuple([view.take(rows, axis=0) for view in self.views]),
            self.weight[rows],
            self.index[rows],
            None if self.groups is None else self.groups[rows],
        )


class RowSample(NamedTuple):
    """Distinct rows of the data, and what the rows equal to each of them add up to.

    Parameters
    ----------
    X
        Rows (m, d).
    weight, copies
        The total weight (m,) and the number (m,) of the rows equal to each.
    """

    X: Array
    weight: Array
    copies: Array

    @property
    def repeat(self) -> bool:
        """Whether any of them occurs more than once."""
        return bool((self.copies > 1).any())


def mix(key: Keys) -> Keys:
    """Scramble 64-bit keys by the finalizer of splitmix64."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def hash_rows(*views: NDArray[Any]) -> Keys:
    """Hash each row by the bytes of its float64 numbers, regardless of its place in the data."""
    keys = np.zeros(len(views[0]), dtype=np.uint64)
    for view in views:
        if len(view) != len(keys):
            raise ValueError(f"Views must have as many rows each. Got {len(keys)} and {len(view)}.")
        rows = as_contiguous(view[:, None] if view.ndim == 1 else view)
        if compiled.hash_into is not None:
            compiled.hash_into(keys, rows)
        else:
            # Adding zero turns -0 into 0.
            for column in rows.T:
                bits = (column + 0.0).view(np.uint64)
                keys = mix((keys ^ bits) + np.uint64(0x9E3779B97F4A7C15))
    return keys


def seeded_priorities(keys: Keys, seed: int) -> Keys:
    """Return a random order of rows that follows from their hashes (n,) and a seed."""
    return mix(keys ^ mix(np.array([seed], dtype=np.uint64)))


def lowest_distinct(priority: Keys, m: int) -> NDArray[np.intp]:
    """Return the places of the m lowest distinct priorities (n,), ascending, the first of each."""
    n, count = len(priority), 2 * m
    while count < n:
        # Equal rows have equal priorities, so that some of the lowest may not be distinct.
        candidates = np.flatnonzero(priority <= np.partition(priority, count)[count])
        first = np.unique(priority[candidates], return_index=True)[1]
        if len(first) >= m:
            return candidates[first[:m]]
        count *= 4
    return np.unique(priority, return_index=True)[1][:m]


def sample_rows(X: Array, m: int, seed: int) -> NDArray[np.intp]:
    """Choose up to m distinct rows at random.

    The choice depends on the set of rows and on the seed, not on the rows' order or repetition, and
    the choice for a smaller m is a prefix of that for a larger one.
    """
    return lowest_distinct(seeded_priorities(hash_rows(X), seed), m)


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a generator as it is, and a new one for None or a seed."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        what = "None, a nonnegative integer or a numpy.random.Generator"
        raise parameter_error("random_state", what, repr(random_state)) from None


def random_integers(random_state: Any, count: int) -> tuple[int, ...]:
    """Draw integers below 2^63 from a generator, or from a new one made of a seed."""
    return tuple(as_generator(random_state).integers(2**63, size=count).tolist())


def row_slices(n: int, rows: int) -> list[slice]:
    """Cut n rows into consecutive slices of at most `rows` rows."""
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]
