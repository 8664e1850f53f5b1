"""Spectral clustering that predicts the clusters of new points."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from ritz.estimators.checks import checked_rows, checked_weights, seed_of
from ritz.estimators.fitting import (
    as_operator,
    first_functions,
    fitted_sums,
    unchanged_on_failure,
    without_constant,
)
from ritz.forms import Form
from ritz.rows import hash_rows, row_slices
from ritz.selection.rows import HASHED_ROWS, WeightedRows
from ritz.spectrum import Spectrum
from ritz.validation import Array, as_count, parameter_error

# Columns up to which "auto" is the Laplacian: with more, data mostly lie near a manifold.
AMBIENT_COLUMNS = 3


class SpectralClustering(ClusterMixin, BaseEstimator):
    """Cluster samples by k-means on the first eigenfunctions of an operator.

    Parameters
    ----------
    n_clusters
        The number of clusters, or "auto": the number at which the ratio of the next eigenvalue to
        the last one used is largest, both moved by a standard error towards each other.
    max_clusters
        The most clusters that "auto" considers.
    operator
        "auto": "laplacian" for up to three columns, "neighbors" for more, with up to half of the
        other rows as neighbors; or as in `SpectralEmbedding`.
    kernel, length_scale, n_centers, basis, regularization, n_neighbors, n_folds, \
random_state, n_jobs
        As in `SpectralEmbedding`.

    Attributes
    ----------
    labels_
        The cluster (n,) of each row; `predict` gives the same.
    n_clusters_
        The number of clusters; fewer than n_clusters, with a warning, where there are not as many
        distinct rows.
    evidence_
        With n_clusters="auto": for each number of clusters (2, 3, ...) the logarithm of the ratio
        of the next eigenvalue, less its standard error, to the last one used, plus its own.
    eigenvalues_, eigenvalue_errors_
        The eigenvalues of the functions used, and their standard errors.
    spectrum_
        The `Spectrum`, the constant first.
    """

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        max_clusters: int = 20,
        operator: Any = "auto",
        kernel: Any = "gaussian",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        basis: Any = None,
        regularization: Any = "auto",
        n_neighbors: int = 10,
        n_folds: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.operator = operator
        self.kernel = kernel
        self.length_scale = length_scale
        self.n_centers = n_centers
        self.basis = basis
        self.regularization = regularization
        self.n_neighbors = n_neighbors
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    @unchanged_on_failure
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of samples X (n, d)."""
        X = checked_rows(self, X, reset=True, at_least=2)
        data = WeightedRows(X, checked_weights(sample_weight, X))
        if isinstance(self.n_clusters, str):
            n_clusters = self._fit_auto(data)
        else:
            n_clusters = as_count(self.n_clusters, "n_clusters")
            sums = fitted_sums(self, self._form(data), max(1, n_clusters - 1), data)
            self.spectrum_ = first_functions(sums, n_clusters - 1, self.regularization)
        self.eigenvalues_, self.eigenvalue_errors_ = without_constant(self.spectrum_)
        # With distinct rows, in their own order, weights are repetitions to the last digit.
        rows = data.distinct
        parts = row_slices(len(rows), HASHED_ROWS)
        embedded = np.concatenate([self._embedded(rows[part].X) for part in parts])
        self.n_clusters_ = self._possible_clusters(n_clusters, embedded)
        kmeans = KMeans(self.n_clusters_, n_init=10, random_state=seed_of(self.random_state))
        self.kmeans_ = kmeans.fit(embedded, sample_weight=rows.weight)
        self.labels_ = self._labels(X)
        return self

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

    def _fit_auto(self, data: WeightedRows) -> int:
        """Find the functions, and the number of clusters by the gaps between eigenvalues."""
        if self.n_clusters != "auto":
            what = "'auto' or a positive integer"
            raise parameter_error("n_clusters", what, repr(self.n_clusters))
        most = as_count(self.max_clusters, "max_clusters")
        if most < 2:
            raise parameter_error("max_clusters", "at least 2", self.max_clusters)
        # The length scale is chosen for the first three functions, which any number needs.
        sums = fitted_sums(self, self._form(data), 3, data)
        spectrum = first_functions(sums, most, self.regularization)
        self.evidence_ = gap_evidence(spectrum)
        # A gap needs two functions. One alone splits the rows in two, none leaves one cluster.
        n_clusters = max(self.evidence_, key=self.evidence_.__getitem__, default=len(spectrum))
        if self.evidence_.get(n_clusters, 0.0) <= 0:
            warnings.warn(
                "No gap between eigenvalues exceeds their errors, so the number of clusters, "
                f"{n_clusters}, says little. Set n_clusters.",
                stacklevel=4,
            )
        self.spectrum_ = spectrum[:n_clusters]
        return n_clusters

    def _form(self, data: WeightedRows) -> Form:
        if not (isinstance(self.operator, str) and self.operator == "auto"):
            return as_operator(self.operator, self.n_neighbors)
        others = len(data.distinct) - 1
        if data.X.shape[1] <= AMBIENT_COLUMNS or others == 0:
            return as_operator("laplacian", self.n_neighbors)
        # With all other rows as neighbors the energy would not depend on their distances.
        half = max(1, others // 2)
        return as_operator("neighbors", min(as_count(self.n_neighbors, "n_neighbors"), half))

    def _embedded(self, X: NDArray[Any]) -> Array:
        if len(self.spectrum_) == 1:
            return np.zeros((len(X), 1))
        return np.asarray(self.spectrum_[1:].at_rows(X))

    def _labels(self, X: NDArray[Any]) -> NDArray[np.int32]:
        return np.asarray(self.kmeans_.predict(self._embedded(X)))

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster (n,) of each point of X (n, d)."""
        check_is_fitted(self)
        return self._labels(checked_rows(self, X, reset=False))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """Find the clusters and return those of the rows."""
        return self.fit(X, sample_weight=sample_weight).labels_


def gap_evidence(spectrum: Spectrum) -> dict[int, float]:
    """Return log(next eigenvalue / last one used) for each number of clusters.

    Errors make the ratio smaller: the next eigenvalue is less its error, the other plus its own.
    """
    values = spectrum.values
    errors = np.zeros_like(values) if spectrum.errors is None else spectrum.errors
    # Eigenvalues of separate clusters are zero but for rounding.
    lower, upper = (np.maximum(v, 1e-12 * values.max()) for v in (values - errors, values + errors))
    gaps = np.log(lower[2:]) - np.log(upper[1:-1])
    return dict(enumerate(gaps.tolist(), start=2))
