"""The running sums of a pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, Block, row_slices
from ritz.assembly.sums import Folds, Sums
from ritz.bases import Centered, KernelSections, Tiles
from ritz.bases.tiles import Totals
from ritz.cached import cached_property
from ritz.features import Jet, Ledger, Page, Terms
from ritz.forms import Form
from ritz.threads import Run

WEIGHTED_ROWS = 2048
FEW = 256


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
        basis = self.left.basis
        sections = isinstance(basis, KernelSections) and Tiles.serve(basis)
        if self.form.uniform and self.shared and sections:
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
        block = Block((np.zeros((0, self.left.dimension or 1)),), np.zeros(0), np.zeros(0, np.intp))
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
        X, counts = block.views[0], ends[1:] - ends[:-1]
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
        rounding = float(np.finfo(self.dtype).eps)
        if self.overflowed:
            raise ValueError(
                f"The sums {self.overflowed} overflowed: the functions or their derivatives are "
                "too large on these samples. Scale the data or the kernel."
            )
        # Sums of squares, row by row, are symmetric by nature.
        if form.symmetric and not (form.positive and form.foldable):
            total = sum(L[1:], L[0])
            gap = np.abs(total - total.T).max()
            if gap > max(1e-8, 100 * rounding) * np.abs(total).max():
                raise ValueError(
                    f"{form} must be symmetric, but L - L' reaches {gap:.2g} where L reaches "
                    f"{np.abs(total).max():.2g}. Make it so, or pass symmetric=False to form()."
                )
        return Sums(form, self.left, self.right, self.weight, self.count, L, Phi, Psi, rounding)

    @cached_property
    def overflowed(self) -> str | None:
        """The name of sums that are not finite, if some are not."""
        for name in ("L", "Phi", "Psi"):
            parts = [group[name] for group in self.closed if name in group]
            # No entry of a sum of squares is larger than all of its diagonal. Elsewhere, a sum of
            # all entries is finite only if each of them is.
            if name != "L":
                parts = [part.diagonal(axis1=-2, axis2=-1) for part in parts]
            # Numbers that overflow as they are added up are too large as well.
            if not isfinite(sum(float(part.sum()) for part in parts)):
                return name
        return None

    def matrices(self) -> tuple[Folds, Folds, Folds]:
        """Return L, Phi and Psi of each fold."""
        p, q = 1 + self.left.size, 1 + self.right.size
        shapes = {"L": (p, q), "Phi": (p, p), "Psi": (q, q)}
        folds = self.closed

        def of(name: str) -> Folds:
            if self.tiles is not None:
                return tuple(chain.from_iterable(group[name] for group in folds))
            return tuple(fold.get(name, np.zeros(shapes[name])) for fold in folds)

        L, Phi = of("L"), of("Phi")
        return L, Phi, Phi if self.shared else of("Psi")
