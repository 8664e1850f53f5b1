"""Least squares on labeled rows over eigenfunctions found from all rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ritz.estimators.advice import warn_unequal_columns
from ritz.estimators.checks import (
    SparseInputMixin,
    evaluated,
    names_of,
    require_aligned,
    require_y,
    seed_of,
)
from ritz.estimators.fitting import fitted_sums, fixed_state
from ritz.estimators.functions import found_functions
from ritz.estimators.inputs import draw_in_advance, rows_in_units, rows_of_fit
from ritz.estimators.ridge import RidgePath, ridge_path
from ritz.estimators.saving import SavingMixin
from ritz.estimators.summary import Summary, few_labels_summary
from ritz.estimators.units import UnitsMixin, warns_of_units
from ritz.estimators.writing import PredictToMixin
from ritz.rows import equal_products, row_slices
from ritz.selection.choice import Defaults
from ritz.selection.rows import Rows, StreamRows, WeightedRows, equal_rows
from ritz.spectrum import Spectrum
from ritz.streams import Stream, is_streamed
from ritz.streams.write import require_apart, with_kept
from ritz.validation import Array, as_count, as_number, parameter_error, split_missing

# Labels follow finer structure than the first functions show, and are predicted off the rows, where
# functions of very unequal length scales grow fast.
LABEL_DEFAULTS = Defaults(
    regularization=1e-2,
    penalties=(1e-2,),
    centers_per_root=15.0,
    most_centers=500,
    fewer_centers=False,
    per_column=False,
    most_compared=10,
)


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


def labeled_rows(
    stream: Stream, y: Any, is_known: Callable[[Any], NDArray[np.bool_]]
) -> tuple[WeightedRows, Any]:
    """Return the rows of a stream that have a target, which are few, and their targets.

    Parameters
    ----------
    stream
        All rows.
    y
        The targets of all rows as an array, or the name of a column of a table.
    is_known
        Which of some targets are known.
    """
    if isinstance(y, str):
        require_apart(stream, "y", [y])
    else:
        y, missing = split_missing(y)
        if missing is not None:
            y = np.where(missing, None, y)
    parts, count = [], 0
    for block, kept in with_kept(stream, [y] if isinstance(y, str) else []):
        count += len(block)
        if kept is not None:
            targets = kept.column(0).to_numpy(zero_copy_only=False)
        else:
            targets = y[count - len(block) : count]
            if len(targets) < len(block):
                break
        some = np.flatnonzero(is_known(targets))
        part = block.take(some)
        parts.append((part.views[0], part.weight, targets[some]))
    if not isinstance(y, str):
        require_aligned(y, count)
    X, weight, targets = (np.concatenate(part) for part in zip(*parts, strict=True))
    return WeightedRows(X, weight), targets


class LaplacianModel(UnitsMixin, SavingMixin, PredictToMixin, SparseInputMixin, BaseEstimator):
    """A function c + sum_j beta_j f_j over eigenfunctions f_j of an operator.

    It minimizes sum_i w_i |y_i - f(x_i)|^2 / sum_i w_i + smoothness E_L(f), where the energy
    E_L(f) is sum_j lambda_j beta_j^2.
    """

    def __init__(
        self,
        *,
        smoothness: Any = "auto",
        n_components: int = 100,
        operator: Any = "auto",
        scale: Any = "auto",
        metric: str = "euclidean",
        n_neighbors: int = 7,
        kernel: Any = "gaussian",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        basis: Any = None,
        regularization: Any = "auto",
        n_folds: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.smoothness = smoothness
        self.n_components = n_components
        self.operator = operator
        self.scale = scale
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.length_scale = length_scale
        self.n_centers = n_centers
        self.basis = basis
        self.regularization = regularization
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, WeightedRows, Any]:
        """Return the rows of the fit, and those with a target, all or some, and their targets."""
        require_y(self, y)
        # Rows in memory are drawn later, if at all.
        seed = seed_of(self.random_state) if is_streamed(X) else 0
        data = rows_of_fit(self, X, sample_weight, seed)
        if isinstance(data, StreamRows):
            data.samples.keep()
            return data, *labeled_rows(data.samples.stream, y, self._is_known)
        assert isinstance(data, WeightedRows)
        require_aligned(y, len(data))
        return data, data, y

    @abstractmethod
    def _is_known(self, y: Any) -> NDArray[np.bool_]:
        """Return which targets (n,) or (n, outputs) are known."""

    def _fit(
        self,
        data: Rows,
        points: WeightedRows,
        targets: Array,
        leave_one_out: bool,
        checkpoint: Any = None,
    ) -> Self:
        """Fit the targets (m, outputs) of some points over functions found from all rows.

        The errors of points left out choose the smoothness, unless these are too few.
        """
        self._find_functions(data, seed_of(fixed_state(self, checkpoint)), checkpoint)
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

    def _find_functions(self, data: Rows, seed: int, checkpoint: Any) -> None:
        """Find up to `n_components` eigenfunctions, the constant first."""
        n_components = as_count(self.n_components, "n_components")
        wanted = as_count(self.n_neighbors, "n_neighbors")
        draw_in_advance(self, data, LABEL_DEFAULTS, seed)
        others = data.n_distinct - 1
        if others < 1:
            raise parameter_error("X", "an array with at least 2 distinct rows", "1 sample")
        # With all other rows as neighbors the energy would not depend on their distances.
        least = min(wanted, max(1, others // 2))
        as_given, data = data, rows_in_units(self, data, least, LABEL_DEFAULTS, seed)
        if warns_of_units(self):
            warn_unequal_columns(as_given, seed, names_of(self), "scale=None", stacklevel=6)
        del as_given
        form = self.operator_
        if not (form.symmetric and form.positive and form.views == 1):
            raise parameter_error("operator", "an energy: symmetric and positive", form)
        sums = fitted_sums(self, form, n_components, data, seed, LABEL_DEFAULTS, checkpoint)
        spectrum = found_functions(sums, 1 + n_components, self.regularization_, self.n_jobs)
        assert isinstance(spectrum, Spectrum)
        if spectrum.coefficients[:, 0].any():
            raise parameter_error("operator", "an energy that is zero for constants", form)
        self.spectrum_ = self.units_.named(spectrum)
        self.eigenvalues_ = spectrum.ritz_values[1:]

    def summary(self) -> Summary:
        """Return what was chosen, why, how sure the result is, and what to try next."""
        check_is_fitted(self, "spectrum_")
        return few_labels_summary(self)

    def _functions(self, X: NDArray[Any]) -> Array:
        """Return the eigenfunctions besides the constant (n, m) at points X (n, d)."""
        if not len(self.eigenvalues_):
            return np.zeros((len(X), 0))
        return np.asarray(self.spectrum_[1:].at_rows(self.units_(X)), dtype=np.float64)

    def _predict(self, X: Any, then: Callable[[Array], NDArray[Any]]) -> NDArray[Any]:
        """Return a function of f (n, outputs) at points X (n, d), or at the rows of a stream."""
        check_is_fitted(self)

        def function(rows: Any) -> NDArray[Any]:
            return then(equal_products(self._functions(rows), self.coef_) + self.intercept_)

        return evaluated(self, X, function)


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
