"""Embedding two views, or two times, by the functions that correlate most."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz.assembly import Sums
from ritz.assembly.assemble import assemble_samples
from ritz.bases import Nystrom, Recipe
from ritz.estimators.checks import (
    SparseInputMixin,
    checked_rows,
    checked_stream,
    checked_weights,
    evaluated,
    names_of,
    require_y,
    seed_of,
)
from ritz.estimators.fitting import drop_sums, fixed_state, selected_basis, unchanged_on_failure
from ritz.estimators.functions import wanted_functions, without_constant
from ritz.estimators.inputs import draw_in_advance
from ritz.estimators.saving import SavingMixin
from ritz.estimators.summary import Summary, singular_summary
from ritz.estimators.writing import TransformToMixin
from ritz.forms import cross
from ritz.selection.choice import Defaults, Wanted
from ritz.selection.pairs import PAIR_PENALTIES, choose_kernels, choose_regularization
from ritz.selection.rows import Rows, StreamRows, WeightedRows
from ritz.selection.score import explained_correlation, without_offset
from ritz.streams import Samples, is_streamed
from ritz.validation import (
    Array,
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
PAIR_DEFAULTS = Defaults(
    regularization=0.1, penalties=PAIR_PENALTIES, quantile=0.5, centers_per_root=2.0
)


class SingularEmbedding(
    SavingMixin,
    TransformToMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    SparseInputMixin,
    BaseEstimator,
):
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
        A number, or "auto": one multiple of the median distance in each view, half to eight times
        and beyond while the edge is best, whose functions correlate most on held-out rows. It is
        chosen on 2,000 rows; with fewer than 60 distinct rows or 16 groups the multiple is 1.
    n_centers
        The number of kernel sections in each view, or "auto": 2 sqrt(n) for n distinct rows,
        between 100 and 1,000, fewer where n p^2 would exceed 3e10.
    basis
        Functions to use in place of kernel sections, or a pair of them; `ritz.Monomials(1)` is
        linear canonical correlation analysis.
    regularization
        See `ritz.decompose`, or "auto": the one out of six, 1e-6 to 1, whose functions correlate
        most on held-out rows, from the sums of all folds (0.1 with fewer than three folds).
        Without enough, many functions find correlations in any finite data.
    n_folds, random_state, n_jobs, keep_sums, verbose
        As in `SpectralEmbedding`.

    Attributes
    ----------
    singular_values_, singular_value_errors_
        The correlations (n_components,), descending, best estimates between those in the samples
        and held-out ones, and their standard errors. In few samples some correlation is always
        found, which the errors do not show. Where a basis
        has fewer functions on the samples there are as many pairs, and a warning says so.
    held_out_values_
        The correlations (n_components,) on each fold of the functions found from the others:
        products and squares are added up over all folds before one is divided by the other. A
        cautious estimate of the true ones. None with fewer than three folds.
    length_scale_
        The length scale used; a pair of them where the views differ in it.
    regularization_
        The regularization used.
    path_
        With regularization="auto": for each candidate sum_j log(1 - c_j) + |log((1 - c_j) /
        (1 - a_j))| / 2, where c are held-out correlations and a those in the samples. Lower is
        better, and slow processes, with correlations near 1, count as much as others.
    selection_
        The `Selection` of the length scale, or None where it was not compared. Its kernels are
        those of X, and its values are 1 - c.
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
        keep_sums: bool = False,
        verbose: bool | None = None,
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
        self.keep_sums = keep_sums
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    @unchanged_on_failure
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Find the functions from aligned samples X (n, d) and Y (n, e) or (n,).

        X may be a stream of two views, without y, or both dask arrays.

        Rows that depend on each other, as two times of one process, need `groups` (n,): labels of
        pieces longer than its memory. Otherwise errors come out too small. Equal rows are held out
        together: where few different rows occur many times each, give each row a group.

        With a `checkpoint`, a fit that was interrupted goes on from that file, as `ritz.assemble`
        does; without a random_state the seed is then 0.
        """
        seed = seed_of(fixed_state(self, checkpoint))
        data = self._rows(X, y, sample_weight, seed, groups=groups, reset=True)
        n_components = as_count(self.n_components, "n_components")
        draw_in_advance(self, data, PAIR_DEFAULTS, seed, views=2)
        with renamed(Y="y"):
            sums, held_out = self._sums(data, seed, checkpoint)
        self.regularization_, self.held_out_values_, self.path_ = choose_regularization(
            held_out, n_components, self.regularization, PAIR_DEFAULTS.regularization, self.n_jobs
        )
        self.spectrum_ = wanted_functions(
            sums, n_components, self.regularization_, "n_components", self.n_jobs
        )
        self.sums_ = sums
        drop_sums(self)
        self.singular_values_, self.singular_value_errors_ = without_constant(self.spectrum_)
        self._n_features_out = len(self.singular_values_)
        if self.held_out_values_ is not None:
            self.held_out_values_ = self.held_out_values_[: self._n_features_out]
        return self

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, seed: int, *, groups: Any = None, reset: bool
    ) -> WeightedRows | StreamRows:
        """Return the rows of both views, checked; a stream has two views and no y."""
        if is_streamed(X):
            both = X if y is None else (X, y)
            options = {"sample_weight": sample_weight, "groups": groups}
            stream = checked_stream(self, both, reset=reset, views=2, **options)
            if reset:
                self._n_columns_of_y = stream.dimensions[1]
            elif stream.dimensions[1] != self._n_columns_of_y:
                what = f"a stream whose second view has {self._n_columns_of_y} columns"
                raise parameter_error("X", what, f"{stream.dimensions[1]} columns")
            else:
                require_names(stream.names[1], self.spectrum_.right.names, "X")
            return StreamRows(Samples(stream), seed, view=None)
        require_y(self, y)
        X = checked_rows(self, X, reset=reset, at_least=2 if reset else 1)
        if reset:
            Y = second_view(y, len(X))
            self._n_columns_of_y = Y.shape[1]
        else:
            Y = self._second_view(y, len(X))
        require_size(Y, "y")
        names = (names_of(self), column_names(y))
        data = WeightedRows(X, checked_weights(sample_weight, X), Y, groups, names)
        with renamed(Y="y"):
            # Raises where groups are not one label for each row.
            _ = data.samples
        return data

    def _sums(
        self, data: WeightedRows | StreamRows, seed: int, checkpoint: Any
    ) -> tuple[Sums, Sums]:
        """Average the products of functions; the second sums keep equal rows in one fold.

        Only the first ones go on from a checkpoint.
        """

        def summed(bases: Any, checkpoint: Any = None) -> Sums:
            return assemble_samples(
                cross(),
                bases,
                data.samples,
                n_folds=self.n_folds,
                random_state=seed,
                n_jobs=self.n_jobs,
                checkpoint=checkpoint,
            )

        sums = summed(self._recipes(data, seed), checkpoint)
        sides = sums.left, sums.right
        if sums.grouped or not all(side.repeats for side in sides):
            return sums, sums
        # A row that equals one of those seen is not unseen.
        return sums, summed([replace(side, repeats=False) for side in sides])

    def _recipes(self, data: WeightedRows | StreamRows, seed: int) -> list[Recipe]:
        """Choose a basis for each view."""
        bases = self.basis if isinstance(self.basis, tuple | list) else (self.basis, self.basis)
        if len(bases) != 2:
            raise parameter_error("basis", "one basis or a pair", f"{len(bases)} bases")
        recipes = []
        for number, basis in enumerate(bases):
            # A form on pairs has no energy on one view, so no candidates are compared.
            rows: Rows
            if isinstance(data, StreamRows):
                rows = replace(data, view=number)
            else:
                rows = WeightedRows(np.asarray((data.X, data.Y)[number]), data.weight)
            selected = selected_basis(
                self, cross(), self.n_components, rows, PAIR_DEFAULTS, basis=basis, seed=seed
            )
            recipes.append(selected.recipe)
        if self.basis is not None:
            return recipes
        first, second = recipes
        assert isinstance(first, Nystrom)
        assert isinstance(second, Nystrom)
        kernels, self.selection_ = choose_kernels(
            data,
            self.n_components,
            Wanted(None, self.kernel, self.length_scale, self.n_centers, self.regularization),
            (first, second),
            PAIR_DEFAULTS,
            seed=seed,
            n_jobs=self.n_jobs,
        )
        self.kernel_ = kernels[0]
        lengths = [kernel.length_scale for kernel in kernels]
        self.length_scale_ = lengths[0] if lengths[0] == lengths[1] else tuple(lengths)
        return [replace(first, kernel=kernels[0]), replace(second, kernel=kernels[1])]

    def summary(self) -> Summary:
        """Return what was chosen, why, how sure the result is, and what to try next."""
        check_is_fitted(self, "spectrum_")
        return singular_summary(self)

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the left functions (n, n_components) at points X (n, d).

        With points of the second view, y (n, e), also the right functions at them.
        """
        check_is_fitted(self)
        if is_streamed(X) and y is None:
            return evaluated(self, X, self._transformed)
        X = checked_rows(self, X, reset=False)
        left = self._transformed(X)
        if y is None:
            return left
        Y = self._second_view(y)
        return left, np.asarray(self.spectrum_.right.at_rows(Y)[:, 1:], dtype=X.dtype)

    def _transformed(self, X: Any) -> Any:
        return np.asarray(self.spectrum_.left.at_rows(X)[:, 1:], dtype=X.dtype)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the sum of squared correlations explained on samples X (n, d) and Y (n, e).

        That is 2 sum_j s_j E[f_j(X) g_j(Y)] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] over the
        functions and the constants, less the constants' 1; it is largest for the true functions.
        """
        check_is_fitted(self)
        data = self._rows(X, y, sample_weight, 0, reset=False)
        sides = [
            without_offset(side.pick(slice(1, None)))
            for side in (self.spectrum_.left, self.spectrum_.right)
        ]
        with renamed(Y="y"):
            sums = assemble_samples(
                cross(), sides, data.samples, n_folds=1, random_state=0, n_jobs=self.n_jobs
            )
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
