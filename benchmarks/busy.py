"""Fits while other processes keep all cores busy: `python -m benchmarks.busy`.

Threads of the linear algebra that wait for one another take a hundred times as long then.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import ritz
from ritz.threads import jobs

CASES = ((1000, 30), (1000, 60), (1000, 100), (10_000, 300))
KERNELS = {"Gaussian": ritz.Gaussian(1.7), "polynomial": ritz.Polynomial(3)}
RUNS = 60
LOOP = "while True: pass"


def milliseconds(work: Callable[[], object]) -> np.ndarray:
    """Return the middle and the longest of some runs."""
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return 1e3 * np.quantile(taken, [0.5, 1.0])


def main() -> None:
    for (n, p), (name, kernel) in ((size, item) for size in CASES for item in KERNELS.items()):
        X = np.random.default_rng(0).normal(size=(n, 3))

        def fit(X: np.ndarray = X, basis: object = ritz.Nystrom(kernel, p)) -> None:
            ritz.decompose(ritz.laplacian(), basis, X, k=15, random_state=0)

        fit()
        alone = milliseconds(fit)
        others = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(jobs(None))]
        time.sleep(0.5)
        try:
            beside = milliseconds(fit)
        finally:
            for other in others:
                other.kill()
        print(
            f"{name}, n={n:,}, p={p}: alone {alone[0]:.1f} ms (at most {alone[1]:.1f}), beside "
            f"{len(others)} others {beside[0]:.1f} ms (at most {beside[1]:.1f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
