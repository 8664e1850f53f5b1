"""The steps that fits share: choose a basis for an operator, and average the operator on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from ritz.assembly import Sums
from ritz.assembly.assemble import assemble_samples
from ritz.bases import Nystrom
from ritz.forms import Form
from ritz.forms.neighbors import Neighbors
from ritz.progress import showing
from ritz.selection.choice import (
    NEIGHBOR_DEFAULTS,
    Defaults,
    Selected,
    Wanted,
    choose_basis,
    refined_regularization,
)
from ritz.selection.rows import Rows
from ritz.validation import as_choice, parameter_error

DEFAULTS = Defaults()

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
    forget_kernel(estimator)
    estimator.selection_ = selected.selection
    estimator.regularization_ = selected.regularization
    if isinstance(selected.recipe, Nystrom):
        estimator.kernel_ = selected.recipe.kernel
        estimator.length_scale_ = selected.recipe.kernel.length_scale
        estimator.n_centers_ = selected.recipe.n_centers
    return selected


def forget_kernel(estimator: Any) -> None:
    """Remove the attributes of an earlier fit that a basis without a kernel does not set."""
    for name in ("kernel_", "length_scale_", "n_centers_"):
        vars(estimator).pop(name, None)


def fixed_state(estimator: Any, checkpoint: Any) -> Any:
    """Return the random state of a fit: with a checkpoint one that the next fit shares."""
    if checkpoint is not None and estimator.random_state is None:
        return 0
    return estimator.random_state


def drop_sums(estimator: Any) -> None:
    """Forget the sums of a fit, unless the estimator is to keep them."""
    if not keeps_sums(estimator) and hasattr(estimator, "sums_"):
        del estimator.sums_


def keeps_sums(estimator: Any) -> bool:
    """Return whether an estimator is to keep the sums of a fit."""
    return bool(as_choice(estimator.keep_sums, "keep_sums", (True, False)))
