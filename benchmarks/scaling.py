"""Time and peak memory from n = 10^5 to 10^7 rows of a file, each in a process of its own.

What takes less than two seconds is repeated, the file being opened anew each time; the median
counts, and the first fit, which pays for a cold start, is told too. Memory is that of the first.
"""

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

def fit(n):
    rows = np.load(sys.argv[1], mmap_mode="r")[:n]
    start = time.perf_counter()
    ritz.decompose(ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(2.0), 100), rows, k=8,
                   random_state=0, progress=False)
    return time.perf_counter() - start

fit(5000)
process, peak, done = psutil.Process(), [0], threading.Event()

def watch():
    while not done.wait(0.01):
        memory = process.memory_info()
        peak[0] = max(peak[0], memory.rss - memory.shared)

memory = process.memory_info()
before = memory.rss - memory.shared
watcher = threading.Thread(target=watch)
watcher.start()
n = int(sys.argv[2])
seconds = [fit(n)]
done.set()
watcher.join()
while sum(seconds) < 2 and len(seconds) < 31:
    seconds.append(fit(n))
print(json.dumps({"seconds": float(np.median(seconds)), "first": seconds[0],
                  "megabytes": (peak[0] - before) / 1e6}))
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
        f"s per million rows (the first fit {case['first'] / case['n'] * 1e6:.2f}), "
        f"{case['megabytes']:.0f} MB beyond the start"
    )
