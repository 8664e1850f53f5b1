"""From samples to sums: fix the functions, then go over the rows once."""

from __future__ import annotations

import operator
from contextlib import nullcontext
from dataclasses import replace
from math import isfinite
from os import PathLike
from typing import Any

import numpy as np

from ritz.assembly.checkpoint import (
    Journal,
    Problem,
    Progress,
    extent,
    problem_of,
    read_progress,
)
from ritz.assembly.partial import Partial, RunningSums, Summation
from ritz.assembly.resumed import sum_chunks
from ritz.assembly.sums import Sums
from ritz.bases import Basis, Centered, Recipe, conditioned
from ritz.bases.basis import require_recipe
from ritz.forms import Form
from ritz.forms.form import require_form
from ritz.progress import showing
from ritz.rows import Draw, random_integers
from ritz.streams import DaskStream, DeviceStream, Samples, Stream, as_stream
from ritz.threads import n_threads, one_blas_thread
from ritz.validation import (
    as_count,
    as_n_folds,
    as_path,
    parameter_error,
    require_names,
    require_size,
)

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
    checkpoint: str | PathLike[str] | None = None,
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
    checkpoint
        A file to go on from, if the pass is interrupted: the same call then counts each row once,
        and the sums are those of a pass without interruption, to the last bit. It is written every
        30 seconds, on Ctrl-C and errors of the data, and at the end, after which the call returns
        what it holds. It holds the functions, the sums and a hash of each block of rows. Rows that
        are in are read again and compared by it, but for a pass that is complete: of that one the
        first block is compared, and the number of rows or the size of files where a stream tells
        them. Chunks of dask arrays are added in 20 rounds, after each of which
        the file may be written, and sums are equal to rounding. Other data, settings or versions,
        and damaged files, are refused.
        Functions must be the library's own, as in all files.
    """
    require_form(form)
    first_row = as_count(first_row, "first_row", "a nonnegative integer", lowest=0)
    return assemble_samples(
        form,
        basis,
        Samples(as_stream(X, form.views, sample_weight, groups)),
        n_folds=n_folds,
        first_row=first_row,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        checkpoint=checkpoint,
    )


def assemble_samples(
    form: Form,
    basis: Any,
    samples: Samples,
    *,
    n_folds: int,
    first_row: int = 0,
    random_state: int | np.random.Generator | None,
    n_jobs: int | None,
    progress: bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Sums:
    """Average a form over the rows of a stream, of which samples may have been drawn before.

    The parameters are those of `assemble`.
    """
    n_folds, threads = as_n_folds(n_folds), n_threads(n_jobs)
    seeds = random_integers(random_state, 3)
    drawn = None if random_state is None else seeds
    stream = samples.stream
    form.require_shapes(stream.n_rows, stream.dimensions)
    problem: Problem = {}
    found = None
    if checkpoint is not None:
        shape = extent(stream), stream.dimensions
        problem = problem_of(form, basis, *shape, n_folds, first_row, drawn)
        found = read_progress(as_path(checkpoint, "checkpoint"), problem)
    if found is None:
        with one_blas_thread(), nullcontext() if progress is None else showing(progress):
            left, right = fit_bases(form, basis, samples, seeds)
    else:
        left, right = found.bases
    if samples.stream is not stream:
        # Rows that come once are in a file now, and counted.
        stream = samples.stream
        form.require_shapes(stream.n_rows, stream.dimensions)
    if form.needs_all_rows:
        form = form.prepare_with_all(stream.whole(f"{form} compares each row with every other"))
        n_folds = 1
    if form.needs_reference:
        assert left.reference is not None
        form = form.prepare(left.reference, left.reference_weight, threads)
    if isinstance(stream, DeviceStream):
        # Operations wait in the queue of the device, or are split among threads there.
        threads, stream = 1, where_portable(stream, form, left, right)
    # A row costs p q products, and its p functions cost about 100 products each.
    if (stream.n_rows or np.inf) * left.size * (right.size + 100) < SERIAL_PRODUCTS:
        threads = 1
    record = None if checkpoint is None else (checkpoint, problem, found)
    return sum_over_rows(form, left, right, stream, n_folds, threads, progress, first_row, record)


def sum_over_rows(
    form: Form,
    left: Centered,
    right: Centered,
    stream: Stream,
    n_folds: int,
    threads: int,
    progress: bool | None,
    first_row: int,
    record: tuple[Any, Problem, Progress | None] | None = None,
) -> Sums:
    """Add up a prepared form over all rows.

    A record is the file of a checkpoint, what the sums are of, and what the file holds.
    """
    summation = Summation(form, left, right, n_folds)
    # Pairs of rows repeat only if the rows of both sides do.
    number = first_row if left.repeats and right.repeats else None
    if record is not None and isinstance(stream, DaskStream):
        return checked_sums(sum_chunks(summation, stream, number, progress, *record[:2]))
    journal = None
    if record is None:
        found: Partial = stream.reduce(
            summation, operator.add, number, threads=threads, progress=progress
        )
    else:
        current = RunningSums(summation, stream)
        journal = Journal(*record, (left, right), current.running)
        if journal.complete:
            journal.require_first(stream)
            found = current.partial(sum(journal.rows))
            return checked_sums(found.sums(form, left, right))
        found = current.add_all(stream, number, threads, progress, journal)
    if stream.n_rows is None:
        form.require_shapes(found.n_rows, stream.dimensions)
    sums = checked_sums(found.sums(form, left, right))
    if journal is not None:
        journal.write(complete=True)
    return sums


def where_portable(stream: DeviceStream, form: Form, left: Centered, right: Centered) -> Stream:
    """Return the stream, or one of NumPy's arrays in the same memory for what only NumPy does."""
    for part, portable in (
        (form, form.portable),
        (repr(left.basis), left.portable),
        (repr(right.basis), right.portable),
    ):
        if not portable:
            return stream.as_host(f"{part} is computed by NumPy.")
    return stream


