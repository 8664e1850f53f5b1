"""Rows of data: blocks of them, their hashes, and random choices that follow from the hashes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz import compiled
from ritz.namespaces import take_rows, to_host
from ritz.validation import Array, as_contiguous, parameter_error

Keys = NDArray[np.uint64]

# Limits of the rows that are read at a time, in rows and bytes: those that are sparse or of other
# types than float64 are converted for it.
HASHED_ROWS, HASHED_BYTES = 65_536, 16_000_000
# Rows of each product of matrices whose results must not depend on the number of rows. BLAS treats
# all rows alike if they are a multiple of those that it computes at once: 4, 6, 8, 12 or 24.
EQUAL_ROWS = 24


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
    keys
        The hashes (b,) of the rows, of all views together, where the stream knows them.
    """

    views: tuple[Array, ...]
    weight: Array
    index: NDArray[np.intp]
    groups: NDArray[Any] | None = None
    keys: Keys | None = None

    def __len__(self) -> int:
        return len(self.weight)

    def part(self, rows: slice) -> Block:
        """Return consecutive rows, which are not copied."""
        if rows == slice(0, len(self)):
            return self
        return Block(
            tuple([view[rows, ...] for view in self.views]),
            self.weight[rows],
            self.index[rows],
            None if self.groups is None else self.groups[rows],
            None if self.keys is None else self.keys[rows],
        )

    def take(self, rows: NDArray[Any]) -> Block:
        """Return the block made of some rows only, given by numbers or by a mask."""
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        return Block(
            tuple([take_rows(view, rows) for view in self.views]),
            self.weight[rows],
            self.index[rows],
            None if self.groups is None else self.groups[rows],
            None if self.keys is None else self.keys[rows],
        )

    def row_keys(self) -> Keys:
        """Return the hash (b,) of each row, of all views together."""
        return hash_rows(*self.views) if self.keys is None else self.keys


class Draw(NamedTuple):
    """Which rows to draw: up to m distinct ones of a view, by a seed.

    Parameters
    ----------
    m
        The most rows.
    seed
        The seed of their random order.
    view
        The number of the view, or None for the rows of all views, next to each other.
    """

    m: int
    seed: int
    view: int | None = 0


@dataclass(frozen=True, eq=False)
class RowSample:
    """Distinct rows of the data in random order, and what rows equal to each of them add up to.

    Samples of parts of the data, drawn alike, add up to the sample of the whole.

    Parameters
    ----------
    X
        Rows (m, d).
    weight, copies
        The total weight (m,) and the number (m,) of the rows equal to each.
    priority
        Their places (m,) in the random order, ascending.
    most
        The most rows that were asked for.
    n_rows
        The number of rows of positive weight that they were drawn from.
    groups
        The labels (m,) of the first of the rows equal to each, or None.
    """

    X: Array
    weight: Array
    copies: Array
    priority: Keys
    most: int
    n_rows: int
    groups: NDArray[Any] | None = None

    @classmethod
    def of(cls, block: Block, draw: Draw, below: RowSample | None = None) -> RowSample:
        """Draw rows of positive weight from a block, and none that those of `below` precede."""
        views = block.views if draw.view is None else (block.views[draw.view],)
        keys = block.row_keys() if len(views) == len(block.views) else hash_rows(*views)
        priority = seeded_priorities(keys, draw.seed)
        eligible = block.weight > 0
        n_rows = int(np.count_nonzero(eligible))
        if below is not None and len(below.priority) >= draw.m:
            eligible &= priority <= below.priority[-1]
        weight, place = block.weight, None
        if not eligible.all():
            place = np.flatnonzero(eligible)
            weight, priority = weight[place], priority[place]
        pick, priority, (weight, copies) = _lowest(priority, (weight, None), draw.m)
        place = pick if place is None else place[pick]
        parts = [to_host(take_rows(view, place)) for view in views]
        X = parts[0] if len(parts) == 1 else np.hstack(parts)
        groups = None if block.groups is None else block.groups[place]
        return cls(X, weight, copies, priority, draw.m, n_rows, groups)

    def __add__(self, other: RowSample) -> RowSample:
        n_rows, mine = self.n_rows + other.n_rows, len(self.priority)
        if not (mine and len(other.priority)):
            return replace(self if mine else other, n_rows=n_rows)
        weight = np.concatenate([self.weight, other.weight])
        copies = np.concatenate([self.copies, other.copies])
        priority = np.concatenate([self.priority, other.priority])
        pick, priority, (weight, copies) = _lowest(priority, (weight, copies), self.most)
        groups = None
        if self.groups is not None and other.groups is not None:
            groups = np.concatenate([self.groups, other.groups])[pick]
        # The rows are copied once: they may be large.
        X = np.empty((len(pick), self.X.shape[1]))
        ours = pick < mine
        X[ours], X[~ours] = self.X[pick[ours]], other.X[pick[~ours] - mine]
        return RowSample(X, weight, copies, priority, self.most, n_rows, groups)

    def first(self, m: int) -> RowSample:
        """Return the sample of fewer rows that the same seed draws."""
        return replace(
            self,
            X=self.X[:m],
            weight=self.weight[:m],
            copies=self.copies[:m],
            priority=self.priority[:m],
            most=min(m, self.most),
            groups=None if self.groups is None else self.groups[:m],
        )

    @property
    def repeat(self) -> bool:
        """Whether any of them occurs more than once."""
        return bool((self.copies > 1).any())

    @property
    def n_distinct(self) -> int:
        """The number of distinct rows of the data: exact if all are here or none repeats.

        Otherwise it is estimated from the share of the random order that the sample spans.
        """
        if len(self.priority) < self.most or not self.repeat:
            return len(self.priority) if len(self.priority) < self.most else self.n_rows
        share = float(self.priority[-1]) / 2.0**64
        return int(np.clip((len(self.priority) - 1) / share, len(self.priority), self.n_rows))


