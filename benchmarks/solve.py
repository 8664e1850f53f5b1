"""What many functions cost to solve for: `python -m benchmarks.solve`.

Sums of 20,000 rows over 3,000 kernel sections, and eight eigenvalues out of them, in seconds: for
kernels whose sections are all told apart, and for smoother ones, where directions are cut off.
Beside it one plain eigenvalue problem of that size, as in the floor, with as many threads.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy.linalg import eigh

import ritz

N, P, K, REPEATS = 20_000, 3000, 8, 3
DECOMPOSE: Any = sys.modules["ritz.spectrum.decompose"]
CASES = [
    ("Exponential(3), d=10", ritz.Exponential(3.0), 10),
    ("Gaussian(2), d=10", ritz.Gaussian(2.0), 10),
    ("Gaussian(5), d=10", ritz.Gaussian(5.0), 10),
    ("Matern(5/2, 1), d=3", ritz.Matern(2.5, 1.0), 3),
    ("Gaussian(1), d=3", ritz.Gaussian(1.0), 3),
]


def main() -> None:
    A = np.random.default_rng(0).random((2 * P, P))
    A, eye = A.T @ A / (2 * P), np.eye(P)
    for name, kernel, d in CASES:
        X = np.random.default_rng(0).normal(size=(N, d))
        start = time.perf_counter()
        basis = ritz.Nystrom(kernel, P)
        sums = ritz.assemble(ritz.laplacian(), basis, X, random_state=0, progress=False)
        assembled = time.perf_counter() - start
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            # As `decompose` solves for them.
            spectrum = DECOMPOSE._decomposed(sums, K, 0.0, of_rows=True)
            solved = time.perf_counter()
            eigh(A, eye, subset_by_index=(0, K))
            seconds.append((solved - start, time.perf_counter() - solved))
        ours, plain = np.median(seconds, axis=0)
        print(
            f"{name:<22} rank {spectrum.rank:>4}: sums {assembled:.1f} s, solve {ours:.1f} s, "
            f"plain problem {plain:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
