"""The estimator of regression on values and gradients."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ritz.bases import KernelSections
from ritz.estimators.checks import (
    checked_rows,
    checked_stream,
    checked_weights,
    determination,
    evaluated,
    names_of,
    set_names,
)
from ritz.estimators.fitting import unchanged_on_failure
from ritz.estimators.saving import FITTED, SavingMixin
from ritz.estimators.summary import Summary
from ritz.estimators.writing import PredictToMixin
from ritz.hermite.audit import GradientAudit, audit_gradients, warn_of_errors, warn_of_gradients
from ritz.hermite.calibration import LEFT_OUT_NUMBERS, Numbers
from ritz.hermite.choosing import FEWEST_VALUES
from ritz.hermite.columns import columns_in_memory_map
from ritz.hermite.lengths import LengthFit, fit_lengths
from ritz.hermite.moments import Moments, fold_moments
from ritz.hermite.observations import Observations, observed_rows, subsample
from ritz.hermite.passes import SUMS_PIVOT_FLOOR, fit_by_passes, fit_by_sums, sections_at_rows
from ritz.hermite.qr import fit_by_qr
from ritz.hermite.sections import OrthonormalSections
from ritz.hermite.settings import (
    MAX_FUNCTIONS,
    MAX_FUNCTIONS_MANY,
    Settings,
    as_kernel,
    given_lengths,
)
from ritz.hermite.solution import RowSums, Solution
from ritz.hermite.summary import hermite_summary
from ritz.hermite.targets import as_targets
from ritz.hermite.units import Units, units_of
from ritz.kernels import Kernel
from ritz.rows import row_slices
from ritz.streams import ArrayStream, is_streamed
from ritz.validation import Array, as_weights, parameter_error, require_names

# Up to so many values and derivatives QR is the solver: with 2,400 functions it takes a minute.
MAX_QR_NUMBERS = 24_000
# The likelihood sees so many values and derivatives at most: each evaluation is cubic in them.
LIKELIHOOD_NUMBERS = 1200


class HermiteRegressor(SavingMixin, PredictToMixin, RegressorMixin, BaseEstimator):
    """Regression on values and gradients, at a cost that is linear in the number of rows.

    Minimizes, over f = c + sum_j a_j phi_j with sections phi of a kernel,

        sum_i w_i |f(x_i) - y_i|^2 + rho sum_i w_i |grad f(x_i) - t_i|^2 + gamma |f|^2.

    Gradients are in units of the inputs' standard deviations. |f| is the norm of the kernel, which
    leaves the constant c free. Up to 24,000 numbers (values and partial derivatives) are fitted by
    a QR decomposition, over sections of values and derivatives. More are fitted by conjugate
    gradients over sections of values, each step a pass over the rows of O(n p d), after one pass
    that adds up p by p matrices to choose rho and gamma.

    Parameters
    ----------
    kernel
        "gaussian", "matern52", "matern32", "rational_quadratic", "exponential", "polynomial", or
        a kernel in your units.
    length_scale
        "auto": one for each column, by the marginal likelihood of up to 1,200 values and
        derivatives, or of all of them up to 2,400. Or a number, or one for each column, in your
        units.
    n_centers
        The number p of functions. "auto": as many as there are values and derivatives, up to
        2,400. Fewer where memory is short, where there are more than a million numbers (1,200 from
        four million on), and with `partial_fit` (up to 1,200).
    gradient_weight
        The number rho, or "auto": by the error on values left out.
    regularization
        The number gamma, which is the variance of a value's noise relative to the variance of the
        function. "auto" chooses it together with rho: the pair of the likelihood's noise, unless
        values left out show it to be worse than the best pair; otherwise the best pair, with a
        smaller gamma if most rows accept it.
    random_state
        A seed, for subsamples.
    centers
        Points (p, d) whose sections to use, instead of functions chosen from the data.
    constant
        Whether f has a constant of its own (ordinary kriging) or not (simple kriging).
    solver
        "qr", "sums" for sums and passes over the rows, or "auto" by size.
    n_folds
        The number of folds that are left out in turn.
    n_jobs
        The number of threads of a fit, by default one for each core.
    verbose
        As in `SpectralEmbedding`.

    Attributes
    ----------
    length_scale_
        The length scales, in your units.
    n_centers_
        The number of functions.
    gradient_weight_, regularization_
        The numbers rho and gamma.
    path_
        The errors on rows left out for all pairs of rho and gamma compared, or None.
    gradient_audit_
        For each column the factor between the gradients and those that the values suggest, or None
        with fewer than 30 values.
    residual_
        How far the solution is from the exact minimum: the gradient of the loss, relative to that
        at zero.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(20, 2))
    >>> y = np.sin(X[:, 0]) * X[:, 1]
    >>> t = np.column_stack([np.cos(X[:, 0]) * X[:, 1], np.sin(X[:, 0])])
    >>> model = ritz.HermiteRegressor().fit(X, y, gradient=t)
    >>> bool(abs(model.predict([[1.0, 1.0]])[0] - np.sin(1.0)) < 1e-3)
    True
    """

    _fitted_types: ClassVar[Mapping[str, Any]] = {
        **FITTED,
        "length_scale_": Array,
        "gradient_audit_": GradientAudit | None,
        "solution_": Solution,
        "_units": Units,
        "_noise": Array | None,
        "_functions": OrthonormalSections,
        "_offset": Array,
        "_folds": list[Moments] | None,
        "_some": Numbers | None,
        "_row_sums": RowSums | None,
        "_has_values": bool,
    }
    _derived: ClassVar[tuple[str, ...]] = (
        "n_centers_",
        "gradient_weight_",
        "regularization_",
        "path_",
        "residual_",
    )

    def __init__(
        self,
        kernel: Any = "gaussian",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        gradient_weight: Any = "auto",
        regularization: Any = "auto",
        random_state: Any = None,
        *,
        centers: Any = None,
        constant: bool = True,
        solver: str = "auto",
        n_folds: int = 8,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.n_centers = n_centers
        self.gradient_weight = gradient_weight
        self.regularization = regularization
        self.random_state = random_state
        self.centers = centers
        self.constant = constant
        self.solver = solver
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.verbose = verbose

    @unchanged_on_failure
    def fit(
        self,
        X: Any,
        y: Any = None,
        gradient: Any = None,
        sample_weight: Any = None,
        *,
        directions: Any = None,
        gradient_sample_weight: Any = None,
    ) -> Self:
        """Fit values and gradients; NaN marks what was not observed.

        Where no values are observed the fitted function has mean zero over the rows.

        Parameters
        ----------
        X
            Rows (n, d).
        y
            Values (n,) or (n, outputs), or None where only gradients are known. Where X is a table
            of `ritz.open`, y and gradient may be names of its columns. Of another stream they may
            be its second view: the values, followed by the d partial derivatives, if any.
        gradient
            Gradients (n, d) or (n, d, outputs). With directions, the derivatives along them: (n,)
            for one direction a row, (n, r) for several, and a last axis for several outputs.
        sample_weight
            Nonnegative weights (n,) of rows. A row of weight 2 counts as two equal rows.
        directions
            Directions (n, d), or (n, d, r) for r a row, of any length.
        gradient_sample_weight
            Nonnegative weights (n,) of the gradients, by default those of the rows.
        """
        arguments = (y, gradient, sample_weight, directions, gradient_sample_weight)
        observations = self._observations(X, *arguments, reset=True)
        settings = Settings.of(self, observations.X.shape[1])
        settings.require_loss(bool(observations.has_value.any()))
        kernel = self._prepare(observations, settings)
        small = observations.size <= MAX_QR_NUMBERS
        by_qr = settings.solver == "qr" or (settings.solver == "auto" and small)
        solve = fit_by_qr if by_qr else fit_by_passes
        solution = solve(observations, kernel, settings, self._noise)
        if not observations.has_value.any():
            solution = RowSums.of(solution.functions.basis, observations).center(solution)
        self._folds: list[Moments] | None = None
        if observations.slopes is not None and observations.has_value.sum() >= FEWEST_VALUES:
            warn_of_errors(solution.path)
        return self._store(solution)

    @unchanged_on_failure
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        gradient: Any = None,
        sample_weight: Any = None,
        *,
        directions: Any = None,
        gradient_sample_weight: Any = None,
    ) -> Self:
        """Add rows to those seen before; the first rows fix the functions and their scales.

        As long as no values were observed the fitted function has mean zero over all rows.
        """
        before = self._folds if hasattr(self, "solution_") else None
        if before is None and self.__dict__.pop("solution_", None) is not None:
            warnings.warn(
                "partial_fit after fit starts anew: the rows of fit are forgotten. It adds only to "
                "the rows of earlier calls of partial_fit.",
                stacklevel=3,
            )
        arguments = (y, gradient, sample_weight, directions, gradient_sample_weight)
        observations = self._observations(X, *arguments, reset=before is None)
        settings = Settings.of(self, observations.X.shape[1])
        has_values = bool(observations.has_value.any()) or (before is not None and self._has_values)
        settings.require_loss(has_values)
        if before is None:
            kernel = self._prepare(observations, settings)
            self._functions, self._offset = sections_at_rows(
                observations, kernel, settings, SUMS_PIVOT_FLOOR, MAX_FUNCTIONS_MANY
            )
            self._some: Numbers | None = None
            self._row_sums: RowSums | None = None
        n_folds = settings.n_folds if before is None else len(before)
        functions, offset = self._functions, self._offset
        folds = fold_moments(functions, offset, observations, n_folds, settings.n_jobs)
        if before is not None:
            folds = [a + b for a, b in zip(before, folds, strict=True)]
        some = Numbers.of(subsample(observations, LEFT_OUT_NUMBERS, settings.seed, True))
        some = (some if self._some is None else self._some + some).some()
        solution = fit_by_sums(functions, offset, folds, settings, self._noise, some)
        if not has_values:
            sums = RowSums.of(functions.basis, observations)
            self._row_sums = sums if self._row_sums is None else self._row_sums + sums
            solution = self._row_sums.center(solution)
        self._folds, self._some = folds, some
        self._has_values: bool = has_values
        return self._store(solution)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the values (n,) or (n, outputs), and their standard deviation if asked.

        It is the standard deviation of the Gaussian process whose mean the fitted function is,
        without the noise of a new observation. Its amplitude is such that 95% of the values of rows
        left out in turn are within 1.96 standard deviations.
        """
        check_is_fitted(self, "solution_")
        if is_streamed(X) and return_std:
            stream = checked_stream(self, X, reset=False)
            parts = [self._with_deviations(block.views[0]) for block in stream.blocks()]
            return tuple(np.concatenate(part) for part in zip(*parts, strict=True))
        if is_streamed(X):
            return evaluated(self, X, self._values)
        rows = checked_rows(self, X, reset=False)
        return self._with_deviations(rows) if return_std else self._values(rows)

    def _with_deviations(self, rows: Any) -> tuple[Array, Array]:
        """Return the values at rows that are checked already, and their standard deviations."""
        units = self._units
        X = units.standardize(rows)
        deviation = np.empty((len(X), len(units.y_scale)))
        for part in row_slices(len(X), 2048):
            deviation[part] = np.sqrt(self.solution_.variance(X[part]))
        return self._values(rows), self._shaped(deviation * units.y_scale)

    def _values(self, X: Any) -> Array:
        """Return the values at rows (n, d) that are checked already."""
        units = self._units
        scaled = self.solution_.function(units.standardize(X))
        return self._shaped(scaled * units.y_scale + units.y_mean)

    def predict_gradient(self, X: Any) -> Array:
        """Return the gradients (n, d) or (n, d, outputs) at points, or at the rows of a stream."""
        check_is_fitted(self, "solution_")
        return evaluated(self, X, self._gradients)

    def _gradients(self, X: Any) -> Array:
        units = self._units
        slopes = self.solution_.function.gradient(units.standardize(X))
        return self._shaped(slopes * units.y_scale / units.x_scale[:, None])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the coefficient of determination on the rows of X (n, d) that have a value."""
        if is_streamed(X):
            X, y, _, sample_weight = columns_in_memory_map(X, y, None, sample_weight)
        return determination(self.predict(X), y, sample_weight)

    def summary(self) -> Summary:
        """Return what was chosen, why, how sure the result is, and what to try next."""
        check_is_fitted(self, "solution_")
        return hermite_summary(self)

    def _shaped(self, array: Array) -> Array:
        return array[..., 0] if self._flat else array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _observations(
        self,
        X: Any,
        y: Any,
        gradient: Any,
        sample_weight: Any,
        directions: Any,
        gradient_sample_weight: Any,
        *,
        reset: bool,
    ) -> Observations:
        """Check the data, and choose the units or keep them."""
        if is_streamed(X):
            # The rows are read many times, which is fast from a file of numbers.
            X, y, gradient, sample_weight = columns_in_memory_map(X, y, gradient, sample_weight)
        if y is None and gradient is None:
            what = "requires y to be passed, but the target y is None"
            raise ValueError(f"{type(self).__name__} {what}.")
        # Sums over columns of another memory order round differently, and rounding decides ties
        # between sections.
        names = None
        if isinstance(X, ArrayStream):
            X, (names, *_) = X.views[0], X.names
        X = np.ascontiguousarray(checked_rows(self, X, reset=reset))
        if names is not None and reset:
            set_names(self, names)
        require_names(names, names_of(self), "X")
        n, d = X.shape
        flat, y, t, U = as_targets(y, gradient, directions, n, d)
        # Without weights, one number stands for those of all rows.
        weight = slope_weight = np.broadcast_to(1.0, n)
        if sample_weight is not None:
            weight = slope_weight = checked_weights(sample_weight, X)
        if gradient_sample_weight is not None:
            slope_weight = as_weights(gradient_sample_weight, n, "gradient_sample_weight")
        has_value = observed_rows(y, weight)
        has_slope = np.zeros(n, dtype=bool) if t is None else observed_rows(t, slope_weight)
        if not (has_value.any() or has_slope.any()):
            raise parameter_error("y", "known for at least one row of positive weight", "none")
        if reset:
            options = {"rescale": not isinstance(self.kernel, Kernel), "constant": self.constant}
            units = units_of(X, y, t, (weight, slope_weight), partials=U is None, **options)
            self._flat, self._units = flat, units
        elif y.shape[1] != len(self._units.y_scale) or flat != self._flat:
            what = f"values of {len(self._units.y_scale)} outputs, as before"
            raise parameter_error("y", what, f"{y.shape[1]}")
        return Observations(X, y, t, U, weight, slope_weight, has_value, has_slope, self._units)

    def _prepare(self, observations: Observations, settings: Settings) -> Kernel:
        """Return the kernel, its length scales chosen; compare the gradients with the values."""
        unit, seed = as_kernel(self.kernel), settings.seed
        order = np.inf if unit.smoothness is None else unit.smoothness
        if observations.slopes is not None and order < 1:
            what = "one with derivatives where gradients are given"
            raise parameter_error("kernel", what, unit)
        d, x_scale = observations.X.shape[1], observations.units.x_scale
        if isinstance(self.kernel, Kernel):
            KernelSections(unit, observations.X[-64:]).fit(observations.X)
        lengths = given_lengths(self.kernel, self.length_scale, x_scale)
        fit: LengthFit | None = None
        if lengths is None:
            some = subsample(observations, LIKELIHOOD_NUMBERS, seed, order >= 1)
            fit = fit_lengths(unit, some, settings.constant, seed)
            if fit is not None and LIKELIHOOD_NUMBERS < observations.size <= MAX_FUNCTIONS:
                # Where each number can have a function of its own, all of them are used.
                some = subsample(observations, MAX_FUNCTIONS, seed, order >= 1)
                fit = fit_lengths(unit, some, settings.constant, seed, start=fit)
            lengths = np.full(d, np.sqrt(d)) if fit is None else fit.lengths
        self._noise = None if fit is None else fit.noise
        self.length_scale_: Any = lengths * x_scale
        self.gradient_audit_: GradientAudit | None = None
        partials = observations.slopes is not None and observations.directions is None
        if partials and unit.family == "distance" and order >= 2 and observations.has_value.any():
            # Of 300 rows, at least 30 of them with values: with fewer it gave false alarms.
            some = subsample(observations, 300 * (1 + d), seed, True)
            if (some.weight[:, 0] > 0).sum() >= 30:
                self.gradient_audit_ = audit_gradients(unit, some)
                warn_of_gradients(
                    self.gradient_audit_, getattr(self, "feature_names_in_", range(d))
                )
        return as_kernel(self.kernel, tuple(lengths))

    def _derive(self) -> None:
        self._store(self.solution_)

    def _store(self, solution: Solution) -> Self:
        self.solution_ = solution
        self.n_centers_ = solution.functions.size
        self.gradient_weight_ = solution.gradient_weight
        self.regularization_ = solution.regularization
        self.path_ = solution.path
        self.residual_ = solution.residual
        return self
