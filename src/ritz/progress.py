"""Progress of what takes long: how much is done, how fast, and the time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from tqdm import tqdm

# Seconds after which a bar is shown on a terminal.
DELAY = 2.0
# Whether to show bars at once, never, or (None) on a terminal after the delay.
_shown: ContextVar[bool | None] = ContextVar("shown", default=None)

Item = TypeVar("Item")


@contextmanager
def showing(shown: bool | None) -> Iterator[None]:
    """Decide within a block whether progress is shown; None leaves it to the terminal."""
    before = _shown.set(shown)
    try:
        yield
    finally:
        _shown.reset(before)


def tracked(
    items: Iterable[Item],
    what: str,
    total: int | None = None,
    size: Callable[[Item], int] = lambda _: 1,
    unit: str = "",
    shown: bool | None = None,
) -> Iterator[Item]:
    """Yield items, with a progress bar; by default on a terminal, after a delay.

    Parameters
    ----------
    items, size
        The items, and how much is done with each of them.
    what, unit
        What is done, and the unit of it.
    total
        How much there is to do, where it is known.
    shown
        Whether to show the bar; None leaves it to `showing`.
    """
    shown = _shown.get() if shown is None else shown
    if not (sys.stderr.isatty() if shown is None else shown):
        yield from items
        return
    options = {"unit": f" {unit}", "unit_scale": True, "delay": 0.0 if shown else DELAY}
    with tqdm(total=total, desc=f"ritz: {what}", file=sys.stderr, **options) as bar:
        for item in items:
            # What is done with the item may free it before the next one is made.
            done = size(item)
            yield item
            del item
            bar.update(done)


@contextmanager
def counting(what: str, unit: str) -> Iterator[Callable[[int], object]]:
    """Show how much of something is done whose end is not known; yields what adds to it."""
    shown = _shown.get()
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda count: None
        return
    options = {"unit": f" {unit}", "delay": 0.0 if shown else DELAY}
    with tqdm(desc=f"ritz: {what}", file=sys.stderr, **options) as bar:
        yield bar.update
