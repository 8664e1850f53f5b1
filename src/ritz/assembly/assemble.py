"""From samples to sums: fix the functions, then go over the rows once."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.assembly.folds import over_folds
from ritz.assembly.general import GeneralAssembler
from ritz.assembly.laplacian import LaplacianAssembler
from ritz.assembly.sums import Matrices, Sums
from ritz.bases import Basis, Centered, Recipe, conditioned
from ritz.bases.basis import require_recipe
from ritz.forms import Form
from ritz.forms.form import require_form
from ritz.rows import Block, random_integers
from ritz.streams import Stream, as_stream
from ritz.threads import n_threads, one_blas_thread
from ritz.validation import as_count, as_n_folds, parameter_error, require_names, require_size

# Rows over which the pilot means are taken: they need to be good to a few percent only.
PILOT_ROWS = 2048
# With fewer multiplications than this, starting threads takes longer than the pass.
SERIAL_PRODUCTS = 1e8
# Rows of the reference sample: enough for tangents and neighbors, and few enough to save.
REFERENCE_ROWS = 10_000


def assemble(
    form: Form,
    basis: Any,
    X: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    n_folds: int = 8,
    first_row: int = 0,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Sums:
    """Average a form over samples, in one pass.

    Time O(n p^2 + n p d), memory a few blocks and 2 p^2 numbers a fold.

    Parameters
    ----------
    form
        The operator, such as `ritz.laplacian()`.
    basis
        The functions, such as `ritz.Nystrom(kernel, 200)`; a pair of them for the left and right
        functions of an operator that is not symmetric.
    X
        The samples (n, d), a pair of arrays for operators on pairs, or a stream. Sums are float64
        whatever the type of the samples.
    sample_weight
        Nonnegative weights (n,).
    groups
        Labels (n,) of rows that belong together, such as pieces of a time series: they share a
        fold. Otherwise a row's fold is a hash of its numbers; where the sample that fixes the
        functions holds equal rows, as of counts or rounded data, also of its place among the rows.
    n_folds
        The number of parts in which the sums are kept, for error bars and selection.
    first_row
        How many rows of positive weight come before these, where X is a part of the data: the
        `n_rows` of the sums so far. The sums of the parts then have the folds of the whole.
    random_state
        A seed or generator, for the choice of centers and the like.
    n_jobs
        The number of threads, by default one for each core. It does not change the result.
    progress
        Whether to show a progress bar; by default on a terminal, when the pass is long.
    """
    require_form(form)
    n_folds, threads = as_n_folds(n_folds), n_threads(n_jobs)
    first_row = as_count(first_row, "first_row", "a nonnegative integer", lowest=0)
    seeds = random_integers(random_state, 3)
    stream = as_stream(X, form.views, sample_weight, groups)
    form.require_shapes(stream.n_rows, stream.dimensions)
    with one_blas_thread():
        left, right = fit_bases(form, basis, stream, seeds)
    if form.needs_all_rows:
        form = form.prepare_with_all(stream.whole(f"{form} compares each row with every other"))
        n_folds = 1
    if form.needs_reference:
        assert left.reference is not None
        form = form.prepare(left.reference, left.reference_weight, threads)
    # A row costs p q products, and its p functions cost about 100 products each.
    if (stream.n_rows or np.inf) * left.size * (right.size + 100) < SERIAL_PRODUCTS:
        threads = 1
    return sum_over_rows(form, left, right, stream, n_folds, threads, progress, first_row)


def sum_over_rows(
    form: Form,
    left: Centered,
    right: Centered,
    stream: Stream,
    n_folds: int,
    threads: int,
    progress: bool | None,
    first_row: int,
) -> Sums:
    """Add up a prepared form over all rows, by the closed formula where it applies."""
    assembler: LaplacianAssembler | GeneralAssembler
    if LaplacianAssembler.applies(form, left, right):
        assembler = LaplacianAssembler(left)
    else:
        assembler = GeneralAssembler(form, left, right)
    folds: list[Any] = [assembler.start() for _ in range(n_folds)]
    count, reweights = np.zeros(n_folds, dtype=np.int64), form.reweighting is not None

    def add(fold: int, block: Block) -> None:
        if reweights:
            block = replace(block, weight=block.weight * np.asarray(form.row_weight(block)))
        assembler.add(folds[fold], block)
        count[fold] += len(block.weight)

    # Pairs of rows repeat only if the rows of both sides do.
    number = first_row if left.repeats and right.repeats else None
    n_rows = over_folds(stream, add, n_folds, assembler.block_rows, threads, progress, number)
    if stream.n_rows is None:
        form.require_shapes(n_rows, stream.dimensions)
    if count.sum() < 2:
        raise ValueError(
            f"At least 2 rows of positive weight are needed. Got {count.sum()}. Each call of the "
            "'source' of Batches must return a fresh iterator."
        )
    for fold in range(n_folds):
        # One fold at a time, so that its products are freed before the next matrices are made.
        with np.errstate(over="ignore", invalid="ignore"):
            folds[fold] = assembler.finish(folds[fold])
    return checked_sums(form, left, right, count, folds)


def checked_sums(
    form: Form, left: Centered, right: Centered, count: NDArray[np.int64], folds: list[Matrices]
) -> Sums:
    """Return the sums of all folds; raise if they overflowed or if a symmetric form's L is not."""
    for fold in folds:
        for name, matrix in (("L", fold.L), ("Phi", fold.Phi), ("Psi", fold.Psi)):
            if not isfinite(matrix.sum()):
                raise ValueError(
                    f"The sums {name} overflowed: the functions or their derivatives are too large "
                    "on these samples. Scale X, and Y if there is one, or the kernel."
                )
    L, Phi, Psi = zip(*[(fold.L, fold.Phi, fold.Psi) for fold in folds], strict=True)
    # Psi is the same object as Phi where both sides share their functions.
    Psi = Phi if Psi[0] is Phi[0] else Psi
    weight = np.array([matrix[0, 0] for matrix in Phi])
    if form.symmetric and not form.positive:
        total = sum(L[1:], L[0])
        gap, size = np.abs(total - total.T).max(), np.abs(total).max()
        if gap > 1e-8 * size:
            raise ValueError(
                f"{form} must be symmetric, but L - L' reaches {gap:.2g} where L reaches "
                f"{size:.2g}. Make it so, or pass symmetric=False to form()."
            )
    return Sums(form, left, right, weight, count, L, Phi, Psi)


