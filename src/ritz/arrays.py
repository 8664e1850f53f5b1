"""Rows of numbers: checking them, hashing them, cutting them into blocks, their distances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz import native

Array = NDArray[np.float64]


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
        Row numbers (b,) in the whole data, for fields given as arrays.
    groups
        Labels (b,) of rows that must share a fold, or None.
    keys
        `hash_rows` (b,) of the views, or None where it is not known.
    """

    views: tuple[Array, ...]
    weight: Array
    index: NDArray[np.intp]
    groups: NDArray[Any] | None = None
    keys: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, rows: Any) -> Block:
        """Return the block made of some rows only."""
        numbers = isinstance(rows, np.ndarray) and rows.dtype != np.bool_
        return Block(
            # Four times as fast as indexing.
            tuple(view.take(rows, axis=0) if numbers else view[rows] for view in self.views),
            self.weight[rows],
            self.index[rows],
            None if self.groups is None else self.groups[rows],
            None if self.keys is None else self.keys[rows],
        )


def must(name: str, requirement: str, got: object, remedy: str = "") -> str:
    """Return the one error sentence: what an argument must be, what came, what to do."""
    text = f"The {name!r} parameter must be {requirement}. Got {got} instead."
    return f"{text} {remedy}" if remedy else text


def as_real(value: Any, name: str) -> Array:
    """Return real numbers as a float64 array of any shape, or say what is wrong with them."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(must(name, "an array without masked entries", "a masked array"))
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        value = value.detach().cpu().numpy()
    try:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise ValueError(f"dtype {array.dtype} is not real")
        if array.dtype == object and any(item is None for item in array.flat):
            raise ValueError("None is not a number")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        what = type(value).__name__
        raise ValueError(must(name, "real, an array of numbers", what, f"({error})")) from None


def as_number(
    value: Any, name: str, requirement: str = "a finite number", lowest: float = -np.inf
) -> float:
    """Return a finite number no less than `lowest`, or say that it must be one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool | str) or not isfinite(number) or number < lowest:
        raise ValueError(must(name, requirement, repr(value)))
    return number


def as_count(value: Any, name: str, requirement: str = "a positive integer") -> int:
    """Return a positive integer, or say that it must be one."""
    if type(value) is int and value >= 1:
        return value
    number = as_number(value, name, requirement, lowest=1)
    if number != int(number):
        raise ValueError(must(name, requirement, repr(value)))
    return int(number)


def as_multi_index(alpha: Any, dimension: int, name: str = "alpha") -> tuple[int, ...]:
    """Return a multi-index of the right length with nonnegative integers, or say what is wrong."""
    try:
        index = tuple(int(a) for a in alpha)
        valid = len(index) == dimension and min(index) >= 0 and index == tuple(alpha)
    except (TypeError, ValueError):
        valid = False
    if not valid:
        example = (1,) + (0,) * (dimension - 1)
        remedy = f"The derivative along the first coordinate is {example}."
        what = f"{dimension} nonnegative integers, one a coordinate"
        raise ValueError(must(name, what, repr(alpha), remedy))
    return index


def as_rows(X: Any, name: str = "X", dimension: int | None = None) -> Array:
    """Return X as a finite float64 array (n, d), or say what is wrong with it."""
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64:
        return _as_usual_rows(X, name, dimension)
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(must(name, "a dense array", "a sparse matrix", "Call X.toarray() first."))
    try:
        array = as_real(X, name)
    except ValueError as error:
        hint = "ritz.Batches reads arrays that come one by one"
        raise ValueError(f"{error} It must be a numeric array (n, d); {hint}.") from None
    if array.ndim != 2:
        remedy = ""
        if array.ndim == 1:
            remedy = "A single column needs X.reshape(-1, 1), a single point X.reshape(1, -1)."
        elif array.ndim == 3:
            remedy = "A list of batches needs ritz.Batches(list)."
        raise ValueError(must(name, "an array (n, d)", f"shape {array.shape}", remedy))
    return _as_usual_rows(array, name, dimension)


