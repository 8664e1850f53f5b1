"""Spectral clustering that predicts the clusters of new points."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from ritz.arrays import Array, as_count, must
from ritz.estimators.base import SpectralEstimator
from ritz.estimators.defaults import as_operator, distinct_rows
from ritz.forms import Form
from ritz.solve.whiten import require_rank
from ritz.spectrum import Spectrum

AUTO_FUNCTIONS = 3
AMBIENT_COLUMNS = 3


class SpectralClustering(ClusterMixin, SpectralEstimator):
    """Cluster samples by k-means on the first eigenfunctions of an operator.

    Parameters
    ----------
    n_clusters
        The number of clusters, or "auto": where the ratio of one eigenvalue to the next is
        largest, a standard error taken off.
    max_clusters
        The most clusters that "auto" considers.
    operator
        "auto": "laplacian" for up to three columns, "neighbors" for more; or as in
        `SpectralEmbedding`.
    kernel, length_scale, n_centers, basis, regularization, n_neighbors, n_folds, \
random_state, n_jobs
        As in `SpectralEmbedding`.

    Attributes
    ----------
    labels_
        The cluster (n,) of each row; `predict` gives the same.
    n_clusters_
        The number of clusters.
    evidence_
        With n_clusters="auto": for each number of clusters (2, 3, ...) the logarithm of the ratio
        of the next eigenvalue to the last one used, a standard error taken off the former and put
        on the latter.
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

    def _form(self) -> Form:
        if isinstance(self.operator, str) and self.operator == "auto":
            name = "laplacian" if self.n_features_in_ <= AMBIENT_COLUMNS else "neighbors"
            rows = max(1, self._n_distinct - 1)
            return as_operator(name, min(as_count(self.n_neighbors, "n_neighbors"), rows))
        return super()._form()

    def _n_functions(self) -> int:
        if isinstance(self.n_clusters, str):
            return AUTO_FUNCTIONS
        return max(1, as_count(self.n_clusters, "n_clusters") - 1)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of samples X (n, d)."""
        X = self._checked(X, reset=True, at_least=2)
        weight = self._weights(sample_weight, X)
        self._n_distinct = len(distinct_rows(X, weight)[0])
        sums = self._assemble(X, weight)
        if isinstance(self.n_clusters, str):
            if self.n_clusters != "auto":
                what = "'auto' or a positive integer"
                raise ValueError(must("n_clusters", what, repr(self.n_clusters)))
            k = 1 + as_count(self.max_clusters, "max_clusters")
            if k < 3:
                raise ValueError(must("max_clusters", "at least 2", self.max_clusters))
            spectrum = self._solve(sums, k, fewer=True)
            require_rank(len(spectrum), 3)
            self.evidence_ = gap_evidence(spectrum)
            self.n_clusters_ = max(self.evidence_, key=lambda number: self.evidence_[number])
            if self.evidence_[self.n_clusters_] <= 0:
                warnings.warn(
                    "No gap between eigenvalues exceeds their errors, so the number of clusters, "
                    f"{self.n_clusters_}, says little. Set n_clusters.",
                    stacklevel=2,
                )
            self.spectrum_ = spectrum[: self.n_clusters_]
        else:
            self.n_clusters_ = as_count(self.n_clusters, "n_clusters")
            self.spectrum_ = self._solve(sums, self.n_clusters_)
        self.eigenvalues_ = self.spectrum_.values[1:]
        errors = self.spectrum_.errors
        self.eigenvalue_errors_ = None if errors is None else errors[1:]
        seed = self._seed()
        kmeans = KMeans(self.n_clusters_, n_init=10, random_state=seed)
        # Distinct rows in an order of their own: repeated rows are weights to the last digit.
        rows, totals = distinct_rows(X, weight)
        self.kmeans_ = kmeans.fit(self._embedded(rows), sample_weight=totals)
        self.labels_ = self.predict(X)
        return self

    def _embedded(self, X: NDArray[Any]) -> Array:
        if self.n_clusters_ == 1:
            return np.zeros((len(X), 1))
        return np.asarray(self.spectrum_[1:](X))

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster (n,) of each point of X (n, d)."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return np.asarray(self.kmeans_.predict(self._embedded(X)))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """Find the clusters and return those of the rows."""
        return self.fit(X, sample_weight=sample_weight).labels_


def gap_evidence(spectrum: Spectrum) -> dict[int, float]:
    """Return log(next eigenvalue / last one used), cautiously, for each number of clusters."""
    values = spectrum.values
    reach = np.zeros_like(values) if spectrum.errors is None else spectrum.errors
    tiny = 1e-12 * values.max()
    return {
        number: float(
            np.log(max(values[number] - reach[number], tiny))
            - np.log(max(values[number - 1] + reach[number - 1], tiny))
        )
        for number in range(2, len(values))
    }
