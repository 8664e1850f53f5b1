"""Time and peak memory against the number of rows of a file, and of centers.

Each size runs in a process of its own. Fits of less than two seconds are repeated, and the file is
opened anew each time. The first fit starts cold; its memory is the one reported.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import ritz
from benchmarks import TINY
from benchmarks.process import run_alone, seconds_and_megabytes

D, K, CHUNK_ROWS = 10, 8, 100_000
QUICK = [(100_000, 100), (1_000_000, 100), (100_000, 1000)]
FULL = [(100_000, 100), (1_000_000, 100), (10_000_000, 100), (100_000, 1000)]


def cases(full: bool = True) -> list[dict[str, float]]:
    sizes = [(10_000, 50)] if TINY else FULL if full else QUICK
    n_rows = max(n for n, _ in sizes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        rows = np.lib.format.open_memmap(path, "w+", np.float64, (n_rows, D))
        rng = np.random.default_rng(0)
        for start in range(0, n_rows, CHUNK_ROWS):
            chunk = rows[start : start + CHUNK_ROWS]
            chunk[:] = rng.normal(size=chunk.shape)
        rows.flush()
        del rows
        return [run_alone("benchmarks.scaling", "--fit", path, n, p) for n, p in sizes]


def measure(path: str, n: int, p: int) -> dict[str, float]:
    """Return the median seconds of a fit to the first n rows, and the memory of the first fit."""

    def fit(n: int = n) -> None:
        rows = np.load(path, mmap_mode="r")[:n]
        basis = ritz.Nystrom(ritz.Gaussian(2.0), p)
        ritz.decompose(ritz.laplacian(), basis, rows, k=K, random_state=0, progress=False)

    fit(5000)
    first, megabytes = seconds_and_megabytes(fit)
    seconds = [first]
    while sum(seconds) < 2 and len(seconds) < 31:
        start = time.perf_counter()
        fit()
        seconds.append(time.perf_counter() - start)
    median = float(np.median(seconds))
    return {"n": n, "p": p, "seconds": median, "first": first, "megabytes": megabytes}


def line(case: dict[str, float]) -> str:
    return (
        f"n = {case['n']:>10,}, p = {case['p']:>4}: {case['seconds']:7.2f} s, "
        f"{case['seconds'] / case['n'] * 1e6:.2f} s per million rows (the first fit "
        f"{case['first'] / case['n'] * 1e6:.2f}), {case['megabytes']:.0f} MB beyond the start"
    )


if __name__ == "__main__":
    if "--fit" in sys.argv:
        path, n, p = sys.argv[sys.argv.index("--fit") + 1 :]
        print(json.dumps(measure(path, int(n), int(p))))
    else:
        for result in cases():
            print(line(result), flush=True)
