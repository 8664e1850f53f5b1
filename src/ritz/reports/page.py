"""What a report says about a fit, section by section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz import tables
from ritz.displays.source import Source, axis_names
from ritz.estimators import SpectralClustering
from ritz.estimators.certainty import sure_of
from ritz.reports.brush import Brush
from ritz.reports.figures import Picture
from ritz.reports.glance import Glance
from ritz.reports.sections import (
    MOST_FUNCTIONS,
    Shares,
    about_calibration,
    about_clusters,
    about_columns,
    about_data,
    about_embedding,
    about_functions,
    about_selection,
    about_spectrum,
    profile_of,
)
from ritz.validation import Array, as_numeric, as_rows, parameter_error


@dataclass(frozen=True, kw_only=True)
class Page:
    """The parts of a report; those that are None are left out."""

    title: str
    lead: str
    code: str
    fingerprint: str
    summary: str | None = None
    sure: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    glance: Glance | None = None
    sampled: str = ""
    columns: str = ""
    spectrum: Picture | None = None
    values: str = ""
    functions: tuple[Picture, ...] = ()
    functions_lead: str = ""
    clusters: tuple[Picture, ...] = ()
    profile: str = ""
    brush: Brush | None = None
    brush_lead: str = ""
    calibration: tuple[Picture, ...] = ()
    shares: Shares | None = None
    selection: Picture | None = None
    candidates: str = ""
    stability: str | None = None

    @property
    def sections(self) -> list[tuple[str, str]]:
        """The names of the sections there are, and the places they have."""
        parts = [
            ("short", "In short", self.summary or self.sure),
            ("data", "Data", self.glance),
            ("spectrum", "Spectrum", self.spectrum),
            ("functions", "Functions", self.functions),
            ("clusters", "Clusters", self.clusters),
            ("profile", "Profile", self.profile),
            ("embedding", "Embedding", self.brush),
            ("calibration", "Intervals", self.calibration),
            ("columns", "Columns", self.shares),
            ("selection", "Comparison", self.selection),
            ("stability", "Trust", self.stability),
            ("again", "Reproduce", True),
        ]
        return [(place, name) for place, name, there in parts if there]


def spectral_parts(model: Any, source: Source, X: Any, y: Any, n_points: Any) -> dict[str, Any]:
    """Return all sections about a spectrum; those about samples only where X is given."""
    # A single cluster has no function besides the constant.
    varies = len(source.numbers) > 0
    parts = about_selection(model) | (about_spectrum(model, source) if varies else {})
    if X is None:
        return parts
    rows = as_rows(X, "X", source.functions.dimension, at_least=1)
    names = axis_names(source.names, rows.shape[1])
    grouped = getattr(model, "_grouped", False)
    parts |= about_data(rows, names, source.units.scale is not None, grouped)
    if isinstance(model, SpectralClustering):
        parts |= about_clusters(model, X) | {"profile": profile_of(model, rows, names)}
    if not varies:
        return parts
    parts |= about_functions(source, source.points(X, n_points)[0])
    parts |= about_embedding(model, source, X, names, y, n_points)
    some = source.numbers[:MOST_FUNCTIONS]
    if source.functions.differentiable:
        basis, units = source.functions, source.units

        def gradient(part: Array) -> Array:
            slopes = basis.jet(units(part)).gradient.dense()[:, :, some]
            return units.in_columns(part, slopes)

        titles = tuple(f"f{j}" for j in some)
        parts |= about_columns(rows, names, titles, gradient, "function")
    return parts


def regression_parts(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the sections about a Hermite regression."""
    if X is None:
        return {}
    rows = as_rows(X, "X", model.n_features_in_, at_least=1)
    found = getattr(model, "feature_names_in_", None)
    names = axis_names(None if found is None else tuple(map(str, found)), rows.shape[1])
    # The fit takes no groups.
    parts = about_data(rows, names, bool((model._units.x_scale != 1).any()), grouped=True)
    if y is not None:
        targets = np.asarray(as_numeric(y, "y"), dtype=np.float64)
        if not np.isfinite(targets).any():
            raise parameter_error("y", "known for at least one row", "no row with a value")
        parts |= about_calibration(model, X, y)

    def gradient(part: Array) -> Array:
        units = model._units
        slopes = model.solution_.function.gradient(units.standardize(part))
        return np.asarray(slopes * units.y_scale / units.x_scale[:, None])

    outputs = len(model._units.y_scale)
    titles = tuple(f"output {j}" for j in range(outputs)) if outputs > 1 else ("prediction",)
    return parts | about_columns(rows, names, titles, gradient, "prediction")


def about_choices(model: Any, source: Source | None) -> dict[str, Any]:
    """Return the first section: what was chosen, how sure it is, and what to try next."""
    if hasattr(model, "summary"):
        found = model.summary()
        chosen = tables.table(
            "What was chosen", ("chosen", "value", "why"), found.chosen, text=(0, 1, 2)
        )
        lead = found.title.partition(": ")[2]
        return {"summary": chosen, "sure": found.sure, "next": found.next, "lead": lead}
    assert source is not None
    levels = source.levels
    first = int(len(levels.values) > 1)
    noun = "correlation" if source.is_singular else "eigenvalue"
    sure = sure_of(levels, source.n_folds, noun, first)
    lead = f"{len(levels.values)} values of {levels.operator}, {levels.n_rows:,} rows"
    return {"sure": tuple(sure), "lead": lead}
