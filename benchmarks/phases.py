"""Where the time of a decomposition goes: its phases, and what one value of a section costs.

`python -m benchmarks.phases` prints, for a few kernels and p at n = 100,000 and d = 10, the seconds
of each phase (medians), and in one thread the nanoseconds that filling a tile and multiplying it
take for each of the n p values.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ritz
from benchmarks.floor import KERNELS, D, K
from ritz.assembly.accumulator import Accumulator
from ritz.assembly.assemble import fit_bases  # type: ignore[attr-defined]
from ritz.kernels.tiles import Room
from ritz.streams import as_stream

ROWS, REPEATS, TILED_ROWS = 100_000, 5, 8192
CASES = [("Gaussian", p) for p in (50, 100, 200, 1000)] + [("exponential", 1000)]
ASSEMBLE: Any = sys.modules["ritz.assembly.assemble"]
DECOMPOSE: Any = sys.modules["ritz.spectrum.decompose"]
PHASES = {
    "centers": (ASSEMBLE, "fit_bases"),
    "plan": (Accumulator, "__post_init__"),
    "rows": (ASSEMBLE, "over_folds"),
    "matrices": (Accumulator, "close"),
    "solve": (DECOMPOSE, "_decomposed"),
    "all": (DECOMPOSE, "decompose"),
}


def timed(work: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    """Return a function that does the same, and notes how long it took."""

    def run(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        result = work(*arguments, **options)
        seconds.append(time.perf_counter() - start)
        return result

    return run


def phases(kernel: str, p: int, X: Any) -> dict[str, float]:
    """Return the median seconds of each phase."""
    spent: dict[str, list[float]] = defaultdict(list)
    kept = {name: getattr(*place) for name, place in PHASES.items()}
    for name, (place, what) in PHASES.items():
        setattr(place, what, timed(kept[name], spent[name]))
    try:
        for _ in range(REPEATS + 1):
            basis = ritz.Nystrom(KERNELS[kernel][0], p)
            DECOMPOSE.decompose(ritz.laplacian(), basis, X, k=K, random_state=0)
    finally:
        for name, (place, what) in PHASES.items():
            setattr(place, what, kept[name])
    return {name: float(np.median(seconds[1:])) for name, seconds in spent.items()}


def nanoseconds(kernel: str, p: int, X: Any) -> tuple[float, float]:
    """Return what filling and multiplying cost a value, in one thread."""
    form = ritz.laplacian()
    with threadpool_limits(1):
        left, right = fit_bases(form, ritz.Nystrom(KERNELS[kernel][0], p), as_stream(X), [1, 2])
        sums = Accumulator(form, left, right, 1)
        assert sums.tiles is not None
        whole = sums.tiles.what
        totals = sums.tiles.zero()
        rows, weight = np.arange(TILED_ROWS), np.ones(TILED_ROWS)
        ends = np.array([0, TILED_ROWS])
        costs = []
        for what in (whole._replace(pairs=whole.pairs[:0]), whole):
            seconds: list[float] = []
            add = timed(Room.of(what, np.float64).add, seconds)
            targets = totals.targets[:, -1 - len(what.pairs) :].copy()
            for _ in range(REPEATS):
                add(X, rows, weight, ends, targets)
            costs.append(1e9 * min(seconds) / TILED_ROWS / p)
    return costs[0], costs[1] - costs[0]


def main() -> None:
    X = np.random.default_rng(0).normal(size=(ROWS, D))
    for kernel, p in CASES:
        parts = "  ".join(f"{name} {1e3 * s:.1f}" for name, s in phases(kernel, p, X).items())
        filling, products = nanoseconds(kernel, p, X)
        print(f"{kernel}, p = {p}: filling {filling:.1f} ns, products {products:.1f} ns a value")
        print(f"    ms: {parts}", flush=True)


if __name__ == "__main__":
    main()
