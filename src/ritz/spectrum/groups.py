"""Groups of values that are one repeated value, as far as samples can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from ritz.validation import Array

# A run of values is a group if it is one repeated value with at least this probability.
LEAST_CONFIDENCE = 0.7
# Copies of which a value is one for sure, though it is not sure of which: their mean stands for it.
# Sampling spreads copies the farther apart the more there are. Of fewer copies a mean gains less
# than it may lose.
LEAST_AVERAGED = 6
# A value may lie, before it is looked at, anywhere from zero to this many times itself.
PRIOR_WIDTH = 2.0
# The noise of several entries is estimated together, with twice the freedom of one over folds.
NOISE_FREEDOM = 2
# Noise below this share of a value is rounding, and variances below this share of squares.
LEAST_NOISE, ROUNDING = 1e-8, 1e-12


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of neighboring values, and how likely each run of them is one repeated value.

    Parameters
    ----------
    number
        The numbers (k,) of the groups.
    confidence
        The probability (k,) that the group is one repeated value, or None.
    probability
        The probability (k, k) that values i to j are a run of which each gets the mean. Each value
        is in one run: the sum over i <= a <= j is 1 for every a.
    """

    number: NDArray[np.intp]
    confidence: Array | None
    probability: Array

    def means(self, values: Array) -> Array:
        """Return the expected mean (..., k) of the run that each value is in.

        Members of a group get its mean. Where samples cannot tell which of many values are one, the
        means of all runs count by their probabilities.
        """
        each = np.arange(len(self.number))
        share = _sums_around(self.probability / _run_lengths(len(each)))
        # The share of value b in the mean of a: the runs that hold both.
        both = share[np.minimum(each, each[:, None]), np.maximum(each, each[:, None])]
        return np.asarray(values @ both)

    def doubt(self, values: Array) -> Array:
        """Return the standard deviation (k,) of the means over the runs that a value may be in."""
        # Division by the unit prevents overflow and underflow of squares.
        unit = float(np.abs(values).max(initial=0.0)) or 1.0
        values = values / unit
        totals = np.concatenate([[0.0], np.cumsum(values)])
        run_means = (totals[1:] - totals[:-1, None]) / _run_lengths(len(values))
        squares = _sums_around(self.probability * run_means**2).diagonal()
        means = self.means(values)
        variances = squares - means**2
        return np.asarray(unit * np.sqrt(np.where(variances > ROUNDING * squares, variances, 0.0)))


def group(
    values: Array,
    noise: tuple[Array, Array] | None,
    is_exact: NDArray[np.bool_],
    is_rough: NDArray[np.bool_],
    n_folds: int,
) -> Groups:
    """Return groups of neighboring values that are one repeated value.

    All partitions into runs of neighbors are equally likely at first. Sampling turns the copies of
    one value into the eigenvalues of a random symmetric matrix; `run_likelihoods` says how likely
    the values of each run are then. The probability of a run is that of all partitions with it. A
    run that has at least 70% is a group; where no run has, values stand alone, though their means
    may not: see `averaged_runs`. Exact values always do.

    Parameters
    ----------
    values
        Values (k,) in order, of a size of about one.
    noise
        What `noise_of` returns. Without it, values that agree to eight digits make a
        group, and there are no probabilities.
    is_exact, is_rough
        Which values (k,) have no error, and which have one that the noise does not describe: these
        are in a group that is sure or alone.
    n_folds
        The number of folds that the noise was estimated from.
    """
    k = len(values)
    if noise is None:
        apart = np.abs(np.diff(values)) > LEAST_NOISE * np.abs(values).max(initial=0.0)
        starts = np.concatenate([[True], apart | is_exact[1:] | is_exact[:-1]])
        return certain(np.cumsum(starts[:k]) - 1, None)
    likelihoods = run_likelihoods(values, noise, is_exact, n_folds)
    probability = run_probabilities(likelihoods)
    number, confidence = np.zeros(k, dtype=np.intp), np.zeros(k)
    first = count = 0
    while first < k:
        # Runs that overlap exclude each other, so at most one has more than half.
        last = first + int(probability[first, first:].argmax())
        if probability[first, last] < LEAST_CONFIDENCE:
            last = first
        number[first : last + 1] = count
        confidence[first : last + 1] = probability[first, last]
        first, count = last + 1, count + 1
    is_settled = is_rough | (confidence >= LEAST_CONFIDENCE)
    return Groups(number, confidence, averaged_runs(likelihoods, number, is_settled))


def certain(number: NDArray[np.intp], confidence: Array | None) -> Groups:
    """Return groups (k,), numbered 0, 1, ..., of which there is no doubt."""
    probability = np.zeros((len(number), len(number)))
    probability[_ends(number, number)] = 1.0
    return Groups(number, confidence, probability)


def averaged_runs(
    likelihoods: Array, number: NDArray[np.intp], is_settled: NDArray[np.bool_]
) -> Array:
    """Return the probability (k, k) that the mean of values i to j stands for each of them.

    That is certain for settled groups. Of the others, values that are one of many copies with at
    least 70% keep their probabilities, and the rest stand alone.
    """
    is_long = _run_lengths(len(number)) >= LEAST_AVERAGED
    probability = run_probabilities(given(likelihoods, number, is_settled))
    is_one_of_many = _sums_around(probability * is_long).diagonal() >= LEAST_CONFIDENCE
    is_settled = is_settled | ~is_one_of_many
    probability = run_probabilities(given(likelihoods, number, is_settled))
    short = np.where(is_long, 0.0, probability)
    short[_ends(number[is_settled], number)] = 0.0
    return np.asarray(probability - short + np.diag(_sums_around(short).diagonal()))