def _as_usual_rows(array: Array, name: str, dimension: int | None) -> Array:
    require_columns(array, dimension, name)
    array = in_one_piece(array)
    require_finite(array, name)
    return array


def in_one_piece(array: NDArray[Any]) -> Array:
    """Return numbers as compiled code takes them: float64, without gaps, aligned in memory."""
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not array.flags.aligned:
        # Those of a file need not be.
        array = array.copy()
    # The same numbers may be said to be of an order of bytes, where theirs is the machine's own.
    return array if array.dtype.byteorder == "=" else array.view(np.float64)


def require_columns(array: NDArray[Any], dimension: int | None, name: str) -> None:
    """Raise unless an array (n, d) has the number of columns wanted, at least one."""
    columns = array.shape[1]
    if columns == 0:
        raise ValueError(must(name, "an array with at least one column", f"shape {array.shape}"))
    if dimension is not None and columns != dimension:
        raise ValueError(must(name, f"an array with {dimension} columns", f"{columns} columns"))


def require_finite(array: Array, name: str, first_row: int = 0) -> None:
    """Raise unless every entry is finite, naming the first row and column that is not."""
    # Neither is, if one entry is not; and they take no memory, nor do they warn.
    if not array.size or (isfinite(array.max()) and isfinite(array.min())):
        return
    bad = ~np.isfinite(array)
    if bad.any():
        place = np.argwhere(bad)[0]
        value = array[tuple(place)]
        where = f"{value} in row {first_row + place[0]}"
        if array.ndim > 1:
            where += f", column {place[1]}"
        total = int(bad.sum())
        raise ValueError(
            must(name, "finite", f"{where} ({total} such entries)", "Drop or impute them first.")
        )


def as_weights(weight: Any, n: int, name: str = "sample_weight") -> Array:
    """Return weights (n,) that are finite and nonnegative."""
    if weight is None:
        return np.ones(n)
    array = in_one_piece(as_real(weight, name))
    if array.shape != (n,):
        raise ValueError(must(name, f"an array of shape ({n},)", f"shape {array.shape}"))
    require_finite(array, name)
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            largest = f"weights up to {array.max():.2g}, whose sum overflows"
            raise ValueError(must(name, "summable", largest, "Scale them."))
    if n and array.min() < 0:
        row = int(array.argmin())
        raise ValueError(
            must(name, "nonnegative", f"{array[row]} in row {row}", "Drop such rows instead.")
        )
    if n and 0 < array.max() < np.finfo(np.float64).tiny:
        most = f"weights up to {array.max():.2g}, whose products vanish"
        raise ValueError(must(name, "of a size to multiply by", most, "Scale them."))
    return array


def as_vector_field(field: Any, X: Array, index: NDArray[np.intp], name: str, ndim: int) -> Array:
    """Evaluate a field on a block: a function of x, or an array with one entry a row.

    Parameters
    ----------
    field
        A callable of the rows (b, d), or an array whose first axis is the rows of the data.
    X, index
        The rows of the block and their numbers.
    name
        The argument's name, for errors.
    ndim
        How many axes the result must have, the first being the rows.
    """
    array, what = at_rows(field, X, index, name)
    if array.ndim != ndim or len(array) != len(X):
        axes = ", ".join([str(len(X)), *"?" * (ndim - 1)])
        raise ValueError(must(what, f"an array of shape ({axes})", f"shape {array.shape}"))
    require_finite(array, what)
    return array


def at_rows(field: Any, X: Array, index: NDArray[np.intp], name: str) -> tuple[Array, str]:
    """Return a field's numbers for some rows, and how to call it in an error."""
    if callable(field):
        what = f"{name} (called on rows of shape {X.shape})"
        return as_real(field(X), what), what
    if len(index) and index.max() >= len(field):
        raise ValueError(must(name, "an array with as many rows as the data", f"{len(field)} rows"))
    return np.asarray(field[index], dtype=np.float64), name


