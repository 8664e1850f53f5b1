"""What the estimators share: checking data, choosing a basis, holding sums and a spectrum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from ritz.arrays import Array, as_count, as_weights, must, row_slices
from ritz.assembly import Sums, assemble
from ritz.bases import Nystrom, Recipe
from ritz.estimators.defaults import (
    CENTERS_FACTOR,
    REGULARIZATION,
    as_operator,
    as_recipe,
    as_regularization,
    auto_length_scale,
)
from ritz.estimators.lengths import (
    MOST_FUNCTIONS,
    choose_length_scale,
    comparable,
    energies_by_centers,
    half_will_do,
)
from ritz.forms import Form
from ritz.kernels import Kernel
from ritz.spectrum import decompose_sums
from ritz.streams.stream import CHUNK_ROWS


class SpectralEstimator(BaseEstimator):
    """A thin face: it stores parameters, calls the library, and holds the result."""

    _centers_factor = CENTERS_FACTOR
    _most_centers = 1000
    _auto_regularization = REGULARIZATION
    # Whether the first functions are all that is wanted.
    _smooth = True

    def _checked(self, X: Any, *, reset: bool, at_least: int = 1) -> NDArray[Any]:
        """Return X (n, d) as float64 or float32, finite; the first bad column is named."""
        X = validate_data(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_min_samples=at_least,
            ensure_all_finite=False,
        )
        for part in row_slices(len(X), CHUNK_ROWS):
            bad = ~np.isfinite(X[part])
            if bad.any():
                row, column = np.argwhere(bad)[0]
                names = getattr(self, "feature_names_in_", None)
                name = f"column {column}" if names is None else f"column {names[column]!r}"
                value = "NaN" if np.isnan(X[part][row, column]) else "inf (infinity)"
                got = f"{value} in row {part.start + row}, {name}"
                raise ValueError(must("X", "finite", got, "Drop or impute such rows first."))
        return X  # type: ignore[no-any-return]

    def _weights(self, sample_weight: Any, X: NDArray[Any]) -> Array:
        if sample_weight is None:
            return np.ones(len(X))
        return as_weights(_check_sample_weight(sample_weight, X, dtype=np.float64), len(X))

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _form(self) -> Form:
        return as_operator(self.operator, self.n_neighbors)

    def _recipe(self, basis: Any, X: NDArray[Any], weight: Array, seed: int) -> Recipe:
        # What an earlier fit compared says nothing of this one.
        self.length_scale_path_: dict[float, float] | None = None
        self.n_centers_path_: dict[int, float] | None = None
        recipe = as_recipe(
            basis,
            self.kernel,
            self.length_scale,
            self.n_centers,
            X,
            weight,
            choose=lambda kernel, rows, totals: self._length_scale(kernel, rows, totals, seed),
            half=lambda kernel, rows, totals: self._half_will_do(kernel, rows, totals, seed),
            centers_factor=self._centers_factor,
            most_centers=self._most_centers,
        )
        if isinstance(recipe, Nystrom):
            self.length_scale_ = recipe.kernel.length_scale
            self.n_centers_ = recipe.n_centers
        return recipe

    def _length_scale(
        self, kernel: Callable[[float], Kernel], rows: Array, weight: Array, seed: int
    ) -> float:
        """Choose the length scale that `length_scale_path_` shows to be best on unseen rows."""
        base = auto_length_scale(rows, weight, seed)
        form = self._form()
        if not comparable(form, rows):
            return base
        k = min(self._n_functions(), MOST_FUNCTIONS)
        regularization = as_regularization(self.regularization, self._auto_regularization)
        length, self.length_scale_path_ = choose_length_scale(
            form, kernel, base, rows, weight, k, seed, regularization, self.n_jobs
        )
        return length

    def _half_will_do(self, kernel: Kernel, rows: Array, weight: Array, seed: int) -> bool:
        """Return whether half as many centers do as well on unseen rows."""
        form, k = self._form(), self._n_functions()
        if not self._smooth or k > MOST_FUNCTIONS or not comparable(form, rows):
            return False
        regularization = as_regularization(self.regularization, self._auto_regularization)
        length: Any = kernel.length_scale
        known = (self.length_scale_path_ or {}).get(length)
        self.n_centers_path_ = energies_by_centers(
            form, kernel, rows, weight, k, seed, regularization, known
        )
        return half_will_do(self.n_centers_path_)

    def _n_functions(self) -> int:
        """Return how many functions, besides the constant, the length scale is chosen for."""
        return as_count(self.n_components, "n_components")

    def _assemble(self, X: NDArray[Any], weight: Array, groups: Any = None) -> Sums:
        """Choose what is "auto" from the rows, and average the operator over them."""
        seed = self._seed()
        return assemble(
            self._form(),
            self._recipe(self.basis, X, weight, seed),
            X,
            sample_weight=weight,
            groups=groups,
            n_folds=self.n_folds,
            random_state=seed,
            n_jobs=self.n_jobs,
            progress=None,
        )

    def _regularization(self, sums: Sums, k: int) -> float:
        return as_regularization(self.regularization, self._auto_regularization)

    def _solve(self, sums: Sums, k: int, *, fewer: bool = False) -> Any:
        regularization = self._regularization(sums, k)
        try:
            return decompose_sums(sums, k, regularization=regularization, fewer=fewer)
        except ValueError as error:
            if "'k' parameter" not in str(error):
                raise
            what = f"{k - 1} functions besides the constant were asked for"
            raise ValueError(f"{what}, more than there are. {error}") from None
