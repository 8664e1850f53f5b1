"""The steps of a search: what may be chosen, on which rows, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.forms import Form
from ritz.kernels import Kernel
from ritz.progress import counting
from ritz.selection.candidates import FAMILIES, KERNELS, auto_length_scale
from ritz.selection.rows import SAMPLED_ROWS, Rows, WeightedRows, far_rows
from ritz.selection.search import LEAST_GAIN, LONGEST, Candidate, Search, Setting
from ritz.selection.selection import Selection
from ritz.threads import n_threads, one_blas_thread

# Length scales relative to a quantile of distances. The grid is extended while its edge is best.
LENGTH_FACTORS = (0.5, 1.0, 2.0, 4.0, 8.0)
MOST_EXTENSIONS = 3
# Regularizations: that of the first round, and all.
FIRST_PENALTY = 1e-3
PENALTIES = (1e-8, 1e-5, 1e-3, 1e-1, 1.0, 10.0)
# Rows drawn for a comparison.
COMPARED_ROWS = SAMPLED_ROWS
# Rows below which held-out values mean nothing.
FEWEST_COMPARED_ROWS = 60
# Groups below which some of the folds of a comparison may be empty.
FEWEST_GROUPS = 16
# Centers in the first round, and those compared with the best setting.
FIRST_CENTERS = 100
CENTERS = (50, 100, 200, 400)
# Functions in a comparison, the constant not counted: later ones are mostly noise on 2,000 rows.
MOST_COMPARED_FUNCTIONS = 30
# Settings of the first round that are tried with other regularizations.
FINALISTS = 3
# A kernel family is tried with more centers unless its score for each function, in the first round,
# is worse than the best by this much: 15% of a value.
HOPELESS = 0.15
# Columns up to which each may have a length scale of its own.
MOST_SCALED_COLUMNS = 10
# Factors by which the length scale of one column is changed, and the most sweeps over all columns.
COLUMN_FACTORS, COLUMN_SWEEPS = (2.5, 0.4, 0.1), 4


@dataclass(frozen=True, eq=False)
class Choices:
    """What may be chosen.

    Parameters
    ----------
    families
        Kernels as functions of the length scale.
    lengths
        The length scales to compare, or None for multiples of a quantile of distances.
    penalties
        The regularizations to compare.
    centers
        The numbers of centers to compare.
    per_column
        Whether each of a few columns may have a length scale of its own.
    settings
        Complete settings: if there are any, they alone are compared.
    """

    families: tuple[Callable[[Any], Kernel], ...] = tuple(KERNELS[name] for name in FAMILIES)
    lengths: tuple[Any, ...] | None = None
    penalties: tuple[float, ...] = PENALTIES
    centers: tuple[int, ...] = CENTERS
    per_column: bool = True
    settings: tuple[Setting, ...] = ()

    @property
    def several(self) -> bool:
        """Whether there is anything to choose."""
        one = self.lengths is not None and len(self.lengths) == 1
        parts = (self.families, self.penalties, self.centers)
        return not one or any(len(part) > 1 for part in parts)


def can_compare(form: Form, data: Rows) -> bool:
    """Return whether held-out energies of a form can be compared on a sample of the rows.

    That needs a symmetric and positive form of one view, without arrays for each row.
    """
    comparable = form.symmetric and form.positive and form.views == 1 and not form.needs_all_rows
    enough = data.n_distinct >= FEWEST_COMPARED_ROWS
    return comparable and enough and not any(form.row_arrays())


def few_groups(sample: WeightedRows) -> bool:
    """Return whether the rows have groups, but too few of them to compare candidates."""
    return sample.groups is not None and len(np.unique(sample.groups)) < FEWEST_GROUPS


def prepared_search(
    form: Form,
    data: Rows,
    *,
    quantile: float = 0.1,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Search | None:
    """Draw the sample that candidates are compared on; None where they cannot be compared.

    Parameters
    ----------
    form
        The operator.
    data
        The rows.
    quantile
        The quantile of distances that length scales are multiples of.
    seed
        The seed of the choice of rows.
    n_jobs
        The number of threads.
    """
    threads = n_threads(n_jobs)
    if not can_compare(form, data):
        return None
    sample = data.sample(COMPARED_ROWS, seed)
    if few_groups(sample):
        return None
    sample = replace(sample, X=np.array(sample.X, dtype=np.float64))
    try:
        form = form.prepare(sample.X, sample.weight, n_jobs)
    except ValueError:
        # The sample is too small for the operator, though all rows may be enough.
        return None
    near = ~far_rows(sample.X)
    base = auto_length_scale(sample.X[near], sample.weight[near], seed, quantile)
    return Search(form, sample, sample.X[near], base, threads)


def search_for(search: Search, k: int, choices: Choices) -> Selection | None:
    """Compare candidates for the first k functions; None where none has k that generalize.

    The constant is not counted, and up to 30 functions are compared.
    """
    search = replace(search, k=min(k, MOST_COMPARED_FUNCTIONS), seen={}, floor=None, errors=[])
    with one_blas_thread(), counting("comparing bases", "bases") as search.step:
        return _search(search, choices)


def _search(search: Search, choices: Choices) -> Selection | None:
    """Improve one parameter after the other, the most important first."""
    if choices.settings:
        given = search.evaluate(choices.settings)
        return _selection(search, search.cheapest(given)) if search.any_valid else None
    most = max(2, len(search.centers) // 2)
    first_centers = min(max(FIRST_CENTERS, 4 * search.k), most, max(choices.centers))
    penalty = FIRST_PENALTY if FIRST_PENALTY in choices.penalties else choices.penalties[0]
    factors = choices.lengths is None
    lengths = choices.lengths or tuple(factor * search.base for factor in LENGTH_FACTORS)
    starts = [
        Setting(family(length), first_centers, penalty)
        for family in choices.families
        for length in lengths
    ]
    found = search.evaluate(starts)
    if not search.any_valid:
        return None
    finalists = sorted(found, key=search.score)[:FINALISTS]
    best = search.best(
        search.evaluate(
            replace(one.setting, regularization=g) for one in finalists for g in choices.penalties
        )
    )
    d = search.rows.X.shape[1]
    if factors:
        start = np.asarray(best.setting.kernel.length_scale)

        def scaled(setting: Setting) -> list[Setting]:
            length = np.asarray(setting.kernel.length_scale)
            inside = 2**-MOST_EXTENSIONS < float((length / start).ravel()[0]) < 2**MOST_EXTENSIONS
            longest = LONGEST * float(search.deviations.max())
            changed = [float(length * factor) for factor in (0.5, 2.0)] if inside else []
            changed = [value for value in changed if value <= longest]
            kernels = [setting.kernel.with_length_scale(value) for value in changed]
            return [replace(setting, kernel=kernel) for kernel in kernels]

        best = search.improve(best, scaled, 0.0)
        if choices.per_column and 1 < d <= MOST_SCALED_COLUMNS:
            best = _fit_columns(search, best, choices, most)
    sizes = sorted({min(size, most) for size in choices.centers if size > 1.5 * search.k})
    sizes = sizes or [min(most, max(choices.centers))]
    chosen = _fit_centers(search, best, sizes)
    if len(search.rows) == COMPARED_ROWS:
        chosen = _fit_family(search, chosen, found, choices, sizes[-1])
    finer = None
    if factors:
        chosen, finer = _refine(search, chosen, choices, sizes[-1])
    edges = _edges(chosen.setting, choices, sizes)
    if factors and search.ends_at(chosen.setting):
        edges = ("length_scale", *edges)
    return _selection(search, chosen, edges, finer)


def _refine(
    search: Search, chosen: Candidate, choices: Choices, n_centers: int
) -> tuple[Candidate, Candidate]:
    """Halve the length scales, with the most centers, as long as that lowers the score.

    Returns the choice, and the next finer one. Short length scales may pay only with many centers
    and a smaller penalty.
    """
    for _ in range(1 + MOST_EXTENSIONS):
        half = search.halved(chosen.setting)
        half = replace(half, n_centers=max(n_centers, half.n_centers))
        penalties = [g for g in choices.penalties if g <= half.regularization][-2:]
        tried = search.evaluate(replace(half, regularization=g) for g in penalties)
        finer = search.best(tried)
        if search.score(finer) >= search.score(chosen) - LEAST_GAIN * search.k:
            break
        chosen = finer
    return chosen, finer


def _selection(
    search: Search,
    chosen: Candidate,
    at_edge: tuple[str, ...] = (),
    finer: Candidate | None = None,
) -> Selection:
    candidates = sorted(search.seen.values(), key=search.score)
    scores = np.array([search.score(candidate) for candidate in candidates])
    return Selection(tuple(candidates), scores, chosen, at_edge, len(search.rows), finer)


def _fit_columns(search: Search, best: Candidate, choices: Choices, most: int) -> Candidate:
    """Give each column a length scale; where that helps, once more with twice as many centers.

    A shorter length scale in one column may pay only with more centers.
    """
    found = search.fit_columns(best, COLUMN_FACTORS, COLUMN_SWEEPS)
    if found is best:
        return best
    settings = [replace(found.setting, regularization=g) for g in choices.penalties]
    found = search.best(search.evaluate(settings))
    if len(choices.centers) > 1 and 2 * found.setting.n_centers <= most:
        more = replace(found.setting, n_centers=2 * found.setting.n_centers)
        found = search.fit_columns(search.evaluate([more])[0], COLUMN_FACTORS[1:2], 1)
        settings = [replace(found.setting, regularization=g) for g in choices.penalties]
        found = search.best(search.evaluate(settings))
    return found


def _fit_centers(search: Search, best: Candidate, sizes: Sequence[int]) -> Candidate:
    """Use as many centers as lower the score by more than its error."""
    chosen = search.evaluate([replace(best.setting, n_centers=sizes[0])])[0]
    for size in sizes[1:]:
        more = search.evaluate([replace(best.setting, n_centers=size)])[0]
        chosen = search.cheapest([chosen, more])
        if chosen is not more and size > best.setting.n_centers:
            break
    return chosen


def _fit_family(
    search: Search, chosen: Candidate, found: list[Candidate], choices: Choices, n_centers: int
) -> Candidate:
    """Compare the choice with the best of each other kernel family, with many centers.

    Less smooth kernels need more centers than the first round gives them.
    """
    per_family = len(found) // len(choices.families)
    families = [found[i : i + per_family] for i in range(0, len(found), per_family)]
    bests = [search.best(family) for family in families]
    hopeless = search.score(search.best(bests)) + HOPELESS * search.k
    rivals = [
        rival.setting
        for rival in bests
        if search.score(rival) < hopeless
        and type(rival.setting.kernel) is not type(chosen.setting.kernel)
    ]
    penalties = [g for g in choices.penalties if g >= chosen.setting.regularization][:2]
    if not rivals:
        return chosen
    tried = search.evaluate(
        replace(rival, n_centers=n_centers, regularization=g) for rival in rivals for g in penalties
    )
    best = search.best(tried)
    if choices.lengths is None:
        best = search.improve(best, lambda setting: [search.halved(setting)], 0.0)
    return best if search.score(best) < search.score(chosen) - LEAST_GAIN * search.k else chosen


def _edges(setting: Setting, choices: Choices, sizes: Sequence[int]) -> tuple[str, ...]:
    """Return the parameters of a setting that lie at the edge of what was tried."""
    edges = []
    if len(choices.penalties) > 1 and setting.regularization == max(choices.penalties):
        edges.append("regularization")
    if len(sizes) > 1 and setting.n_centers == sizes[-1]:
        edges.append("n_centers")
    return tuple(edges)
