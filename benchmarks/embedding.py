"""SpectralEmbedding against scikit-learn's: time and peak memory, each fit in its own process.

Each is warmed up on 500 rows. The first large fit of a process pays for memory that the system has
to find; ours is fitted five times more, to tell what that is.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np

SCRIPT = """
import json, sys, threading, time, warnings
import numpy as np, psutil, ritz
from sklearn.manifold import SpectralEmbedding

who, n = sys.argv[1], int(sys.argv[2])
X = np.random.default_rng(0).normal(size=(n, 10))
models = {
    "ours": lambda: ritz.SpectralEmbedding(8, random_state=0),
    "graph": lambda: SpectralEmbedding(8, random_state=0, n_jobs=2),
    "dense": lambda: SpectralEmbedding(8, affinity="rbf", random_state=0, n_jobs=2),
}
warnings.simplefilter("ignore")
models[who]().fit(X[:500])
process, peak, done = psutil.Process(), [0], threading.Event()

def watch():
    while not done.wait(0.002):
        peak[0] = max(peak[0], process.memory_info().rss)

before = process.memory_info().rss
watcher = threading.Thread(target=watch)
watcher.start()
start = time.perf_counter()
models[who]().fit(X)
seconds = time.perf_counter() - start
done.set()
watcher.join()
again = []
for _ in range(5 if who == "ours" else 0):
    start = time.perf_counter()
    models[who]().fit(X)
    again.append(time.perf_counter() - start)
print(json.dumps({"seconds": seconds, "megabytes": (peak[0] - before) / 1e6, "again": again}))
"""
PEERS = {"graph": "affinity='nearest_neighbors', its default", "dense": "affinity='rbf'"}


def run(who: str, n: int) -> dict[str, float]:
    command = [sys.executable, "-c", SCRIPT, who, str(n)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def cases(sizes: tuple[int, ...], repeats: int) -> list[dict[str, object]]:
    """Run ours and each peer alternately, d = 10, eight components."""
    results = []
    for n in sizes:
        rounds = [{who: run(who, n) for who in ("ours", *PEERS)} for _ in range(repeats)]
        for peer, name in PEERS.items():
            times = np.array([r[peer]["seconds"] / r["ours"]["seconds"] for r in rounds])
            later = [r[peer]["seconds"] / np.median(r["ours"]["again"]) for r in rounds]
            sizes_ = [r[peer]["megabytes"] / max(r["ours"]["megabytes"], 1.0) for r in rounds]
            results.append(
                {
                    "n": n,
                    "peer": name,
                    "ours_seconds": float(np.median([r["ours"]["seconds"] for r in rounds])),
                    "peer_seconds": float(np.median([r[peer]["seconds"] for r in rounds])),
                    "ours_megabytes": float(np.median([r["ours"]["megabytes"] for r in rounds])),
                    "peer_megabytes": float(np.median([r[peer]["megabytes"] for r in rounds])),
                    "time_ratio": float(np.median(times)),
                    "time_ratio_low": float(times.min()),
                    "time_ratio_high": float(times.max()),
                    "ours_again_seconds": float(np.median([r["ours"]["again"] for r in rounds])),
                    "time_ratio_again": float(np.median(later)),
                    "memory_ratio": float(np.median(sizes_)),
                }
            )
    return results


def line(case: dict[str, object]) -> str:
    return (
        f"n = {case['n']:>6,}, {case['peer']:<44} {case['time_ratio']:6.0f}x the time "
        f"({case['time_ratio_low']:.0f} to {case['time_ratio_high']:.0f}; "
        f"{case['peer_seconds']:.2f} to {case['ours_seconds']:.2f} s; from the second fit on "
        f"{case['time_ratio_again']:.0f}x, {case['ours_again_seconds']:.2f} s), "
        f"{case['memory_ratio']:5.1f}x the memory "
        f"({case['peer_megabytes']:.0f} to {case['ours_megabytes']:.0f} MB)"
    )


if __name__ == "__main__":
    for case in cases((1000, 3000, 10_000), repeats=3):
        print(line(case), flush=True)