def fit_bases(
    form: Form, basis: Any, stream: Stream, seeds: tuple[int, ...]
) -> tuple[Centered, Centered]:
    """Return the functions of both sides, with the reference sample where the form needs one.

    The seeds are those of the reference sample, of the left and of the right functions.
    """
    is_pair = isinstance(basis, tuple | list)
    recipes = tuple(basis) if is_pair else (basis, basis)
    for recipe in recipes if is_pair else (basis,):
        require_recipe(recipe)
    if len(recipes) != 2 or (is_pair and form.symmetric):
        allowed = "one basis for a symmetric operator" if form.symmetric else "one basis or a pair"
        raise parameter_error("basis", allowed, f"{len(recipes)} bases")
    if form.views == 2 and form.symmetric and len(set(stream.dimensions)) > 1:
        columns = f"an array with {stream.dimensions[0]} columns, as X"
        raise parameter_error("Y", columns, f"{stream.dimensions[1]} columns")
    if form.views == 2 and not form.two_sided:
        require_names(stream.names[1], stream.names[0], "Y")
    left = fit_basis(recipes[0], stream, seeds[1], 0)
    if form.needs_reference and left.reference is None:
        sample = stream.sample_distinct(REFERENCE_ROWS, seeds[0])
        left = replace(left, reference=sample.X, reference_weight=sample.weight)
    if recipes[0] is recipes[1] and not form.two_sided:
        return left, left
    return left, fit_basis(recipes[1], stream, seeds[2], int(form.two_sided))


def fit_basis(recipe: Recipe, stream: Stream, seed: int, view: int) -> Centered:
    """Return the functions of one side, conditioned over a pilot sample unless they are fixed."""
    basis: Basis | Recipe = recipe
    if not isinstance(recipe, Centered) or recipe.repeats is None:
        # A recipe samples its rows with the first number that it draws from its seed. With the same
        # number here, it chooses the rows that it would choose from the whole stream.
        (first,) = random_integers(seed, 1)
        pilot = stream.sample_distinct(max(recipe.pilot_rows, PILOT_ROWS), first, view)
        if len(pilot.X) < 2 and stream.n_rows is None:
            got = f"{len(pilot.X)} distinct row(s)"
            raise parameter_error("X", "data of at least 2 rows", got)
        require_size(pilot.X, "XY"[view])
        basis = recipe.fit(pilot.X, seed)
    assert isinstance(basis, Basis)
    dimension = stream.dimensions[view]
    if basis.dimension not in (None, dimension):
        requirement = f"an array with {basis.dimension} columns"
        raise parameter_error("XY"[view], requirement, dimension)
    names = stream.names[view]
    require_names(names, basis.names, "XY"[view])
    if not isinstance(basis, Centered):
        basis = conditioned(basis, pilot.X[:PILOT_ROWS])
    if basis.repeats is None:
        basis = replace(basis, repeats=pilot.repeat)
    return basis if names == basis.names else replace(basis, column_names=names or basis.names)
