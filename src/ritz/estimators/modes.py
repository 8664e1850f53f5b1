"""The slow modes of the diffusion behind equilibrium samples."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz.estimators.advice import (
    Reach,
    reach_of,
    warn_dependent_rows,
    warn_far_points,
    warn_unequal_columns,
)
from ritz.estimators.checks import (
    SparseInputMixin,
    checked_rows,
    evaluated,
    names_of,
    seed_of,
)
from ritz.estimators.fitting import DEFAULTS, fitted_sums, fixed_state, unchanged_on_failure
from ritz.estimators.functions import wanted_functions, with_basis_errors, without_constant
from ritz.estimators.inputs import draw_in_advance, rows_of_fit
from ritz.estimators.saving import SavingMixin
from ritz.estimators.summary import Summary, modes_summary
from ritz.estimators.writing import TransformToMixin
from ritz.forms import Form, diffusion
from ritz.selection.rows import Rows, WeightedRows
from ritz.streams import is_streamed
from ritz.trajectories import as_lag, as_time_step
from ritz.validation import Array, as_count, as_number, parameter_error, renamed

# The logarithm of the ratio of D over a lag and over twice the lag above which a fit warns.
UNSETTLED = 0.15


class DiffusionModes(
    SavingMixin,
    TransformToMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    SparseInputMixin,
    BaseEstimator,
):
    """Find the slow modes and rates of a reversible diffusion from samples of its equilibrium.

    For samples of density exp(-U / kT) and the diffusion dx = -D grad U / kT dt + sqrt(2 D) dW the
    modes are the eigenfunctions of E<grad f, D grad g>, and the eigenvalues their rates of decay.

    Parameters
    ----------
    n_modes
        The number of modes, the constant not counted.
    D
        The diffusion matrix: a number, d numbers, a matrix (d, d), or a function of points (b, d);
        by default 1. "displacements" takes the rows as frames in the order of time, and D of each
        column as E[(x_(t + lag) - x_t)^2] / (2 lag dt), over frames of one group where groups are
        given as labels. It depends on the lag: `ritz.displacements` shows where it settles.
    lag, dt
        For D="displacements": the number of frames between the two that are compared, by default 1,
        and the time between two frames.
    mobility, kT
        In place of D: D is kT times the mobility, which has the forms that D may have and is 1 by
        default. To give D and either of them is an error.
    kernel, length_scale, n_centers, basis, regularization, n_folds, random_state, n_jobs, verbose
        As in `SpectralEmbedding`.

    Attributes
    ----------
    rates_, rate_errors_
        The eigenvalues (n_modes,), ascending, and their standard errors. Where the basis has fewer
        functions on the samples there are as many, and a warning says so.
    timescales_
        One over the rates (n_modes,).
    D_
        The diffusion coefficients (d,) found where D="displacements".
    spectrum_
        The `Spectrum`, the constant first.
    """

    def __init__(
        self,
        n_modes: int = 3,
        *,
        D: Any = None,
        lag: int | None = None,
        dt: float = 1.0,
        mobility: Any = None,
        kT: float = 1.0,
        kernel: Any = "auto",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        basis: Any = None,
        regularization: Any = "auto",
        n_folds: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.n_modes = n_modes
        self.D = D
        self.lag = lag
        self.dt = dt
        self.mobility = mobility
        self.kT = kT
        self.kernel = kernel
        self.length_scale = length_scale
        self.n_centers = n_centers
        self.basis = basis
        self.regularization = regularization
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _form(self, data: Rows, groups: Any) -> Form:
        self.__dict__.pop("D_", None)
        by_displacements = isinstance(self.D, str) and self.D == "displacements"
        as_time_step(self.dt)
        if self.lag is not None and not by_displacements:
            raise parameter_error("lag", "left out unless D='displacements'", self.lag)
        if isinstance(self.D, str) and not by_displacements:
            what = "'displacements', numbers or a function of points"
            raise parameter_error("D", what, repr(self.D))
        if self.D is not None and self.mobility is not None:
            raise parameter_error("mobility", "None where D is given", "both", "D = kT mobility.")
        kT = as_number(self.kT, "kT", "a positive number", float(np.finfo(np.float64).tiny))
        if self.D is None:
            return kT * diffusion(1.0 if self.mobility is None else self.mobility)
        if kT != 1.0:
            raise parameter_error("kT", "left out where D is given", kT, "D = kT mobility.")
        if not by_displacements:
            return diffusion(self.D)
        if not isinstance(data, WeightedRows):
            got = "'displacements' for a stream"
            remedy = "Give numbers, such as those of ritz.displacements on some of the frames."
            raise parameter_error("D", "numbers, or a function of points", got, remedy)
        # Blocks that "auto" cuts a series into are one series.
        labels = None if isinstance(groups, str) else groups
        self.D_ = self._from_displacements(data.X, labels)
        return diffusion(self.D_)

    def _from_displacements(self, X: NDArray[Any], groups: Any) -> Array:
        """Return the diffusion coefficients (d,) of rows in the order of time."""
        rows = np.ascontiguousarray(X, dtype=np.float64)
        lag, dt = as_lag(1 if self.lag is None else self.lag, [rows]), as_time_step(self.dt)
        labels = None if groups is None else np.asarray(groups)
        if labels is not None and labels.shape != (len(rows),):
            raise parameter_error("groups", f"an array of {len(rows)} labels", repr(groups))

        def over(lag: int) -> Array:
            squares = (rows[lag:] - rows[:-lag]) ** 2
            if labels is not None:
                squares = squares[labels[lag:] == labels[:-lag]]
            return np.asarray(squares.sum(axis=0) / max(len(squares), 1) / (2 * lag * dt))

        D = over(lag)
        if not D.any():
            what = "such that frames of one group that are a lag apart differ"
            raise parameter_error("lag", what, lag)
        later = over(2 * lag)
        varies = (D > 0) & (later > 0)
        change = np.abs(np.log(later[varies] / D[varies])).max(initial=0.0)
        if change > UNSETTLED:
            warnings.warn(
                f"D from displacements over {lag} frames and over {2 * lag} differs by a factor of "
                f"{np.exp(change):.2f}, and rates with it. `ritz.displacements` shows where it "
                "settles: choose such a lag, or frames closer in time, or give D.",
                stacklevel=5,
            )
        return D

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
        """Find the modes from samples X (n, d) or a stream; weights undo a simulation's bias.

        Rows that depend on each other, as those of a time series, need `groups` (n,): labels of
        pieces longer than its memory, or "auto" for one series in its order, whose memory is then
        estimated. Otherwise errors come out too small.

        With a `checkpoint`, a fit that was interrupted goes on from that file, as `ritz.assemble`
        does; without a random_state the seed is then 0.
        """
        seed = seed_of(fixed_state(self, checkpoint))
        data = rows_of_fit(self, X, sample_weight, seed, groups=groups)
        draw_in_advance(self, data, DEFAULTS, seed)
        if self.D is None and self.mobility is None:
            warn_unequal_columns(data, seed, names_of(self), "mobility=1.0")
        if groups is None:
            warn_dependent_rows(data)
        n_modes = as_count(self.n_modes, "n_modes")
        with renamed(A="mobility" if self.D is None else "D"):
            form = self._form(data, groups)
            sums = fitted_sums(self, form, n_modes, data, seed, checkpoint=checkpoint)
        self._grouped = sums.grouped
        spectrum = wanted_functions(sums, n_modes, self.regularization_, "n_modes", self.n_jobs)
        self.spectrum_ = with_basis_errors(spectrum, self.selection_)
        self.rates_, self.rate_errors_ = without_constant(self.spectrum_)
        with np.errstate(divide="ignore"):
            self.timescales_ = 1 / self.rates_
        self._n_features_out = len(self.rates_)
        self._reach: Reach | None = None
        if isinstance(data, WeightedRows):
            rows = data.X
            # Free the hashes of all rows first.
            del data
            self._reach = reach_of(self.spectrum_, rows)
        return self

    def summary(self) -> Summary:
        """Return what was chosen, why, how sure the result is, and what to try next."""
        check_is_fitted(self, "spectrum_")
        return modes_summary(self)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the modes (n, n_modes) at points X (n, d), or at the rows of a stream."""
        check_is_fitted(self, "spectrum_")
        if is_streamed(X):
            return evaluated(self, X, self._transformed)
        X = checked_rows(self, X, reset=False)
        warn_far_points(X, getattr(self, "_reach", None), self.spectrum_)
        return self._transformed(X)

    def _transformed(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.spectrum_[1:].at_rows(X), dtype=X.dtype)
