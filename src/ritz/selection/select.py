"""Choosing a basis for the first functions of an operator, from the samples alone."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ritz.bases import Nystrom
from ritz.bases.basis import require_recipe
from ritz.devices import DeviceRows
from ritz.forms import Form
from ritz.forms.form import require_form
from ritz.rows import as_generator
from ritz.selection.rows import Rows, StreamRows, WeightedRows
from ritz.selection.search import Search, Setting
from ritz.selection.selection import Selection
from ritz.selection.steps import (
    COMPARED_ROWS,
    FEWEST_COMPARED_ROWS,
    FEWEST_GROUPS,
    Choices,
    can_compare,
    few_groups,
    prepared_search,
    search_for,
)
from ritz.sparse import SparseRows
from ritz.streams import Samples, as_stream
from ritz.streams.stream import ArrayStream
from ritz.validation import as_count, as_number, parameter_error, renamed


def select(
    operator: Form,
    X: Any,
    k: int,
    candidates: Any = "auto",
    *,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> Selection:
    """Choose a basis for the first k functions of an operator, from the samples alone.

    Candidates are compared on up to 2,000 rows. Functions are found from three quarters of them
    and measured on the rest, in turn; the score is sum_i log c_i + |log(c_i / a_i)| / 2, where c
    are values on unseen rows and a those on the rows seen.

    Parameters
    ----------
    operator
        A symmetric, positive form such as `ritz.laplacian()`.
    X
        The samples (n, d), or a stream.
    k
        The number of functions wanted, the constant not counted; the first 30 are compared.
    candidates
        "auto": Gaussian, Matern 5/2 and exponential kernels, length scales around a quantile of
        distances, with up to ten columns one for each, penalties, and numbers of centers. Or a
        list of `ritz.Nystrom(kernel, n_centers)`, or pairs of such a basis and a regularization;
        they have at most as many centers as the sample has rows.
    sample_weight, groups
        As in `ritz.decompose`; at least 16 groups.
    random_state
        A seed or generator, for the choice of rows.
    n_jobs
        The number of threads.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> chosen = ritz.select(ritz.laplacian(), X, 2, random_state=0)
    >>> found = ritz.decompose(
    ...     ritz.laplacian(), chosen.recipe, X, 3, regularization=chosen.regularization
    ... )
    >>> bool(abs(found.values[1] - 1) < 3 * found.errors[1])
    True
    """
    with renamed(form="operator"):
        require_form(operator)
    k = as_count(k, "k")
    stream = as_stream(X, operator.views, sample_weight, groups)
    seed = int(as_generator(random_state).integers(2**31))
    data = rows_of(Samples(stream), seed)
    if data.n_distinct < FEWEST_COMPARED_ROWS:
        what = f"an array with at least {FEWEST_COMPARED_ROWS} distinct rows"
        raise parameter_error("X", what, data.n_distinct)
    if not can_compare(operator, data):
        what = "a symmetric, positive form of one array, without arrays for each row"
        raise parameter_error("operator", what, operator)
    sample = data.sample(COMPARED_ROWS, seed)
    if few_groups(sample):
        what = f"at least {FEWEST_GROUPS} different labels, so that no fold is empty"
        raise parameter_error("groups", what, len(np.unique(sample.groups)))
    operator = _prepared(operator, sample, n_jobs)
    choices = Choices() if isinstance(candidates, str) else _given(candidates)
    if isinstance(candidates, str) and candidates != "auto":
        raise parameter_error("candidates", "'auto' or a list of bases", repr(candidates))
    search = prepared_search(operator, data, seed=seed, n_jobs=n_jobs)
    found = None if search is None else search_for(search, k, _with_centers_of(search, choices))
    if found is None:
        raise ValueError(
            f"No candidate has {k} functions that generalize from some rows to others. Lower k, "
            "use more rows, or other candidates."
        )
    return found


def rows_of(samples: Samples, seed: int, view: int = 0) -> Rows:
    """Return the rows of one view of an array in memory, or of another stream."""
    stream = samples.stream
    kinds = (np.ndarray, SparseRows, DeviceRows)
    in_memory = isinstance(stream, ArrayStream) and type(stream.views[0]) in kinds
    if in_memory and len(stream.dimensions) == 1:
        assert isinstance(stream, ArrayStream)
        rows = stream.views[0]
        if not isinstance(rows, SparseRows | DeviceRows):
            rows = np.asarray(stream.whole("selection samples rows").views[0])
        weight = np.ones(len(rows)) if stream.weight is None else stream.weight
        return WeightedRows(rows, weight, groups=stream.groups)
    return StreamRows(samples, seed, view=view)


def _prepared(operator: Form, sample: WeightedRows, n_jobs: int | None) -> Form:
    try:
        return operator.prepare(np.array(sample.X, dtype=np.float64), sample.weight, n_jobs)
    except ValueError as error:
        error.add_note(f"Candidates are compared on {len(sample):,} rows.")
        raise


def _with_centers_of(search: Search, choices: Choices) -> Choices:
    """Lower numbers of centers that a user lists to the rows that may be centers, and warn."""
    most = len(search.centers)
    larger = [one.n_centers for one in choices.settings if one.n_centers > most]
    if not larger:
        return choices
    warnings.warn(
        f"Candidates with {max(larger):,} centers are compared with {most:,}, since no more "
        f"of the {len(search.rows):,} rows of the sample may be centers. `recipe` has no more.",
        stacklevel=3,
    )
    lowered = (replace(one, n_centers=min(one.n_centers, most)) for one in choices.settings)
    return replace(choices, settings=tuple(lowered))


def _given(candidates: Any) -> Choices:
    """Return the candidates that a user lists."""
    settings = []
    for candidate in candidates if isinstance(candidates, list | tuple) else [candidates]:
        pair = candidate if isinstance(candidate, tuple) else (candidate, 1e-8)
        if len(pair) != 2:
            what = "a list of bases, or of pairs of a basis and a regularization"
            raise parameter_error("candidates", what, repr(candidate))
        recipe, penalty = pair
        require_recipe(recipe, "candidates", "a list of bases such as ritz.Nystrom(kernel, 200)")
        if not isinstance(recipe, Nystrom) or recipe.n_centers is None:
            what = "a list of ritz.Nystrom(kernel, n_centers), or of pairs with a regularization"
            raise parameter_error("candidates", what, repr(candidate))
        if recipe.kernel.length_scale == "auto":
            what = "'auto', or a list of bases whose kernels have a length scale"
            raise parameter_error("candidates", what, repr(candidate))
        penalty = as_number(penalty, "candidates", "pairs with a nonnegative number", 0.0)
        if not isinstance(recipe.centers, str) or recipe.centers != "uniform":
            what = "bases with uniform centers, as candidates share theirs"
            raise parameter_error("candidates", what, repr(candidate))
        settings.append(Setting(recipe.kernel, recipe.n_centers, penalty))
    if not settings:
        raise parameter_error("candidates", "a list of at least one basis", "none")
    return Choices(settings=tuple(settings))
