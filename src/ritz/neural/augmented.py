"""Augmentations as a stream of pairs: two random versions of each sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.rows import Block, row_slices
from ritz.streams import Stream
from ritz.validation import Array, as_count, as_rows, parameter_error

# Samples augmented at a time, which bounds the memory of the versions.
AUGMENTED_ROWS = 16_384


@dataclass(frozen=True, eq=False)
class Augmented(Stream):
    """Pairs (xi, xi') of random versions of each sample, for `ritz.pairs()` or `ritz.cross()`.

    Each pass over the stream gives the same pairs; training takes new ones in each epoch, from
    `fresh(epoch)`. The pairs of one sample form a group: they share a fold and are held out
    together.

    Parameters
    ----------
    X
        The samples (n, d).
    augment
        A function of samples (b, d) and a NumPy generator that returns one version of each, (b, d).
    copies
        The number of pairs of each sample in a pass.
    seed
        The seed of the versions.

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
        object.__setattr__(self, "copies", as_count(self.copies, "copies"))
        if not all(isinstance(seed, int | np.integer) and seed >= 0 for seed in self._seeds):
            what = "a nonnegative integer, or a tuple of them"
            raise parameter_error("seed", what, repr(self.seed))
        if not callable(self.augment):
            what = "a function of samples and a generator"
            raise parameter_error("augment", what, type(self.augment).__name__, kind=TypeError)

    @property
    def dimensions(self) -> tuple[int, ...]:
        return (self.X.shape[1],) * 2

    @property
    def n_rows(self) -> int | None:
        return len(self.X) * self.copies

    def fresh(self, epoch: int) -> Augmented:
        """Return the stream of an epoch: other versions of the same samples."""
        return replace(self, seed=(*self._seeds, 1 + epoch))

    @property
    def _seeds(self) -> tuple[int, ...]:
        return self.seed if isinstance(self.seed, tuple) else (self.seed,)

    def blocks(self) -> Iterator[Block]:
        # The number in front keeps versions independent of samples drawn with the same seed.
        rng = np.random.default_rng((16_384, *self._seeds))
        start = 0
        for _ in range(self.copies):
            for rows in row_slices(len(self.X), AUGMENTED_ROWS):
                X = self.X[rows]
                views = tuple(self._version(X, rng) for _ in range(2))
                index = np.arange(start, start + len(X))
                groups = np.arange(rows.start, rows.stop, dtype=np.float64)
                yield Block(views, np.ones(len(X)), index, groups)
                start += len(X)

    def _version(self, X: Array, rng: np.random.Generator) -> Array:
        version = as_rows(self.augment(X.copy(), rng), "augment(X, rng)", X.shape[1])
        if len(version) != len(X):
            what = f"a function that returns {len(X)} rows for as many"
            raise parameter_error("augment", what, f"{len(version)} rows")
        return version
