"""Spectral clustering that predicts the clusters of new points."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from ritz.assembly import Sums
from ritz.estimators.advice import reach_of, warn_far_points, warn_unequal_columns
from ritz.estimators.checks import (
    SparseInputMixin,
    evaluated,
    names_of,
    seed_of,
)
from ritz.estimators.fitting import DEFAULTS, fitted_sums, fixed_state, unchanged_on_failure
from ritz.estimators.functions import first_functions, without_constant
from ritz.estimators.halves import LARGEST_RATIO_INSIDE, count_clusters
from ritz.estimators.inputs import rows_in_units, rows_of_fit
from ritz.estimators.saving import SavingMixin
from ritz.estimators.summary import Summary, clustering_summary
from ritz.estimators.units import UnitsMixin, warns_of_units
from ritz.estimators.writing import PredictToMixin
from ritz.rows import HASHED_ROWS, hash_rows, row_slices
from ritz.selection.rows import Rows, StreamRows, WeightedRows, keys_of
from ritz.streams import is_streamed
from ritz.streams.stream import rows_per_chunk
from ritz.validation import Array, as_count, parameter_error

# Distinct rows that k-means looks at: means of clusters err by a percent of their width.
KMEANS_ROWS = 100_000


class SpectralClustering(
    UnitsMixin, SavingMixin, PredictToMixin, ClusterMixin, SparseInputMixin, BaseEstimator
):
    """Cluster samples by k-means on the first eigenfunctions of an operator.

    Functions that belong to a few rows are left out, so that isolated rows are no clusters.

    Parameters
    ----------
    n_clusters
        The number of clusters, or "auto": the number after which there is a gap between eigenvalues
        in most halves of the samples, and on whose clusters halves agree (`confidence_`). A warning
        says so if the number is not sure (`sure_`).
    max_clusters
        The most clusters that "auto" considers.
    operator
        "auto": "laplacian" where the samples fill their space, "neighbors" where they lie near
        something of lower dimension, as most tables do, with up to half of the other rows as
        neighbors; or as in `SpectralEmbedding`.
    scale
        "auto": columns in units of their standard deviations where the widest is more than 30 times
        as wide as the narrowest, unless `operator` is "laplacian" or a form; "standard" for such
        units in any case; None for columns as they are.
    metric, kernel, length_scale, n_centers, basis, regularization, n_neighbors, n_folds, \
