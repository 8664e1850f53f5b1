"""Where the time of a decomposition goes: the sums over the rows, and the solve.

The kernels differ in rank: sections of rough kernels are linearly independent, those of smooth
ones are not, as far as rounding tells. One plain eigenvalue problem of the same size is timed
beside each solve.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import eigh

import ritz
from benchmarks import TINY

K, REPEATS = 8, 3
# Name, kernel, rows, columns, centers.
CASES = [
    ("Gaussian(2)", ritz.Gaussian(2.0), 100_000, 10, 100),
    ("Gaussian(2)", ritz.Gaussian(2.0), 100_000, 10, 200),
    ("Gaussian(2)", ritz.Gaussian(2.0), 100_000, 10, 1000),
    ("Exponential(3)", ritz.Exponential(3.0), 20_000, 10, 3000),
    ("Gaussian(2)", ritz.Gaussian(2.0), 20_000, 10, 3000),
    ("Gaussian(5)", ritz.Gaussian(5.0), 20_000, 10, 3000),
    ("Matern(5/2, 1)", ritz.Matern(2.5, 1.0), 20_000, 3, 3000),
    ("Gaussian(1)", ritz.Gaussian(1.0), 20_000, 3, 3000),
]


def case(name: str, kernel: ritz.Kernel, n: int, d: int, p: int) -> dict[str, object]:
    """Return the rank, and medians of the seconds of sums, solve and plain problem."""
    A = np.random.default_rng(0).random((2 * p, p))
    A, eye = A.T @ A / (2 * p), np.eye(p)
    X = np.random.default_rng(0).normal(size=(n, d))
    times = []
    for _ in range(1 if TINY else REPEATS):
        start = time.perf_counter()
        basis = ritz.Nystrom(kernel, p)
        sums = ritz.assemble(ritz.laplacian(), basis, X, random_state=0, progress=False)
        assembled = time.perf_counter()
        spectrum = ritz.decompose_sums(sums, K)
        solved = time.perf_counter()
        eigh(A, eye, subset_by_index=(0, K))
        times.append((assembled - start, solved - assembled, time.perf_counter() - solved))
    seconds = dict(zip(("sums", "solve", "plain"), np.median(times, axis=0).tolist(), strict=True))
    return {"case": f"{name}, n={n:,}, d={d}, p={p}", "rank": spectrum.rank, **seconds}


def cases() -> list[dict[str, object]]:
    if TINY:
        return [case("Gaussian(2)", ritz.Gaussian(2.0), 2000, 10, 100)]
    return [case(*arguments) for arguments in CASES]


def line(case: dict[str, object]) -> str:
    return (
        f"{case['case']:<40} rank {case['rank']:>4}   sums {case['sums']:.3f} s   solve "
        f"{case['solve']:.3f} s   plain problem {case['plain']:.3f} s"
    )


if __name__ == "__main__":
    for result in cases():
        print(line(result), flush=True)
