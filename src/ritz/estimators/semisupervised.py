"""Learning from few labels and many rows, by Laplacian regularization."""

from __future__ import annotations

from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ritz.estimators.checks import determination, known_rows, require_aligned
from ritz.estimators.fitting import unchanged_on_failure
from ritz.estimators.laplacian import LaplacianModel, labeled_points
from ritz.reading import computed, is_missing
from ritz.validation import (
    Array,
    as_numeric,
    parameter_error,
    require_size,
    split_missing,
)


class LaplacianRegressor(RegressorMixin, LaplacianModel):
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
        "auto", the Laplacian where the samples fill their space, else "neighbors", the energy along
        nearest neighbors; one of these two names; or a form.
    scale, metric
        As in `SpectralEmbedding`.
    n_neighbors
        For operator="neighbors", up to half of the other rows.
    n_centers
        The number of kernel sections, or "auto": 15 sqrt(n) for n distinct rows, between 100 and
        500, fewer where n p^2 would exceed 3e10.
    regularization
        See `ritz.decompose`; "auto" is 0.01.
    kernel, length_scale, basis, n_folds, random_state, n_jobs, verbose
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
    operator_, scale_, units_
        The operator used, and the units of columns and rows, as in `SpectralEmbedding`.
    spectrum_, eigenvalues_
        The `Spectrum`, the constant first, functions of units_(X), and the energies of its other
        functions in the samples, `spectrum_.ritz_values[1:]`.

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

    @unchanged_on_failure
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Fit samples X (n, d) and targets (n,) or (n, outputs), NaN where there is none.

        X may be a stream, and y the name of a column where it is a table of `ritz.open`.

        With a `checkpoint`, a fit that was interrupted goes on from that file, as `ritz.assemble`
        does; without a random_state the seed is then 0.
        """
        data, rows, y = self._checked(X, y, sample_weight)
        y = np.asarray(as_numeric(y, "y"), dtype=np.float64)
        if np.isinf(y).any():
            what = "finite, or NaN for rows without a target"
            raise parameter_error("y", what, "inf (infinity)")
        require_size(y, "y")
        targets = y[:, None] if y.ndim == 1 else y
        if targets.shape[1] == 0:
            raise parameter_error("y", "at least one output", y.shape)
        missing = np.isnan(targets)
        mixed = missing.any(axis=1) & ~missing.all(axis=1)
        if mixed.any():
            what = "known or NaN for all outputs of a row"
            raise parameter_error("y", what, f"some of both in row {mixed.argmax()}")
        self._flat = y.ndim == 1
        points, targets = labeled_points(rows, targets, ~missing[:, 0])
        return self._fit(data, points, targets, len(points) >= 3, checkpoint)

    def _is_known(self, y: Any) -> NDArray[np.bool_]:
        known = ~np.isnan(np.asarray(as_numeric(y, "y"), dtype=np.float64))
        return known if known.ndim == 1 else np.asarray(known.any(axis=1))

    def predict(self, X: Any) -> Array:
        """Return the targets (n,) or (n, outputs) at points X (n, d)."""
        return self._predict(X, lambda values: values[:, 0] if self._flat else values)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination on the rows that have a target."""
        return determination(self.predict(X), y, sample_weight)


