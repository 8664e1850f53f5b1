"""Choosing the candidate of least energy, or of largest correlation, on unseen rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
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
    kernel_family,
)
from ritz.selection.rows import WeightedRows
from ritz.selection.score import Sample, held_out_correlation, unseen_energy
from ritz.threads import one_blas_thread
from ritz.validation import Array, as_count, parameter_error

# Candidates: length scales relative to a quantile of distances, and regularizations.
LENGTH_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
PENALTIES = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
# Rows drawn for a comparison, half of them unseen: enough to tell energies a few percent apart.
COMPARED_ROWS = 2000
# Rows below which halves are too small for their energies to mean anything.
FEWEST_COMPARED_ROWS = 60
# Centers in a comparison: enough for ten functions on 1,000 rows.
COMPARED_CENTERS = 150
# Functions in a comparison, the constant not counted: later ones are mostly noise on 1,000 rows.
MOST_COMPARED_FUNCTIONS = 10
# Centers up to which half as many would save less time than the comparison takes.
FEWEST_HALVED_CENTERS = 300
# The relative rise in energy that is accepted for half as many centers, a quarter of the time.
HALVING_TOLERANCE = 0.02


@dataclass(frozen=True)
class Defaults:
    """What "auto" stands for in an estimator.

    Parameters
    ----------
    regularization
        As in `ritz.decompose`.
    quantile
        The quantile of distances between rows that the length scale starts from.
    centers_per_root, most_centers
        Centers for each square root of the number of distinct rows, and the most of them.
    halve
        Whether half as many centers are used where they suffice for the first functions.
    """

    regularization: float = 1e-8
    quantile: float = 0.1
    centers_per_root: float = 5.0
    most_centers: int = 1000
    halve: bool = True


@dataclass(frozen=True, eq=False)
class Comparison:
    """What bases are compared by: the energy of an operator's first functions on unseen rows.

    Parameters
    ----------
    form
        The operator.
    n_functions
        The number of functions wanted, the constant not counted; up to ten are compared.
    regularization
        As in `ritz.decompose`.
    data
        The rows and their weights, of which up to 2,000 distinct ones are drawn.
    seed
        The seed of the choice of rows.
    """

    form: Form
    n_functions: int
    regularization: float
    data: WeightedRows
    seed: int

    @cached_property
    def halves(self) -> tuple[Sample, ...]:
        """Two samples, made once for all candidates; empty where energies cannot be compared.

        A comparison needs a symmetric and positive form of one view, without arrays for each row.
        """
        form, rows = self.form, self.data.distinct
        comparable = form.symmetric and form.positive and form.views == 1
        if not comparable or any(form.row_arrays()) or len(rows) < FEWEST_COMPARED_ROWS:
            return ()
        sample = rows.sample(COMPARED_ROWS, self.seed)
        halves = sample[::2], sample[1::2]
        try:
            return tuple(Sample(half, form.prepare(half.X, half.weight, 1)) for half in halves)
        except ValueError:
            # Half of the rows are too few for the operator, though all of them may be enough.
            return ()

    def energy(self, kernel: Kernel, n_centers: int) -> float:
        """Return the energy on one half of functions found from the other.

        With fewer than 2,000 rows, each half is unseen in turn and the energies are added.
        """
        seen, unseen = self.halves
        k = min(self.n_functions, MOST_COMPARED_FUNCTIONS)
        basis = Nystrom(kernel, min(n_centers, len(unseen.rows)))
        ways = [(seen, unseen), (unseen, seen)]
        if len(seen.rows) + len(unseen.rows) >= COMPARED_ROWS:
            ways.pop()
        return sum(unseen_energy(basis, *way, k, self.regularization) for way in ways)


@dataclass(frozen=True, eq=False)
class Selected:
    """A basis or its recipe, and the energies on unseen rows that decided for it.

    They are kept for each length scale, and for 75 and 150 centers; None where not compared.
    """

    recipe: Recipe
    length_scale_path: dict[float, float] | None = None
    n_centers_path: dict[int, float] | None = None


def choose_basis(
    basis: Any,
    kernel: Any,
    length_scale: Any,
    n_centers: Any,
    comparison: Comparison,
    defaults: Defaults,
) -> Selected:
    """Return the basis given, or kernel sections with what is "auto" chosen from the rows.

    Parameters
    ----------
    basis, kernel, length_scale, n_centers
        As given to an estimator.
    comparison
        What candidates are compared by.
    defaults
        What "auto" stands for.
    """
    if basis is not None:
        require_recipe(basis)
        return Selected(complete_basis(basis, len(comparison.data)))
    rows = comparison.data.distinct
    family = kernel_family(kernel, length_scale)
    length_path = centers_path = None
    with one_blas_thread():
        if isinstance(length_scale, str) and not isinstance(kernel, Kernel):
            some = rows.sample(SCALE_ROWS, comparison.seed)
            base = auto_length_scale(some.X, some.weight, comparison.seed, defaults.quantile)
            length_scale, length_path = choose_length_scale(comparison, family, base)
        sections = family(length_scale)
        if isinstance(n_centers, str):
            if n_centers != "auto":
                raise parameter_error("n_centers", "'auto' or a positive integer", repr(n_centers))
            n_centers = auto_n_centers(len(rows), defaults.centers_per_root, defaults.most_centers)
            if defaults.halve:
                known = length_path.get(length_scale) if length_path else None
                n_centers, centers_path = halve_centers(comparison, sections, n_centers, known)
    n_centers = min(as_count(n_centers, "n_centers"), len(rows))
    return Selected(Nystrom(sections, n_centers), length_path, centers_path)


def choose_length_scale(
    comparison: Comparison, family: Callable[[float], Kernel], base: float
) -> tuple[float, dict[float, float] | None]:
    """Return the best of five length scales around a base, and the energy of each.

    Functions too narrow for the data have little variance on unseen rows, and so a large or an
    infinite energy. Where nothing can be compared the base itself is returned, without energies.
    """
    if not comparison.halves:
        return base, None
    lengths = [factor * base for factor in LENGTH_FACTORS]
    energies = {length: comparison.energy(family(length), COMPARED_CENTERS) for length in lengths}
    best = min(lengths, key=energies.__getitem__)
    return (best if np.isfinite(energies[best]) else base), energies


def halve_centers(
    comparison: Comparison, kernel: Kernel, n_centers: int, known: float | None = None
) -> tuple[int, dict[int, float] | None]:
    """Return half as many centers if they suffice, and the energies of 75 and 150 centers.

    Functions so smooth that 75 centers represent them as well as 150 do on a sample are as smooth
    on all rows. `known` is the energy of 150 centers, if it was computed before.
    """
    many_functions = comparison.n_functions > MOST_COMPARED_FUNCTIONS
    if n_centers <= FEWEST_HALVED_CENTERS or many_functions or not comparison.halves:
        return n_centers, None
    few = comparison.energy(kernel, COMPARED_CENTERS // 2)
    many = comparison.energy(kernel, COMPARED_CENTERS) if known is None else known
    suffices = np.isfinite(many) and few <= (1 + HALVING_TOLERANCE) * many
    energies = {COMPARED_CENTERS // 2: few, COMPARED_CENTERS: many}
    return (n_centers // 2 if suffices else n_centers), energies


def choose_regularization(
    sums: Sums, k: int, regularization: Any, auto: float
) -> tuple[float, Array | None, dict[float, float] | None]:
    """Return the regularization given, or the candidate that explains most held-out correlation.

    Parameters
    ----------
    sums
        The sums of an operator on pairs, kept in folds.
    k
        The number of pairs of functions, the constants among them.
    regularization
        As given to an estimator.
    auto
        What "auto" stands for where fewer than two folds have rows.

    Returns
    -------
    The regularization; the correlation (k - 1,) of each pair on held-out rows, or None; the
    correlation that each candidate explains, or None where they were not compared.
    """
    value = as_regularization(regularization, auto)
    k = min(k, *sums.L[0].shape)
    if (sums.weight > 0).sum() < 2:
        return value, None, None
    if not isinstance(regularization, str):
        return value, held_out_correlation(sums, k, value)[1], None
    found = {gamma: held_out_correlation(sums, k, gamma) for gamma in PENALTIES}
    best = max(PENALTIES, key=lambda gamma: found[gamma][0])
    return best, found[best][1], {gamma: score for gamma, (score, _) in found.items()}
