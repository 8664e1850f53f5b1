"""How many clusters there are: gaps between eigenvalues, and what halves of the samples say."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ritz.rows import hash_rows
from ritz.selection.rows import Rows
from ritz.spectrum import Spectrum
from ritz.spectrum.stability import FEWEST_HALVED_FOLDS
from ritz.validation import Array

# Eigenvalues below this share of the median are zero: the clusters are apart.
NEARLY_ZERO = 0.01
# Pairs of halves whose clusters are compared, and rows that they are compared on.
COMPARED_PAIRS, COMPARED_ROWS = 4, 1000
# Folds up to which all pairs of halves are taken, and random pairs of more folds.
MOST_HALVED_FOLDS, RANDOM_PAIRS = 8, 35
# The ratio of the second eigenvalue to the first on an interval, the largest of all boxes.
LARGEST_RATIO_INSIDE = 4.0
# The adjusted Rand index above which halves give the same clusters: on one cluster too many of
# normal ones it is up to 0.91 where gaps are below 16, and 0.95 to 1 on three species of penguins,
# as rows fall into folds.
AGREED = 0.93


def gap_evidence(spectrum: Spectrum) -> dict[int, float]:
    """Return log(next eigenvalue / last one used) for each number of clusters.

    Errors make the ratio smaller: the next eigenvalue is less its error, the other plus its own.
    """
    values = spectrum.values
    errors = np.zeros_like(values) if spectrum.errors is None else spectrum.errors
    least = smallest(values)
    lower, upper = (np.maximum(v, least) for v in (values - errors, values + errors))
    gaps = np.log(lower[2:]) - np.log(upper[1:-1])
    return dict(enumerate(gaps.tolist(), start=2))


def smallest(values: Array) -> float:
    """Return the eigenvalue below which others count as equal to it."""
    return max(NEARLY_ZERO * float(np.median(values)), float(np.finfo(np.float64).tiny))


@dataclass(frozen=True, eq=False)
class Half:
    """The functions that one half of the folds gives.

    Parameters
    ----------
    values
        Their eigenvalues (k,), ascending.
    rotation
        What makes them (k, k) from the functions of all folds.
    """

    values: Array
    rotation: Array


def halves_of(spectrum: Spectrum) -> list[tuple[Half, Half]]:
    """Return the functions of pairs of complementary halves of the folds: all 35 pairs of eight.

    Of more folds 35 random pairs are taken. Functions are found in the span of those given, so that
    a half takes a problem of their number. There are none where a half has too few folds or rows.
    """
    small = spectrum.folds
    if small is None or len(small.weight) < FEWEST_HALVED_FOLDS:
        return []
    weight = small.weight
    m = len(weight)
    if m <= MOST_HALVED_FOLDS:
        halves = [(0, *rest) for rest in combinations(range(1, m), m // 2 - 1)]
    else:
        rng = np.random.default_rng(0)
        halves = [tuple(rng.permutation(m)[: m // 2].tolist()) for _ in range(RANDOM_PAIRS)]
    pairs = []
    for half in halves:
        others = np.setdiff1d(np.arange(m), half)
        try:
            first, second = (
                half_of(small.L[part], small.Phi[part]) for part in (np.array(half), others)
            )
        except np.linalg.LinAlgError:
            return []
        pairs.append((first, second))
    return pairs


def half_of(L: Array, Phi: Array) -> Half:
    """Return the functions that sums (folds, k, k) of some folds give."""
    A, B = (M.sum(axis=0) for M in (L, Phi))
    values, rotation = eigh(A + A.T, B + B.T)
    return Half(np.maximum(values, 0.0), rotation)


def votes(pairs: list[tuple[Half, Half]]) -> dict[int, float]:
    """Return the share of halves in which the gap after each number of clusters is the largest."""
    halves = [half for pair in pairs for half in pair]
    logarithms = [np.log(np.maximum(half.values, smallest(half.values))) for half in halves]
    winners = [2 + int(np.argmax(np.diff(values[1:]))) for values in logarithms]
    return {k: winners.count(k) / len(winners) for k in set(winners)}


def agreement(pairs: list[tuple[Half, Half]], embedded: Array, n_clusters: int, seed: int) -> float:
    """Return the adjusted Rand index of the clusters that two halves give, the mean over pairs.

    Parameters
    ----------
    pairs
        The functions of the halves; pairs that share few folds are taken.
    embedded
        The functions (n, k) of all folds at some rows, the constant first.
    n_clusters
        The number of clusters.
    seed
        The seed of k-means.
    """
    step = max(1, len(pairs) // COMPARED_PAIRS)
    indices = []
    for pair in pairs[::step][:COMPARED_PAIRS]:
        labels = [
            KMeans(n_clusters, n_init=3, random_state=seed).fit_predict(
                embedded @ half.rotation[:, 1:n_clusters]
            )
            for half in pair
        ]
        indices.append(adjusted_rand_score(*labels))
    return float(np.mean(indices))


@dataclass(frozen=True, eq=False)
class Count:
    """A number of clusters, and how sure it is.

    Parameters
    ----------
    n_clusters
        The number.
    evidence, stability, confidence
        As in `SpectralClustering`.
    doubt
        Why the number is not sure; empty where it is.
    """

    n_clusters: int
    evidence: dict[int, float]
    stability: dict[int, float]
    confidence: float
    doubt: str


def count_clusters(spectrum: Spectrum, data: Rows, seed: int) -> Count:
    """Choose the number of clusters by gaps and by what halves of the samples agree on.

    Parameters
    ----------
    spectrum
        The constant and the first functions that generalize.
    data
        The rows of the fit.
    seed
        The seed of k-means and of the choice of rows.
    """
    evidence = gap_evidence(spectrum)
    # A gap needs two functions. One alone splits the rows in two, none leaves one cluster.
    chosen = max(evidence, key=evidence.__getitem__, default=len(spectrum))
    pairs = halves_of(spectrum) if evidence else []
    shares, stability = votes(pairs), dict[int, float]()
    if pairs:
        embedded = spectrum.at_rows(data.sample(COMPARED_ROWS, seed).X)
        most = len(np.unique(hash_rows(embedded)))

        def agreed(k: int) -> float:
            if k <= min(len(spectrum), most) and k not in stability:
                stability[k] = agreement(pairs, embedded, k, seed)
            return stability.get(k, 0.0)

        # Where errors exceed the gap, there is none.
        found = {chosen, *(k for k in shares if evidence.get(k, 0.0) > 0)}
        chosen = max(found, key=lambda k: (shares.get(k, 0.0) * agreed(k), -k))
        agreed(chosen + 1)
    gap = evidence.get(chosen, 0.0)
    confidence = shares.get(chosen, 0.0) * stability.get(chosen, 0.0)
    doubt = ""
    if gap <= np.log(LARGEST_RATIO_INSIDE):
        doubt = (
            f"the gap after the last eigenvalue used is a factor of {np.exp(gap):.2g}, and a "
            f"single cluster can have one of {LARGEST_RATIO_INSIDE:g}"
        )
    elif gap <= 2 * np.log(LARGEST_RATIO_INSIDE) and stability.get(chosen + 1, 0.0) >= AGREED:
        doubt = f"halves of the samples agree on {chosen + 1} clusters as well"
    return Count(chosen, evidence, dict(sorted(stability.items())), confidence, doubt)
