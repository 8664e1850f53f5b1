"""The rows and the operator of a fit, from what the user gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ritz.assembly.assemble import advance_draws
from ritz.estimators.advice import as_groups
from ritz.estimators.checks import (
    checked_rows,
    checked_stream,
    checked_weights,
    names_of,
)
from ritz.estimators.units import chosen_scale
from ritz.forms import Form, laplacian, neighbors
from ritz.selection.candidates import is_incomplete
from ritz.selection.choice import Defaults
from ritz.selection.operator import fills_space
from ritz.selection.rows import SAMPLED_ROWS, Rows, StreamRows, WeightedRows
from ritz.selection.steps import CENTERS
from ritz.streams import Samples, is_streamed
from ritz.validation import as_choice, as_count, parameter_error


def rows_of_fit(
    estimator: Any,
    X: Any,
    sample_weight: Any,
    seed: int,
    *,
    groups: Any = None,
    reset: bool = True,
    most: int = SAMPLED_ROWS,
    at_least: int = 2,
) -> Rows:
    """Return the rows of a fit with their weights and groups, checked; streams are not read yet.

    Parameters
    ----------
    estimator
        The estimator, which holds the number and the names of the columns.
    X, sample_weight, groups
        As given to `fit`.
    seed, most
        The seed of the sample of a stream that choices look at, and how many rows it has.
    reset
        Whether the columns are those of a new fit, or must be those of the last one.
    at_least
        The smallest number of rows of a new fit to an array.
    """
    if is_streamed(X):
        if isinstance(groups, str):
            raise parameter_error("groups", "labels, or None, where X is a stream", repr(groups))
        stream = checked_stream(
            estimator, X, reset=reset, sample_weight=sample_weight, groups=groups
        )
        return StreamRows(Samples(stream), seed, most)
    X = checked_rows(estimator, X, reset=reset, at_least=at_least if reset else 1)
    weight = checked_weights(sample_weight, X)
    data = WeightedRows(X, weight, None, as_groups(groups, X), (names_of(estimator),))
    if groups is not None:
        # Raises where they are not one label for each row.
        _ = data.samples
    return data


def rows_in_units(
    estimator: Any, data: Rows, n_neighbors: Any, defaults: Defaults, seed: int
) -> Rows:
    """Choose units and operator from the rows; return the rows in these units, samples drawn.

    One rule serves all estimators. Units stay as they are, unless told otherwise, with a form and
    with the Laplacian, whose eigenvalues have units, and where only the directions of rows count.
    Sets `scale_` and `operator_`.
    """
    metric = as_choice(estimator.metric, "metric", ("euclidean", "cosine"))
    free = isinstance(estimator.operator, str) and estimator.operator != "laplacian"
    draw_in_advance(estimator, data, defaults, seed)
    estimator.scale_ = chosen_scale(estimator.scale, data, free and metric == "euclidean", seed)
    if str(estimator.units_):
        data = estimator.units_.of(data)
        draw_in_advance(estimator, data, defaults, seed)
    estimator.operator_ = as_operator(estimator.operator, n_neighbors, data, seed)
    return data


def draw_in_advance(
    estimator: Any, data: Rows, defaults: Defaults, seed: int, views: int = 1
) -> None:
    """Draw in one pass over a stream all samples that a fit will look at."""
    if not isinstance(data, StreamRows):
        return
    bases = estimator.basis if isinstance(estimator.basis, tuple | list) else [estimator.basis]
    most = max(defaults.most_centers, CENTERS[-1])
    if not isinstance(estimator.n_centers, str):
        most = as_count(estimator.n_centers, "n_centers")
    needed = [most if b is None or is_incomplete(b) else b.pilot_rows for b in bases]
    looked_at = [replace(data, view=v).first for v in (range(views) if views > 1 else ())]
    data.samples.draw([data.first, *looked_at, *advance_draws(seed, max(needed), views)])


def as_operator(operator: Any, n_neighbors: Any, data: Rows | None = None, seed: int = 0) -> Form:
    """Return the form given, or the one that a name stands for.

    With rows it may be "auto": the Laplacian where they fill their space, else the energy along
    neighbors, at most half of the other rows. With all of them it would not depend on distances.
    """
    if isinstance(operator, Form):
        return operator
    names = ("laplacian", "neighbors") if data is None else ("auto", "laplacian", "neighbors")
    name = as_choice(operator, "operator", names, "a form")
    wanted = as_count(n_neighbors, "n_neighbors")
    if name == "auto" and data is not None:
        others = data.n_distinct - 1
        wanted = min(wanted, max(1, others // 2))
        name = "laplacian" if others == 0 or fills_space(data, seed) else "neighbors"
    return laplacian() if name == "laplacian" else neighbors(wanted)
