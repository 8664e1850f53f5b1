"""Warnings a statistician would give: unequal columns, dependent rows, points far from samples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ritz.bases import Basis
from ritz.bases.nystrom import KernelSections
from ritz.devices import DeviceRows
from ritz.kernels.sections import squared_distances
from ritz.namespaces import namespace, placed, to_host
from ritz.rows import small_parts
from ritz.selection.rows import Rows, StreamRows, WeightedRows
from ritz.trajectories import ENOUGH_BLOCKS, FEWEST_BLOCKS, SHORTEST_BLOCK, integrated_time
from ritz.validation import Array, Names, as_contiguous, parameter_error

# Rows looked at for widths and distances: quantiles of so many err by a few percent.
ADVICE_ROWS = 2000
# Times one column is as wide as another: the narrow one then has 0.1% of the squared distance.
# With fewer rows than this, quantiles of columns of one width may be that unequal.
UNEQUAL_WIDTHS, FEWEST_ROWS_OF_WIDTHS = 30.0, 20
# The share of rows in which a column differs from its median, below which its width is that of a
# few rows: pixels at the rim of an image are blank but for a few rows.
RARE_SHARE = 0.01
# Integrated time, in rows, above which errors are a third of what they should be; tables in order
# of collection, as digits by writers, have up to 6. Fewer rows are too few to tell.
DEPENDENT_TIME, FEWEST_SERIES_ROWS = 8.0, 250
# Rows of a stream whose order is looked at, its first ones.
HEAD_ROWS = 10_000
# Blocks of a series that is too short for others: two for each of eight folds.
FEWEST_OWN_BLOCKS = 16
# Rows of the longest block of a series, in integrated times: its mean depends on the next by 5%.
LONGEST_BLOCK = 10.0
# Distance of a far point to the nearest center: in the largest such distance of the samples, and
# in length scales, as a Gaussian section has 1% of its height at three.
FAR_REACHES, FAR_LENGTHS = 3.0, 3.0


@dataclass(frozen=True, eq=False)
class Reach:
    """The largest distance, in length scales, of samples to the nearest other center of a basis."""

    basis: KernelSections
    distance: float


def unequal_columns(data: Rows, seed: int = 0) -> tuple[int, int, float] | None:
    """Return the widest and the narrowest column of a sample, and the ratio of their widths.

    None where no column is so narrow that others alone decide about distances.
    """
    sample = as_contiguous(data.sample(ADVICE_ROWS, seed).X)
    if len(sample) < FEWEST_ROWS_OF_WIDTHS:
        return None
    size = np.maximum(np.abs(sample).max(axis=0), np.finfo(np.float64).tiny)
    deviations = size * (sample / size).std(axis=0)
    often = (sample != np.median(sample, axis=0)).mean(axis=0) >= RARE_SHARE
    # Rounding errors are no width.
    if len(varies := np.flatnonzero(often & (deviations > 1e-14 * size))) < 2:
        return None
    widths = size * _widths(sample / size)
    wide, narrow = (int(varies[f(widths[varies])]) for f in (np.argmax, np.argmin))
    # Columns of clusters may have narrow quartiles, and columns with outliers wide deviations.
    ratio = min(w[wide] / w[narrow] for w in (widths, deviations))
    return (wide, narrow, ratio) if ratio > UNEQUAL_WIDTHS else None


def warn_unequal_columns(
    data: Rows, seed: int, names: Names, keep: str, stacklevel: int = 4
) -> None:
    """Warn of columns so narrow that others alone decide about distances.

    `keep` is the parameter to pass where columns are meant to be as they are, and `stacklevel` that
    of `warnings.warn`.
    """
    found = unequal_columns(data, seed)
    if found is None:
        return
    wide, narrow, ratio = found
    first, second = (j if names is None else repr(names[j]) for j in (wide, narrow))
    warnings.warn(
        f"Column {first} is {ratio:,.0f} times as wide as column {second}: distances and "
        "derivatives depend on the units of columns, so that narrow ones hardly count. Put "
        "sklearn.preprocessing.StandardScaler before the estimator, or, if the columns share "
        f"one unit, pass {keep}.",
        stacklevel=stacklevel,
    )


def _widths(X: Array) -> Array:
    """Return the interquartile range (d,) of columns; where it is zero, deviations from the median.

    They are those of the entries that differ from it, as of the pixels that are seldom not blank.
    """
    low, median, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    off = X - median
    deviations = np.sqrt((off**2).sum(axis=0) / np.maximum(np.count_nonzero(off, axis=0), 1))
    return np.asarray(np.where(high > low, high - low, deviations))


def as_groups(groups: Any, X: NDArray[Any]) -> Any:
    """Return labels (n,) of blocks of a series for "auto", or the groups given, or None.

    A block is five to ten integrated times long, so that it hardly depends on the next one.
    """
    if not isinstance(groups, str):
        return groups
    if groups != "auto":
        raise parameter_error("groups", "None, 'auto' or an array of labels (n,)", repr(groups))
    n, time = len(X), integrated_time(X)
    shortest = int(np.ceil(SHORTEST_BLOCK * time))
    if n < FEWEST_BLOCKS * shortest:
        got = f"'auto' for {n:,} rows, of which each resembles about {time:,.0f} others around it"
        remedy = (
            f"'auto' takes at least {FEWEST_BLOCKS * shortest:,} rows. Pass blocks of your own, "
            f"such as np.arange({n}) // {-(-n // FEWEST_OWN_BLOCKS)}, with which errors are less "
            "sure, or a longer series."
        )
        what = "labels (n,) where a series is too short for 'auto'"
        raise parameter_error("groups", what, got, remedy)
    return np.arange(n) // int(np.clip(n // ENOUGH_BLOCKS, shortest, LONGEST_BLOCK * time))


def warn_dependent_rows(data: Rows) -> None:
    """Warn if rows resemble those just before them, as in a time series."""
    if isinstance(data, StreamRows):
        data.samples.keep()
    X = data.X if isinstance(data, WeightedRows) else data.samples.stream.head(HEAD_ROWS)
    if len(X) < FEWEST_SERIES_ROWS or (time := integrated_time(X)) <= DEPENDENT_TIME:
        return
    remedy = "Pass groups='auto' to fit for a time series"
    if len(X) < FEWEST_BLOCKS * np.ceil(SHORTEST_BLOCK * time):
        remedy = "A time series has to be longer, and then needs groups='auto'"
    warnings.warn(
        f"Rows depend on each other in the order given: each resembles about {time:,.0f} others "
        f"around it, so that errors come out too small, by a factor of about {time**0.5:,.1f}. "
        f"{remedy}; shuffle rows that are independent and only sorted.",
        stacklevel=4,
    )


def reach_of(functions: Basis, X: NDArray[Any]) -> Reach | None:
    """Return how far samples X (n, d) lie from the centers; None without kernels of distances.

    Of many samples some at random are looked at, and those farthest from the centers' mean.
    """
    if (basis := kernel_sections(functions)) is None:
        return None
    rows, half = np.arange(len(X)), ADVICE_ROWS // 2
    if len(X) > ADVICE_ROWS:
        norms = [_norms(_scaled(basis, X[part])) for part in small_parts(X)]
        rows = np.union1d(
            _some_rows(rows, half), np.argpartition(np.concatenate(norms), -half)[-half:]
        )
    S = squared_distances(to_host(_scaled(basis, X[rows])), basis.scaled_centers)
    # A sample that is a center would be at distance zero of itself.
    S[S == 0.0] = np.inf
    nearest = S.min(axis=1)
    return Reach(basis, float(np.sqrt(nearest[np.isfinite(nearest)].max(initial=0.0))))


def warn_far_points(
    X: NDArray[Any], reach: Reach | None, functions: Basis, stacklevel: int = 4
) -> None:
    """Warn if some points X (n, d) are far from the samples that functions were found from.

    It says nothing where the functions have another basis than the reach, as after `fit_sums`.
    `stacklevel` is that of `warnings.warn`.
    """
    if reach is None or reach.basis is not kernel_sections(functions):
        return
    some = to_host(_scaled(reach.basis, X[_some_rows(np.arange(len(X)))]))
    distance = np.sqrt(squared_distances(some, reach.basis.scaled_centers).min(axis=1))
    limit = max(FAR_REACHES * reach.distance, FAR_LENGTHS)
    if far := int((distance > limit).sum()):
        warnings.warn(
            f"{far:,} of {len(some):,} points looked at are far from all samples of the fit, more "
            f"than {limit:.3g} length scales of the kernel: samples say nothing about the "
            "functions there. Drop such points, or fit to samples that lie around them.",
            stacklevel=stacklevel,
        )


def _some_rows(rows: NDArray[np.intp], m: int = ADVICE_ROWS) -> NDArray[np.intp]:
    """Return up to m of the row numbers, at random but the same for as many rows."""
    some = np.random.default_rng(0).choice(len(rows), m, replace=False) if len(rows) > m else ...
    return np.asarray(rows[some])


def _scaled(basis: KernelSections, X: Any) -> Array:
    """Return points in length scales, on their device."""
    if isinstance(X, DeviceRows):
        Z = X.block(slice(0, len(X)))
        return cast(Array, (Z - placed(basis.shift, Z)) / placed(basis.scale, Z))
    scaled: Array = as_contiguous(X) - basis.shift
    scaled /= basis.scale
    return scaled


def _norms(Z: Array) -> Array:
    return cast(Array, to_host(namespace(Z).vecdot(Z, Z)))


def kernel_sections(functions: Any) -> KernelSections | None:
    """Return the kernel sections that functions are combinations of, if they are, else None."""
    while functions is not None and not isinstance(functions, KernelSections):
        functions = getattr(functions, "basis", None)
    return functions if functions is not None and functions.kernel.family == "distance" else None
