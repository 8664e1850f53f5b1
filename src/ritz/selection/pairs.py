"""What "auto" means between two views: kernels and penalties by held-out correlations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.assembly import Sums
from ritz.bases import KernelSections, Nystrom
from ritz.forms import cross
from ritz.kernels import Gaussian, Kernel
from ritz.selection.candidates import as_regularization, auto_length_scale, kernel_families
from ritz.selection.choice import Defaults, Wanted
from ritz.selection.rows import Rows, far_rows
from ritz.selection.search import Search, Setting, measured
from ritz.selection.selection import Selection
from ritz.selection.steps import (
    CENTERS,
    COMPARED_ROWS,
    FEWEST_COMPARED_ROWS,
    Choices,
    few_groups,
    search_for,
)
from ritz.spectrum.solve_sums import solve_sums
from ritz.threads import n_threads
from ritz.validation import Array

# Regularizations of operators on pairs.
PAIR_PENALTIES = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(eq=False)
class PairSearch(Search):
    """A search over kernels of two views, whose length scales have one ratio.

    Parameters
    ----------
    other_centers
        Rows (m, e) of the second view in random order.
    ratio
        The length scale of the second view relative to that of the first.
    """

    other_centers: Array | None = None
    ratio: float = 1.0

    def kernels(self, kernel: Kernel) -> tuple[Kernel, Kernel]:
        """Return the kernels of both views, given that of the first."""
        if self.ratio == 1.0:
            return kernel, kernel
        length = self.ratio * np.asarray(kernel.length_scale)
        return kernel, kernel.with_length_scale(float(length))

    def bases(self, setting: Setting) -> Any:
        assert self.other_centers is not None
        centers = self.centers, self.other_centers
        return tuple(
            KernelSections(kernel, rows[: setting.n_centers])
            for kernel, rows in zip(self.kernels(setting.kernel), centers, strict=True)
        )


def choose_kernels(
    data: Rows,
    k: int,
    wanted: Wanted,
    recipes: tuple[Nystrom, Nystrom],
    defaults: Defaults,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> tuple[tuple[Kernel, Kernel], Selection | None]:
    """Return the kernels of two views whose functions correlate most on unseen rows.

    Length scales of both views are one multiple of a quantile of the distances in each.

    Parameters
    ----------
    data
        The rows of both views with their weights.
    k
        The number of pairs of functions, the constants not counted.
    wanted
        The parameters as given to an estimator.
    recipes
        What is used where nothing can be compared.
    defaults
        What "auto" stands for.
    seed, n_jobs
        As in `choose_basis`.
    """
    kernels = recipes[0].kernel, recipes[1].kernel
    families = kernel_families(wanted.kernel, wanted.length_scale)
    own_length = isinstance(wanted.kernel, Kernel) and wanted.kernel.length_scale != "auto"
    auto_length = isinstance(wanted.length_scale, str) and not own_length
    if not auto_length and len(families) == 1:
        return kernels, None
    search = prepared_pairs(data, auto_length, defaults.quantile, seed, n_jobs)
    if search is None:
        return kernels, None
    value = as_regularization(wanted.regularization, defaults.regularization)
    choices = Choices(
        families=families,
        lengths=None if auto_length else (wanted.length_scale,),
        penalties=defaults.penalties if isinstance(wanted.regularization, str) else (value,),
        centers=(min(CENTERS[1], *(recipe.n_centers or 1 for recipe in recipes)),),
        per_column=False,
    )
    k = min(k, defaults.most_compared)
    while k:
        selection = search_for(search, k, choices)
        if selection is not None:
            return search.kernels(selection.setting.kernel), selection
        # Rare states leave some functions to a few groups; others may be compared.
        k //= 2
    return kernels, None


def prepared_pairs(
    data: Rows,
    auto_length: bool,
    quantile: float,
    seed: int,
    n_jobs: int | None,
) -> PairSearch | None:
    """Draw the pairs that candidates are compared on; None where they are too few."""
    sample = data.sample(COMPARED_ROWS, seed)
    if len(sample) < FEWEST_COMPARED_ROWS or few_groups(sample):
        return None
    assert sample.Y is not None
    X, Y = (np.array(view, dtype=np.float64) for view in (sample.X, sample.Y))
    near = ~(far_rows(X) | far_rows(Y))
    lengths = [
        auto_length_scale(view[near], sample.weight[near], seed, quantile) for view in (X, Y)
    ]
    return PairSearch(
        cross(),
        replace(sample, X=X, Y=Y),
        X[near],
        lengths[0],
        n_threads(n_jobs),
        other_centers=Y[near],
        ratio=lengths[1] / lengths[0] if auto_length else 1.0,
    )


def choose_regularization(
    sums: Sums, k: int, regularization: Any, auto: float, n_jobs: int | None = None
) -> tuple[float, Array | None, dict[float, float] | None]:
    """Return the regularization given, or the one whose functions correlate most on unseen rows.

    Parameters
    ----------
    sums
        The sums of an operator on pairs, kept in folds.
    k
        The number of pairs of functions, the constants not counted.
    regularization
        As given to an estimator.
    auto
        What "auto" stands for where fewer than three folds have rows.
    n_jobs
        The number of threads.

    Returns
    -------
    The regularization; the correlation (k,) of each pair on held-out rows, fewer where there are
    fewer pairs, or None; the score of each candidate, lower is better, or None where they were not
    compared.
    """
    value = as_regularization(regularization, auto)
    penalties = PAIR_PENALTIES if isinstance(regularization, str) else (value,)
    k = min(k, len(solve_sums(sums, 1 + k, penalties[-1])) - 1)
    if k < 1:
        return value, None, None
    # The regularization is all that candidates differ in.
    setting = Setting(Gaussian(1.0), sums.left.size, value)
    found = [
        measured(sums, k, replace(setting, regularization=penalty), n_jobs) for penalty in penalties
    ]
    errors = [candidate.held.errors for candidate in found if candidate.held is not None]
    if not errors:
        return value, None, None
    floor = np.median(errors, axis=0)
    best = min(found, key=lambda candidate: candidate.loss(floor))
    assert best.held is not None
    held_out = 1 - best.held.values
    if not isinstance(regularization, str):
        return value, held_out, None
    path = {candidate.setting.regularization: candidate.loss(floor) for candidate in found}
    return best.setting.regularization, held_out, path
