"""One pass over the rows: blocks to features to sums."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from ritz.arrays import as_count, drawn, must
from ritz.assembly.accumulator import Accumulator
from ritz.assembly.few import FEW_ROWS, is_few, sums_of_few
from ritz.assembly.passes import AddRows, in_pieces, over_folds
from ritz.assembly.single import Sample, single_will_do, survived
from ritz.assembly.sums import Sums
from ritz.bases import Basis, Centered, Nystrom, Recipe, conditioned
from ritz.bases.basis import require_recipe
from ritz.forms import Form
from ritz.streams import Stream, as_stream
from ritz.threads import Workers, blas_threads, jobs

PILOT_ROWS = FEW_ROWS
BLOCK_BYTES = 64_000_000
LITTLE_WORK = 1e8
COST_OF_VALUE = 100


def assemble(
    form: Form,
    basis: Any,
    X: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    n_folds: int = 8,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Sums:
    """Average a form over samples, in one pass.

    Time O(n p^2 + n p d), memory a few blocks and p^2 numbers a fold.

    Parameters
    ----------
    form
        The operator, such as `ritz.laplacian()`.
    basis
        The functions, such as `ritz.Nystrom(kernel, 200)`; a pair of them for the left and right
        functions of an operator that is not symmetric.
    X
        The samples (n, d), a pair of arrays for operators on pairs, or a stream. For arrays of
        float32 the products of kernel sections are computed in float32, in half the time, and
        added up in float64, where a sample shows that to leave about three digits of the first
        16 eigenvalues as they are. (`laplacian()` without frames, and `cross()`, with weights, if
        any, that differ by a factor of four at most.) Where all rows turn out to be unlike the
        sample, they are added up again in float64.
    sample_weight
        Nonnegative weights (n,).
    groups
        Labels (n,) of rows that belong together, such as pieces of a time series: they share a
        fold. Otherwise a row's fold is a hash of its numbers.
    n_folds
        In how many parts the sums are kept, for error bars and selection.
    random_state
        A seed or generator, for the choice of centers and the like.
    n_jobs
        The number of threads, by default one for each core. It does not change the result.
    progress
        Whether to show a progress bar; by default on a terminal, when the pass is long.
    """
    if not isinstance(form, Form):
        raise TypeError(must("form", "an operator such as ritz.laplacian()", form))
    n_folds = as_count(n_folds, "n_folds")
    seeds = drawn(random_state, 3)
    stream = as_stream(X, form.views, sample_weight, groups)
    prepared = form.prepare(stream, seeds[0])
    threads = jobs(n_jobs)
    few = is_few(basis, stream)
    folds = n_folds if form.foldable else 1
    if few:
        sums_at_once = sums_of_few(form, basis, stream, folds, seeds[1])
        if sums_at_once is not None:
            return sums_at_once
    # The threads of the linear algebra would go on waiting, busily, on the cores of ours. For few
    # functions it takes one by itself, and to limit it takes a twentieth of such a fit.
    with nullcontext() if few else blas_threads(1):
        left, right = fit_bases(form, basis, stream, seeds[1:])
        accumulator, samples = accumulator_of(prepared, stream, left, right, folds)
        with blas_threads(1) if few and accumulator.tiles is None else nullcontext():
            run_through(accumulator, form, stream, threads, progress)
    if not samples or not accumulator.overflowed:
        sums = accumulator.sums(form)
        if not samples or survived(sums, samples):
            return sums
        del sums
    # Rare: what a sample did not show. The rows have to be seen again.
    del accumulator
    with blas_threads(1):
        accumulator = Accumulator(prepared, left, right, folds)
        run_through(accumulator, form, stream, threads, progress)
    return accumulator.sums(form)


def run_through(
    accumulator: Accumulator,
    form: Form,
    stream: Stream,
    threads: int,
    progress: bool | None,
) -> None:
    """Add up all rows of a stream."""
    left, right, folds = accumulator.left, accumulator.right, accumulator.n_folds
    workers = min(folds, threads)
    # Waking threads takes longer than little work does.
    if work(stream, left, right) < LITTLE_WORK:
        workers = 1
    add: AddRows = accumulator.add_rows
    if accumulator.tiles is None:
        add = in_pieces(accumulator.add, block_rows(form, left, right, stream))
    own = nullcontext() if form.foldable else blas_threads(threads)
    with own, Workers(workers) as run:
        rows = over_folds(stream, add, folds, run, progress)
        accumulator.close(run)
    for name, array in form.row_arrays():
        if len(array) != rows:
            what = f"an array with {rows} rows, as the data have"
            raise ValueError(must(name, what, f"{len(array)} rows"))


def work(stream: Stream, left: Basis, right: Basis) -> float:
    """Return about how many numbers are multiplied in a pass."""
    n = np.inf if stream.n_rows is None else stream.n_rows
    return float(n * left.size * (right.size + COST_OF_VALUE))


def fit_bases(
    form: Form, basis: Any, stream: Stream, seeds: tuple[int, ...]
) -> tuple[Centered, Centered]:
    """Return the functions of both sides, made from a sample of the rows each side sees."""
    pair = isinstance(basis, tuple | list)
    recipes = tuple(basis) if pair else (basis, basis)
    for recipe in recipes if pair else recipes[:1]:
        require_recipe(recipe)
    if len(recipes) != 2 or (pair and form.symmetric):
        what = "one basis for a symmetric operator" if form.symmetric else "one basis or a pair"
        raise ValueError(must("basis", what, f"{len(recipes)} bases"))
    if form.views == 2 and form.symmetric and len(set(stream.dimensions)) > 1:
        columns = f"an array with {stream.dimensions[0]} columns, as X"
        raise ValueError(must("Y", columns, f"{stream.dimensions[1]} columns"))
    two_views = form.views == 2 and not form.symmetric
    left = fit_basis(recipes[0], stream, seeds[0], 0)
    if recipes[0] is recipes[1] and not two_views:
        return left, left
    return left, fit_basis(recipes[1], stream, seeds[1], 1 if two_views else 0)


def fit_basis(recipe: Recipe, stream: Stream, seed: int, view: int) -> Centered:
    """Return the functions of one side, conditioned over a pilot sample."""
    # The recipe draws its first number again: it then chooses the same rows out of the pilot as
    # it would out of the whole, and fewer of them are the first of more. Ours need not look.
    (first,) = drawn(seed, 1)
    pilot = stream.sample(max(recipe.pilot_rows, PILOT_ROWS), first, view)
    if len(pilot) < 2 and stream.n_rows is None:
        raise ValueError(must("X", "data of at least 2 rows", f"{len(pilot)} distinct row(s)"))
    if type(recipe) is Nystrom:
        ordered = type(stream).sample is Stream.sample
        basis: Basis = recipe.fit(pilot, seed, in_order=ordered)
    else:
        basis = recipe.fit(pilot, seed)
    dimension = stream.dimensions[view]
    if basis.dimension not in (None, dimension):
        name = "XY"[view]
        raise ValueError(must(name, f"an array with {basis.dimension} columns", dimension))
    return basis if isinstance(basis, Centered) else conditioned(basis, pilot[:PILOT_ROWS])


def accumulator_of(
    form: Form, stream: Stream, left: Centered, right: Centered, folds: int
) -> tuple[Accumulator, list[Sample]]:
    """Return sums of float32 for rows of float32, if those are exact enough; else of float64.

    And the samples, one a side, that showed float32 to be exact enough.
    """
    samples: list[Sample] = []
    if stream.single and form.single:
        for basis, view in ((left, 0),) if form.symmetric else ((left, 0), (right, form.views - 1)):
            sample = single_will_do(form, basis, stream, view)
            if sample is None:
                samples = []
                break
            samples.append(sample)
    dtype = np.float32 if samples else np.float64
    return Accumulator(form, left, right, folds, dtype), samples


def block_rows(form: Form, left: Basis, right: Basis, stream: Stream) -> int:
    """Return how many rows keep a thread's features within its share of memory."""
    dimension = max(stream.dimensions)
    floats = max(
        basis.floats_per_row(dimension) + form.width(dimension) * basis.size
        for basis in (left, right)
    )
    return int(np.clip(BLOCK_BYTES // (8 * max(floats, 1)), 16, 2048))