def checked_sums(sums: Sums) -> Sums:
    """Return sums; raise if they are empty or overflowed, or if a symmetric form's L is not."""
    form = sums.form
    if sums.n_rows < 2:
        raise ValueError(
            f"At least 2 rows of positive weight are needed. Got {sums.n_rows}. Each call of the "
            "'source' of Batches must return a fresh iterator."
        )
    for name in ("L", "Phi", "Psi"):
        if not all(isfinite(matrix.sum()) for matrix in getattr(sums, name)):
            raise ValueError(
                f"The sums {name} overflowed: the functions or their derivatives are too large "
                "on these samples. Scale X, and Y if there is one, or the kernel."
            )
    if form.symmetric and not form.positive:
        total = sum(sums.L[1:], sums.L[0])
        gap, size = np.abs(total - total.T).max(), np.abs(total).max()
        if gap > 1e-8 * size:
            raise ValueError(
                f"{form} must be symmetric, but L - L' reaches {gap:.2g} where L reaches "
                f"{size:.2g}. Make it so, or pass symmetric=False to form()."
            )
    return sums


def advance_draws(random_state: Any, pilot_rows: int, views: int) -> list[Draw]:
    """Return the samples that `assemble_samples` will look at, for any operator.

    Parameters
    ----------
    random_state
        The seed that it will be given.
    pilot_rows
        The most rows that the recipes will choose from.
    views
        How many views the operator compares.
    """
    seeds = random_integers(random_state, 3)
    pilots = [pilot_draw(pilot_rows, seeds[1 + view], view) for view in range(views)]
    return pilots if views > 1 else [Draw(REFERENCE_ROWS, seeds[0]), *pilots]


def pilot_draw(rows: int, seed: int, view: int) -> Draw:
    """Return which rows a recipe looks at that chooses from `rows` of them.

    A recipe samples its rows with the first number that it draws from its seed. With the same
    number here, it chooses the rows that it would choose from the whole stream.
    """
    (first,) = random_integers(seed, 1)
    return Draw(max(rows, PILOT_ROWS), first, view)


def fit_bases(
    form: Form, basis: Any, samples: Samples, seeds: tuple[int, ...]
) -> tuple[Centered, Centered]:
    """Return the functions of both sides, with the reference sample where the form needs one.

    The seeds are those of the reference sample, of the left and of the right functions.
    """
    dimensions, names = samples.stream.dimensions, samples.stream.names
    is_pair = isinstance(basis, tuple | list)
    recipes = tuple(basis) if is_pair else (basis, basis)
    for recipe in recipes if is_pair else (basis,):
        require_recipe(recipe)
    if len(recipes) != 2 or (is_pair and form.symmetric):
        allowed = "one basis for a symmetric operator" if form.symmetric else "one basis or a pair"
        raise parameter_error("basis", allowed, f"{len(recipes)} bases")
    if form.views == 2 and form.symmetric and len(set(dimensions)) > 1:
        columns = f"an array with {dimensions[0]} columns, as X"
        raise parameter_error("Y", columns, f"{dimensions[1]} columns")
    if form.views == 2 and not form.two_sided:
        require_names(names[1], names[0], "Y")
    one = recipes[0] is recipes[1] and not form.two_sided
    sides = [(recipes[0], seeds[1], 0)]
    if not one:
        sides.append((recipes[1], seeds[2], int(form.two_sided)))
    draws = [
        pilot_draw(recipe.pilot_rows, seed, view)
        for recipe, seed, view in sides
        if not is_fixed(recipe)
    ]
    reference = Draw(REFERENCE_ROWS, seeds[0])
    needs_reference = form.needs_reference and getattr(recipes[0], "reference", None) is None
    samples.draw([reference, *draws] if needs_reference else draws)
    left = fit_basis(recipes[0], samples, seeds[1], 0)
    if form.needs_reference and left.reference is None:
        sample = samples.get(reference)
        left = replace(left, reference=sample.X, reference_weight=sample.weight)
    if one:
        return left, left
    return left, fit_basis(recipes[1], samples, seeds[2], int(form.two_sided))


def is_fixed(recipe: Recipe) -> bool:
    """Return whether no sample of the rows is needed to make functions."""
    return isinstance(recipe, Centered) and recipe.repeats is not None


def fit_basis(recipe: Recipe, samples: Samples, seed: int, view: int) -> Centered:
    """Return the functions of one side, conditioned over a pilot sample unless they are fixed."""
    basis: Basis | Recipe = recipe
    if not is_fixed(recipe):
        pilot = samples.get(pilot_draw(recipe.pilot_rows, seed, view))
        if len(pilot.X) < 2 and samples.stream.n_rows is None:
            got = f"{len(pilot.X)} distinct row(s)"
            raise parameter_error("X", "data of at least 2 rows", got)
        require_size(pilot.X, "XY"[view])
        basis = recipe.fit(pilot.X, seed)
    assert isinstance(basis, Basis)
    dimension = samples.stream.dimensions[view]
    if basis.dimension not in (None, dimension):
        requirement = f"an array with {basis.dimension} columns"
        raise parameter_error("XY"[view], requirement, dimension)
    names = samples.stream.names[view]
    require_names(names, basis.names, "XY"[view])
    if not isinstance(basis, Centered):
        basis = conditioned(basis, pilot.X[:PILOT_ROWS])
    if basis.repeats is None:
        basis = replace(basis, repeats=pilot.repeat)
    return basis if names == basis.names else replace(basis, column_names=names or basis.names)
