"""Regression on values and gradients."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted

from ritz.arrays import Array, Block, as_count, as_number, as_weights, must, row_slices
from ritz.assembly.passes import fold_of
from ritz.bases.functionals import Functionals, pivoted_cholesky
from ritz.estimators.base import SpectralEstimator
from ritz.estimators.family import Family
from ritz.kernels import Kernel
from ritz.regression.audit import GradientAudit, audit, warn_of
from ritz.regression.choosing import choose
from ritz.regression.direct import fit_by_qr
from ritz.regression.fold_sums import reliable, sums_of_folds
from ritz.regression.from_sums import fit_moments
from ritz.regression.lengths import likely_lengths
from ritz.regression.likelihood import Fitted
from ritz.regression.memory import most_functions, require_memory
from ritz.regression.moments import Moments
from ritz.regression.observations import Observations, Part
from ritz.regression.passes import fit_by_passes
from ritz.regression.solution import Solution
from ritz.regression.targets import (
    any_known,
    as_slopes,
    as_values,
    subsample,
)
from ritz.regression.units import units_of
from ritz.regression.validation import Choice, Validation
from ritz.regression.whitened import Whitened
from ritz.regression.zero_mean import RowMeans
from ritz.streams import Stream
from ritz.streams.array import ArrayStream
from ritz.streams.stream import CHUNK_ROWS

MOST_FUNCTIONS, MOST_OF_MANY = 2400, 1200
MOST_DIRECT, MANY = 24_000, 1_000_000
SUMS_FLOOR = 1e-8
PASSES_FLOOR = 1e-13
LEAST_PILOT, ENOUGH_PILOT = 8000, 40_000
LIKELIHOOD_SIZE = 1200
AUDIT_ROWS = 300
PILOT_ROWS = 5000
EPS = float(np.finfo(np.float64).eps)
LEAST_PENALTY = 1e-18


class HermiteRegressor(RegressorMixin, SpectralEstimator):
    """Regression on values and gradients, at a cost that is linear in the number of rows.

    Minimizes, over f = c + sum_j a_j phi_j with sections phi of a kernel,

        sum_i w_i |f(x_i) - y_i|^2 + rho sum_i w_i |grad f(x_i) - t_i|^2 + gamma |f|^2,

    gradients being measured in units of the inputs' standard deviations and |f| being the kernel's
    norm, which leaves the constant c free. Up to 24,000 numbers (values and partial derivatives)
    are fitted by a QR decomposition over sections of values and derivatives; more by conjugate
    gradients over sections of values, each step a pass over the rows of O(n p d), after one pass
    that adds up p by p matrices to choose rho and gamma.

    Parameters
    ----------
    kernel
        "gaussian", "matern52", "matern32", "rational_quadratic", "exponential", "polynomial", or
        a kernel in your units.
    length_scale
        "auto": one a column, by the marginal likelihood of up to 1,200 values and derivatives, or
        of all where there are up to 2,400; or a number, or one a column, in your units.
    n_centers
        The number p of functions: "auto" for all that is observed, up to 2,400, or fewer where
        there are more than a million numbers (1,200 from four million on) or little memory, and
        up to 1,200 by `partial_fit`.
    gradient_weight
        The number rho, or "auto": by the error on values left out.
    regularization
        The number gamma, the variance of a value's noise relative to the function's own; or "auto",
        chosen with rho: the pair of the likelihood's noise unless values left out show it to be
        worse than the best, else the best, with a smaller noise if most rows bear it.
    random_state
        A seed, for subsamples.
    centers
        Points (p, d) whose sections to use, in place of choosing functions from the data.
    constant
        Whether f has a constant of its own (ordinary kriging) or not (simple kriging).
    solver
        "qr", "sums" for sums and passes over the rows, or "auto" by size.
    n_folds
        The number of parts that are left out in turn.
    n_jobs
        The number of threads of a fit, by default one for each core.

    Attributes
    ----------
    length_scale_
        The length scales, in your units.
    gradient_weight_, regularization_
        The numbers rho and gamma.
    path_
        The errors on rows left out for all pairs of rho and gamma compared, or None.
    gradient_audit_
        For each column the factor by which gradients differ from what the values say, or None.
    residual_
        How far the solution is from the exact minimum: the gradient of the loss relative to that
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

    def fit(
        self,
        X: Any,
        y: Any,
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
            Values (n,) or (n, outputs), or None where only gradients are known.
        gradient
            Gradients (n, d) or (n, d, outputs). With directions, the derivatives along them: (n,)
            for one direction a row, (n, r) for several, and a last axis for several outputs.
        sample_weight
            Nonnegative weights (n,) of rows.
        directions
            Directions (n, d), or (n, d, r) for r a row, of any length.
        gradient_sample_weight
            Nonnegative weights (n,) of the gradients, by default those of the rows.
        """
        # A fit that fails leaves no half of itself behind.
        self.__dict__.pop("solution_", None)
        rows, observations = self._observed(
            X, y, gradient, sample_weight, directions, gradient_sample_weight, reset=True
        )
        self._prepare(rows, observations)
        if self._by_qr(observations):
            self.solution_ = self._fit_by_qr(rows, observations)
            self._folds: list[Moments] | None = None
        else:
            self.solution_ = self._fit_by_passes(rows, observations)
            self._folds = None
        self._report()
        if not self._told_values:
            means = RowMeans.of(self.solution_.functions.basis, rows, observations)
            self.solution_ = means.taken_off(self.solution_)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        gradient: Any = None,
        sample_weight: Any = None,
        *,
        directions: Any = None,
        gradient_sample_weight: Any = None,
    ) -> Self:
        """Add rows to those seen before; the first ones fix the functions and their scales.

        As long as no values were observed the fitted function has mean zero over all rows.
        """
        first = not hasattr(self, "solution_")
        if not first and self._folds is None:
            warnings.warn(
                "partial_fit goes on where partial_fit ended, not where fit did: the rows fitted "
                "before are forgotten.",
                stacklevel=2,
            )
            first = True
        rows, observations = self._observed(
            X, y, gradient, sample_weight, directions, gradient_sample_weight, reset=first
        )
        if first:
            self._prepare(rows, observations)
            stream = self._stream(rows, observations)
            kernel = self._family(self._lengths)
            self._functions, self._offset = self._sections(kernel, stream, SUMS_FLOOR, MOST_OF_MANY)
            self._means: RowMeans | None = None
        else:
            stream = self._stream(rows, observations)
            self._told_values |= any_known(observations.y, observations.weight)
        n_folds = as_count(self.n_folds, "n_folds") if first else len(self._folds or ())
        folds = sums_of_folds(
            self._functions, self._offset, stream, observations, n_folds, self.n_jobs
        )
        if not first and self._folds is not None:
            folds = [a + b for a, b in zip(self._folds, folds, strict=True)]
        least = reliable(self._functions, folds)
        self.solution_ = fit_moments(
            self._functions,
            self._offset,
            folds,
            self.constant,
            lambda sums: self._choose(sums, least),
            least,
        )
        self._folds = folds
        if not self._told_values:
            means = RowMeans.of(self._functions.basis, rows, observations)
            self._means = means if self._means is None else self._means + means
            self.solution_ = self._means.taken_off(self.solution_)
        self._report()
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the values (n,) or (n, outputs), and the function's standard deviation if asked.

        It is that of the Gaussian process whose mean the fitted function is: of the function
        itself, without the noise of a new observation.
        """
        X = self._points(X)
        units = self._units
        values = self._shaped(self.solution_.function(X) * units.size + units.level)
        if not return_std:
            return values
        deviation = np.empty((len(X), len(units.size)))
        for part in row_slices(len(X), 2048):
            deviation[part] = np.sqrt(self.solution_.variance(X[part]))
        return values, self._shaped(deviation * units.size)

    def predict_gradient(self, X: Any) -> Array:
        """Return the gradients (n, d) or (n, d, outputs)."""
        X = self._points(X)
        units = self._units
        slopes = self.solution_.function.gradient(X)
        return self._shaped(slopes * units.size / units.spread[:, None])

    def _points(self, X: Any) -> Array:
        check_is_fitted(self, "solution_")
        X = self._checked(X, reset=False)
        return np.asarray((X - self._units.center) / self._units.spread)

    def _shaped(self, array: Array) -> Array:
        return array[..., 0] if self._flat else array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _observed(
        self,
        X: Any,
        y: Any,
        gradient: Any,
        sample_weight: Any,
        directions: Any,
        gradient_sample_weight: Any,
        *,
        reset: bool,
    ) -> tuple[NDArray[Any], Observations]:
        """Return the rows and what was observed there, in units that fit them."""
        if y is None and gradient is None:
            what = "requires y to be passed, but the target y is None"
            raise ValueError(f"{type(self).__name__} {what}.")
        X = self._checked(X, reset=reset, at_least=1)
        n, d = X.shape
        t, U, outputs = as_slopes(gradient, directions, n, d)
        y, flat = as_values(y, n, outputs)
        if t is not None and y.shape[1] != t.shape[2]:
            what = f"derivatives of {y.shape[1]} output(s), as y has, along the last axis"
            raise ValueError(must("gradient", what, f"{t.shape[2]}"))
        # Without weights of its own each row has one and the same number, stored once.
        weight = (
            np.broadcast_to(1.0, n) if sample_weight is None else self._weights(sample_weight, X)
        )
        slope_weight = weight
        if gradient_sample_weight is not None:
            slope_weight = as_weights(gradient_sample_weight, n, "gradient_sample_weight")
        if not (any_known(y, weight) or (t is not None and any_known(t, slope_weight))):
            raise ValueError(must("y", "known for at least one row of positive weight", "none"))
        if not reset and (y.shape[1] != len(self._units.size) or flat != self._flat):
            what = f"values of {len(self._units.size)} outputs, as before"
            raise ValueError(must("y", what, f"{y.shape[1]}"))
        self._flat: bool = flat
        if reset:
            rescale = not isinstance(self.kernel, Kernel)
            units = units_of(X, y, t, U, weight, slope_weight, rescale, self.constant)
        else:
            units = self._units
        return X, Observations(y, t, U, weight, slope_weight, units)

    def _prepare(self, X: NDArray[Any], observations: Observations) -> None:
        """Choose length scales, and look whether gradients agree with values."""
        self._units = observations.units
        seed = self._seed()
        self._told_values = any_known(observations.y, observations.weight)
        family = self._family = Family(self.kernel, X.shape[1])
        lengths = family.given(self.length_scale, self._units.spread)
        some = subsample(X, observations, LIKELIHOOD_SIZE, seed, family.differentiable)
        self._fitted: Fitted | None = None
        if lengths is None:
            d = X.shape[1]
            likely = partial(likely_lengths, family, constant=self.constant, smooth=family.smooth)
            self._fitted = likely(some, d=d, seed=seed)
            if LIKELIHOOD_SIZE < observations.size <= MOST_FUNCTIONS:
                # Where each number can have a function of its own, all of them have a say.
                whole = subsample(X, observations, MOST_FUNCTIONS, seed, family.differentiable)
                self._fitted = likely(whole, d=d, seed=seed, start=self._fitted)
            lengths = np.full(d, np.sqrt(d)) if self._fitted is None else self._fitted.lengths
        self._lengths = lengths
        own = isinstance(self.kernel, Kernel)
        self.length_scale_: Any = lengths if own else lengths * self._units.spread
        self.gradient_audit_: GradientAudit | None = None
        if observations.t is not None and observations.U is None and self._told_values:
            self._audit(subsample(X, observations, AUDIT_ROWS * (1 + X.shape[1]), seed, True))

    def _audit(self, part: Part) -> None:
        if not (self._family.stationary and self._family.smooth) or (part.known > 0).sum() < 10:
            return
        self.gradient_audit_ = audit(self._family, part)
        warn_of(self.gradient_audit_, getattr(self, "feature_names_in_", None))

    def _by_qr(self, observations: Observations) -> bool:
        if self.solver not in ("auto", "qr", "sums"):
            raise ValueError(must("solver", "'auto', 'qr' or 'sums'", repr(self.solver)))
        if self.solver != "auto":
            return self.solver == "qr"
        return observations.size <= MOST_DIRECT

    def _functions_wanted(self, there: int, most: int, held: int = 0) -> int:
        """Return the number of functions, of those there are, with some rows held in memory."""
        n_folds = as_count(self.n_folds, "n_folds")
        if isinstance(self.n_centers, str):
            if self.n_centers != "auto":
                what = "'auto' or a positive integer"
                raise ValueError(must("n_centers", what, repr(self.n_centers)))
            return max(1, min(there, most, most_functions(n_folds, held)))
        p = as_count(self.n_centers, "n_centers")
        require_memory(p, n_folds)
        p = min(p, there)
        require_memory(p, n_folds, held)
        return p

    def _given_centers(self) -> Functionals | None:
        if self.centers is None:
            return None
        d = self.n_features_in_
        Y = np.asarray(self.centers, dtype=np.float64)
        if Y.ndim != 2 or Y.shape[1] != d:
            raise ValueError(must("centers", f"an array (p, {d})", f"shape {Y.shape}"))
        assert_all_finite(Y, input_name="centers")
        return Functionals.at((Y - self._units.center) / self._units.spread)

    def _given(self) -> tuple[float, float, bool]:
        """Return the weight of gradients and the penalty given, and whether one is "auto"."""
        what = "'auto' or a nonnegative number"
        numbers, auto = [], False
        for name, value in (
            ("gradient_weight", self.gradient_weight),
            ("regularization", self.regularization),
        ):
            if isinstance(value, str):
                if value != "auto":
                    raise ValueError(must(name, what, repr(value)))
                auto = True
                numbers.append(np.nan)
            else:
                numbers.append(as_number(value, name, what, 0.0))
        return numbers[0], max(numbers[1], LEAST_PENALTY), auto

    def _choose(
        self, validation: Validation, least: float = 0.0
    ) -> tuple[float, float, Choice | None]:
        """Return the weight of gradients and the penalty, given or best on rows left out.

        Parameters
        ----------
        validation
            Folds to be left out.
        least
            The smallest penalty that the sums can tell from none.
        """
        rho, gamma, auto = self._given()
        if not auto:
            return rho, gamma, None
        likely = self._fitted is not None
        noise = self._fitted.noise if self._fitted is not None else np.full(2, 1e-8)
        free = isinstance(self.regularization, str)
        return choose(validation, rho, gamma, free, noise, likely, least)

    def _fit_by_qr(self, X: NDArray[Any], observations: Observations) -> Solution:
        part = observations.part(X, slice(None)).merged()
        observed = part.functionals()
        F = observed[0]
        kernel = self._family(self._lengths)
        self._require_gradients(observations)
        n_folds = as_count(self.n_folds, "n_folds")
        centers = self._given_centers()
        # What is observed of the functions, and what a fold copies of that.
        held = 2 * len(F)
        if centers is None and self._family.smooth:
            p = self._functions_wanted(len(F), MOST_FUNCTIONS, held)
            chosen, H = pivoted_cholesky(kernel, F, p)
            functions = Whitened.of(kernel, F, chosen, H)
        else:
            if centers is None:
                points = Functionals.at(part.X)
                p = self._functions_wanted(len(points), MOST_FUNCTIONS, held)
                chosen, T = pivoted_cholesky(kernel, points, p)
                functions = Whitened.of(kernel, points, chosen, T)
            else:
                require_memory(len(centers), n_folds, held, "centers")
                functions = Whitened.at(kernel, centers)
            H = functions.design(F)[:, 1:]
        rows = np.asarray(X, dtype=np.float64)
        rows = rows if part.first is None else rows[part.first]
        whole = Block((rows,), np.ones(len(rows)), np.arange(len(rows)))
        folds = fold_of(whole, n_folds).astype(np.intp)
        lost = (part.squares, part.count)
        return fit_by_qr(functions, H, observed, lost, folds, n_folds, self.constant, self._choose)

    def _require_gradients(self, observations: Observations) -> None:
        if observations.t is not None and not self._family.differentiable:
            what = "one with derivatives where gradients are given"
            raise ValueError(must("kernel", what, self._family.example))

    def _fit_by_passes(self, X: NDArray[Any], observations: Observations) -> Solution:
        """Fit many rows: sums of the well-conditioned functions choose, passes over rows solve."""
        stream = self._stream(X, observations)
        kernel = self._family(self._lengths)
        # Fewer for many rows: so many that their products cost no more.
        share = np.sqrt(MANY / max(observations.size, MANY))
        most = max(MOST_OF_MANY, round(share * MOST_FUNCTIONS))
        functions, offset = self._sections(kernel, stream, PASSES_FLOOR, most)
        rho, gamma, choice = self._given()
        if choice:
            few, means = self._well_conditioned(functions, offset)
            folds = sums_of_folds(few, means, stream, observations, self.n_folds, self.n_jobs)
            validation = Validation(folds, self.constant, self.n_jobs)
            rho, gamma, path = self._choose(validation, reliable(few, folds))
        else:
            path = None
        size = pilot_size(functions.basis.size)
        pilot = subsample(X, observations, size, self._seed() + 1, True)
        known = told = 0.0
        for rows in row_slices(len(X), CHUNK_ROWS):
            part = observations.part(X[rows], rows)
            known, told = known + float(part.known.sum()), told + float(part.told.sum())
        solution = fit_by_passes(
            functions,
            stream,
            observations,
            pilot,
            (known, told),
            rho,
            gamma,
            self.constant,
            self.n_jobs,
        )
        return replace(solution, choice=path)

    def _stream(self, X: NDArray[Any], observations: Observations) -> Stream:
        self._require_gradients(observations)
        weight, slope_weight = observations.weight, observations.slope_weight
        both = weight if slope_weight is weight else np.maximum(weight, slope_weight)
        return ArrayStream((X,), both)

    def _sections(
        self, kernel: Kernel, stream: Stream, floor: float, most: int
    ) -> tuple[Whitened, Array]:
        """Return sections at centers chosen from a sample of rows or given, and their means."""
        units = self._units
        pilot = (stream.sample(PILOT_ROWS, self._seed()) - units.center) / units.spread
        points = self._given_centers()
        if points is None:
            points = Functionals.at(pilot)
            wanted = most if isinstance(self.n_centers, str) else len(points)
            p = self._functions_wanted(len(points), most, pilot_size(wanted))
        else:
            p = len(points)
            require_memory(p, as_count(self.n_folds, "n_folds"), pilot_size(p), "centers")
        chosen, H = pivoted_cholesky(kernel, points, p, floor)
        functions = Whitened.of(kernel, points, chosen, H)
        return functions, np.asarray(functions.basis(pilot[:2000]).mean(axis=0))

    def _well_conditioned(self, functions: Whitened, offset: Array) -> tuple[Whitened, Array]:
        """Return the first of the functions, as far as sums of products can tell them apart."""
        pivots = np.diag(functions.triangle) ** 2
        few = max(1, int((pivots > SUMS_FLOOR * pivots.max()).sum()))
        return functions.first(few), offset[:few]

    def _report(self) -> None:
        solution = self.solution_
        self.n_centers_ = solution.functions.basis.size
        self.gradient_weight_ = solution.gradient_weight
        self.regularization_ = solution.regularization
        self.path_ = solution.choice
        self.residual_ = solution.residual


def pilot_size(p: int) -> int:
    """Return how many numbers are to prepare passes with p functions: 32 p, fewer for many."""
    return max(LEAST_PILOT, min(32 * p, max(ENOUGH_PILOT, 8 * p)))
