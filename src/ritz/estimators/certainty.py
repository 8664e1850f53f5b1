"""How sure values and functions of a spectrum are, and what to try next, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import t as student

from ritz.estimators.functions import LEAST_AGREEMENT
from ritz.spectrum.spectrum import Levels
from ritz.tables import numbered
from ritz.validation import Array

# The probability of an interval.
LEVEL = 0.95
# Half the width of a 95% interval, as a share of the value, from which more rows are suggested.
WIDE_INTERVAL = 0.25
# The share of a value that more functions may change, from which more are suggested.
LARGE_BASIS_ERROR = 0.1


def half_widths(levels: Levels, n_folds: int) -> Array | None:
    """Return half the widths (k,) of 95% intervals of values, Student's; None without errors.

    `n_folds` counts where the spectrum does not know the folds that have rows.
    """
    if levels.errors is None:
        return None
    if levels.folds is not None:
        n_folds = len(levels.folds.weight)
    return np.asarray(student.ppf((1 + LEVEL) / 2, max(n_folds - 1, 1)) * levels.errors)


def half_shares(levels: Levels, n_folds: int) -> Array | None:
    """Return half the widths of 95% intervals as shares (k,) of the values; None without errors."""
    half = half_widths(levels, n_folds)
    return None if half is None else half / sizes_of(levels)


def sizes_of(levels: Levels) -> Array:
    """Return the sizes (k,) of the values, to divide by."""
    return np.maximum(np.abs(levels.values), np.finfo(np.float64).tiny)


def trusted(levels: Levels, first: int) -> int:
    """Return how many functions from the `first` on two halves of the samples agree on."""
    if levels.stability is None:
        return len(levels.values) - first
    agree = levels.stability[first:] ** 2 >= LEAST_AGREEMENT
    return int(np.argmin(agree)) if not agree.all() else len(agree)


def sure_of(levels: Levels, n_folds: int, noun: str, first: int = 1) -> list[str]:
    """Return how sure the values and functions of a spectrum are.

    Parameters
    ----------
    levels
        The spectrum.
    n_folds
        The number of folds that errors come from.
    noun
        What its values are called.
    first
        The number of its first function that is not the constant.
    """
    lines = []
    k = len(levels.values)
    shares = half_shares(levels, n_folds)
    if shares is None:
        lines.append("There are no error bars: they take at least three folds of enough rows.")
    else:
        low, high = shares[first:].min(), shares[first:].max()
        reach = f"{low:.1%}" if f"{low:.1%}" == f"{high:.1%}" else f"{low:.1%} to {high:.1%}"
        lines.append(f"Sampling moves {noun}s by ± {reach} (95% intervals).")
    if levels.basis_errors is not None:
        gains = (levels.basis_errors / sizes_of(levels))[first:]
        worst = int(gains.argmax())
        which = f"{noun} {first + worst}"
        if gains[worst] > 0.001:
            lines.append(
                f"More functions may change {noun}s by up to {gains[worst]:.0%} ({which})."
            )
        else:
            lines.append(f"More functions would change no {noun} by more than 0.1%.")
    else:
        lines.append("The error of the basis is not known: it was used as a whole.")
    for group in dict.fromkeys(levels.groups[first:].tolist()):
        members = [j for j in range(first, k) if levels.groups[j] == group]
        if len(members) > 1:
            sure = ""
            if levels.group_confidence is not None:
                sure = f" (probability {levels.group_confidence[members[0]]:.0%})"
            lines.append(
                f"{numbered(members, 'Function')} share one {noun}{sure}: only the space they "
                "span has a meaning, not each of them."
            )
    if levels.stability is not None:
        agreed, n = trusted(levels, first), k - first
        if agreed == n:
            worst_cosine = levels.stability[first:].min()
            some = "the function" if n == 1 else f"all {n} functions"
            lines.append(f"Two halves of the samples agree on {some} (cosine {worst_cosine:.2f}).")
        else:
            cosine = levels.stability[first + agreed]
            some = "do not even agree on"
            if agreed:
                some = f"agree on {numbered(range(first, first + agreed))}, but not on"
            where = f"function {first + agreed} (cosine {cosine:.2f})"
            lines.append(f"Two halves of the samples {some} {where}.")
    for flag in dict.fromkeys(flag for flag in levels.flags or () if flag):
        members = [j for j in range(first, k) if levels.flags and levels.flags[j] == flag]
        lines.append(f"{numbered(members, 'Function')}: {flag}.")
    return lines


def advice_on(
    levels: Levels, n_folds: int, estimator: Any, parameter: str, first: int = 1, more: int = 0
) -> list[str]:
    """Return what to try next.

    Parameters
    ----------
    levels, n_folds, first
        As in `sure_of`.
    estimator
        The estimator.
    parameter, more
        The parameter that says how many functions to find, and by how much it exceeds their number.
    """
    lines = []
    agreed = trusted(levels, first)
    flagged = [bool(flag) for flag in levels.flags or ()][first:]
    good = [first + j for j, bad in enumerate(flagged) if not bad]
    if any(flagged) and not good:
        lines.append("No function can be trusted: use more rows, or other columns.")
    elif any(flagged) and flagged == sorted(flagged):
        lines.append(f"Lower {parameter} to {len(good) + more}: the other functions are flagged.")
    elif any(flagged):
        lines.append(f"Trust {numbered(good)}: the others are flagged.")
    elif 0 < agreed < len(levels.values) - first:
        lines.append(
            f"Trust {numbered(range(first, first + agreed))}, or find the others with more rows."
        )
    shares = half_shares(levels, n_folds)
    wide = shares is not None and bool((shares[first:] > WIDE_INTERVAL).any())
    if wide:
        lines.append("Use more rows: four times as many halve the intervals.")
    if levels.basis_errors is not None:
        gains = levels.basis_errors / sizes_of(levels)
        floor = LARGE_BASIS_ERROR if shares is None else np.maximum(shares, LARGE_BASIS_ERROR)
        some = np.flatnonzero((gains > floor)[first:]) + first
        if len(some) and getattr(estimator, "n_centers", None) is not None:
            lines.append(
                f"Raise n_centers, or give another basis: it limits {numbered(some.tolist())} "
                "more than the samples do."
            )
    selection = getattr(estimator, "selection_", None)
    if selection is not None and "regularization" in selection.at_edge:
        lines.append("The regularization is the largest that was tried: look at `selection_`.")
    return lines
