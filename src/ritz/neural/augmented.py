"""Augmentations as a stream of pairs: two versions of each sample, what self-supervision sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.arrays import Array, Block, as_count, as_rows, must, row_slices
from ritz.streams import Stream

ROWS = 16_384


@dataclass(frozen=True, eq=False)
class Augmented(Stream):
    """Pairs (xi, xi') of random versions of each sample, for `ritz.pairs()` or `ritz.cross()`.

    A pass gives the same pairs each time; training asks for `fresh(epoch)` ones. Pairs of one
    sample are a group: they share a fold, and are held out together.

    Parameters
    ----------
    X
        The samples (n, d).
    augment
        A function of samples (b, d) and a NumPy generator that returns one version of each, (b, d).
    copies
        How many pairs of each sample there are in a pass.
    seed
        What the versions follow from.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz.neural import Augmented
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> pairs = Augmented(X, lambda x, rng: x + 0.1 * rng.normal(size=x.shape))
    >>> spectrum = ritz.decompose(ritz.pairs(), ritz.Monomials(2), pairs, k=3)
    """

    X: Any
    augment: Callable[[Array, np.random.Generator], Any]
    copies: int = 1
    seed: int | tuple[int, ...] = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", as_rows(self.X))
        as_count(self.copies, "copies")
        if not callable(self.augment):
            what = "a function of samples and a generator"
            raise TypeError(must("augment", what, type(self.augment).__name__))

    @property
    def dimensions(self) -> tuple[int, ...]:
        return (self.X.shape[1],) * 2

    @property
    def n_rows(self) -> int | None:
        return len(self.X) * self.copies

    def fresh(self, epoch: int) -> Augmented:
        """Return a stream of other versions of the same samples, one for each number."""
        return replace(self, seed=(*self._seeds, 1 + epoch))

    @property
    def _seeds(self) -> tuple[int, ...]:
        return self.seed if isinstance(self.seed, tuple) else (self.seed,)

    def blocks(self) -> Iterator[Block]:
        # Not the numbers that the same seed may have given the samples.
        rng = np.random.default_rng((ROWS, *self._seeds))
        start = 0
        for _ in range(self.copies):
            for rows in row_slices(len(self.X), ROWS):
                X = self.X[rows]
                views = tuple(self._version(X, rng) for _ in range(2))
                index = np.arange(start, start + len(X))
                yield Block(views, np.ones(len(X)), index, np.arange(rows.start, rows.stop) + 0.0)
                start += len(X)

    def _version(self, X: Array, rng: np.random.Generator) -> Array:
        version = as_rows(self.augment(X.copy(), rng), "augment(X, rng)", X.shape[1])
        if len(version) != len(X):
            what = f"a function that returns {len(X)} rows for as many"
            raise ValueError(must("augment", what, f"{len(version)} rows"))
        return version