def _lowest(
    priority: Keys, numbers: tuple[Array | None, ...], m: int
) -> tuple[NDArray[np.intp], Keys, list[Array]]:
    """Return the places of the m lowest distinct priorities (n,), ascending, and the priorities.

    Then follow the totals (k, m) of some numbers, each (n,) or None for ones, over the rows equal
    to each of them.
    """
    pick = lowest_distinct(priority, m)
    lowest = priority[pick]
    # Every row that equals one of those kept is here, so that totals are complete.
    low = np.flatnonzero(priority <= lowest.max(initial=0))
    place = np.searchsorted(lowest, priority[low])
    totals = [
        np.bincount(place, None if part is None else part[low], len(pick)) for part in numbers
    ]
    return pick, lowest, [np.asarray(total, dtype=np.float64) for total in totals]


def mix(key: Keys) -> Keys:
    """Scramble 64-bit keys by the finalizer of splitmix64."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def hash_rows(*views: NDArray[Any]) -> Keys:
    """Hash each row by the bytes of its float64 numbers, regardless of its place in the data."""
    keys = np.zeros(views[0].shape[0], dtype=np.uint64)
    for view in views:
        if (n := view.shape[0]) != len(keys):
            raise ValueError(f"Views must have as many rows each. Got {len(keys)} and {n}.")
        rows = as_contiguous(to_host(view[:, None] if view.ndim == 1 else view))
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


def in_equal_parts(function: Callable[[Array], Array], X: Array) -> Array:
    """Return a function of rows (n, d), called with 24 of them at a time, the last one repeated."""
    whole = len(X) // EQUAL_ROWS * EQUAL_ROWS
    values = [function(X[part]) for part in row_slices(whole, EQUAL_ROWS)]
    rest = len(X) - whole
    if rest or not values:
        filled = np.concatenate([X[whole:], np.repeat(X[-1:], EQUAL_ROWS - rest, axis=0)])
        values.append(function(filled)[:rest])
    return np.concatenate(values)


def equal_products(A: Array, W: Array) -> Array:
    """Return A W for rows (n, m), each the same to the last bit alone and among others."""
    whole = len(A) // EQUAL_ROWS * EQUAL_ROWS
    result = np.empty((len(A), W.shape[1]))
    parts = (whole // EQUAL_ROWS, EQUAL_ROWS, -1)
    if whole:
        np.matmul(A[:whole].reshape(parts), W, out=result[:whole].reshape(parts))
    if whole < len(A):
        result[whole:] = in_equal_parts(lambda part: part @ W, A[whole:])
    return result


def small_parts(X: Any) -> list[slice]:
    """Return consecutive slices of rows (n, d) that take little memory as float64 arrays."""
    return row_slices(len(X), max(1, min(HASHED_ROWS, HASHED_BYTES // (8 * X.shape[1]))))
