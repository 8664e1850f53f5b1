"""Mini-batches, and rows held out, from arrays, tensors, data loaders or any stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader

from ritz.arrays import Block, hash_rows, must
from ritz.cached import cached_property
from ritz.streams import ArrayStream, Batches, DaskStream, Stream, as_stream

POOL_ROWS = 65_536


@dataclass(frozen=True, eq=False)
class Minibatches:
    """Batches of rows in random order, some rows being held out by a hash of their numbers.

    Parameters
    ----------
    stream
        The rows. Rows of arrays are shuffled as a whole, those of other streams within pools of
        65,536. A stream with a method `fresh(epoch)` gives other rows each time.
    size
        The number of rows in a batch.
    fraction
        The share of rows held out; those of a group go together.
    seed
        What the order follows from, besides the number of the epoch.
    """

    stream: Stream
    size: int
    fraction: float
    seed: int

    def epoch(self, number: int) -> Iterator[Block]:
        """Yield the rows that are not held out once, in full batches."""
        rng = np.random.default_rng([self.seed, number])
        if self._in_place:
            order = rng.permutation(self._kept)
            size = min(self.size, len(order))
            for start in range(0, len(order) - size + 1, max(size, 1)):
                yield self._rows(order[start : start + size])
        else:
            yield from self._pooled(number, rng)

    def _pooled(self, number: int, rng: np.random.Generator) -> Iterator[Block]:
        stream = self.stream
        fresh = getattr(stream, "fresh", None)
        blocks = (stream if fresh is None else fresh(number)).blocks()
        pool: list[Block] = []
        rows, full = 0, False
        for block in blocks:
            pool.append(block.take(self._kept_in(block)))
            rows += len(pool[-1])
            if rows >= max(POOL_ROWS, self.size):
                batches, rest = self._cut(concatenated(pool), rng)
                yield from batches
                pool, rows, full = [rest], len(rest), True
        if rows:
            batches, rest = self._cut(concatenated(pool), rng)
            yield from batches
            if not (full or batches):
                yield rest

    def _cut(self, pool: Block, rng: np.random.Generator) -> tuple[list[Block], Block]:
        order = rng.permutation(len(pool))
        whole = len(order) - len(order) % self.size
        batches = [pool.take(order[i : i + self.size]) for i in range(0, whole, self.size)]
        return batches, pool.take(order[whole:])

    def held_out(self, most: int) -> list[Block]:
        """Return up to `most` rows held out, in batches of equal size; none for a fraction 0."""
        found = None
        for block in self.stream.blocks() if self.fraction else ():
            share = self._share(block)
            some = block.take((block.weight > 0) & (share < self.fraction))
            found = some if found is None else concatenated([found, some])
            if len(found) > most:
                # Those of the lowest hash: any rows, wherever they stand.
                found = found.take(np.sort(np.argsort(self._share(found))[:most]))
        if found is None or not len(found):
            return []
        # A loss needs two rows.
        pieces = min(-(-len(found) // self.size), max(len(found) // 2, 1))
        return [found.take(part) for part in np.array_split(np.arange(len(found)), pieces)]

    @property
    def _in_place(self) -> bool:
        return isinstance(self.stream, ArrayStream) and not isinstance(self.stream, DaskStream)

    @cached_property
    def _kept(self) -> NDArray[np.intp]:
        return np.concatenate([b.index[self._kept_in(b)] for b in self.stream.blocks()])

    def _kept_in(self, block: Block) -> NDArray[np.bool_]:
        there = block.weight > 0
        return there & (self._share(block) >= self.fraction) if self.fraction else there

    def _share(self, block: Block) -> NDArray[np.float64]:
        """Return a hash of each row, or of its group, as a number between 0 and 1."""
        key = hash_rows(*block.views) if block.groups is None else hash_rows(block.groups)
        # The low bits choose a row's fold.
        return (key >> np.uint64(32)).astype(np.float64) / 2.0**32

    def _rows(self, index: NDArray[np.intp]) -> Block:
        stream: Any = self.stream
        return Block(
            tuple(np.asarray(view[index], dtype=np.float64) for view in stream.views),
            np.ones(len(index)) if stream.weight is None else stream.weight[index],
            index,
            None if stream.groups is None else stream.groups[index],
        )


def concatenated(blocks: list[Block]) -> Block:
    """Return the rows of several blocks in one."""
    groups = [block.groups for block in blocks]
    return Block(
        tuple(np.concatenate(views) for views in zip(*(b.views for b in blocks), strict=True)),
        np.concatenate([block.weight for block in blocks]),
        np.concatenate([block.index for block in blocks]),
        None if groups[0] is None else np.concatenate(groups),  # type: ignore[arg-type]
    )


@dataclass(frozen=True, eq=False)
class Loaded(Stream):
    """Rows of a torch `DataLoader`, each pass with torch's generator seeded, and left alone after.

    Passes of the same seed are the same as long as torch's own generator decides: not where the
    loader has another one, or its dataset asks NumPy.

    Parameters
    ----------
    loader
        The loader, of tensors or of tuples that start with as many of them as there are views.
    n_views
        The number of views.
    seed
        What a pass follows from.
    """

    loader: Any
    n_views: int
    seed: tuple[int, ...]

    @cached_property
    def dimensions(self) -> tuple[int, ...]:
        return self._batches.dimensions

    def fresh(self, epoch: int) -> Loaded:
        """Return the same rows, in another order where the loader shuffles them."""
        return replace(self, seed=(*self.seed, 1 + epoch))

    def blocks(self) -> Iterator[Block]:
        return self._batches.blocks()

    @property
    def _batches(self) -> Batches:
        return Batches(self._items, views=self.n_views)

    def _items(self) -> Iterator[Any]:
        views = self.n_views
        number = int(np.random.SeedSequence(self.seed).generate_state(1)[0])
        generator = torch.Generator().manual_seed(number)
        with _generating(generator):
            items = iter(self.loader)
        while True:
            # What is done with an item has its own random numbers.
            with _generating(generator):
                item = next(items, None)
            if item is None:
                return
            parts = item if isinstance(item, tuple | list) else (item,)
            _require_views(parts, views)
            # What comes after the views, as labels, is not needed.
            yield parts[0] if views == 1 else tuple(parts[:views])


def _require_views(parts: Sequence[Any], views: int) -> None:
    """Raise unless a loader's item starts with as many views as the operator has, and no more."""
    which = "" if views == 1 else f" whose items start with {views} of them, for this operator"
    what = f"a loader of tensors (b, d){which}"
    shapes = [tuple(getattr(part, "shape", ())) for part in parts]
    if len(shapes) < views or any(len(shape) != 2 for shape in shapes[:views]):
        got = [shape or type(part).__name__ for shape, part in zip(shapes, parts, strict=True)]
        remedy = ""
        if any(len(shape) > 2 for shape in shapes):
            remedy = "Flatten images, and let the module begin with nn.Unflatten(1, (c, h, w))."
        raise ValueError(must("X", what, f"items of {', '.join(map(str, got))}", remedy))
    # Labels have other shapes, or are whole numbers: this is a view that would be lost.
    # A column (b, 1) may be what is to be predicted of another.
    alike = len(parts) > views and shapes[views] == shapes[0] and shapes[0][1] > 1
    if alike and torch.as_tensor(parts[views]).is_floating_point():
        remedy = "ritz.pairs() compares two versions; leave the last one out for other operators."
        raise ValueError(must("X", what, f"items of {views + 1} like each other", remedy))


@contextmanager
def _generating(generator: torch.Generator) -> Iterator[None]:
    """Let torch draw its random numbers from a generator for a while."""
    with torch.random.fork_rng(devices=[]):
        torch.set_rng_state(generator.get_state())
        yield
        generator.set_state(torch.get_rng_state())


def as_rows_of(
    X: Any, views: int, sample_weight: Any = None, groups: Any = None, seed: int = 0
) -> Stream:
    """Return the stream of some data, which may be a torch `DataLoader`."""
    X = Loaded(X, views, (seed,)) if isinstance(X, DataLoader) else X
    return as_stream(X, views, sample_weight, groups)
