"""Samples of the rows of a stream, each drawn once."""

from __future__ import annotations

from collections.abc import Sequence

from ritz.rows import Draw, RowSample
from ritz.streams.stream import Stream


class Samples:
    """A stream and the samples that were drawn from it, since a pass over a file takes long.

    What is asked for in advance is drawn in one pass. A sample of fewer rows is the beginning of
    one of more. Rows that can be read once only are kept in a file before the first one is drawn.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._drawn: dict[tuple[int, int | None], RowSample] = {}

    def keep(self) -> None:
        """Keep rows that can be read once only, so that they can be read again."""
        self.stream = self.stream.rereadable()

    def draw(self, draws: Sequence[Draw]) -> None:
        """Draw in one pass those samples that are not here yet."""
        missing = [draw for draw in draws if not self._has(draw)]
        if missing:
            self.keep()
            found = self.stream.samples(missing)
            for draw, sample in zip(missing, found, strict=True):
                self._drawn[draw.seed, draw.view] = sample

    def get(self, draw: Draw) -> RowSample:
        """Return a sample, drawn now if it was not asked for in advance."""
        self.draw([draw])
        return self._drawn[draw.seed, draw.view].first(draw.m)

    def _has(self, draw: Draw) -> bool:
        known = self._drawn.get((draw.seed, draw.view))
        # Of fewer rows than were asked for, all are here.
        return known is not None and (draw.m <= known.most or len(known.priority) < known.most)
