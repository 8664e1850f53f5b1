"""Data at a glance: columns, and what about them spoils spectra."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.estimators.advice import DEPENDENT_TIME, FEWEST_SERIES_ROWS, unequal_columns
from ritz.rows import hash_rows
from ritz.selection.rows import WeightedRows
from ritz.trajectories import integrated_time
from ritz.validation import Array

# Rows that quantiles are taken from: they err by a hundredth of a deviation.
QUANTILE_ROWS = 50_000
# A column is heavy-tailed if an entry lies more interquartile ranges outside of the quartiles than
# this: of a million normal numbers the farthest lies 3 ranges outside.
HEAVY_RANGES = 10.0
# The share of equal rows worth a word.
MANY_EQUAL = 0.01
# Columns named in one sentence, and shown in the table.
MOST_NAMED, MOST_COLUMNS = 5, 40


@dataclass(frozen=True)
class Glance:
    """What the data look like.

    Attributes
    ----------
    n_rows, n_columns, n_distinct
        The numbers of rows, of columns and of different rows.
    columns
        For each of the first columns its name, minimum, median, maximum, standard deviation, and
        a word about it.
    warnings
        Sentences about what spoils spectra, each with its remedy.
    """

    n_rows: int
    n_columns: int
    n_distinct: int
    columns: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]


def glance(X: Array, names: tuple[str, ...], scaled: bool = False, grouped: bool = False) -> Glance:
    """Look at rows.

    Parameters
    ----------
    X, names
        The rows (n, d), and the names of their columns (d,).
    scaled
        Whether the fit divided columns by their widths.
    grouped
        Whether the fit was told which rows depend on each other.
    """
    n, d = X.shape
    some = X[:: max(1, n // QUANTILE_ROWS)]
    low, first, median, third, high = np.quantile(some, [0, 0.25, 0.5, 0.75, 1], axis=0)
    low, high = X.min(axis=0), X.max(axis=0)
    size = np.maximum(np.abs(X).max(axis=0), np.finfo(np.float64).tiny)
    deviations = size * (X / size).std(axis=0)
    constant = deviations <= 1e-14 * size
    middle = third - first
    far = np.maximum(first - low, high - third)
    heavy = (middle > 0) & (far > HEAVY_RANGES * np.where(middle > 0, middle, 1.0))
    words = np.where(constant, "constant", np.where(heavy, "heavy tail", ""))
    columns = tuple(
        (
            names[c],
            *(f"{value:.4g}" for value in (low[c], median[c], high[c], deviations[c])),
            str(words[c]),
        )
        for c in range(min(d, MOST_COLUMNS))
    )
    distinct = len(np.unique(hash_rows(X)))
    found = []
    unequal = unequal_columns(WeightedRows(X, np.ones(n)))
    if unequal is not None:
        wide, narrow, ratio = unequal
        remedy = (
            "Narrow columns hardly count in distances: put sklearn.preprocessing.StandardScaler "
            "first, unless the columns share a unit."
        )
        if scaled:
            remedy = "The fit divided each by its own width, so that all count."
        found.append(
            f"Columns are not in one unit: {names[wide]} is {ratio:,.0f} times as wide as "
            f"{names[narrow]}. {remedy}"
        )
    if heavy.any():
        found.append(
            f"Heavy tails in {listed(names, heavy)}: a few far rows decide first functions. Take "
            "logarithms of positive columns, or use sklearn.preprocessing.QuantileTransformer."
        )
    if n - distinct > MANY_EQUAL * n:
        found.append(
            f"{n - distinct:,} of {n:,} rows repeat others ({(n - distinct) / n:.0%}). If they are "
            "copies and no observations, drop them: error bars are too small with them."
        )
    if constant.any():
        found.append(f"Constant: {listed(names, constant)}. Such columns say nothing; drop them.")
    if n < 10 * d:
        found.append(
            f"There are only {n / d:.1f} rows for each column: functions of so many "
            "columns may not hold on new rows. Use fewer columns or more rows."
        )
    is_series = not grouped and n >= FEWEST_SERIES_ROWS
    if is_series and (time := integrated_time(X)) > DEPENDENT_TIME:
        found.append(
            f"Rows resemble about {time:,.0f} others around them, as in a time series: error bars "
            "are too small unless `groups` is passed to fit: labels of runs, or 'auto' for one "
            "series. If they are only sorted, shuffle."
        )
    return Glance(n, d, distinct, columns, tuple(found))


def listed(names: tuple[str, ...], which: Array) -> str:
    """Return the names of some columns as a text."""
    some = [names[c] for c in np.flatnonzero(which)]
    more = len(some) - MOST_NAMED
    return ", ".join(some[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
