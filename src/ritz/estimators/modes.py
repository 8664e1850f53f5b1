"""The slow modes of the diffusion behind equilibrium samples."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz.estimators.checks import checked_rows, checked_weights
from ritz.estimators.fitting import (
    fitted_sums,
    unchanged_on_failure,
    wanted_functions,
    without_constant,
)
from ritz.forms import Form, diffusion
from ritz.selection.rows import WeightedRows
from ritz.validation import as_count, as_number, parameter_error, renamed


class DiffusionModes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Find the slow modes and rates of a reversible diffusion from samples of its equilibrium.

    For samples of density exp(-U / kT) and the diffusion dx = -D grad U / kT dt + sqrt(2 D) dW the
    modes are the eigenfunctions of E<grad f, D grad g>, and the eigenvalues their rates of decay.

    Parameters
    ----------
    n_modes
        The number of modes, the constant not counted.
    D
        The diffusion matrix: a number, d numbers, a matrix (d, d), or a function of points (b, d);
        by default 1.
    mobility, kT
        In place of D: D is kT times the mobility, which has the forms that D may have and is 1 by
        default. To give D and either of them is an error.
    kernel, length_scale, n_centers, basis, regularization, n_folds, random_state, n_jobs
        As in `SpectralEmbedding`.

    Attributes
    ----------
    rates_, rate_errors_
        The eigenvalues (n_modes,), ascending, and their standard errors. Where the basis has fewer
        functions on the samples there are as many, and a warning says so.
    timescales_
        One over the rates (n_modes,).
    spectrum_
        The `Spectrum`, the constant first.
    """

    def __init__(
        self,
        n_modes: int = 3,
        *,
        D: Any = None,
        mobility: Any = None,
        kT: float = 1.0,
        kernel: Any = "gaussian",
        length_scale: Any = "auto",
        n_centers: Any = "auto",
        basis: Any = None,
        regularization: Any = "auto",
        n_folds: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_modes = n_modes
        self.D = D
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

    def _form(self) -> Form:
        if self.D is not None and self.mobility is not None:
            raise parameter_error("mobility", "None where D is given", "both", "D = kT mobility.")
        kT = as_number(self.kT, "kT", "a positive number", float(np.finfo(np.float64).tiny))
        if self.D is None:
            return kT * diffusion(1.0 if self.mobility is None else self.mobility)
        if kT != 1.0:
            raise parameter_error("kT", "left out where D is given", kT, "D = kT mobility.")
        return diffusion(self.D)

    @unchanged_on_failure
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find the modes from samples X (n, d); weights undo a bias of the simulation.

        Rows that depend on each other, as those of a time series, need `groups` (n,): labels of
        pieces longer than its memory. Otherwise errors come out too small.
        """
        X = checked_rows(self, X, reset=True, at_least=2)
        data = WeightedRows(X, checked_weights(sample_weight, X))
        n_modes = as_count(self.n_modes, "n_modes")
        with renamed(A="mobility" if self.D is None else "D"):
            sums = fitted_sums(self, self._form(), n_modes, data, groups)
        self.spectrum_ = wanted_functions(sums, n_modes, self.regularization, "n_modes")
        self.rates_, self.rate_errors_ = without_constant(self.spectrum_)
        with np.errstate(divide="ignore"):
            self.timescales_ = 1 / self.rates_
        self._n_features_out = len(self.rates_)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the modes (n, n_modes) at points X (n, d)."""
        check_is_fitted(self, "spectrum_")
        X = checked_rows(self, X, reset=False)
        return np.asarray(self.spectrum_[1:].at_rows(X), dtype=X.dtype)
