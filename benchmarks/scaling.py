"""Time and peak memory from n = 10^5 to 10^7 rows of a file, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SCRIPT = """
import json, sys, threading, time
import numpy as np, psutil, ritz

X = np.load(sys.argv[1], mmap_mode="r")[: int(sys.argv[2])]
fit = lambda rows: ritz.decompose(ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(2.0), 100), rows,
                                  k=8, random_state=0, progress=False)
fit(np.asarray(X[:5000]))
process, peak, done = psutil.Process(), [0], threading.Event()

def watch():
    while not done.wait(0.01):
        memory = process.memory_info()
        peak[0] = max(peak[0], memory.rss - memory.shared)

memory = process.memory_info()
before = memory.rss - memory.shared
watcher = threading.Thread(target=watch)
watcher.start()
start = time.perf_counter()
fit(X)
seconds = time.perf_counter() - start
done.set()
watcher.join()
print(json.dumps({"seconds": seconds, "megabytes": (peak[0] - before) / 1e6}))
"""


def cases(sizes: tuple[int, ...] = (100_000, 1_000_000, 10_000_000)) -> list[dict[str, float]]:
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        rows = np.lib.format.open_memmap(path, "w+", np.float64, (max(sizes), 10))
        rng = np.random.default_rng(0)
        for start in range(0, max(sizes), 100_000):
            rows[start : start + 100_000] = rng.normal(size=(100_000, 10))
        rows.flush()
        del rows
        for n in sizes:
            command = [sys.executable, "-c", SCRIPT, str(path), str(n)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results.append({"n": n, **json.loads(done.stdout)})
    return results


def line(case: dict[str, float]) -> str:
    return (
        f"n = {case['n']:>10,}: {case['seconds']:7.2f} s, {case['seconds'] / case['n'] * 1e6:.2f} "
        f"s per million rows, {case['megabytes']:.0f} MB beyond the start"
    )