random_state, n_jobs, verbose
        As in `SpectralEmbedding`.

    Attributes
    ----------
    operator_
        The operator used, a form.
    scale_, units_
        The units (d,) that columns were divided by, or None, and the function that puts rows in
        these units.
    labels_
        The cluster (n,) of each row; `predict` gives the same. Not kept for rows of a stream.
    cluster_centers_
        The centers (n_clusters_, n_functions) that k-means found among the functions' values.
    n_clusters_
        The number of clusters; fewer than n_clusters, with a warning, where there are not as many
        distinct rows.
    evidence_
        With n_clusters="auto": for each number of clusters (2, 3, ...) the logarithm of the ratio
        of the next eigenvalue, less its standard error, to the last one used, plus its own.
    stability_
        With n_clusters="auto": the adjusted Rand index of the clusters that two halves of the
        samples give, for numbers up to one more than that of any large gap. Empty with too few
        folds or rows.
    confidence_
        With n_clusters="auto": the share of halves of the samples in which the gap after the number
        chosen is the largest, times its stability; 0 where no halves can be compared.
    sure_
        With n_clusters="auto": whether the ratio is above 4, which a single cluster can have, and
        halves do not agree as well on one cluster more, unless the ratio is above 16.
    eigenvalues_, eigenvalue_errors_
        The eigenvalues of the functions used, and their standard errors.
    spectrum_
        The `Spectrum`, the constant first: functions of units_(X).
    """

    _predicted_name = "cluster"

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        max_clusters: int = 20,
        operator: Any = "auto",
        scale: Any = "auto",
        metric: str = "euclidean",
        kernel: Any = "auto",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        basis: Any = None,
        regularization: Any = "auto",
        n_neighbors: int = 15,
        n_folds: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.operator = operator
        self.scale = scale
        self.metric = metric
        self.kernel = kernel
        self.length_scale = length_scale
        self.n_centers = n_centers
        self.basis = basis
        self.regularization = regularization
        self.n_neighbors = n_neighbors
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @unchanged_on_failure
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Find the clusters of samples X (n, d), or of a stream.

        A stream is read twice, and `labels_` of its rows are not kept: see `predict_to`.

        With a `checkpoint`, a fit that was interrupted goes on from that file, as `ritz.assemble`
        does; without a random_state the seed is then 0.
        """
        seed = seed_of(fixed_state(self, checkpoint))
        data = rows_of_fit(self, X, sample_weight, seed)
        if isinstance(data, StreamRows):
            data = replace(data, most=kmeans_rows(data.dimension))
        as_given, data = data, rows_in_units(self, data, self.n_neighbors, DEFAULTS, seed)
        if warns_of_units(self):
            warn_unequal_columns(as_given, seed, names_of(self), "scale=None")
        del as_given
        # What an earlier fit set, and this one may not.
        for name in ("labels_", "_reach", "evidence_", "stability_", "confidence_", "sure_"):
            self.__dict__.pop(name, None)
        if isinstance(self.n_clusters, str):
            n_clusters = self._fit_auto(data, seed, checkpoint)
        else:
            n_clusters = as_count(self.n_clusters, "n_clusters")
            wanted = max(1, n_clusters - 1)
            sums = fitted_sums(self, self.operator_, wanted, data, seed, checkpoint=checkpoint)
            self.spectrum_ = self._functions(sums, n_clusters - 1)
        self.spectrum_ = self.units_.named(self.spectrum_)
        self.eigenvalues_, self.eigenvalue_errors_ = without_constant(self.spectrum_)
        rows = data.sample(kmeans_rows(data.dimension), seed)
        # With distinct rows, in their own order, weights are repetitions to the last digit.
        rows = rows[np.argsort(keys_of(rows.X))]
        parts = row_slices(len(rows), HASHED_ROWS)
        embedded = np.concatenate([self._embedded(rows.X[part]) for part in parts])
        self.n_clusters_ = self._possible_clusters(n_clusters, embedded)
        # Loaded here, as it takes a fifth of the time of `import ritz`.
        from sklearn.cluster import KMeans

        kmeans = KMeans(self.n_clusters_, n_init=10, random_state=seed_of(self.random_state))
        kmeans.fit(embedded, sample_weight=rows.weight)
        self.cluster_centers_ = kmeans.cluster_centers_
        self._width = float(kmeans.inertia_ / (rows.weight.sum() * embedded.shape[1]))
        if isinstance(data, WeightedRows):
            self.labels_ = self._labels(data.X)
            self._reach = reach_of(self.spectrum_, data.X)
        return self

    def summary(self) -> Summary:
        """Return what was chosen, why, how sure the result is, and what to try next."""
        check_is_fitted(self, "spectrum_")
        return clustering_summary(self, LARGEST_RATIO_INSIDE)

    def _possible_clusters(self, wanted: int, embedded: Array) -> int:
        """Return the number of clusters, at most that of distinct points; warn where it is less."""
        possible = min(wanted, len(np.unique(hash_rows(embedded))))
        found = len(self.spectrum_) - 1
        if possible < wanted:
            what, why = f"{possible} of {wanted} clusters", "functions tell no more rows apart"
        elif found < wanted - 1:
            what, why = f"{found} of {wanted - 1} functions", "basis has no more on the samples"
        else:
            return possible
        remedy = "Lower n_clusters, use more or other functions, or more samples."
        warnings.warn(f"Only {what} were found: the {why}. {remedy}", stacklevel=4)
        return possible

    def _fit_auto(self, data: Rows, seed: int, checkpoint: Any) -> int:
        """Find the functions, and the number of clusters by the gaps between eigenvalues."""
        if self.n_clusters != "auto":
            what = "'auto' or a positive integer"
            raise parameter_error("n_clusters", what, repr(self.n_clusters))
        most = as_count(self.max_clusters, "max_clusters")
        if most < 2:
            raise parameter_error("max_clusters", "at least 2", self.max_clusters)
        # The length scale is chosen for the first three functions, which any number needs.
        sums = fitted_sums(self, self.operator_, 3, data, seed, checkpoint=checkpoint)
        spectrum = self._functions(sums, most)
        spectrum = spectrum[[j for j, flag in enumerate(spectrum.flags) if not flag]]
        found = count_clusters(spectrum, data, seed)
        self.evidence_, self.stability_ = found.evidence, found.stability
        self.confidence_, self.sure_ = found.confidence, not found.doubt
        if found.doubt:
            warnings.warn(
                f"The number of clusters, {found.n_clusters}, is not sure: {found.doubt}. See "
                "`evidence_` and `stability_`, or set n_clusters.",
                stacklevel=4,
            )
        self.spectrum_ = spectrum[: found.n_clusters]
        return found.n_clusters

    def _functions(self, sums: Sums, n_functions: int) -> Any:
        return first_functions(sums, n_functions, self.regularization_, self.n_jobs)

    def _embedded(self, X: NDArray[Any]) -> Array:
        if len(self.spectrum_) == 1:
            return np.zeros((len(X), 1))
        return np.asarray(self.spectrum_[1:].at_rows(X))

    def _labels(self, X: NDArray[Any]) -> NDArray[np.int32]:
        nearest = pairwise_distances_argmin(self._embedded(X), self.cluster_centers_)
        return np.asarray(nearest, dtype=np.int32)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster (n,) of each point of X (n, d), or of each row of a stream."""
        check_is_fitted(self)
        streamed = is_streamed(X)

        def function(rows: Any) -> NDArray[np.int32]:
            rows = self.units_(rows)
            if not streamed:
                reach = getattr(self, "_reach", None)
                warn_far_points(rows, reach, self.spectrum_, stacklevel=5)
            return self._labels(rows)

        return evaluated(self, X, function)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability (n, n_clusters) of each cluster at points or rows of a stream.

        It is that of equally frequent normal clusters around the means that k-means found, all as
        wide as the clusters are on average. The most probable cluster is the one that `predict`
        returns.
        """
        check_is_fitted(self)

        def function(rows: Any) -> Array:
            return memberships(
                self._embedded(self.units_(rows)), self.cluster_centers_, self._width
            )

        return evaluated(self, X, function)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """Find the clusters and return those of the rows."""
        if isinstance(X, Iterator):
            what = "data that can be read again after the fit"
            raise parameter_error("X", what, type(X).__name__, "Pass ritz.Batches(function).")
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)


def kmeans_rows(dimension: int) -> int:
    """Return how many distinct rows k-means looks at, which are in memory at a time."""
    return min(KMEANS_ROWS, rows_per_chunk(dimension))


def memberships(embedded: Array, centers: Array, width: float) -> Array:
    """Return shares (n, k) of exp(-|x - c|^2 / (2 width)) at points x (n, m), over centers c."""
    squares = np.stack([((embedded - center) ** 2).sum(axis=1) for center in centers], axis=1)
    squares -= squares.min(axis=1, keepdims=True)
    # Where all rows of a cluster are equal, the nearest center has it all.
    with np.errstate(over="ignore"):
        shares = np.exp(-squares / (2 * max(width, float(np.finfo(np.float64).tiny))))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
