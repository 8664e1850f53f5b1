"""What the first fit of a process costs, beside later ones: `python -m benchmarks.first_use`.

Nothing is compiled then: what is compiled is when the package is installed.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

KERNELS = {
    "Gaussian": "ritz.Gaussian(1.7)",
    "exponential": "ritz.Exponential(1.7)",
    "polynomial": "ritz.Polynomial(3)",
}
FIT = """
import time
start = time.perf_counter()
import numpy, scipy.linalg, sklearn.base
others = time.perf_counter()
import ritz
ready = time.perf_counter()
X = numpy.random.default_rng(0).normal(size=(1000, 3))
times = []
for _ in range(21):
    before = time.perf_counter()
    ritz.decompose(ritz.laplacian(), ritz.Nystrom({kernel}, 30), X, k=8, random_state=0)
    times.append(time.perf_counter() - before)
print(others - start, ready - others, times[0], sorted(times)[10])
"""


def seconds(kernel: str) -> list[float]:
    run = [sys.executable, "-c", FIT.format(kernel=kernel)]
    output = subprocess.run(run, capture_output=True, check=True, text=True).stdout
    return [float(number) for number in output.split()]


def main() -> None:
    for name, kernel in KERNELS.items():
        times = np.array([seconds(kernel) for _ in range(7)])
        others, ours, first, later = np.median(times, axis=0)
        low, high = times[:, 2].min(), times[:, 2].max()
        print(
            f"{name:<12} first fit {1e3 * first:.1f} ms ({1e3 * low:.1f} to {1e3 * high:.1f})   "
            f"later ones {1e3 * later:.1f} ms   import of ritz {ours:.2f} s, after NumPy, SciPy "
            f"and scikit-learn {others:.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
