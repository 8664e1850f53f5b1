"""The steps that fits share: the operator, the basis, the sums, the spectrum."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from ritz.assembly import Sums
from ritz.assembly.assemble import advance_draws, assemble_samples
from ritz.bases import Nystrom
from ritz.estimators.advice import as_groups
from ritz.estimators.checks import (
    checked_rows,
    checked_stream,
    checked_weights,
    is_streamed,
    names_of,
)
from ritz.estimators.units import chosen_scale
from ritz.forms import Form, laplacian, neighbors
from ritz.forms.neighbors import Neighbors
from ritz.progress import showing
from ritz.selection.candidates import is_incomplete
from ritz.selection.choice import (
    Defaults,
    Selected,
    Wanted,
    choose_basis,
    refined_regularization,
)
from ritz.selection.operator import fills_space
from ritz.selection.rows import SAMPLED_ROWS, Rows, StreamRows, WeightedRows
from ritz.selection.selection import Selection
from ritz.selection.steps import CENTERS, FEWEST_COMPARED_ROWS
from ritz.spectrum import SingularSpectrum, decompose_sums
from ritz.spectrum.solve_sums import solve_sums
from ritz.spectrum.stability import FEWEST_HALVED_FOLDS, cosine, half_overlaps
from ritz.streams import Samples
from ritz.validation import Array, as_choice, as_count, parameter_error

DEFAULTS = Defaults()
# Functions that tell clusters apart vary within short distances, which takes many centers.
NEIGHBOR_DEFAULTS = Defaults(
    centers_per_root=20.0, most_centers=2000, centers_share=0.5, per_column=False
)
# How many times as many functions as wanted are looked at for those that generalize.
MOST_LEFT_OUT = 8
# The most functions that "auto" may stand for, and the number that the basis is chosen for then.
MOST_AUTO_FUNCTIONS, AUTO_FUNCTIONS = 30, 5
# The squared cosine of the largest angle between the functions of two halves of the samples.
LEAST_AGREEMENT = 0.75

Method = TypeVar("Method", bound=Callable[..., Any])


def unchanged_on_failure(method: Method) -> Method:
    """Make a method of an estimator restore all attributes if it fails, and show its progress.

    Attributes are replaced by a fit and never changed in place, so their names and objects suffice.
    """

    @wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            with showing(getattr(self, "verbose", None)):
                return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Method, wrapper)


def rows_of_fit(
    estimator: Any,
    X: Any,
    sample_weight: Any,
    seed: int,
    *,
    groups: Any = None,
    reset: bool = True,
    most: int = SAMPLED_ROWS,
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
    """
    if is_streamed(X):
        if isinstance(groups, str):
            raise parameter_error("groups", "labels, or None, where X is a stream", repr(groups))
        stream = checked_stream(
            estimator, X, reset=reset, sample_weight=sample_weight, groups=groups
        )
        return StreamRows(Samples(stream), seed, most)
    X = checked_rows(estimator, X, reset=reset, at_least=2 if reset else 1)
    weight = checked_weights(sample_weight, X)
    data = WeightedRows(X, weight, None, as_groups(groups, X), (names_of(estimator),))
    if groups is not None:
        # Raises where they are not one label for each row.
        _ = data.samples
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


def selected_basis(
    estimator: Any,
    form: Form,
    n_functions: int,
    data: Rows,
    defaults: Defaults,
    *,
    basis: Any,
    seed: int = 0,
) -> Selected:
    """Choose what is "auto" from the rows, and set the attributes that say what was chosen."""
    selected = choose_basis(
        form,
        data,
        n_functions,
        Wanted(
            basis,
            estimator.kernel,
            estimator.length_scale,
            estimator.n_centers,
            estimator.regularization,
        ),
        defaults,
        seed=seed,
        n_jobs=estimator.n_jobs,
    )
    estimator.selection_ = selected.selection
    estimator.regularization_ = selected.regularization
    if isinstance(selected.recipe, Nystrom):
        estimator.kernel_ = selected.recipe.kernel
        estimator.length_scale_ = selected.recipe.kernel.length_scale
        estimator.n_centers_ = selected.recipe.n_centers
    return selected


