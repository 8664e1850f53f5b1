"""The rows of a torch DataLoader as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from ritz.rows import Block
from ritz.streams import Batches
from ritz.validation import Names, parameter_error

FLATTEN = "Flatten images, and let the module begin with nn.Unflatten(1, (c, h, w))."


@dataclass(frozen=True, eq=False)
class LoaderStream(Batches):
    """Rows of a torch `DataLoader`, whose random numbers follow from a seed.

    The items are tensors, or tuples that start with one tensor for each view. Passes with the same
    seed give the same rows if torch's global generator decides what the loader yields: not a
    generator of the loader itself, nor NumPy's in its dataset.
    """

    seed: tuple[int, ...] = (0,)

    def fresh(self, epoch: int) -> LoaderStream:
        """Return the stream of an epoch, with other random numbers."""
        return replace(self, seed=(*self.seed, 1 + epoch))

    def _named_blocks(self) -> Iterator[tuple[Block, tuple[Names, ...]]]:
        seed = int(np.random.SeedSequence(self.seed).generate_state(1)[0])
        generator = torch.Generator().manual_seed(seed)
        blocks = super()._named_blocks()
        while True:
            # The global generator is replaced while the loader works, and restored in between.
            with torch.random.fork_rng(devices=[]):
                torch.set_rng_state(generator.get_state())
                block = next(blocks, None)
                generator.set_state(torch.get_rng_state())
            if block is None:
                return
            yield block

    def _parts(self, item: Any, number: int) -> tuple[Any, ...]:
        parts = item if isinstance(item, tuple | list) else (item,)
        _require_views(parts, self.views)
        # Entries after the views, such as labels, are ignored.
        return tuple(parts[: self.views])


def _require_views(parts: Sequence[Any], views: int) -> None:
    """Raise unless an item of a loader starts with as many views as the operator has, no more."""
    which = "" if views == 1 else f" whose items start with {views} of them, for this operator"
    what = f"a loader of tensors (b, d){which}"
    shapes = [tuple(getattr(part, "shape", ())) for part in parts]
    if len(shapes) < views or any(len(shape) != 2 for shape in shapes[:views]):
        kinds = [shape or type(part).__name__ for shape, part in zip(shapes, parts, strict=True)]
        remedy = FLATTEN if any(len(shape) > 2 for shape in shapes) else ""
        raise parameter_error("X", what, f"items of {', '.join(map(str, kinds))}", remedy)
    # Labels are integers or have another shape than the rows, and a column (b, 1) may be a target.
    # Anything else of the same shape is a further view, which must not be dropped silently.
    alike = len(parts) > views and shapes[views] == shapes[0] and shapes[0][1] > 1
    if alike and torch.as_tensor(parts[views]).is_floating_point():
        got = f"items of {views + 1} tensors of the same shape"
        remedy = "ritz.pairs() compares two versions; leave the last one out for other operators."
        raise parameter_error("X", what, got, remedy)
