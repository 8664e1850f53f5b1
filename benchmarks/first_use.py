"""What the first fit of all costs, with nothing compiled yet: `python -m benchmarks.first_use`.

Each in a process of its own, with an empty cache of compiled functions and then with the full one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np

KERNELS = {
    "Gaussian": "ritz.Gaussian(1.7)",
    "exponential": "ritz.Exponential(1.7)",
    "polynomial": "ritz.Polynomial(3)",
}
FIT = """
import time
import numpy, numba, ritz
X = numpy.random.default_rng(0).normal(size=(1000, 3))
start = time.perf_counter()
ritz.decompose(ritz.laplacian(), ritz.Nystrom({kernel}, 30), X, k=8, random_state=0)
print(time.perf_counter() - start)
"""


def seconds(kernel: str, cache: str) -> float:
    run = [sys.executable, "-c", FIT.format(kernel=kernel)]
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    return float(subprocess.run(run, env=environment, capture_output=True, check=True).stdout)


def main() -> None:
    for name, kernel in KERNELS.items():
        first, second = [], []
        for _ in range(5):
            with tempfile.TemporaryDirectory() as cache:
                first.append(seconds(kernel, cache))
                second.append(seconds(kernel, cache))
        low, high = min(first), max(first)
        print(
            f"{name:<12} first use {np.median(first):.2f} s ({low:.2f} to {high:.2f})"
            f"   once cached {np.median(second):.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
