"""One pass over the rows: blocks to features to sums."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ritz.arrays import Array, Block, as_count, drawn, must, row_slices
from ritz.assembly.passes import AddRows, in_pieces, over_folds
from ritz.assembly.sums import Folds, Sums
from ritz.bases import Basis, Centered, KernelSections, Recipe, Tiles, conditioned
from ritz.bases.basis import require_recipe
from ritz.bases.tiles import Totals
from ritz.features import Jet, Ledger, Page, Terms
from ritz.forms import Form, potential
from ritz.streams import Stream, as_stream
from ritz.threads import Run, Workers, blas_threads, jobs

PILOT_ROWS = 2048
BLOCK_BYTES = 64_000_000
LITTLE_WORK = 2e7
WEIGHTED_ROWS = 2048
SINGLE_ROWS = 1024
FEW = 256
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
        added up in float64, if the sections are independent enough for that; eigenvalues then
        have a relative error of up to 2e-4. (`laplacian()` without frames, and `cross()`.)
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
    # The threads of the linear algebra would go on waiting, busily, on the cores of ours.
    with blas_threads(1):
        left, right = fit_bases(form, basis, stream, seeds[1:])
        folds = n_folds if form.foldable else 1
        accumulator = accumulator_of(prepared, stream, left, right, folds)
        workers = min(folds, jobs(n_jobs))
        # Waking threads takes longer than little work does.
        if work(stream, left, right) < LITTLE_WORK:
            workers = 1
        add: AddRows = accumulator.add_rows
        if accumulator.tiles is None:
            add = in_pieces(accumulator.add, block_rows(form, left, right, stream))
        own = nullcontext() if form.foldable else blas_threads(jobs(n_jobs))
        with own, Workers(workers) as run:
            rows = over_folds(stream, add, folds, run, progress)
            accumulator.close(run)
    for name, array in form.row_arrays():
        if len(array) != rows:
            what = f"an array with {rows} rows, as the data have"
            raise ValueError(must(name, what, f"{len(array)} rows"))
    return accumulator.sums(form)


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
    for recipe in recipes:
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
    # it would out of the whole, and fewer of them are the first of more.
    (first,) = drawn(seed, 1)
    pilot = stream.sample(max(recipe.pilot_rows, PILOT_ROWS), first, view)
    if len(pilot) < 2 and stream.n_rows is None:
        raise ValueError(must("X", "data of at least 2 rows", f"{len(pilot)} distinct row(s)"))
    basis = recipe.fit(pilot, seed)
    dimension = stream.dimensions[view]
    if basis.dimension not in (None, dimension):
        name = "XY"[view]
        raise ValueError(must(name, f"an array with {basis.dimension} columns", dimension))
    return basis if isinstance(basis, Centered) else conditioned(basis, pilot[:PILOT_ROWS])


def accumulator_of(
    form: Form, stream: Stream, left: Centered, right: Centered, folds: int
) -> Accumulator:
    """Return sums of float32 for rows of float32, if that keeps all functions; else of float64."""
    dtype: Any = np.float64
    if stream.single and form.single:
        sides = ((left, 0),) if form.symmetric else ((left, 0), (right, form.views - 1))
        if all(told_apart(form, basis, stream, view) for basis, view in sides):
            dtype = np.float32
    return Accumulator(form, left, right, folds, dtype)


def told_apart(form: Form, basis: Centered, stream: Stream, view: int) -> bool:
    """Return whether sums of float32 keep every direction of functions, judged on a sample.

    Functions are told apart by L + s Phi (by Phi where L is not symmetric): of unit diagonal, its
    least eigenvalue must exceed float32's rounding. Of many kernel sections half are looked at, at
    random: the eigenvalue falls from half to all about as it does from a quarter to half.
    """
    some = basis
    if isinstance(basis.basis, KernelSections) and basis.size > FEW:
        half = np.random.default_rng(0).permutation(basis.size)[: basis.size // 2]
        some = Centered(basis.basis.pick(half), basis.offset[half])
    pilot = stream.sample(max(2 * some.size, SINGLE_ROWS), 0, view)
    if len(pilot) <= some.size:
        return False
    # Where L is not symmetric any form will do, for the scalar products.
    sums = Accumulator(form if form.symmetric else potential(1.0), some, some, 1, np.float32)
    add_pilot(sums, pilot)
    (L,), (Phi,), _ = sums.matrices()
    B, energy = Phi[1:, 1:] - np.outer(Phi[0, 1:], Phi[0, 1:] / Phi[0, 0]), L[1:, 1:]
    if form.symmetric:
        B += energy * (np.trace(B) / max(np.trace(energy), float(np.finfo(np.float64).tiny)))
    least = least_eigenvalue(B)
    if some is not basis and least > 0:
        fewer = len(B) // 2
        least *= min(1.0, least / least_eigenvalue(B[:fewer, :fewer])) / 2
    # Few rows show the least eigenvalue smaller than it is, so it need not be so large here.
    return least > 5 * float(np.finfo(np.float32).eps)


def add_pilot(sums: Accumulator, pilot: Array) -> None:
    """Add a sample of rows (m, d), of weight one each, to sums of one fold, and close them."""
    rows = np.arange(len(pilot))
    add = in_pieces(sums.add, PILOT_ROWS) if sums.tiles is None else sums.add_rows
    add(0, Block((pilot,), np.ones(len(pilot)), rows), rows, np.array([0, len(pilot)]))
    sums.close(map)


def least_eigenvalue(M: Array) -> float:
    """Return that of a symmetric matrix, scaled to unit diagonal; zero if that cannot be."""
    variance = M.diagonal()
    if not (isfinite(M.sum()) and (variance > 0).all()):
        return 0.0
    D = 1 / np.sqrt(variance)
    scaled = M * D * D[:, None]
    return float(eigh(scaled, eigvals_only=True, subset_by_index=(0, 0), check_finite=False)[0])


def block_rows(form: Form, left: Basis, right: Basis, stream: Stream) -> int:
    """Return how many rows keep a thread's features within its share of memory."""
    dimension = max(stream.dimensions)
    floats = max(
        basis.floats_per_row(dimension) + form.width(dimension) * basis.size
        for basis in (left, right)
    )
    return int(np.clip(BLOCK_BYTES // (8 * max(floats, 1)), 16, 2048))


@dataclass
class Accumulator:
    """The running sums of a pass. Each fold belongs to one thread at a time, in fixed order."""

    form: Form
    left: Centered
    right: Centered
    n_folds: int
    dtype: Any = np.float64

    def __post_init__(self) -> None:
        self.two_sided = self.form.views == 2 and not self.form.symmetric
        self.shared = self.left is self.right and not self.two_sided
        self.tiles: Tiles | None = None
        if self.form.uniform and self.shared and isinstance(self.left.basis, KernelSections):
            self._plan_tiles()
        self.weight = np.zeros(self.n_folds)
        self.count = np.zeros(self.n_folds, dtype=np.int64)
        self.ledgers = [Ledger() for _ in range(0 if self.tiles else self.n_folds)]
        self.closed: list[dict[str, Array]] = []
        # Small matrices of all folds together, large ones each with room of its own.
        self.together = self.n_folds if self.left.size <= FEW else 1
        self.totals: list[Totals] = []
        if self.tiles is not None:
            groups = range(self.n_folds // self.together)
            self.totals = [self.tiles.zero(self.together) for _ in groups]

    def _plan_tiles(self) -> None:
        """Read the products off no rows, if compiled code can do them all, whatever the rows."""
        block = Block((np.zeros((0, self.left.dimension or 1)),), np.ones(0), np.zeros(0, np.intp))
        page = Page(block.weight)
        f = self.left.jet(block.views[0], self.dtype)
        self.program = page.program(self._matrices_of(f, f, block))
        self.tiles = Tiles.of(f, page.products)

    def _matrices_of(self, f: Jet, g: Jet, block: Block) -> dict[str, Terms]:
        """Return the terms of a block's matrices."""
        terms = self.form.terms(f, g, block)
        # The scalar products come first: some forms are made of them.
        matrices = {"Phi": self.form.metric(f, block), "L": terms}
        if not self.shared:
            matrices["Psi"] = self.form.metric(g, block)
        return matrices

    def add_rows(
        self, first: int, block: Block, rows: NDArray[np.intp], ends: NDArray[np.intp]
    ) -> None:
        """Add some rows of a block to folds, by compiled code."""
        assert self.tiles is not None
        weight = block.weight[rows]
        if self.form.reweighting is not None:
            weight = weight.copy()
            for part in row_slices(len(rows), WEIGHTED_ROWS):
                weight[part] *= np.asarray(self.form.row_weight(block.take(rows[part])))
        X, counts = block.views[0], np.diff(ends)
        if self.together == self.n_folds:
            self.tiles.add(self.totals[0], X, rows, weight, first, ends)
        else:
            for fold, (start, stop) in enumerate(pairwise(ends), first):
                self.tiles.add(self.totals[fold], X, rows[start:stop], weight[start:stop])
        self.count[first : first + len(counts)] += counts

    def add(self, fold: int, block: Block) -> None:
        """Add the rows of a block to a fold."""
        weight = block.weight
        factor = self.form.row_weight(block)
        if factor is not None:
            weight = weight * factor
        f = self.left.jet(block.views[0], self.dtype)
        view = block.views[1 if self.two_sided else 0]
        g = f if self.shared else self.right.jet(view, self.dtype)
        # What overflows here is told once the pass is over.
        with np.errstate(over="ignore", invalid="ignore"):
            self.ledgers[fold].add(self._matrices_of(f, g, block), weight)
        self.weight[fold] += weight.sum()
        self.count[fold] += len(block)

    def close(self, run: Run) -> None:
        """Make matrices of the products of each fold."""
        if self.tiles is not None:
            self.weight = np.concatenate([totals.weight for totals in self.totals])
            self.ledgers = [Ledger() for _ in self.totals]
            for ledger in self.ledgers:
                # The ledger alone holds on to them, and lets go of what no matrix is made in.
                ledger.enter(self.program, *self.tiles.entries(self.totals.pop(0)))

        def close(ledger: Ledger) -> dict[str, Array]:
            with np.errstate(over="ignore", invalid="ignore"):
                return ledger.close()

        # Small matrices are made sooner than threads hand them on.
        self.closed = list((map if self.left.size <= FEW else run)(close, self.ledgers))

    def sums(self, form: Form) -> Sums:
        """Return the sums, checked."""
        if self.count.sum() < 2:
            raise ValueError(
                f"At least 2 rows of positive weight are needed. Got {self.count.sum()}. Each call "
                "of the 'source' of Batches must return a fresh iterator."
            )
        L, Phi, Psi = self.matrices()
        for name in ("L", "Phi", "Psi"):
            parts = [group[name] for group in self.closed if name in group]
            # No entry of a sum of squares is larger than all of its diagonal. Elsewhere, a sum of
            # all entries is finite only if each of them is.
            if name != "L":
                parts = [part.diagonal(axis1=-2, axis2=-1) for part in parts]
            # Numbers that overflow as they are added up are too large as well.
            if not isfinite(sum(float(part.sum()) for part in parts)):
                raise ValueError(
                    f"The sums {name} overflowed: the functions or their derivatives are too "
                    "large on these samples. Scale the data or the kernel."
                )
        # Sums of squares, row by row, are symmetric by nature.
        if form.symmetric and not (form.positive and form.foldable):
            total = sum(L[1:], L[0])
            gap = np.abs(total - total.T).max()
            if gap > 1e-8 * np.abs(total).max():
                raise ValueError(
                    f"{form} must be symmetric, but L - L' reaches {gap:.2g} where L reaches "
                    f"{np.abs(total).max():.2g}. Make it so, or pass symmetric=False to form()."
                )
        rounding = float(np.finfo(self.dtype).eps)
        return Sums(form, self.left, self.right, self.weight, self.count, L, Phi, Psi, rounding)

    def matrices(self) -> tuple[Folds, Folds, Folds]:
        """Return L, Phi and Psi of each fold."""
        p, q = 1 + self.left.size, 1 + self.right.size
        shapes = {"L": (p, q), "Phi": (p, p), "Psi": (q, q)}
        folds = self.closed

        def of(name: str) -> Folds:
            if self.tiles is not None:
                return tuple(matrix for group in folds for matrix in group[name])
            return tuple(fold.get(name, np.zeros(shapes[name])) for fold in folds)

        L, Phi = of("L"), of("Phi")
        return L, Phi, Phi if self.shared else of("Psi")
