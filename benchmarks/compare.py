"""Timing two ways of doing one thing, alternately, so that a noisy machine is noisy for both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MOST = 31


class PeerError(Exception):
    """A peer's way ended with an error of its own."""


@dataclass(frozen=True)
class Comparison:
    """Seconds of each repetition of two ways, and their ratios."""

    case: str
    ours: list[float]
    theirs: list[float]

    def ratios(self) -> np.ndarray:
        return np.array(self.theirs) / np.array(self.ours)

    def record(self) -> dict[str, object]:
        ratio = self.ratios()
        low, high = np.quantile(ratio, [0.25, 0.75])
        return {
            "case": self.case,
            "ours_seconds": float(np.median(self.ours)),
            "theirs_seconds": float(np.median(self.theirs)),
            "ratio": float(np.median(ratio)),
            "ratio_low": float(low),
            "ratio_high": float(high),
            "repeats": len(ratio),
        }

    def __str__(self) -> str:
        r = self.record()
        return (
            f"{self.case:<44} ours {r['ours_seconds']:8.3f} s   theirs {r['theirs_seconds']:8.3f} s"
            f"   ratio {r['ratio']:6.1f} ({r['ratio_low']:.1f} to {r['ratio_high']:.1f})"
        )


def seconds(work: Callable[[], object], pause: float = 0.3) -> float:
    # Threads of the linear algebra wait busily for a while: let those of the other way go to sleep.
    time.sleep(pause)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(
    case: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    repeats: int,
    warm: bool = True,
    enough: float = 0.0,
    pause: float = 0.3,
) -> Comparison:
    """Run each once to warm up (ours only, where theirs takes minutes), then alternately.

    What takes little time is noisy: it is repeated for `enough` seconds, up to 31 times. There is a
    pause in seconds before each run.
    """
    ours()
    if warm:
        theirs()
    pairs: list[tuple[float, float]] = []
    while len(pairs) < repeats or (len(pairs) < MOST and np.sum(pairs) < enough):
        pairs.append((seconds(ours, pause), seconds(theirs, pause)))
    return Comparison(case, [a for a, _ in pairs], [b for _, b in pairs])