class LaplacianClassifier(ClassifierMixin, LaplacianModel):
    """Classification from few labels and many rows, smooth along the rows.

    The share of each class is fitted as `LaplacianRegressor` would fit it: functions
    f = c + sum_j beta_j f_j, over eigenfunctions f_j found from all rows, minimize
    sum_i w_i |y_i - f(x_i)|^2 / sum_i w_i + smoothness E_L(f), y_i being 1 for the class of row i
    and 0 for the others. Rows without a label count for the operator alone. Nothing is n by n.

    Parameters
    ----------
    unlabeled
        What marks a row without a label, besides None, NaN and NA. Where labels are strings, the
        mark is one too: `unlabeled="?"`.
    smoothness
        As in `LaplacianRegressor`; "auto" is 0.01 over a typical eigenvalue where some class has a
        single point.
    n_components, operator, scale, metric, n_neighbors, n_centers, regularization
        As in `LaplacianRegressor`.
    kernel, length_scale, basis, n_folds, random_state, n_jobs, verbose
        As in `SpectralEmbedding`.

    Attributes
    ----------
    classes_
        The classes, without the mark of unlabeled rows.
    smoothness_, path_, coef_, intercept_, operator_, scale_, units_, spectrum_, eigenvalues_
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
        super().__init__(
            smoothness=smoothness,
            n_components=n_components,
            operator=operator,
            scale=scale,
            metric=metric,
            n_neighbors=n_neighbors,
            kernel=kernel,
            length_scale=length_scale,
            n_centers=n_centers,
            basis=basis,
            regularization=regularization,
            n_folds=n_folds,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.unlabeled = unlabeled

    @unchanged_on_failure
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Fit samples X (n, d) and labels y (n,), `unlabeled` where there is none.

        X may be a stream, and y the name of a column where it is a table of `ritz.open`.

        With a `checkpoint`, a fit that was interrupted goes on from that file, as `ritz.assemble`
        does; without a random_state the seed is then 0.
        """
        data, rows, y = self._checked(X, y, sample_weight)
        y, known = self._labels(y)
        labels = y[known]
        if labels.dtype == object:
            labels = np.array(labels.tolist())
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        if not known.any():
            raise parameter_error("y", "a label for at least one row", "no row with a label")
        self.classes_, which = np.unique(labels, return_inverse=True)
        self._check_classes(y[~known])
        shares = np.zeros((len(y), len(self.classes_)))
        shares[np.flatnonzero(known), which] = 1.0
        points, shares = labeled_points(rows, shares, known)
        points_of_class = (shares > 0).sum(axis=0)
        enough = bool(points_of_class.min() >= 2)
        return self._fit(data, points, shares, enough, checkpoint)

    def _check_classes(self, others: NDArray[Any]) -> None:
        """Raise where the entries of rows without a label may have been meant as a class."""
        mark = "mark unlabeled rows by None, or name the mark: unlabeled=..."
        if self.classes_.dtype.kind in "US" and str(self.unlabeled) in self.classes_:
            got = f"strings, {str(self.unlabeled)!r} among them, which is not {self.unlabeled!r}"
            raise parameter_error("y", "labels of one kind", got, f"With strings, {mark}.")
        if len(self.classes_) == 1 and len(others):
            entries = [entry for entry in others.tolist() if not is_missing(entry)]
            marked = any(entry == self.unlabeled for entry in entries)
            rest = f"rows marked {self.unlabeled!r}" if marked else "rows without a label"
            got = f"one class, {self.classes_[0].item()!r}, and {rest}"
            remedy = f"Else {mark}." if marked else ""
            raise parameter_error("y", "labels of at least two classes", got, remedy)

    def _is_known(self, y: Any) -> NDArray[np.bool_]:
        return self._labels(y)[1]

    def _labels(self, y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the labels (n,), and which rows have one."""
        y, missing = split_missing(y)
        present = True if missing is None else ~column_or_1d(missing)
        y = column_or_1d(y, warn=True)
        if y.dtype.kind in "iub":
            return y, np.broadcast_to(y != self.unlabeled, len(y)) & present
        known = [not is_missing(label) and label != self.unlabeled for label in y.tolist()]
        return y, np.array(known, dtype=bool) & present

    def predict_proba(self, X: Any) -> Array:
        """Return the share (n, classes) of each class at points X (n, d).

        The fitted shares sum to 1; negative ones are set to zero, and the others scaled.
        """
        return self._predict(X, positive_shares)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class (n,) of each point of X (n, d)."""

        def classes(values: Array) -> NDArray[Any]:
            return np.asarray(self.classes_[positive_shares(values).argmax(axis=1)])

        return self._predict(X, classes)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the rows that have a label.

        A search that names a `scoring` of scikit-learn counts rows without a label as wrong.
        """
        predicted = computed(self.predict(X))
        require_aligned(y, len(predicted))
        y, known = self._labels(y)
        rows, weight = known_rows(known, sample_weight)
        labels = y[rows] if y.dtype != object else np.array(y[rows].tolist())
        return float(accuracy_score(labels, predicted[rows], sample_weight=weight))


def positive_shares(values: Array) -> Array:
    """Return values (n, classes) as shares: negative ones are zero, and the others sum to 1."""
    shares = np.maximum(values, 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
