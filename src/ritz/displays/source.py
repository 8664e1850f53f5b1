"""What displays draw: the functions of a spectrum or an estimator, and points to see them at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ritz.bases import Basis
from ritz.estimators.certainty import half_widths
from ritz.estimators.units import Units
from ritz.rows import sample_rows
from ritz.spectrum import SingularSpectrum, Spectrum
from ritz.spectrum.spectrum import Levels
from ritz.validation import (
    Array,
    Names,
    as_count,
    as_n_folds,
    as_rows,
    column_names,
    parameter_error,
    require_names,
)

# The folds that errors come from by default.
N_FOLDS = 8


AS_THEY_ARE = Units()


@dataclass(frozen=True, eq=False)
class Source:
    """The functions of a spectrum, of rows in the user's units.

    Parameters
    ----------
    levels
        The spectrum.
    functions
        Its functions; the left ones of a singular spectrum.
    numbers
        The numbers of the functions to draw; 0 is the constant.
    units
        What is done to rows before functions are evaluated.
    names
        The names of the columns, or None.
    n_folds
        The number of folds that errors come from.
    """

    levels: Levels
    functions: Basis
    numbers: NDArray[np.intp]
    units: Units = AS_THEY_ARE
    names: Names = None
    n_folds: int = N_FOLDS

    @classmethod
    def of_spectrum(cls, spectrum: Any, most: Any = None) -> Source:
        """Return all functions of a spectrum, or the first ones up to `most`."""
        if not isinstance(spectrum, Spectrum | SingularSpectrum):
            remedy = "Estimators have `from_estimator`." if hasattr(spectrum, "spectrum_") else ""
            what = "a Spectrum or a SingularSpectrum"
            raise parameter_error("spectrum", what, type(spectrum).__name__, remedy, kind=TypeError)
        functions: Any = spectrum.left if isinstance(spectrum, SingularSpectrum) else spectrum
        numbers = np.arange(len(spectrum.values))[: _most(most)]
        return cls(spectrum, functions, numbers, AS_THEY_ARE, functions.names)

    @classmethod
    def of_estimator(cls, estimator: Any, most: Any = None) -> Source:
        """Return the functions of a fitted estimator but the constant, up to `most` of them."""
        if not isinstance(estimator, BaseEstimator):
            what, got = "a fitted estimator of ritz", type(estimator).__name__
            raise parameter_error("estimator", what, got, kind=TypeError)
        check_is_fitted(estimator)
        if not isinstance(getattr(estimator, "spectrum_", None), Spectrum | SingularSpectrum):
            what, got = "a fitted estimator with a spectrum_", type(estimator).__name__
            raise parameter_error("estimator", what, got, kind=TypeError)
        source = cls.of_spectrum(estimator.spectrum_)
        names = getattr(estimator, "feature_names_in_", None)
        return cls(
            source.levels,
            source.functions,
            source.numbers[getattr(estimator, "_first", 1) :][: _most(most)],
            getattr(estimator, "units_", AS_THEY_ARE),
            source.names if names is None else tuple(map(str, names)),
            as_n_folds(estimator.n_folds),
        )

    def with_functions(self, argument: str) -> Self:
        """Return this if there is a function to draw; else raise an error about the argument."""
        if not len(self.numbers):
            what, got = "one with a function to draw", "none besides the constant"
            raise parameter_error(argument, what, got, "Fit it with more clusters or functions.")
        return self

    @property
    def is_singular(self) -> bool:
        """Whether values are singular values."""
        return isinstance(self.levels, SingularSpectrum)

    @property
    def titles(self) -> tuple[str, ...]:
        """What to call each function drawn: its number, value and interval."""
        letter = "σ" if self.is_singular else "λ"
        halves = half_widths(self.levels, self.n_folds)
        texts = []
        for j in self.numbers:
            reach = "" if halves is None or halves[j] == 0 else f" ± {halves[j]:.1g}"
            texts.append(f"{letter}{subscript(j)} = {self.levels.values[j]:.3g}{reach}")
        return tuple(texts)

    def at(self, X: Array) -> Array:
        """Return the functions drawn (n, m) at points X (n, d) in the user's units."""
        return np.asarray(self.functions.at_rows(self.units(X))[:, self.numbers])

    def points(self, X: Any, n_points: Any) -> tuple[Array, NDArray[np.intp]]:
        """Return some of the samples X (n, d), and their row numbers."""
        n_points = as_count(n_points, "n_points")
        require_names(column_names(X), self.names, "X")
        X = as_rows(X, "X", self.functions.dimension)
        if not len(X):
            raise parameter_error("X", "at least one sample", f"shape {X.shape}")
        rows = np.sort(sample_rows(X, n_points, seed=0))
        return X[rows], rows


def _most(most: Any) -> int | None:
    return None if most is None else as_count(most, "n_functions")


def subscript(number: int) -> str:
    """Return a number in characters below the line."""
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def axis_names(names: Names, dimension: int) -> tuple[str, ...]:
    """Return what to write beside axes of columns."""
    return tuple(f"column {j}" for j in range(dimension)) if names is None else names
