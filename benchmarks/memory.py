"""Peak memory of a decomposition against n, each size in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, sys, threading
import numpy as np, psutil, ritz

n = int(sys.argv[1])
X = np.random.default_rng(0).normal(size=(n, 10))
process, peak, done = psutil.Process(), [0], threading.Event()

def watch():
    while not done.wait(0.005):
        peak[0] = max(peak[0], process.memory_info().rss)

before = process.memory_info().rss
watcher = threading.Thread(target=watch)
watcher.start()
basis = ritz.Nystrom(ritz.Gaussian(3.0), 300)
ritz.decompose(ritz.laplacian(), basis, X, k=16, random_state=0, progress=False)
done.set()
watcher.join()
print(json.dumps({"n": n, "data_mb": X.nbytes / 1e6, "peak_mb": peak[0] / 1e6,
                  "beyond_start_mb": (peak[0] - before) / 1e6}))
"""


def cases() -> list[dict[str, float]]:
    results = []
    for n in (10_000, 100_000, 1_000_000):
        command = [sys.executable, "-c", SCRIPT, str(n)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        results.append(json.loads(done.stdout))
    return results


def line(case: dict[str, float]) -> str:
    return (
        f"n = {case['n']:>9,}: data {case['data_mb']:6.1f} MB, peak {case['peak_mb']:7.1f} MB, "
        f"of which beyond the start {case['beyond_start_mb']:6.1f} MB"
    )