def fitted_sums(
    estimator: Any,
    form: Form,
    n_functions: int,
    data: Rows,
    seed: int,
    defaults: Defaults = DEFAULTS,
    checkpoint: Any = None,
) -> Sums:
    """Average an operator over rows, on a basis chosen for its first functions.

    Parameters
    ----------
    estimator
        The estimator, whose parameters say what to choose.
    form
        The operator.
    n_functions
        The number of functions wanted, the constant not counted.
    data
        The rows with their weights and groups.
    seed
        The seed of the choice of rows.
    defaults
        What "auto" stands for.
    checkpoint
        As in `ritz.assemble`.
    """
    if not form.symmetric or form.views > 1:
        what = "a symmetric form of one array of samples"
        remedy = "ritz.SingularEmbedding compares two arrays, and ritz.decompose takes any form."
        raise parameter_error("operator", what, form, remedy)
    if isinstance(form, Neighbors) and defaults is DEFAULTS:
        defaults = NEIGHBOR_DEFAULTS
    selected = selected_basis(
        estimator,
        form,
        n_functions,
        data,
        defaults,
        basis=estimator.basis,
        seed=seed,
    )
    sums = assemble_samples(
        form,
        selected.recipe,
        data.samples,
        n_folds=estimator.n_folds,
        random_state=seed,
        n_jobs=estimator.n_jobs,
        checkpoint=checkpoint,
    )
    fixed = len(defaults.penalties) == 1 or not isinstance(estimator.regularization, str)
    estimator.regularization_ = refined_regularization(
        sums, selected, fixed, data.n_distinct, estimator.n_jobs
    )
    return sums


def fixed_state(estimator: Any, checkpoint: Any) -> Any:
    """Return the random state of a fit: with a checkpoint one that the next fit shares."""
    if checkpoint is not None and estimator.random_state is None:
        return 0
    return estimator.random_state


def found_functions(sums: Sums, k: int, regularization: float, n_jobs: int | None) -> Any:
    """Return the spectrum of up to k functions, without the sample of rows of their basis.

    The sample, which is what an operator such as `neighbors` compares rows with, stays with the
    sums: the functions do not need it, and it may be larger than they are.
    """
    spectrum = decompose_sums(sums, k, regularization=regularization, fewer=True, n_jobs=n_jobs)
    if isinstance(spectrum, SingularSpectrum):
        left, right = map(_without_sample, (spectrum.left, spectrum.right))
        return replace(spectrum, left=left, right=right)
    return _without_sample(spectrum)


def _without_sample(functions: Any) -> Any:
    basis = replace(functions.basis, reference=None, reference_weight=None)
    return replace(functions, basis=basis)


def drop_sums(estimator: Any) -> None:
    """Forget the sums of a fit, unless the estimator is to keep them."""
    if not keeps_sums(estimator) and hasattr(estimator, "sums_"):
        del estimator.sums_


def keeps_sums(estimator: Any) -> bool:
    """Return whether an estimator is to keep the sums of a fit."""
    return bool(as_choice(estimator.keep_sums, "keep_sums", (True, False)))


def without_constant(spectrum: Any) -> tuple[Array, Array | None]:
    """Return the values of a spectrum and their errors, if it has any, but the constant's."""
    errors = spectrum.errors
    return spectrum.values[1:], None if errors is None else errors[1:]


def with_basis_errors(spectrum: Any, selection: Selection | None) -> Any:
    """Return a spectrum whose basis errors are not below what a finer basis gains on a sample.

    Half the length scales gain some share of a value; later halvings may gain as much again.
    """
    if selection is None or spectrum.basis_errors is None:
        return spectrum
    gains = np.zeros(len(spectrum))
    some = selection.basis_gains[: len(spectrum) - 1]
    gains[1 : 1 + len(some)] = np.minimum(2 * some, 1.0)
    errors = np.maximum(spectrum.basis_errors, gains * np.abs(spectrum.values))
    return replace(spectrum, basis_errors=errors)


