"""What a user gives as values and gradients, checked; and small samples of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from ritz.arrays import Array, hash_rows, lowest_hashed, must, row_slices
from ritz.regression.observations import Observations, Part
from ritz.streams.stream import CHUNK_ROWS

MANY_ROWS = 100_000


def as_values(y: Any, n: int, outputs: int) -> tuple[NDArray[Any], bool]:
    """Return values (n, outputs), NaN where unknown, and whether they came as (n,)."""
    if y is None:
        return np.full((n, outputs), np.nan), outputs == 1
    y = as_numbers(y, "y")
    if y.ndim not in (1, 2) or len(y) != n:
        raise ValueError(must("y", f"an array with {n} rows, as X", f"shape {y.shape}"))
    flat = y.ndim == 1
    y = y[:, None] if flat else y
    if np.isinf(y).any():
        assert_all_finite(np.where(np.isnan(y), 0.0, y), input_name="y")
    missing = np.isnan(np.asarray(y, dtype=np.float64))
    if (missing.any(axis=1) != missing.all(axis=1)).any():
        raise ValueError(must("y", "known for all outputs of a row or for none", "some of them"))
    return y, flat


def as_numbers(array: Any, name: str) -> NDArray[Any]:
    """Return real numbers without a copy where that can be; what is masked is unknown."""
    if np.ma.isMaskedArray(array):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    array = np.asarray(array)
    if array.dtype.kind == "c":
        raise ValueError(must(name, "real", "complex numbers"))
    return np.asarray(array if array.dtype.kind in "fiub" else array.astype(np.float64))


def as_slopes(
    gradient: Any, directions: Any, n: int, d: int
) -> tuple[NDArray[Any] | None, NDArray[Any] | None, int]:
    """Return derivatives (n, r, outputs), directions (n, d, r) or None, and the outputs."""
    if gradient is None:
        if directions is not None:
            raise ValueError(must("gradient", "given where directions are", "None"))
        return None, None, 1
    t = as_numbers(gradient, "gradient")
    if directions is None:
        if t.ndim not in (2, 3) or t.shape[:2] != (n, d):
            axes = f"(n, d) = ({n}, {d}) or (n, d, outputs): rows first, then columns of X"
            raise ValueError(must("gradient", f"an array {axes}", f"shape {t.shape}"))
        t = t[:, :, None] if t.ndim == 2 else t
        U = None
    else:
        U = np.asarray(directions)
        if U.ndim not in (2, 3) or U.shape[:2] != (n, d):
            what = f"an array (n, d) = ({n}, {d}) or (n, d, r) for r directions a row"
            raise ValueError(must("directions", what, f"shape {U.shape}"))
        one = U.ndim == 2
        U = U[:, :, None] if one else U
        r = U.shape[2]
        if one and t.ndim in (1, 2) and len(t) == n:
            t = t[:, None] if t.ndim == 1 else t[:, None, :]
        if t.ndim == 2 and t.shape[1] == r:
            t = t[:, :, None]
        if t.ndim != 3 or t.shape[:2] != (n, r):
            what = f"derivatives (n, r) = ({n}, {r}), one for each direction"
            raise ValueError(must("gradient", what, f"shape {np.shape(gradient)}"))
        assert_all_finite(U, input_name="directions")
    for part in row_slices(n, CHUNK_ROWS):
        if np.isinf(t[part]).any():
            raise ValueError(must("gradient", "finite, or NaN where unknown", "inf"))
        missing = np.isnan(np.asarray(t[part], dtype=np.float64))
        if (missing.any(axis=2) != missing.all(axis=2)).any():
            what = "known for all outputs or for none"
            raise ValueError(must("gradient", what, "some of them"))
    return t, U, t.shape[2]


def mean_and_spread(A: NDArray[Any], weight: Array) -> tuple[Array, Array]:
    """Return weighted means and standard deviations of columns, leaving out NaN, in pieces."""
    count, mean, second = (np.zeros(A.shape[1]) for _ in range(3))
    for part in row_slices(len(A), CHUNK_ROWS):
        some = np.asarray(A[part], dtype=np.float64)
        w = np.where(np.isnan(some), 0.0, weight[part][:, None])
        some = np.where(w > 0, some, 0.0)
        # As new rows come in, squares are kept about the mean so far.
        here = w.sum(axis=0)
        own = np.divide((w * some).sum(axis=0), here, out=mean.copy(), where=here > 0)
        total = np.where(count + here > 0, count + here, 1.0)
        second += (w * (some - own) ** 2).sum(axis=0) + (own - mean) ** 2 * count * here / total
        mean += (own - mean) * here / total
        count += here
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, mean, np.nan), np.sqrt(second / count)


def any_known(array: NDArray[Any], weight: Array) -> bool:
    """Return whether some number of an array (n, ...) is known, at a row of positive weight."""
    return any(
        not np.isnan(np.asarray(array[part], dtype=np.float64)[weight[part] > 0]).all()
        for part in row_slices(len(array), CHUNK_ROWS)
        if (weight[part] > 0).any()
    )


def observed_rows(observations: Observations) -> NDArray[np.bool_]:
    """Return at which rows (n,) anything of positive weight was observed."""
    result = np.zeros(len(observations.y), dtype=bool)
    for part in row_slices(len(result), CHUNK_ROWS):
        values = np.asarray(observations.y[part], dtype=np.float64)
        result[part] = ~np.isnan(values).any(axis=1) & (observations.weight[part] > 0)
        if observations.t is not None:
            slopes = np.asarray(observations.t[part], dtype=np.float64)
            some = ~np.isnan(slopes).all(axis=(1, 2))
            result[part] |= some & (observations.slope_weight[part] > 0)
    return result


def subsample(
    X: NDArray[Any], observations: Observations, size: int, seed: int, slopes: bool
) -> Part:
    """Return a few rows, with at most about `size` values and derivatives."""
    derivatives = 0 if observations.t is None or not slopes else observations.t.shape[1]
    m = max(size // (1 + derivatives), min(30, size))
    rng = np.random.default_rng(seed)
    there = np.flatnonzero(observed_rows(observations))
    if len(there) > MANY_ROWS:
        pick = np.sort(rng.choice(there, min(m, len(there)), replace=False))
    else:
        # By their numbers, so that repeated rows count once.
        rows = np.asarray(X, dtype=np.float64)[there]
        chosen = rows[lowest_hashed(rows, m, seed)]
        pick = there[np.isin(hash_rows(rows), hash_rows(chosen))]
    part = observations.part(np.asarray(X[pick]), pick).merged()
    m = len(part.X)
    if m * (1 + derivatives) > 2 * size:
        keep = rng.random(part.told.shape) < size / (m * (1 + derivatives))
        part = replace(part, told=part.told * keep)
    return part
