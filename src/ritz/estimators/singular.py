"""Embedding two views, or two times, by the functions that correlate most."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz.assembly import Sums, assemble
from ritz.bases import Recipe
from ritz.estimators.checks import checked_rows, checked_weights, names_of, require_y, seed_of
from ritz.estimators.fitting import (
    selected_basis,
    unchanged_on_failure,
    wanted_functions,
    without_constant,
)
from ritz.forms import cross
from ritz.selection.choice import Comparison, Defaults, choose_regularization
from ritz.selection.rows import WeightedRows
from ritz.selection.score import explained_correlation, without_offset
from ritz.streams import as_stream
from ritz.validation import (
    Array,
    Names,
    as_count,
    as_real,
    as_rows,
    column_names,
    parameter_error,
    renamed,
    require_names,
    require_size,
)

# What two views share is smooth, and without a penalty many functions fit noise.
PAIR_DEFAULTS = Defaults(regularization=0.1, quantile=0.5, centers_per_root=2.0)


class SingularEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
        weight. What two views share is smooth, so this is wider than in `SpectralEmbedding`.
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
        few samples some correlation is always found, which the errors do not show. Where a basis
        has fewer functions on the samples there are as many pairs, and a warning says so.
    held_out_values_
        The correlations (n_components,) on each fold of the functions found from the others, on
        average: a cautious estimate of the true ones. None with fewer than two folds.
    regularization_
        The regularization used.
    path_
        With regularization="auto": the `score` of each candidate on held-out rows.
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

    @unchanged_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find the functions from aligned samples X (n, d) and Y (n, e) or (n,).

        Rows that depend on each other, as two times of one process, need `groups` (n,): labels of
        pieces longer than its memory. Otherwise errors come out too small. Equal rows are held out
        together: where few different rows occur many times each, give each row a group.
        """
        require_y(self, y)
        X = checked_rows(self, X, reset=True, at_least=2)
        Y = second_view(y, len(X))
        require_size(Y, "y")
        self._n_columns_of_y = Y.shape[1]
        weight = checked_weights(sample_weight, X)
        n_components = as_count(self.n_components, "n_components")
        names = (names_of(self), column_names(y))
        with renamed(Y="y"):
            sums, held_out = self._sums(X, Y, weight, groups, names)
        self.regularization_, self.held_out_values_, self.path_ = choose_regularization(
            held_out, 1 + n_components, self.regularization, PAIR_DEFAULTS.regularization
        )
        self.spectrum_ = wanted_functions(sums, n_components, self.regularization_, "n_components")
        self.sums_ = sums
        self.singular_values_, self.singular_value_errors_ = without_constant(self.spectrum_)
        self._n_features_out = len(self.singular_values_)
        if self.held_out_values_ is not None:
            self.held_out_values_ = self.held_out_values_[: self._n_features_out]
        return self

    def _sums(
        self, X: Array, Y: Array, weight: Array, groups: Any, names: tuple[Names, ...]
    ) -> tuple[Sums, Sums]:
        """Average the products of functions; the second sums keep equal rows in one fold."""
        seed = seed_of(self.random_state)
        stream = as_stream((X, Y), 2, weight, groups, names)

        def summed(bases: Any) -> Sums:
            return assemble(
                cross(),
                bases,
                stream,
                n_folds=self.n_folds,
                random_state=seed,
                n_jobs=self.n_jobs,
            )

        sums = summed(self._recipes(X, Y, weight, seed))
        sides = sums.left, sums.right
        if groups is not None or not all(side.repeats for side in sides):
            return sums, sums
        # A row that equals one of those seen is not unseen.
        return sums, summed([replace(side, repeats=False) for side in sides])

    def _recipes(self, X: Array, Y: Array, weight: Array, seed: int) -> list[Recipe]:
        """Choose a basis for each view."""
        bases = self.basis if isinstance(self.basis, tuple | list) else (self.basis, self.basis)
        if len(bases) != 2:
            raise parameter_error("basis", "one basis or a pair", f"{len(bases)} bases")
        recipes = []
        for basis, view in zip(bases, (X, Y), strict=True):
            # A form on pairs has no energy on one view, so no candidates are compared.
            rows = WeightedRows(view, weight)
            comparison = Comparison(cross(), self.n_components, 0.0, rows, seed)
            recipes.append(selected_basis(self, basis, comparison, PAIR_DEFAULTS))
        return recipes

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the left functions (n, n_components) at points X (n, d).

        With points of the second view, y (n, e), also the right functions at them.
        """
        check_is_fitted(self)
        X = checked_rows(self, X, reset=False)
        left = np.asarray(self.spectrum_.left.at_rows(X)[:, 1:], dtype=X.dtype)
        if y is None:
            return left
        Y = self._second_view(y)
        return left, np.asarray(self.spectrum_.right.at_rows(Y)[:, 1:], dtype=X.dtype)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the sum of squared correlations explained on samples X (n, d) and Y (n, e).

        That is 2 sum_j s_j E[f_j(X) g_j(Y)] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] over the
        functions and the constants, less the constants' 1; it is largest for the true functions.
        """
        check_is_fitted(self)
        X = checked_rows(self, X, reset=False)
        Y = self._second_view(y, len(X))
        sides = [
            without_offset(side.pick(slice(1, None)))
            for side in (self.spectrum_.left, self.spectrum_.right)
        ]
        weight = checked_weights(sample_weight, X)
        with renamed(Y="y"):
            sums = assemble(cross(), sides, (X, Y), sample_weight=weight, n_folds=1)
        return explained_correlation(sums.mean(), self.spectrum_.values)

    def _second_view(self, y: Any, n: int | None = None) -> Array:
        """Return the second view of new samples, whose columns must be those of the fit."""
        require_names(column_names(y), self.spectrum_.right.names, "y")
        return second_view(y, n, self._n_columns_of_y)


def second_view(y: Any, n: int | None = None, columns: int | None = None) -> Array:
    """Return the second view as rows (n, e), or say what is wrong with it."""
    Y = y if hasattr(y, "nnz") else as_real(y, "y")
    Y = as_rows(Y.reshape(-1, 1) if Y.ndim == 1 else Y, "y", columns)
    if n is not None and len(Y) != n:
        raise parameter_error("y", f"an array with {n} rows, as X", f"{len(Y)} rows")
    return Y
