"""Fitted estimators in files of arrays and JSON: their parameters, and what a fit found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ritz.assembly import Sums
from ritz.estimators.advice import Reach, kernel_sections
from ritz.estimators.ridge import RidgePath
from ritz.files import has_type, write
from ritz.forms import Form
from ritz.kernels import Kernel
from ritz.selection.rows import WeightedRows
from ritz.selection.selection import Selection
from ritz.spectrum import SingularSpectrum, Spectrum
from ritz.validation import Array, parameter_error

Labels = NDArray[np.int64] | Array | NDArray[np.bool_] | NDArray[np.str_] | NDArray[np.object_]
# What fits set, and the type of each: files with any other attribute are refused.
FITTED: dict[str, Any] = {
    "n_features_in_": int,
    "feature_names_in_": NDArray[np.object_],
    "_n_features_out": int,
    "operator_": Form,
    "scale_": Array | None,
    "kernel_": Kernel,
    "length_scale_": float | Array | tuple[Any, ...],
    "n_centers_": int,
    "regularization_": float,
    "selection_": Selection | None,
    "spectrum_": Spectrum | SingularSpectrum,
    "sums_": Sums,
    "_buffer": WeightedRows | None,
    "_reach": float | None,
    "_grouped": bool,
    "eigenvalues_": Array,
    "eigenvalue_errors_": Array | None,
    "n_components_": int,
    "rates_": Array,
    "rate_errors_": Array | None,
    "timescales_": Array,
    "D_": Array,
    "singular_values_": Array,
    "singular_value_errors_": Array | None,
    "held_out_values_": Array | None,
    "path_": RidgePath | dict[float, float],
    "_n_columns_of_y": int,
    "n_clusters_": int,
    "cluster_centers_": Array,
    "labels_": NDArray[np.int32],
    "evidence_": dict[int, float],
    "sure_": bool,
    "stability_": dict[int, float],
    "confidence_": float,
    "_width": float,
    "smoothness_": float,
    "coef_": Array,
    "intercept_": Array,
    "classes_": Labels,
    "_flat": bool,
    # Set by `ritz.scanpy.embed`.
    "use_rep_": str,
    "genes_": tuple[str, ...],
}
# Attributes that may be infinite: the time scale of a rate of zero, an error that rounding hides.
UNBOUNDED = ("timescales_", "evidence_", "path_", "held_out_values_")
# Attributes with one number for each function but the constant.
PER_FUNCTION = (
    "eigenvalues_",
    "eigenvalue_errors_",
    "rates_",
    "rate_errors_",
    "timescales_",
    "singular_values_",
    "singular_value_errors_",
)


class SavingMixin:
    """An estimator with a method `save`."""

    # What a fit sets, with types.
    _fitted_types: ClassVar[Mapping[str, Any]] = FITTED
    # Attributes that follow from others: `_derive` sets them again.
    _derived: ClassVar[tuple[str, ...]] = ()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted estimator to a file of arrays and JSON, to be read by `ritz.load`.

        The file holds the parameters and what the fit found, never code: parameters that are
        functions are refused. It is written as a whole or not at all.
        """
        check_is_fitted(self)
        write(SavedEstimator.of(self), path)

    def _derive(self) -> None:
        """Set what follows from the attributes that were read."""


@dataclass(frozen=True, eq=False)
class SavedEstimator:
    """A fitted estimator as files hold it.

    Parameters
    ----------
    name
        The name of its class.
    parameters, state
        Its parameters, and its other attributes.
    """

    file_tag: ClassVar[str] = "Estimator"
    unbounded_fields: ClassVar[tuple[str, ...]] = ("parameters", "state")

    name: str
    parameters: dict[str, Any]
    state: dict[str, Any]

    @classmethod
    def of(cls, estimator: Any) -> SavedEstimator:
        """Return what a file holds of an estimator."""
        parameters = estimator.get_params(deep=False)
        state = {
            name: part
            for name, part in vars(estimator).items()
            if name not in parameters and name not in estimator._derived
        }
        if isinstance(state.get("_reach"), Reach):
            # The basis is that of the spectrum.
            state["_reach"] = state["_reach"].distance
        return cls(type(estimator).__name__, parameters, state)

    def restored(self, classes: Mapping[str, Any]) -> Any:
        """Return the estimator; raise unless each attribute is one of its class, of its type."""
        cls = classes.get(self.name)
        if cls is None:
            raise parameter_error("name", f"one of {sorted(classes)}", repr(self.name))
        known = set(cls._get_param_names())
        if set(self.parameters) - known:
            got = sorted(set(self.parameters) - known)
            raise parameter_error("parameters", f"parameters of {self.name}", got)
        estimator = cls(**self.parameters)
        for name, part in self.state.items():
            hint = cls._fitted_types.get(name)
            if hint is None or not has_type(part, hint, finite=name not in UNBOUNDED):
                raise parameter_error(name, f"an attribute of {self.name} of its type", repr(part))
            setattr(estimator, name, part)
        estimator._derive()
        require_matching(estimator)
        return estimator


def require_matching(estimator: Any) -> None:
    """Raise unless the numbers of a spectral estimator are as many as its functions."""
    spectrum = getattr(estimator, "spectrum_", None)
    if spectrum is None:
        return
    k = len(spectrum.values) - 1
    for name in PER_FUNCTION:
        array = getattr(estimator, name, None)
        if array is not None and array.shape != (k,):
            raise parameter_error(name, f"of shape ({k},)", f"shape {array.shape}")
    distance = getattr(estimator, "_reach", None)
    basis = kernel_sections(spectrum)
    if distance is not None:
        estimator._reach = None if basis is None else Reach(basis, distance)
