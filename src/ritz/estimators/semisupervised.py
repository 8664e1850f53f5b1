"""Learning from few labels and many rows, by Laplacian regularization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import _safe_indexing, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ritz.arrays import Array, as_count, as_number, must, row_slices
from ritz.estimators.base import SpectralEstimator
from ritz.estimators.defaults import as_operator, distinct_rows, equal_rows
from ritz.forms import Form
from ritz.regression import RidgePath, ridge_path
from ritz.spectrum.decompose import is_constant

PATH = np.logspace(-9, 3, 25)
UNTOLD = 1e-2


class LaplacianEstimator(SpectralEstimator):
    """Least squares on the rows with targets, over eigenfunctions found from all rows.

    Minimizes sum_i w_i |y_i - f(x_i)|^2 / sum_i w_i + smoothness E_L(f) over
    f = c + sum_j beta_j f_j, whose energy E_L(f) is sum_j lambda_j beta_j^2.
    """

    # Labels follow finer structure than a picture shows, and functions are used off the rows.
    _centers_factor = 15.0
    _smooth = False
    _most_centers = 500
    _auto_regularization = 1e-2

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

    def _form(self) -> Form:
        wanted = as_count(self.n_neighbors, "n_neighbors")
        return as_operator(self.operator, min(wanted, max(1, self._most_neighbors)))

    def _checked_targets(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        if y is None:
            what = "requires y to be passed, but the target y is None"
            raise ValueError(f"{type(self).__name__} {what}.")
        X = self._checked(X, reset=True, at_least=2)
        y = np.asarray(y)
        if y.ndim not in (1, 2) or len(y) != len(X):
            raise ValueError(must("y", f"an array with {len(X)} rows, as X", y.shape))
        return X, y

    def _fit(self, X: NDArray[Any], T: Array, known: NDArray[np.bool_], sample_weight: Any) -> Self:
        """Fit targets T (n, outputs), of which the rows that are known count."""
        weight = self._weights(sample_weight, X)
        if not (known & (weight > 0)).any():
            what = "known for at least one row of positive weight"
            raise ValueError(must("y", what, "no row with a label"))
        k = 1 + as_count(self.n_components, "n_components")
        self._most_neighbors = len(distinct_rows(X, weight)[0]) - 1
        if self._most_neighbors < 1:
            raise ValueError(must("X", "an array with at least 2 distinct rows", "1 sample"))
        form = self._form()
        if not (form.symmetric and form.positive and form.views == 1):
            raise ValueError(must("operator", "an energy: symmetric and positive", form))
        sums = self._assemble(X, weight)
        self.spectrum_ = self._solve(sums, k, fewer=True)
        if not is_constant(np.vstack([self.spectrum_.constants, self.spectrum_.coefficients]))[0]:
            raise ValueError(must("operator", "an energy that is zero for constants", form))
        self.eigenvalues_ = self.spectrum_.values[1:]
        # Equal rows are one point with their mean target, so that leaving one out is a test.
        X, T, weight = (array[known & (weight > 0)] for array in (X, T, weight))
        first, which = equal_rows(X)
        points, w = X[first], np.bincount(which, weight).astype(np.float64)
        means = np.stack([np.bincount(which, weight * t) for t in T.T], axis=1) / w[:, None]
        scale = self._scale()

        def rows() -> Iterator[tuple[Array, Array, Array]]:
            for part in row_slices(len(points), 2048):
                yield self._functions(points[part]) * scale, means[part], w[part]

        unit = self._unit()
        self.path_: RidgePath = ridge_path(rows, PATH)
        if isinstance(self.smoothness, str):
            if self.smoothness != "auto":
                what = "'auto' or a nonnegative number"
                raise ValueError(must("smoothness", what, repr(self.smoothness)))
            chosen = self.path_.best if self._told(T, which) else UNTOLD
            self.smoothness_ = chosen / unit
        else:
            self.smoothness_ = as_number(
                self.smoothness, "smoothness", "'auto' or a nonnegative number", 0.0
            )
            chosen = self.smoothness_ * unit
        beta, constant = self.path_.solution(chosen)
        self.coef_, self.intercept_ = beta * scale[:, None], constant
        return self

    def _told(self, T: Array, which: NDArray[np.intp]) -> bool:
        """Return whether leaving one point out says anything about the others."""
        return bool(which.max() >= 2)

    def _unit(self) -> float:
        """Return a typical eigenvalue, whatever the number of those that are zero."""
        values = self.eigenvalues_
        some = values[values > 1e-9 * values.max(initial=0.0)]
        return float(np.median(some)) if len(some) else 1.0

    def _scale(self) -> Array:
        """Return (unit / lambda_j)^1/2, which makes the energy a plain square."""
        values = self.eigenvalues_
        floor = 1e-9 * values.max(initial=0.0)
        if floor == 0.0:
            return np.ones(len(values))
        return np.asarray(np.sqrt(self._unit() / np.maximum(values, floor)))

    def _functions(self, X: NDArray[Any]) -> Array:
        if not len(self.eigenvalues_):
            return np.zeros((len(X), 0))
        return np.asarray(self.spectrum_[1:](X), dtype=np.float64)

    def _predict(self, X: Any) -> Array:
        """Return f (n, outputs) at points X (n, d)."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return np.asarray(self._functions(X) @ self.coef_ + self.intercept_)


