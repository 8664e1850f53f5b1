"""Regression on values and gradients of a million rows, read from a memory-mapped file.

The function is wing weight, d = 10, so that a million rows hold eleven million numbers.
`python -m benchmarks.hermite_large 1000000` prints seconds, peak memory and errors;
`python -m benchmarks.hermite_large 1000000 1000` does so for 1,000 centers.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import ritz
from benchmarks.surfaces import WING_WEIGHT as SURFACE

ROWS = 100_000


def main(n: int, p: int | str = "auto") -> None:
    rng = np.random.default_rng(0)
    low, high = SURFACE.bounds.T
    shapes = {"X": (n, len(low)), "y": (n,), "t": (n, len(low))}
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.npy" for name in shapes}
        files = {
            name: np.lib.format.open_memmap(path, "w+", shape=shapes[name])
            for name, path in paths.items()
        }
        for start in range(0, n, ROWS):
            rows = slice(start, min(start + ROWS, n))
            X = low + (high - low) * rng.random((rows.stop - start, len(low)))
            files["X"][rows], files["y"][rows] = X, SURFACE.value(X)
            files["t"][rows] = SURFACE.gradient(X)
        del files
        X, y, t = (np.load(path, mmap_mode="r") for path in paths.values())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start_time = time.perf_counter()
        model = ritz.HermiteRegressor(n_centers=p, random_state=0, solver="sums").fit(X, y, t)
        seconds = time.perf_counter() - start_time
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    Z = SURFACE.latin_hypercube(1000, seed=1)
    truth, slopes = SURFACE.value(Z), SURFACE.gradient(Z) * (high - low)
    value = np.sqrt(np.mean((model.predict(Z) - truth) ** 2)) / truth.std()
    missed = model.predict_gradient(Z) * (high - low) - slopes
    slope = np.sqrt(np.mean(missed**2) / np.mean(slopes**2))
    print(
        f"n = {n:,}, p = {model.n_centers_}: {seconds:.0f} s, peak {peak / 1e3:.0f} MB (of which "
        f"{before / 1e3:.0f} at the start), error of values {value:.2e}, of gradients {slope:.2e}, "
        f"residual {model.residual_:.1e}"
    )


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:] or ["1000000"]))