def first_functions(
    sums: Sums, n_functions: int, regularization: float, n_jobs: int | None = None
) -> Any:
    """Return the spectrum of the constant and of the first functions that generalize.

    Functions that belong to single rows are left out. Where there are not enough others, they come
    last. `Spectrum.flags` says which they are.
    """
    asked = 1 + n_functions
    while True:
        spectrum = found_functions(sums, asked, regularization, n_jobs)
        good = [j for j, flag in enumerate(spectrum.flags) if not flag]
        bad = [j for j, flag in enumerate(spectrum.flags) if flag]
        # With few rows or groups, folds are too small to tell which functions generalize.
        few = sums.n_rows < FEWEST_COMPARED_ROWS or sums.grouped
        enough = few or len(good) > n_functions or len(spectrum) < asked
        if enough or asked >= MOST_LEFT_OUT * (1 + n_functions):
            some = slice(None) if few else np.array(good + bad)
            return spectrum[some][: 1 + n_functions]
        asked *= 2


def as_n_functions(value: Any, name: str) -> int:
    """Return a number of functions; for "auto" the number that the basis is chosen for."""
    if isinstance(value, str) and value == "auto":
        return AUTO_FUNCTIONS
    return as_count(value, name, "'auto' or a positive integer")


def stable_functions(sums: Sums, regularization: float, n_jobs: int | None, calls: int) -> Any:
    """Return the spectrum of the constant and of the first functions that two halves agree on.

    They are as many as leave no angle above 30 degrees between the spaces that two halves of the
    samples give. A number that cuts through a group of repeated values makes a large angle, so the
    search goes on for half as many functions again.
    """
    if sums.n_folds < FEWEST_HALVED_FOLDS:
        what = f"at least {FEWEST_HALVED_FOLDS} where the number of functions is 'auto'"
        raise parameter_error("n_folds", what, sums.n_folds)
    k = 1 + MOST_AUTO_FUNCTIONS
    spectrum = found_functions(sums, k, regularization, n_jobs)
    good = np.flatnonzero([not flag for flag in spectrum.flags])
    overlaps = half_overlaps(sums, solve_sums(sums, 2 * k, regularization), regularization)
    agreed = 1
    for size in range(2, len(good) + 1):
        if overlaps is None or cosine(overlaps, good[:size]) ** 2 >= LEAST_AGREEMENT:
            agreed = size
        elif size > 1.5 * agreed + 1:
            break
    if agreed == 1 and len(spectrum) > 1:
        warnings.warn(
            "Two halves of the samples give different functions, so that not even one can be "
            "trusted: the first one found is kept. Use more rows or fewer columns.",
            stacklevel=2 + calls,
        )
        return spectrum[:2]
    return spectrum[good[:agreed]]


def wanted_functions(
    sums: Sums,
    n_functions: Any,
    regularization: float,
    name: str,
    n_jobs: int | None = None,
    calls: int = 2,
) -> Any:
    """Return what `first_functions` does; warn where there are fewer, raise if there are none.

    `name` is the parameter that asks for so many functions, "auto" or a number, and `calls` counts
    the calls between the user's and this one.
    """
    if isinstance(n_functions, str):
        spectrum = stable_functions(sums, regularization, n_jobs, calls + 1)
        n_functions = len(spectrum) - 1
    else:
        n_functions = as_count(n_functions, name)
        spectrum = first_functions(sums, n_functions, regularization, n_jobs)
    found = len(spectrum) - 1
    if not found:
        requirement = "samples on which some function of the basis varies"
        remedy = "Use other functions, or samples with more distinct rows."
        raise parameter_error("X", requirement, "constant functions only", remedy)
    if found < n_functions:
        warnings.warn(
            f"Only {found} of {n_functions} functions were found: the basis has no more on the "
            f"samples. Lower {name}, use more or other functions, or more samples.",
            stacklevel=2 + calls,
        )
    flagged = sum(map(bool, spectrum.flags))
    if flagged and sums.n_rows >= FEWEST_COMPARED_ROWS and not sums.grouped:
        warnings.warn(
            f"The last {flagged} of {found} functions belong to a few rows and say nothing about "
            f"others: see `spectrum_.flags`. Lower {name}, or use more samples.",
            stacklevel=2 + calls,
        )
    return spectrum
