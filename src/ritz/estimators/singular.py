"""Embedding two views, or two times, by the functions that correlate most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz.arrays import Array, as_count, as_rows, must
from ritz.assembly import Sums, assemble
from ritz.bases import Centered
from ritz.estimators.base import SpectralEstimator
from ritz.estimators.defaults import as_regularization, auto_length_scale
from ritz.estimators.scoring import explained_correlation, held_out_correlation
from ritz.forms import cross
from ritz.kernels import Kernel

UNTOLD = 0.1
PATH = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


class SingularEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SpectralEstimator):
    """Embed two views of the same objects, or two times of a process, by what they share.

    Functions f_j of X and g_j of Y, each of unit variance and uncorrelated, have the largest
    correlations E[f_j(X) g_j(Y)] there are: nonlinear canonical correlation analysis, or the
    singular functions of the transfer operator from one time to another. The constants, with
    correlation 1, are dropped.

    Parameters
    ----------
    n_components
        The number of pairs of functions.
    kernel
        As in `SpectralEmbedding`, for both views.
    length_scale
        A number, or "auto": in each view the median distance of 200 rows to 1,000 others, by
        weight. What two views share is smooth, so it is wider than in `SpectralEmbedding`.
    n_centers
        The number of kernel sections in each view, or "auto": 2 sqrt(n) for n distinct rows,
        between 100 and 1,000, fewer where n p^2 would exceed 3e10.
    basis
        Functions to use in place of kernel sections, or a pair of them; `ritz.Monomials(1)` is
        linear canonical correlation analysis.
    regularization
        See `ritz.decompose`, or "auto": the one out of six, 1e-6 to 1, that explains most of
        the correlation on held-out rows, from the folds' sums (0.1 with fewer than two folds).
        Without enough, many functions find correlations in any finite data.
    n_folds, random_state, n_jobs
        As in `SpectralEmbedding`.

    Attributes
    ----------
    singular_values_, singular_value_errors_
        The correlations (n_components,) in the samples, descending, and their standard errors. In
        few samples some correlation is always found; the errors do not know of it.
    held_out_values_
        The correlations (n_components,) on each fold of the functions found from the others, on
        average: what is really there, or less. None with fewer than two folds.
    regularization_
        The regularization used.
    path_
        With regularization="auto": what `score` is on held-out rows, for each.
    spectrum_
        The `SingularSpectrum`, the constants first.

    Examples
    --------
    >>> import ritz
    >>> problem = ritz.datasets.gaussian_pair(0.8)
    >>> X, Y = problem.sample(5000, random_state=0)
    >>> model = ritz.SingularEmbedding(2, random_state=0).fit(X, Y)
    >>> model.transform(X[:10]).shape
    (10, 2)
    """

    _centers_factor = 2.0

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "gaussian",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        basis: Any = None,
        regularization: Any = "auto",
        n_folds: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.length_scale = length_scale
        self.n_centers = n_centers
        self.basis = basis
        self.regularization = regularization
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find the functions from aligned samples X (n, d) and Y (n, e) or (n,).

        Rows that depend on each other, as two times of one process, need `groups` (n,): labels of
        pieces longer than its memory. Otherwise errors come out too small. A fold is a hash of the
        numbers of a row: where few different rows occur many times each, give each row a group.
        """
        if y is None:
            what = "requires y to be passed, but the target y is None"
            raise ValueError(f"{type(self).__name__} {what}.")
        X = self._checked(X, reset=True, at_least=2)
        Y = self._second_view(y, len(X))
        self._n_columns_of_y = Y.shape[1]
        weight = self._weights(sample_weight, X)
        seed = self._seed()
        bases = self.basis if isinstance(self.basis, tuple | list) else (self.basis, self.basis)
        if len(bases) != 2:
            raise ValueError(must("basis", "one basis or a pair", f"{len(bases)} bases"))
        recipes = tuple(
            self._recipe(basis, view, weight, seed)
            for basis, view in zip(bases, (X, Y), strict=True)
        )
        sums = assemble(
            cross(),
            recipes,
            (X, Y),
            sample_weight=weight,
            groups=groups,
            n_folds=self.n_folds,
            random_state=seed,
            n_jobs=self.n_jobs,
            progress=None,
        )
        k = 1 + as_count(self.n_components, "n_components")
        self.spectrum_ = self._solve(sums, k)
        self.sums_ = sums
        self.singular_values_ = self.spectrum_.values[1:]
        errors = self.spectrum_.errors
        self.singular_value_errors_ = None if errors is None else errors[1:]
        self._n_features_out = self.n_components
        return self

    def _length_scale(
        self, kernel: Callable[[float], Kernel], rows: Array, weight: Array, seed: int
    ) -> float:
        return auto_length_scale(rows, weight, seed, quantile=0.5)

    def _second_view(self, y: Any, n: int | None = None, columns: int | None = None) -> Array:
        Y = np.asarray(y) if not hasattr(y, "nnz") else y
        Y = as_rows(Y.reshape(-1, 1) if Y.ndim == 1 else Y, "y", columns)
        if n is not None and len(Y) != n:
            raise ValueError(must("y", f"an array with {n} rows, as X", f"{len(Y)} rows"))
        return Y

    def _regularization(self, sums: Sums, k: int) -> float:
        self.regularization_ = as_regularization(self.regularization, UNTOLD)
        self.path_, self.held_out_values_ = None, None
        if (sums.weight > 0).sum() >= 2:
            found = {}
            if isinstance(self.regularization, str):
                found = {gamma: held_out_correlation(sums, k, gamma) for gamma in PATH}
                self.path_ = {gamma: score for gamma, (score, _) in found.items()}
                self.regularization_ = max(PATH, key=lambda gamma: found[gamma][0])
            else:
                found[self.regularization_] = held_out_correlation(sums, k, self.regularization_)
            self.held_out_values_ = found[self.regularization_][1]
        return self.regularization_

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the left functions (n, n_components) at points X (n, d).

        With points of the second view, y (n, e), the right functions at them as well.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        left = np.asarray(self.spectrum_.left(X)[:, 1:], dtype=X.dtype)
        if y is None:
            return left
        Y = self._second_view(y, columns=self._n_columns_of_y)
        return left, np.asarray(self.spectrum_.right(Y)[:, 1:], dtype=X.dtype)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the sum of squared correlations explained on samples X (n, d) and Y (n, e).

        That is 2 sum_j s_j E[f_j(X) g_j(Y)] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] over the
        functions and the constants, less the constants' 1; it is largest for the true functions.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        Y = self._second_view(y, len(X), self._n_columns_of_y)
        sides = [
            Centered(side.pick(slice(1, None)), np.zeros(self.n_components))
            for side in (self.spectrum_.left, self.spectrum_.right)
        ]
        sums = assemble(
            cross(), sides, (X, Y), sample_weight=self._weights(sample_weight, X), n_folds=1
        )
        return explained_correlation(sums.mean(), self.spectrum_.values) - 1.0
