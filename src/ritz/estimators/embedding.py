"""Spectral embedding with new points, eigenvalues, weights and any number of rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ritz.assembly import Sums, assemble
from ritz.assembly.assemble import REFERENCE_ROWS
from ritz.bases import Basis
from ritz.estimators.checks import checked_rows, checked_weights, set_names
from ritz.estimators.fitting import (
    as_operator,
    fitted_sums,
    unchanged_on_failure,
    wanted_functions,
    without_constant,
)
from ritz.forms import Form
from ritz.selection.rows import WeightedRows
from ritz.selection.score import held_out_loss, reference_mu, without_offset
from ritz.validation import as_contiguous, as_count, as_number, parameter_error

# Rows that `partial_fit` keeps before it fixes the basis: they decide length scale and centers.
BUFFERED_ROWS = 5000


def _adds_up(estimator: Any) -> bool:
    """Return whether sums over parts of the data add up, or raise an error that says why not."""
    form = estimator.operator
    # The method itself says what is wrong with an operator that is no form.
    if isinstance(form, Form) and form.needs_all_rows:
        raise AttributeError(f"{form} looks at all rows, so parts do not add up. Use fit instead.")
    return True


class SpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Embed samples by the first eigenfunctions of an operator.

    The eigenfunctions are functions, which `transform` evaluates at any points; `eigenvalues_` are
    in the units of the operator. The constant is dropped.

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
        A number, one for each column, or "auto": out of five candidates, 1/4 to 4 times the 10%
        quantile of distances between rows, by weight, the one whose functions have the least energy
        on rows that they were not found from. It is the quantile itself with a form that carries
        arrays for each row, and with fewer than 60 rows.
    n_centers
        The number p of kernel sections, or "auto": 5 sqrt(n) for n distinct rows, between 100 and
        1,000, fewer where n p^2 would exceed 3e10. If that is over 300, and up to ten components
        are wanted, half as many are used where a sample shows that they suffice: 75 sections have
        as little energy on unseen rows as 150, within 2% (see `n_centers_path_`). The outcome may
        depend on the seed.
    basis
        Functions in place of kernel sections, such as `ritz.Monomials(3)`; kernel, length_scale
        and n_centers are not used then.
    regularization
        See `ritz.decompose`; "auto" is 1e-8.
    n_neighbors
        For operator="neighbors".
    diffusion_time
        The number t: functions are scaled by exp(-t lambda), so that distances between embedded
        points are diffusion distances. None leaves them at unit variance.
    mu
        The scale of eigenvalues in `score`, or "auto": a little above the last eigenvalue of a
        reference fit to the rows scored, which does not depend on the parameters of the kernel.
    n_folds
        The number of parts in which sums are kept, for error bars.
    random_state
        A seed, for the choice of centers.
    n_jobs
        The number of threads of a fit, by default one for each core.

    Attributes
    ----------
    eigenvalues_, eigenvalue_errors_
        Eigenvalues (n_components,) and their standard errors (None with too few rows). Where the
        basis has fewer functions on the samples there are as many, and a warning says so.
    length_scale_, n_centers_
        The length scale and the number of centers used.
    length_scale_path_, n_centers_path_
        The energy of each length scale on unseen rows, infinite where the kernel has too few
        functions there, and that of 75 and 150 centers; None where they were not compared.
    spectrum_
        The `Spectrum`, the constant first.
    sums_
        The `Sums` that the spectrum was found from.
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

    @unchanged_on_failure
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find the eigenfunctions from samples X (n, d).

        Rows that depend on each other, as those of a time series, need `groups` (n,): labels of
        pieces longer than its memory. Otherwise errors come out too small.
        """
        X = checked_rows(self, X, reset=True, at_least=2)
        self._buffer: WeightedRows | None = None
        return self._fit(WeightedRows(X, checked_weights(sample_weight, X)), groups)

    @unchanged_on_failure
    def fit_sums(self, sums: Sums) -> Self:
        """Find the eigenfunctions from sums computed elsewhere, by `ritz.assemble`."""
        if not isinstance(sums, Sums) or not sums.form.symmetric:
            what = "what ritz.assemble returns for a symmetric operator"
            got = f"sums of {sums.form}" if isinstance(sums, Sums) else type(sums).__name__
            raise parameter_error("sums", what, got, kind=TypeError)
        self._time()
        self._buffer = None
        if sums.left.dimension is not None:
            self.n_features_in_ = sums.left.dimension
        set_names(self, sums.left.names)
        return self._set(sums)

    @available_if(_adds_up)  # type: ignore[untyped-decorator]
    @unchanged_on_failure
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples (n, d) to those seen so far.

        The first rows are kept until there are enough to choose centers and length scale from
        (5,000, or twice the number of centers, or none for a basis that is fixed). "auto" is chosen
        from these rows alone, so set `n_centers` for a long stream. From then on only sums are
        kept, and they equal those of one `fit` to all rows with the same functions. As long as
        there are too few distinct rows for the functions, or for `n_neighbors` with
        operator="neighbors", the estimator is not fitted.
        """
        as_operator(self.operator, self.n_neighbors)
        first = not hasattr(self, "_buffer")
        X = checked_rows(self, X, reset=first)
        data = WeightedRows(X, checked_weights(sample_weight, X))
        if first:
            self._buffer = data
        elif self._buffer is not None:
            self._buffer = self._buffer + data
        else:
            new = assemble(
                self.sums_.form,
                self.sums_.left,
                X,
                sample_weight=data.weight,
                n_folds=self.n_folds,
                first_row=self.sums_.n_rows,
                n_jobs=self.n_jobs,
            )
            return self._set(self.sums_ + new)
        too_few = as_count(self.n_components, "n_components") + 1
        if isinstance(self.operator, str) and self.operator == "neighbors":
            too_few = max(too_few, as_count(self.n_neighbors, "n_neighbors"))
        if len(self._buffer.distinct) <= too_few:
            return self
        self._fit(self._buffer)
        wanted = 0 if isinstance(self.n_centers, str) else 2 * int(self.n_centers)
        if isinstance(self.basis, Basis) or len(self._buffer) >= max(BUFFERED_ROWS, wanted):
            self._buffer = None
        return self

    def _fit(self, data: WeightedRows, groups: Any = None) -> Self:
        self._time()
        form = as_operator(self.operator, self.n_neighbors)
        n_components = as_count(self.n_components, "n_components")
        return self._set(fitted_sums(self, form, n_components, data, groups))

    def _set(self, sums: Sums) -> Self:
        n_components = as_count(self.n_components, "n_components")
        self.spectrum_ = wanted_functions(
            sums, n_components, self.regularization, "n_components", calls=4
        )
        self.sums_ = sums
        self.eigenvalues_, self.eigenvalue_errors_ = without_constant(self.spectrum_)
        self._n_features_out = len(self.eigenvalues_)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the eigenfunctions (n, n_components) at points X (n, d)."""
        check_is_fitted(self, "spectrum_")
        X = checked_rows(self, X, reset=False)
        values = self.spectrum_[1:].at_rows(X)
        return np.asarray(values * np.exp(-self._time() * self.eigenvalues_), dtype=X.dtype)

    def _time(self) -> float:
        what = "None or a nonnegative number"
        t = 0.0 if self.diffusion_time is None else self.diffusion_time
        return as_number(t, "diffusion_time", what, 0.0)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the loss of the eigenfunctions on samples X (n, d); higher is better.

        The loss 2 / mu sum_j E_L(g_j) + |E[g g'] - I|^2 at g_j = sqrt((1 - lambda_j / mu)_+) f_j,
        the constant among them, is smallest for the true eigenfunctions and needs no truth.
        """
        check_is_fitted(self, "spectrum_")
        X = checked_rows(self, X, reset=False)
        weight = checked_weights(sample_weight, X)
        form = as_operator(self.operator, self.n_neighbors)
        if form.needs_reference:
            # One sample serves the reference fit and the loss.
            rows = WeightedRows(X, weight).distinct.sample(REFERENCE_ROWS, 0)
            form = form.prepare(as_contiguous(rows.X), rows.weight, self.n_jobs)
        if isinstance(self.mu, str):
            if self.mu != "auto":
                raise parameter_error("mu", "'auto' or a positive number", repr(self.mu))
            mu = reference_mu(form, X, weight, 1 + self.n_components, self.n_jobs)
        else:
            mu = as_number(self.mu, "mu", "'auto' or a positive number", np.finfo(float).tiny)
        functions = without_offset(self.spectrum_[1:])
        sums = assemble(
            form,
            functions,
            X,
            sample_weight=weight,
            n_folds=1,
            random_state=0,
            n_jobs=self.n_jobs,
        )
        # A function that was not found counts as zero, which costs one.
        lost = 1 + self.n_components - len(self.spectrum_)
        return -held_out_loss(sums.mean(), self.spectrum_.values, mu) - lost
