"""SpectralEmbedding against scikit-learn's: time and peak memory.

Each fit runs in a process of its own, which has fitted 500 rows before. The first large fit also
pays for memory that the system has to provide; ours is fitted five times more to show how much.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.manifold import SpectralEmbedding

import ritz
from benchmarks import TINY
from benchmarks.process import run_alone, seconds_and_megabytes

D, COMPONENTS, LATER_FITS = 10, 8, 5
SIZES = (600,) if TINY else (1000, 3000, 10_000)
PEERS = {"graph": "affinity='nearest_neighbors', its default", "dense": "affinity='rbf'"}
MODELS: dict[str, Any] = {
    "ours": lambda: ritz.SpectralEmbedding(COMPONENTS, random_state=0),
    "graph": lambda: SpectralEmbedding(COMPONENTS, random_state=0, n_jobs=2),
    "dense": lambda: SpectralEmbedding(COMPONENTS, affinity="rbf", random_state=0, n_jobs=2),
}


def measure(who: str, n: int) -> dict[str, Any]:
    """Return seconds and memory of one fit, and for ours the seconds of later fits."""
    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).normal(size=(n, D))
    MODELS[who]().fit(X[:500])
    seconds, megabytes = seconds_and_megabytes(lambda: MODELS[who]().fit(X))
    again = []
    for _ in range(LATER_FITS if who == "ours" else 0):
        start = time.perf_counter()
        MODELS[who]().fit(X)
        again.append(time.perf_counter() - start)
    return {"seconds": seconds, "megabytes": megabytes, "again": again}


def cases(
    sizes: tuple[int, ...] = SIZES, repeats: int = 1, peers: tuple[str, ...] = tuple(PEERS)
) -> list[dict[str, Any]]:
    """Run ours and each peer alternately."""
    results = []
    for n in sizes:
        rounds = [
            {who: run_alone("benchmarks.embedding", "--fit", who, n) for who in ("ours", *peers)}
            for _ in range(repeats)
        ]
        results += [case(n, peer, rounds) for peer in peers]
    return results


def case(n: int, peer: str, rounds: list[dict[str, Any]]) -> dict[str, Any]:
    ours, theirs = [r["ours"] for r in rounds], [r[peer] for r in rounds]
    times = np.array([b["seconds"] / a["seconds"] for a, b in zip(ours, theirs, strict=True)])
    later = [b["seconds"] / np.median(a["again"]) for a, b in zip(ours, theirs, strict=True)]
    memory = [b["megabytes"] / max(a["megabytes"], 1) for a, b in zip(ours, theirs, strict=True)]
    return {
        "n": n,
        "peer": PEERS[peer],
        "ours_seconds": float(np.median([a["seconds"] for a in ours])),
        "peer_seconds": float(np.median([b["seconds"] for b in theirs])),
        "ours_megabytes": float(np.median([a["megabytes"] for a in ours])),
        "peer_megabytes": float(np.median([b["megabytes"] for b in theirs])),
        "time_ratio": float(np.median(times)),
        "time_ratio_low": float(times.min()),
        "time_ratio_high": float(times.max()),
        "ours_again_seconds": float(np.median([a["again"] for a in ours])),
        "time_ratio_again": float(np.median(later)),
        "memory_ratio": float(np.median(memory)),
    }


def line(case: dict[str, Any]) -> str:
    return (
        f"n = {case['n']:>6,}, {case['peer']:<44} {case['time_ratio']:6.1f}x the time "
        f"({case['time_ratio_low']:.1f} to {case['time_ratio_high']:.1f}; "
        f"{case['peer_seconds']:.2f} to {case['ours_seconds']:.2f} s; from the second fit on "
        f"{case['time_ratio_again']:.1f}x, {case['ours_again_seconds']:.2f} s), "
        f"{case['memory_ratio']:5.1f}x the memory "
        f"({case['peer_megabytes']:.0f} to {case['ours_megabytes']:.0f} MB)"
    )


if __name__ == "__main__":
    if "--fit" in sys.argv:
        who, n = sys.argv[sys.argv.index("--fit") + 1 :]
        print(json.dumps(measure(who, int(n))))
    else:
        for result in cases():
            print(line(result), flush=True)