def given(likelihoods: Array, number: NDArray[np.intp], is_settled: NDArray[np.bool_]) -> Array:
    """Return log likelihoods (k, k) of runs, -inf for runs with values of a settled group.

    The settled groups themselves keep theirs.
    """
    count = np.concatenate([[0], np.cumsum(is_settled)])
    result = np.where(count[1:] > count[:-1, None], -np.inf, likelihoods)
    settled = _ends(number[is_settled], number)
    result[settled] = likelihoods[settled]
    return result


def _ends(
    some: NDArray[np.intp], number: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the last value of some groups, given the group (k,) of each value."""
    return np.searchsorted(number, some), np.searchsorted(number, some, side="right") - 1


def run_likelihoods(
    values: Array, noise: tuple[Array, Array], is_exact: NDArray[np.bool_], n_folds: int
) -> Array:
    """Return log likelihoods (k, k) of values i to j as one repeated value, -inf for j < i.

    The copies of a value v are v plus the eigenvalues of a symmetric matrix whose entries are
    normal of variance s^2, and 2 s^2 on the diagonal. For m of them the density is
    m! prod |x_a - x_b| exp(-q / 2) / Z_m in units x of sqrt(2) s, with q = sum (x_a - mean)^2 and
    Mehta's integral Z_m = (2 pi)^(m/2) prod_(j <= m) Gamma(1 + j / 2) / Gamma(3 / 2). As s is
    itself estimated, with few degrees of freedom, exp(-q / 2) becomes a power of Student's kind.
    The value v is integrated out.
    """
    k = len(values)
    size = np.abs(values)
    m = _run_lengths(k)
    # A matrix without its trace, which moves all copies alike, has as many free entries.
    free, known = m * (m + 1) / 2 - 1, NOISE_FREEDOM * (n_folds - 1)
    off_diagonal = 2 - np.eye(k)
    whole, trace = (_run_sums(part * off_diagonal) for part in noise)
    variance = (whole - trace / m) / np.maximum(2 * free, 1)
    mean_size = _run_sums(np.diag(size)) / m
    least = LEAST_NOISE * np.maximum(mean_size, LEAST_NOISE * size.max(initial=0.0))
    least = np.maximum(least, np.finfo(np.float64).tiny ** 0.25)
    variance = np.maximum(variance, least**2)
    differences = np.abs(values - values[:, None])
    # Values that are equal up to rounding still have a density.
    repulsion = _run_sums(np.log(np.maximum(differences, least.diagonal())) * (1 - np.eye(k)))
    repulsion -= m * (m - 1) / 4 * np.log(2 * variance)
    q = _run_sums(differences**2) / m / (2 * variance)
    j = np.arange(1, k + 1)
    mehta = np.cumsum(gammaln(1 + j / 2) - gammaln(1.5) + np.log(2 * np.pi) / 2)[m - 1]
    student = gammaln((known + free) / 2) - gammaln(known / 2) - free / 2 * np.log(known / 2)
    student -= (known + free) / 2 * np.log1p(q / known)
    width = PRIOR_WIDTH * np.maximum(mean_size, least)
    location = np.log(4 * np.pi * variance / m) / 2 - np.log(width)
    result = gammaln(m + 1) + repulsion + student - mehta - m / 2 * np.log(2 * variance) + location
    result[np.tril_indices(k, -1)] = -np.inf
    # A run with an exact value is that value alone.
    inside = _run_sums(np.diag(is_exact.astype(np.float64))) > 0
    result[inside] = -np.inf
    result[np.diag_indices(k)] = np.where(is_exact, 0.0, result.diagonal())
    return np.asarray(result)


def _run_sums(U: Array) -> Array:
    """Return sums (k, k) of U[a, b] over i <= a <= b <= j, adding up near the diagonal first."""
    columns = np.cumsum(np.triu(U)[::-1], axis=0)[::-1]
    return np.asarray(np.cumsum(np.triu(columns), axis=1))


def run_probabilities(likelihoods: Array) -> Array:
    """Return the probability (k, k) that values i to j are a group, over all partitions."""
    k = len(likelihoods)
    # Likelihoods of all partitions of the values before i, and of those from i on.
    before, after = np.zeros(k + 1), np.zeros(k + 1)
    for i in range(k):
        before[i + 1] = logsumexp(before[: i + 1] + likelihoods[: i + 1, i])
    for i in reversed(range(k)):
        after[i] = logsumexp(likelihoods[i, i:] + after[i + 1 :])
    return np.asarray(np.exp(before[:k, None] + likelihoods + after[1:] - before[k]))


def _run_lengths(k: int) -> NDArray[np.intp]:
    """Return the numbers (k, k) of values from i to j, 1 for j < i."""
    each = np.arange(k)
    return np.asarray(np.maximum(1, each - each[:, None] + 1))


def _sums_around(U: Array) -> Array:
    """Return sums (k, k) of U[i, j] over i <= a and j >= b, for a <= b."""
    return np.asarray(np.cumsum(np.cumsum(U, axis=0)[:, ::-1], axis=1)[:, ::-1])
