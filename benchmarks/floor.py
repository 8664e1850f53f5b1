"""A decomposition against its floor: the bare matrix products of the same shapes, and one solve."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

import ritz
from benchmarks import TINY
from benchmarks.compare import Comparison, compare

N = 4000 if TINY else 100_000
D, K, THREADS, BLOCK_ROWS = 10, 8, 2, 1024
# Each kernel, and the number of symmetric products of its Laplacian: one of values, where slopes
# are a multiple of them, and one of slopes elsewhere.
KERNELS = {
    "Gaussian": (ritz.Gaussian(2.0), 1),
    "exponential": (ritz.Exponential(3.0), 2),
    "Matern 3/2": (ritz.Matern(1.5, 3.0), 2),
    "Matern 5/2": (ritz.Matern(2.5, 3.0), 2),
}
QUICK = [("Gaussian", p) for p in (1000, 200, 100)]
QUICK += [("exponential", 1000), ("Matern 3/2", 1000)]
FULL = [("Gaussian", p) for p in (50, 500, 2000)]
FULL += [("Matern 5/2", 1000), ("exponential", 200), ("Matern 3/2", 200)]


def floor(n: int, p: int, symmetric: int) -> Callable[[], None]:
    """Return the products of n rows, in blocks on two threads, and an eigenvalue problem.

    A Laplacian needs one general product, and one or two symmetric ones.
    """
    rng = np.random.default_rng(0)
    arrays = [rng.random((BLOCK_ROWS, p)) for _ in range(2)]
    A = rng.random((2 * p, p))
    A = A.T @ A / (2 * p)

    def products(blocks: int) -> None:
        sums = [np.zeros((p, p)) for _ in range(symmetric + 1)]
        for _ in range(blocks):
            for number in range(symmetric):
                sums[number] += arrays[number].T @ arrays[number]
            sums[symmetric] += arrays[1].T @ arrays[0]

    def run() -> None:
        blocks = max(1, round(n / BLOCK_ROWS / THREADS))
        with threadpool_limits(1), ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(products, [blocks] * THREADS))
            eigh(A, np.eye(p), subset_by_index=(0, K))

    return run


def case(kernel: str, p: int, repeats: int) -> Comparison:
    X = np.random.default_rng(0).normal(size=(N, D))
    section, symmetric = KERNELS[kernel]
    basis = ritz.Nystrom(section, p)
    return compare(
        f"Laplacian, {kernel}, n={N:,}, p={p}",
        lambda: ritz.decompose(
            ritz.laplacian(), basis, X, k=K, random_state=0, n_jobs=THREADS, progress=False
        ),
        floor(N, p, symmetric),
        repeats,
        enough=0.0 if TINY else 10.0,
    )


def cases(full: bool = False) -> list[Comparison]:
    if TINY:
        return [case("Gaussian", p, 1) for p in (100, 50)]
    return [case(kernel, p, 5) for kernel, p in QUICK + (FULL if full else [])]


def over_floor(comparison: Comparison) -> tuple[float, float, float]:
    """Return our time over the floor: the median, and the quartiles."""
    low, middle, high = np.quantile(1 / comparison.ratios(), [0.25, 0.5, 0.75])
    return float(middle), float(low), float(high)


def line(comparison: Comparison) -> str:
    middle, low, high = over_floor(comparison)
    return (
        f"{comparison.case:<48} ours {np.median(comparison.ours):7.3f} s   floor "
        f"{np.median(comparison.theirs):7.3f} s   over floor {middle:.2f} "
        f"({low:.2f} to {high:.2f} in half of {len(comparison.ours)} runs)"
    )


if __name__ == "__main__":
    for comparison in cases("--full" in sys.argv[1:]):
        print(line(comparison), flush=True)