HASHED_ROWS = 16_384
# What compiled sums go over at once: sections of so many rows stay in cache.
TILE_ROWS = 512


def mix(key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit keys by the finalizer of splitmix64."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def hash_rows(*views: NDArray[Any]) -> NDArray[np.uint64]:
    """Hash each row by the bytes of its float64 numbers, whatever its place in the data."""
    key = np.zeros(len(views[0]), dtype=np.uint64)
    for view in views:
        if len(view) != len(key):
            raise ValueError(f"Views must have as many rows each. Got {len(key)} and {len(view)}.")
        # By rows that stay in cache, whatever there are of them.
        for rows in row_slices(len(key), HASHED_ROWS):
            native.fold_in(key[rows], in_one_piece(view[rows]))
    return key


def lowest_hashed(X: Array, m: int, seed: int) -> NDArray[np.intp]:
    """Choose up to m distinct rows at random, by the lowest seeded hash of their numbers.

    The choice depends on the set of rows and the seed alone, not on the rows' order, repetition
    or chunks; the choice for a smaller m is a prefix.
    """
    return lowest(priorities(hash_rows(X), seed), m)


def priorities(keys: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return a seeded hash (n,) of rows whose own hash is known."""
    return mix(keys ^ np.uint64(mixed_seed(seed)))


@lru_cache(maxsize=1024)
def mixed_seed(seed: int) -> int:
    """Return what a seed changes about hashes, of which it scrambles the bits."""
    return int(mix(np.array([seed], dtype=np.uint64))[0])


def lowest(priority: NDArray[np.uint64], m: int) -> NDArray[np.intp]:
    """Return the places of the m lowest different priorities (n,), ascending, the first of each."""
    places = np.empty(min(m, len(priority)), dtype=np.int64)
    found = native.lowest(np.ascontiguousarray(priority), len(places), places)
    return places[:found]


def drawn(random_state: Any, count: int) -> tuple[int, ...]:
    """Return the first numbers below 2^63 that a generator draws, made of a seed or given."""
    if isinstance(random_state, int):
        return _drawn(random_state, count)
    rng = np.random.default_rng(random_state)
    return tuple(rng.integers(2**63, size=count).tolist())


@lru_cache(maxsize=1024)
def _drawn(seed: int, count: int) -> tuple[int, ...]:
    # To make a generator takes longer than to choose rows.
    return drawn(np.random.default_rng(seed), count)


def row_slices(n: int, rows: int) -> list[slice]:
    """Cut n rows into consecutive slices of at most `rows` rows."""
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def squared_distances(X: Array, Y: Array, *, exact_near: bool = False) -> Array:
    """Compute |x - y|^2 for all pairs, as |x|^2 + |y|^2 - 2 x.y around the mean of Y.

    Parameters
    ----------
    X, Y
        Points (n, d) and (p, d).
    exact_near
        Compute the distances of close pairs again by coordinate differences: what the expansion
        loses there matters to kernels with a kink, and to narrow ones.

    Returns
    -------
    Array (n, p).
    """
    points, centers = X, Y
    shift = Y.mean(axis=0)
    X, Y = X - shift, Y - shift
    with np.errstate(over="ignore", invalid="ignore"):
        x2, y2 = np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Y, Y)
        S = X @ (-2.0 * Y.T)
        S += x2[:, None]
        S += y2
        np.maximum(S, 0.0, out=S)
        if not (np.isfinite(x2).all() and np.isfinite(y2).all()):
            S[np.isnan(S)] = np.inf
    if exact_near:
        # Where |x|^2 < |y|^2 / 4 the expansion cancels nothing, so |x|^2 alone sets the scale.
        rows, columns = np.nonzero(2e-3 * x2[:, None] > S)
        for start in range(0, len(rows), 65_536):
            i, j = rows[start : start + 65_536], columns[start : start + 65_536]
            S[i, j] = ((points[i] - centers[j]) ** 2).sum(axis=1)
    return S
