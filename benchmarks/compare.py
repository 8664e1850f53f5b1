"""Time two ways to do one thing alternately, so that a noisy machine disturbs both alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MOST_REPEATS = 31
# Seconds before each run, in which the idle BLAS threads of the other way fall asleep.
PAUSE = 0.3


class PeerError(Exception):
    """A peer ended with an error of its own."""


@dataclass(frozen=True)
class Comparison:
    """Seconds of each repetition of ours and of the peer's, and their ratios."""

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
            f"{self.case:<44} ours {r['ours_seconds']:8.4f} s   theirs {r['theirs_seconds']:8.4f} s"
            f"   ratio {r['ratio']:6.1f} ({r['ratio_low']:.1f} to {r['ratio_high']:.1f})"
        )


def seconds(work: Callable[[], object]) -> float:
    time.sleep(PAUSE)
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
) -> Comparison:
    """Run each once to warm up, then both alternately.

    Parameters
    ----------
    case
        What is compared.
    ours, theirs
        The two ways.
    repeats
        The smallest number of pairs of runs.
    warm
        Whether to warm up theirs too; not where it takes minutes.
    enough
        Short runs are noisy, so they are repeated until this many seconds have passed, up to 31
        times.
    """
    ours()
    if warm:
        theirs()
    pairs: list[tuple[float, float]] = []
    while len(pairs) < repeats or (len(pairs) < MOST_REPEATS and np.sum(pairs) < enough):
        pairs.append((seconds(ours), seconds(theirs)))
    return Comparison(case, [a for a, _ in pairs], [b for _, b in pairs])
