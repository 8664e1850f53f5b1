"""What "auto" stands for in the estimators and in `decompose`."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.assembly import Sums
from ritz.bases import Nystrom, Recipe
from ritz.bases.basis import require_recipe
from ritz.forms import Form
from ritz.kernels import Kernel
from ritz.selection.candidates import (
    SCALE_ROWS,
    as_regularization,
    auto_length_scale,
    auto_n_centers,
    complete_basis,
    kernel_families,
)
from ritz.selection.rows import Rows
from ritz.selection.search import COMPARED_FOLDS, Candidate, measured
from ritz.selection.selection import Selection
from ritz.selection.steps import (
    CENTERS,
    MOST_COMPARED_FUNCTIONS,
    PENALTIES,
    Choices,
    prepared_search,
    search_for,
)
from ritz.validation import as_count, parameter_error

# Factors of the regularization chosen on a sample that are tried on all rows.
REFINEMENTS = (1.0, 0.1, 0.01)


@dataclass(frozen=True)
class Defaults:
    """What "auto" stands for in an estimator.

    Parameters
    ----------
    regularization
        As in `ritz.decompose`, where it is not chosen.
    penalties
        The regularizations to choose from.
    quantile
        The quantile of distances between rows that length scales are multiples of.
    centers_per_root, most_centers, centers_share
        Centers for each square root of the number of distinct rows, the most of them, and the most
        as a share of the rows.
    fewer_centers
        Whether fewer centers are used where they suffice for the functions wanted.
    per_column
        Whether each column may have a length scale of its own.
    most_compared
        The most functions that candidates are compared by, the first ones.
    """

    regularization: float = 1e-8
    penalties: tuple[float, ...] = PENALTIES
    quantile: float = 0.1
    centers_per_root: float = 5.0
    most_centers: int = 1000
    centers_share: float = 1.0
    fewer_centers: bool = True
    per_column: bool = True
    most_compared: int = MOST_COMPARED_FUNCTIONS


# Functions that tell clusters apart vary within short distances, which takes many centers.
NEIGHBOR_DEFAULTS = Defaults(
    centers_per_root=20.0, most_centers=2000, centers_share=0.5, per_column=False
)


@dataclass(frozen=True, eq=False)
class Wanted:
    """The parameters of an estimator that decide its basis, each a value or "auto"."""

    basis: Any
    kernel: Any
    length_scale: Any
    n_centers: Any
    regularization: Any


@dataclass(frozen=True, eq=False)
class Selected:
    """A basis or its recipe, the regularization, and the comparison that decided for them."""

    recipe: Recipe
    regularization: float
    selection: Selection | None = None


def choose_basis(
    form: Form,
    data: Rows,
    k: int,
    wanted: Wanted,
    defaults: Defaults,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Selected:
    """Return the basis given, or kernel sections with what is "auto" chosen from the rows.

    Parameters
    ----------
    form
        The operator.
    data
        The rows.
    k
        The number of functions wanted, the constant not counted.
    wanted
        The parameters as given to an estimator.
    defaults
        What "auto" stands for.
    seed, n_jobs
        The seed of the choice of rows, and the number of threads.
    """
    regularization = as_regularization(wanted.regularization, defaults.regularization)
    if wanted.basis is not None:
        require_recipe(wanted.basis)
        basis = completed(form, wanted.basis, data, k, regularization, seed=seed, n_jobs=n_jobs)
        return Selected(basis, regularization)
    families = kernel_families(wanted.kernel, wanted.length_scale)
    n_rows = data.n_distinct
    auto_length = isinstance(wanted.length_scale, str)
    auto_centers = isinstance(wanted.n_centers, str)
    if auto_centers and wanted.n_centers != "auto":
        raise parameter_error("n_centers", "'auto' or a positive integer", repr(wanted.n_centers))
    if auto_centers:
        most = auto_n_centers(
            n_rows, defaults.centers_per_root, defaults.most_centers, defaults.centers_share
        )
    else:
        most = as_count(wanted.n_centers, "n_centers")
    own_length = isinstance(wanted.kernel, Kernel) and wanted.kernel.length_scale != "auto"
    lengths: tuple[Any, ...] | None = None if auto_length else (wanted.length_scale,)
    choices = Choices(
        families=families,
        lengths=(wanted.kernel.length_scale,) if own_length else lengths,
        penalties=(
            defaults.penalties if isinstance(wanted.regularization, str) else (regularization,)
        ),
        centers=CENTERS if auto_centers and defaults.fewer_centers else (min(most, CENTERS[1]),),
        per_column=defaults.per_column,
    )
    options = {"quantile": defaults.quantile, "seed": seed, "n_jobs": n_jobs}
    selection = compare(form, data, min(k, defaults.most_compared), choices, options)
    if selection is None:
        length = wanted.length_scale
        if auto_length and not own_length:
            some = data.sample(SCALE_ROWS, seed)
            length = auto_length_scale(some.X, some.weight, seed, defaults.quantile)
        return Selected(Nystrom(families[0](length), min(most, n_rows)), regularization)
    setting = selection.setting
    n_centers = most
    if auto_centers and defaults.fewer_centers:
        grown = int(np.ceil(setting.n_centers * np.sqrt(n_rows / selection.n_rows)))
        at_edge = "n_centers" in selection.at_edge
        n_centers = max(most, setting.n_centers)
        n_centers = n_centers if at_edge else min(grown, n_centers)
    n_centers = min(n_centers, n_rows)
    return Selected(Nystrom(setting.kernel, n_centers), setting.regularization, selection)


def completed(
    form: Form,
    basis: Any,
    data: Rows,
    k: int,
    regularization: float,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Any:
    """Return a basis in which every `Nystrom` has a length scale and a number of centers.

    The parameters are those of `choose_basis`.
    """

    def complete(recipe: Nystrom) -> Nystrom:
        n_centers = "auto" if recipe.n_centers is None else recipe.n_centers
        if not isinstance(recipe.centers, str):
            n_centers = len(recipe.centers)
        selected = choose_basis(
            form,
            data,
            k,
            Wanted(None, recipe.kernel, "auto", n_centers, regularization),
            Defaults(),
            seed=seed,
            n_jobs=n_jobs,
        )
        found = selected.recipe
        assert isinstance(found, Nystrom)
        if not isinstance(recipe.centers, str):
            # Centers that are given are all used, even where they are more than the rows.
            return replace(recipe, kernel=found.kernel)
        return replace(recipe, kernel=found.kernel, n_centers=found.n_centers)

    return complete_basis(basis, complete)


def compare(
    form: Form, data: Rows, k: int, choices: Choices, options: dict[str, Any]
) -> Selection | None:
    """Compare candidates for the first k functions, or for fewer where not all generalize.

    Warns where not even one function does, with any length scale.
    """
    search = prepared_search(form, data, **options) if choices.several else None
    if search is None:
        return None
    while k:
        selection = search_for(search, k, choices)
        if selection is not None:
            return selection
        k //= 2
    if choices.lengths is None:
        warnings.warn(
            "No function that was found from some of the rows has about the same variance on the "
            "others: the rows are too few for their number of columns, or far apart. The "
            "eigenvalues say little. Use more rows or fewer columns.",
            stacklevel=_outside(),
        )
    return None


def _outside() -> int:
    """Return the stack level of the first caller outside this package, for a warning.

    Estimators and `decompose` get here by different numbers of calls.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("ritz."):
        level, frame = level + 1, frame.f_back
    return level


def refined_regularization(
    sums: Sums, selected: Selected, fixed: bool, n_distinct: int, n_jobs: int | None
) -> float:
    """Return the regularization chosen on a sample, or a smaller one if that is better on all rows.

    With more rows than the sample has, less regularization is needed.

    Parameters
    ----------
    sums
        The sums over all rows, on the basis selected.
    selected
        What was chosen on the sample.
    fixed
        Whether the user set the regularization.
    n_distinct
        The number of distinct rows.
    n_jobs
        The number of threads.
    """
    selection = selected.selection
    if fixed or selection is None or n_distinct <= selection.n_rows:
        return selected.regularization
    k = len(selection.chosen.ritz_values)
    sums = sums.joined(COMPARED_FOLDS)

    def refined(factor: float) -> Candidate:
        gamma = selected.regularization * factor
        return measured(sums, k, replace(selection.setting, regularization=gamma), n_jobs)

    best = refined(REFINEMENTS[0])
    floor = np.zeros(k) if best.held is None else best.held.errors
    for factor in REFINEMENTS[1:]:
        less = refined(factor)
        if not less.score(floor) < best.score(floor):
            break
        best = less
    return best.setting.regularization
