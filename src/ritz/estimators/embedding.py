"""Spectral embedding with new points, eigenvalues, weights and any number of rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ritz.arrays import Array, as_count, as_number, must
from ritz.assembly import Sums, assemble
from ritz.bases import Basis, Centered
from ritz.estimators.base import SpectralEstimator
from ritz.estimators.defaults import distinct_rows
from ritz.estimators.scoring import held_out_loss, reference_mu

ENOUGH_ROWS = 5000


def _adds_up(estimator: Any) -> bool:
    """Return whether sums over parts of the data add up; an error that says so if not."""
    form = estimator._form()
    if not form.mergeable:
        raise AttributeError(f"{form} looks at all rows, so parts do not add up. Use fit instead.")
    return True


class SpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SpectralEstimator):
    """Embed samples by the first eigenfunctions of an operator.

    The eigenfunctions are functions: `transform` evaluates them at any points, and
    `eigenvalues_` are in the operator's own units. The constant is dropped.

    Parameters
    ----------
    n_components
        The number of eigenfunctions.
    operator
        "laplacian"; "neighbors", the energy along nearest neighbors, for data in many
        dimensions; or a form such as `ritz.laplacian(tangent="pca", dimension=2)`.
    kernel
        "gaussian", "exponential", "matern32", "matern52", "rational_quadratic", "polynomial", or a
        kernel object.
    length_scale
        A number, one for each column, or "auto": the one out of five, 1/4 to 4 times the 10%
        quantile of distances between rows, by weight, whose functions have the least energy on rows
        they have not seen (with a form that carries arrays for each row, or fewer than 60 rows, the
        quantile itself).
    n_centers
        The number p of kernel sections, or "auto": 5 sqrt(n) for n distinct rows, between 100 and
        1,000, fewer where n p^2 would exceed 3e10. If that is over 300, and up to ten components
        are wanted, a sample is asked whether half will do: where 75 sections leave as little energy
        on unseen rows as 150, within 2%, half as many are used (see `n_centers_path_`). What a
        sample says may differ from seed to seed.
    basis
        Functions to use in place of kernel sections, such as `ritz.Monomials(3)`; kernel,
        length_scale and n_centers are not used then.
    regularization
        See `ritz.decompose`; "auto" is 1e-8.
    n_neighbors
        For operator="neighbors".
    diffusion_time
        The number t: functions are scaled by exp(-t lambda), so that distances between embedded
        points are diffusion distances. None leaves them at unit variance.
    mu
        The scale of eigenvalues in `score`, or "auto": a little above the last eigenvalue of a
        reference fit to the rows scored, which is the same whatever the other parameters are.
    n_folds
        In how many parts sums are kept, for error bars.
    random_state
        A seed, for the choice of centers.
    n_jobs
        The number of threads of a fit, by default one for each core.

    Attributes
    ----------
    eigenvalues_, eigenvalue_errors_
        Eigenvalues (n_components,) and their standard errors (None with too few rows).
    length_scale_, n_centers_
        What was used.
    length_scale_path_, n_centers_path_
        The energy of each length scale on unseen rows, infinite where it has no functions to show,
        and that of 75 and 150 centers; None where they were not compared.
    spectrum_
        The `Spectrum`, the constant first.
    sums_
        The `Sums` it was found from.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import ritz
    >>> X = ritz.datasets.half_moons(2000, random_state=0).X
    >>> embedding = ritz.SpectralEmbedding(n_components=2, random_state=0).fit(X[:1000])
    >>> embedding.transform(X[1000:]).shape
    (1000, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        operator: Any = "laplacian",
        kernel: Any = "gaussian",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        basis: Any = None,
        regularization: Any = "auto",
        n_neighbors: int = 10,
        diffusion_time: float | None = None,
        mu: Any = "auto",
        n_folds: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.operator = operator
        self.kernel = kernel
        self.length_scale = length_scale
        self.n_centers = n_centers
        self.basis = basis
        self.regularization = regularization
        self.n_neighbors = n_neighbors
        self.diffusion_time = diffusion_time
        self.mu = mu
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find the eigenfunctions from samples X (n, d).

        Rows that depend on each other, as those of a time series, need `groups` (n,): labels of
        pieces longer than its memory. Otherwise errors come out too small.
        """
        X = self._checked(X, reset=True, at_least=2)
        self._buffer: list[tuple[NDArray[Any], Array]] | None = None
        return self._set(self._assemble(X, self._weights(sample_weight, X), groups))

    def fit_sums(self, sums: Sums) -> Self:
        """Find the eigenfunctions from sums computed elsewhere, by `ritz.assemble`."""
        if not isinstance(sums, Sums) or not sums.form.symmetric:
            what = "what ritz.assemble returns for a symmetric operator"
            raise TypeError(must("sums", what, type(sums).__name__))
        self._buffer = None
        if sums.left.dimension is not None:
            self.n_features_in_ = sums.left.dimension
        return self._set(sums)

    @available_if(_adds_up)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples (n, d) to those seen so far.

        The first rows are kept until there are enough to choose centers and length scale from
        (5,000, or twice the number of centers, or none for a basis that is fixed); "auto" is what
        these rows say, so that a long stream is better given `n_centers`. From then on
        only sums are kept, and equal those of one `fit` to all rows with the same functions. With
        fewer distinct rows than functions it is not fitted yet.
        """
        first = not hasattr(self, "_buffer")
        X = self._checked(X, reset=first)
        weight = self._weights(sample_weight, X)
        form = self._form()
        if first:
            self._buffer = []
        if self._buffer is None:
            new = assemble(
                form,
                self.sums_.left,
                X,
                sample_weight=weight,
                n_folds=self.n_folds,
                n_jobs=self.n_jobs,
            )
            return self._set(self.sums_ + new)
        self._buffer.append((X, weight))
        rows = np.concatenate([part for part, _ in self._buffer])
        weights = np.concatenate([part for _, part in self._buffer])
        if len(distinct_rows(rows, weights)[0]) <= as_count(self.n_components, "n_components") + 1:
            return self  # Not fitted yet: too few points for so many functions.
        self._set(self._assemble(rows, weights))
        if isinstance(self.basis, Basis) or len(rows) >= self._enough_rows():
            self._buffer = None
        return self

    def _enough_rows(self) -> int:
        wanted = 0 if isinstance(self.n_centers, str) else 2 * int(self.n_centers)
        return max(ENOUGH_ROWS, wanted)

    def _set(self, sums: Sums) -> Self:
        k = 1 + as_count(self.n_components, "n_components")
        self.spectrum_ = self._solve(sums, k)
        self.sums_ = sums
        self.eigenvalues_ = self.spectrum_.values[1:]
        errors = self.spectrum_.errors
        self.eigenvalue_errors_ = None if errors is None else errors[1:]
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the eigenfunctions (n, n_components) at points X (n, d)."""
        check_is_fitted(self, "spectrum_")
        X = self._checked(X, reset=False)
        values = self.spectrum_[1:](X)
        if self.diffusion_time is not None:
            t = as_number(self.diffusion_time, "diffusion_time", "None or a nonnegative number", 0)
            values = values * np.exp(-t * self.eigenvalues_)
        return np.asarray(values, dtype=X.dtype)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the loss of the eigenfunctions on samples X (n, d); higher is better.

        The loss 2 / mu sum_j E_L(g_j) + |E[g g'] - I|^2 at g_j = sqrt((1 - lambda_j / mu)_+) f_j,
        the constant among them, is smallest for the true eigenfunctions and needs no truth.
        """
        check_is_fitted(self, "spectrum_")
        X = self._checked(X, reset=False)
        weight = self._weights(sample_weight, X)
        form = self._form()
        m = 1 + self.n_components
        if isinstance(self.mu, str):
            if self.mu != "auto":
                raise ValueError(must("mu", "'auto' or a positive number", repr(self.mu)))
            mu = reference_mu(form, X, weight, m)
        else:
            mu = as_number(self.mu, "mu", "'auto' or a positive number", np.finfo(float).tiny)
        functions = self.spectrum_[1:]
        centered = Centered(functions, np.zeros(len(functions)))
        sums = assemble(form, centered, X, sample_weight=weight, n_folds=1, random_state=0)
        return -held_out_loss(sums.mean(), self.spectrum_.values, mu)