class LaplacianRegressor(RegressorMixin, LaplacianEstimator):
    """Regression from few targets and many rows, smooth along the rows.

    The function f = c + sum_j beta_j f_j, over eigenfunctions f_j found from all rows, minimizes
    sum_i w_i |y_i - f(x_i)|^2 / sum_i w_i + smoothness E_L(f) over the rows with a target, where
    E_L(f) = sum_j lambda_j beta_j^2 is the operator's energy. Rows whose target is NaN count for
    the operator alone. Nothing is n by n.

    Parameters
    ----------
    smoothness
        The weight of the energy, in units of one over an eigenvalue, or "auto": the largest of 25
        whose leave-one-out error on the rows with a target is smallest, to a thousandth; 0.01 over
        a typical eigenvalue where fewer than three points have one.
    n_components
        The number of eigenfunctions, at most.
    operator
        "neighbors", the energy along nearest neighbors; "laplacian"; or a form.
    n_neighbors
        For operator="neighbors"; fewer where there are not as many rows.
    n_centers
        The number of kernel sections, or "auto": 15 sqrt(n) for n distinct rows, between 100 and
        500, fewer where n p^2 would exceed 3e10.
    regularization
        See `ritz.decompose`; "auto" is 0.01.
    kernel, length_scale, basis, n_folds, random_state, n_jobs
        As in `SpectralEmbedding`.

    Attributes
    ----------
    smoothness_
        The weight used.
    path_
        The `RidgePath`: leave-one-out errors for 25 weights, in units of one over the median of
        the eigenvalues that are not zero.
    coef_, intercept_
        The function found, over `spectrum_[1:]`.
    spectrum_, eigenvalues_
        The `Spectrum`, the constant first, and its other values.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> moons = ritz.datasets.half_moons(1000, random_state=0)
    >>> y = np.full(1000, np.nan)
    >>> y[:20] = moons.parameters[:20, 0]
    >>> ritz.LaplacianRegressor(random_state=0).fit(moons.X, y).predict(moons.X).shape
    (1000,)
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit samples X (n, d) and targets (n,) or (n, outputs), NaN where there is none."""
        X, y = self._checked_targets(X, y)
        y = np.asarray(y, dtype=np.float64)
        if np.isinf(y).any():
            raise ValueError(
                must("y", "finite, or NaN for rows without a target", "inf (infinity)")
            )
        T = y[:, None] if y.ndim == 1 else y
        if T.shape[1] == 0:
            raise ValueError(must("y", "at least one output", y.shape))
        missing = np.isnan(T)
        known = ~missing.any(axis=1)
        if (missing.any(axis=1) & ~missing.all(axis=1)).any():
            row = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))[0]
            what = "known or NaN for all outputs of a row"
            raise ValueError(must("y", what, f"some of both in row {row}"))
        self._fit(X, T, known, sample_weight)
        self._flat = y.ndim == 1
        return self

    def predict(self, X: Any) -> Array:
        """Return the targets (n,) or (n, outputs) at points X (n, d)."""
        values = self._predict(X)
        return values[:, 0] if self._flat else values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination on the rows that have a target."""
        check_is_fitted(self)
        y = np.asarray(y, dtype=np.float64)
        known = ~np.isnan(y if y.ndim == 1 else y.sum(axis=1))
        return float(super().score(*labeled(X, y, known, sample_weight)))


class LaplacianClassifier(ClassifierMixin, LaplacianEstimator):
    """Classification from few labels and many rows, smooth along the rows.

    The share of each class is fitted as `LaplacianRegressor` would fit it: functions
    f = c + sum_j beta_j f_j, over eigenfunctions f_j found from all rows, minimize
    sum_i w_i |y_i - f(x_i)|^2 / sum_i w_i + smoothness E_L(f), y_i being 1 for the class of row i
    and 0 for the others. Rows without a label count for the operator alone. Nothing is n by n.

    Parameters
    ----------
    unlabeled
        What marks a row without a label, besides None, NaN and NA. With labels that are strings
        name a string: `unlabeled="?"`.
    smoothness
        The weight of the energy, in units of one over an eigenvalue, or "auto": the largest of 25
        whose leave-one-out error on the rows with a label is smallest, to a thousandth; 0.01 over a
        typical eigenvalue where some class has a single point.
    n_components
        The number of eigenfunctions, at most.
    operator
        "neighbors", the energy along nearest neighbors; "laplacian"; or a form.
    n_neighbors
        For operator="neighbors"; fewer where there are not as many rows.
    n_centers
        The number of kernel sections, or "auto": 15 sqrt(n) for n distinct rows, between 100 and
        500, fewer where n p^2 would exceed 3e10.
    regularization
        See `ritz.decompose`; "auto" is 0.01.
    kernel, length_scale, basis, n_folds, random_state, n_jobs
        As in `SpectralEmbedding`.

    Attributes
    ----------
    classes_
        The classes, the mark of unlabeled rows not among them.
    smoothness_, path_, coef_, intercept_, spectrum_, eigenvalues_
        As in `LaplacianRegressor`, with an output for each class.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> moons = ritz.datasets.half_moons(1000, random_state=0)
    >>> y = np.full(1000, -1)
    >>> y[:10] = moons.labels[:10]
    >>> ritz.LaplacianClassifier(random_state=0).fit(moons.X, y).score(moons.X, moons.labels)
    1.0
    """

    def __init__(
        self,
        *,
        unlabeled: Any = -1,
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
        super().__init__(
            smoothness=smoothness,
            n_components=n_components,
            operator=operator,
            n_neighbors=n_neighbors,
            kernel=kernel,
            length_scale=length_scale,
            n_centers=n_centers,
            basis=basis,
            regularization=regularization,
            n_folds=n_folds,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit samples X (n, d) and labels y (n,), `unlabeled` where there is none."""
        X, y = self._checked_targets(X, y)
        y, known = self._labels(y)
        labels = y[known]
        if labels.dtype == object:
            labels = np.array(labels.tolist())
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        if not known.any():
            raise ValueError(must("y", "a label for at least one row", "no row with a label"))
        self.classes_, which = np.unique(labels, return_inverse=True)
        self._check_classes(known)
        T = np.zeros((len(y), len(self.classes_)))
        T[np.flatnonzero(known), which] = 1.0
        return self._fit(X, T, known, sample_weight)

    def _check_classes(self, known: NDArray[np.bool_]) -> None:
        mark = "mark unlabeled rows by None, or name the mark: unlabeled=..."
        if self.classes_.dtype.kind in "US" and str(self.unlabeled) in self.classes_:
            got = f"strings, {str(self.unlabeled)!r} among them, which is not {self.unlabeled!r}"
            raise ValueError(must("y", "labels of one kind", got, f"With strings, {mark}."))
        if len(self.classes_) == 1 and not known.all():
            got = f"one class, {self.classes_[0]!r}, and rows marked {self.unlabeled!r}"
            raise ValueError(must("y", "labels of at least two classes", got, f"Else {mark}."))

    def _told(self, T: Array, which: NDArray[np.intp]) -> bool:
        points = [len(np.unique(which[t > 0])) for t in T.T]
        return min(points) > 1

    def _labels(self, y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the labels (n,), and which rows have one."""
        y = column_or_1d(np.asarray(y), warn=True)
        if y.dtype.kind in "iub":
            return y, np.asarray(y != self.unlabeled) & np.ones(len(y), dtype=bool)
        known = np.array(
            [not is_missing(v) and v != self.unlabeled for v in y.tolist()], dtype=bool
        )
        return y, known

    def predict_proba(self, X: Any) -> Array:
        """Return the share (n, classes) of each class at points X (n, d).

        The shares fitted sum to 1 by themselves; those below 0 are set to it.
        """
        shares = np.maximum(self._predict(X), 0.0)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class (n,) of each point of X (n, d)."""
        most = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[most])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the rows that have a label.

        Searches that name a `scoring` of scikit-learn's own count rows without one as wrong.
        """
        check_is_fitted(self)
        return float(super().score(*labeled(X, *self._labels(y), sample_weight)))


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, or NA as frames have it."""
    return label is None or type(label).__name__ in ("NAType", "NaTType") or label != label


def labeled(
    X: Any, y: NDArray[Any], known: NDArray[np.bool_], sample_weight: Any
) -> tuple[Any, NDArray[Any], Any]:
    """Return the rows of X, y and the weights that are known."""
    if known.all():
        return X, y, sample_weight
    if not known.any():
        raise ValueError(must("y", "known for at least one row", "no row with a label"))
    rows = np.flatnonzero(known)
    weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
    return _safe_indexing(X, rows), y[rows], weight
