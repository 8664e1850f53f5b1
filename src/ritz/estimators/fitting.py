"""The steps that fits share: the operator, the basis, the sums, the spectrum."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from ritz.assembly import Sums, assemble
from ritz.bases import Nystrom, Recipe
from ritz.estimators.checks import names_of, seed_of
from ritz.forms import Form, laplacian, neighbors
from ritz.selection.candidates import as_regularization
from ritz.selection.choice import Comparison, Defaults, choose_basis
from ritz.selection.rows import WeightedRows
from ritz.spectrum import decompose_sums
from ritz.streams import as_stream
from ritz.validation import Array, as_choice, parameter_error

DEFAULTS = Defaults()

Method = TypeVar("Method", bound=Callable[..., Any])


def unchanged_on_failure(method: Method) -> Method:
    """Make a method of an estimator restore all attributes if it fails.

    Attributes are replaced by a fit and never changed in place, so their names and objects suffice.
    """

    @wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Method, wrapper)


def as_operator(operator: Any, n_neighbors: int) -> Form:
    """Return the form that a name stands for, or the form given."""
    if isinstance(operator, Form):
        return operator
    name = as_choice(operator, "operator", ("laplacian", "neighbors"), "a form")
    return laplacian() if name == "laplacian" else neighbors(n_neighbors)


def selected_basis(
    estimator: Any, basis: Any, comparison: Comparison, defaults: Defaults
) -> Recipe:
    """Choose what is "auto" from the rows, and set the attributes that say what was chosen."""
    selected = choose_basis(
        basis,
        estimator.kernel,
        estimator.length_scale,
        estimator.n_centers,
        comparison,
        defaults,
    )
    estimator.length_scale_path_ = selected.length_scale_path
    estimator.n_centers_path_ = selected.n_centers_path
    if isinstance(selected.recipe, Nystrom):
        estimator.length_scale_ = selected.recipe.kernel.length_scale
        estimator.n_centers_ = selected.recipe.n_centers
    return selected.recipe


def fitted_sums(
    estimator: Any,
    form: Form,
    n_functions: int,
    data: WeightedRows,
    groups: Any = None,
    defaults: Defaults = DEFAULTS,
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
    data, groups
        The rows with their weights, and their groups.
    defaults
        What "auto" stands for.
    """
    if not form.symmetric or form.views > 1:
        what = "a symmetric form of one array of samples"
        remedy = "ritz.SingularEmbedding compares two arrays, and ritz.decompose takes any form."
        raise parameter_error("operator", what, form, remedy)
    seed = seed_of(estimator.random_state)
    regularization = as_regularization(estimator.regularization, defaults.regularization)
    comparison = Comparison(form, n_functions, regularization, data, seed)
    return assemble(
        form,
        selected_basis(estimator, estimator.basis, comparison, defaults),
        as_stream(data.X, form.views, data.weight, groups, (names_of(estimator),)),
        n_folds=estimator.n_folds,
        random_state=seed,
        n_jobs=estimator.n_jobs,
    )


def without_constant(spectrum: Any) -> tuple[Array, Array | None]:
    """Return the values of a spectrum and their errors, if it has any, but the constant's."""
    errors = spectrum.errors
    return spectrum.values[1:], None if errors is None else errors[1:]


def first_functions(
    sums: Sums, n_functions: int, regularization: Any, defaults: Defaults = DEFAULTS
) -> Any:
    """Return the spectrum of the constant and of the first functions, or of all there are."""
    gamma = as_regularization(regularization, defaults.regularization)
    return decompose_sums(sums, 1 + n_functions, regularization=gamma, fewer=True)


def wanted_functions(
    sums: Sums, n_functions: int, regularization: Any, name: str, calls: int = 2
) -> Any:
    """Return what `first_functions` does; warn where there are fewer, raise if there are none.

    `name` is the parameter that asks for so many functions, and `calls` counts the calls between
    the user's and this one.
    """
    spectrum = first_functions(sums, n_functions, regularization)
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
    return spectrum
