"""Least squares on labeled rows over eigenfunctions found from all rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ritz.estimators.checks import checked_rows, checked_weights, require_aligned, require_y
from ritz.estimators.fitting import as_operator, first_functions, fitted_sums
from ritz.estimators.ridge import RidgePath, ridge_path
from ritz.rows import row_slices
from ritz.selection.choice import Defaults
from ritz.selection.rows import WeightedRows, equal_rows
from ritz.validation import Array, as_count, as_number, parameter_error

# Labels follow finer structure than the first functions show, and are predicted off the rows.
LABEL_DEFAULTS = Defaults(regularization=1e-2, centers_per_root=15.0, most_centers=500, halve=False)


def labeled_points(
    data: WeightedRows, targets: Array, known: NDArray[np.bool_]
) -> tuple[WeightedRows, Array]:
    """Return the distinct rows with a target, and the mean targets (m, outputs) of equal rows.

    With equal rows as one point, leaving a point out is a test.
    """
    known = known & (data.weight > 0)
    if not known.any():
        what = "known for at least one row of positive weight"
        raise parameter_error("y", what, "no row with a label")
    X, weight, targets = data.X[known], data.weight[known], targets[known]
    first, group = equal_rows(X)
    totals = np.bincount(group, weight).astype(np.float64)
    sums = [np.bincount(group, weight * target) for target in targets.T]
    return WeightedRows(X[first], totals), np.stack(sums, axis=1) / totals[:, None]


class LaplacianModel(BaseEstimator):
    """A function c + sum_j beta_j f_j over eigenfunctions f_j of an operator.

    It minimizes sum_i w_i |y_i - f(x_i)|^2 / sum_i w_i + smoothness E_L(f), where the energy
    E_L(f) is sum_j lambda_j beta_j^2.
    """

    def __init__(
        self,
        *,
        smoothness: Any = "auto",
        n_components: int = 100,
        operator: Any = "neighbors",
        n_neighbors: int = 7,
        kernel: Any = "gaussian",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        basis: Any = None,
        regularization: Any = "auto",
        n_folds: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.smoothness = smoothness
        self.n_components = n_components
        self.operator = operator
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.length_scale = length_scale
        self.n_centers = n_centers
        self.basis = basis
        self.regularization = regularization
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> WeightedRows:
        """Return the rows with their weights; raise unless there is a target for each."""
        require_y(self, y)
        X = checked_rows(self, X, reset=True, at_least=2)
        require_aligned(y, len(X))
        return WeightedRows(X, checked_weights(sample_weight, X))

    def _fit(
        self, data: WeightedRows, points: WeightedRows, targets: Array, leave_one_out: bool
    ) -> Self:
        """Fit the targets (m, outputs) of some points over functions found from all rows.

        The errors of points left out choose the smoothness, unless these are too few.
        """
        self._find_functions(data)
        unit, scale = energy_scale(self.eigenvalues_)

        def blocks() -> Iterator[tuple[Array, Array, Array]]:
            for part in row_slices(len(points), 2048):
                features = self._functions(points.X[part]) * scale
                yield features, targets[part], points.weight[part]

        self.path_: RidgePath = ridge_path(blocks, np.logspace(-9, 3, 25))
        if isinstance(self.smoothness, str):
            if self.smoothness != "auto":
                what = "'auto' or a nonnegative number"
                raise parameter_error("smoothness", what, repr(self.smoothness))
            penalty = self.path_.best if leave_one_out else 1e-2
            self.smoothness_ = penalty / unit
        else:
            self.smoothness_ = as_number(
                self.smoothness, "smoothness", "'auto' or a nonnegative number", 0.0
            )
            penalty = self.smoothness_ * unit
        beta, self.intercept_ = self.path_.solution(penalty)
        self.coef_ = beta * scale[:, None]
        return self

    def _find_functions(self, data: WeightedRows) -> None:
        """Find up to `n_components` eigenfunctions, the constant first."""
        n_components = as_count(self.n_components, "n_components")
        wanted = as_count(self.n_neighbors, "n_neighbors")
        others = len(data.distinct) - 1
        if others < 1:
            raise parameter_error("X", "an array with at least 2 distinct rows", "1 sample")
        # With all other rows as neighbors the energy would not depend on their distances.
        form = as_operator(self.operator, min(wanted, max(1, others // 2)))
        if not (form.symmetric and form.positive and form.views == 1):
            raise parameter_error("operator", "an energy: symmetric and positive", form)
        sums = fitted_sums(self, form, n_components, data, defaults=LABEL_DEFAULTS)
        self.spectrum_ = first_functions(sums, n_components, self.regularization, LABEL_DEFAULTS)
        if self.spectrum_.coefficients[:, 0].any():
            raise parameter_error("operator", "an energy that is zero for constants", form)
        self.eigenvalues_ = self.spectrum_.values[1:]

    def _functions(self, X: NDArray[Any]) -> Array:
        """Return the eigenfunctions besides the constant (n, m) at points X (n, d)."""
        if not len(self.eigenvalues_):
            return np.zeros((len(X), 0))
        return np.asarray(self.spectrum_[1:].at_rows(X), dtype=np.float64)

    def _predict(self, X: Any) -> Array:
        """Return f (n, outputs) at points X (n, d)."""
        check_is_fitted(self)
        X = checked_rows(self, X, reset=False)
        return np.asarray(self._functions(X) @ self.coef_ + self.intercept_)


def energy_scale(eigenvalues: Array) -> tuple[float, Array]:
    """Return a typical eigenvalue, and the factors of functions that make energies plain squares.

    The unit is the median of the eigenvalues that are not zero up to rounding; the factors are
    (unit / lambda_j)^1/2.
    """
    floor = 1e-9 * eigenvalues.max(initial=0.0)
    nonzero = eigenvalues[eigenvalues > floor]
    unit = float(np.median(nonzero)) if len(nonzero) else 1.0
    if floor == 0.0:
        return unit, np.ones(len(eigenvalues))
    return unit, np.asarray(np.sqrt(unit / np.maximum(eigenvalues, floor)))
