"""A decomposition against its floor: the bare matrix products of the same shapes, and one solve."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

import ritz
from benchmarks.compare import Comparison, compare

D, K, THREADS, ROWS = 10, 8, 2, 1024
KERNELS = {
    "Gaussian": (ritz.Gaussian(2.0), 1),
    "exponential": (ritz.Exponential(3.0), 2),
    "Matern 3/2": (ritz.Matern(1.5, 3.0), 2),
    "Matern 5/2": (ritz.Matern(2.5, 3.0), 2),
}


def floor(n: int, p: int, symmetric: int, general: int, dtype: type) -> Callable[[], None]:
    """Return the products of n rows, in blocks on two threads, and an eigenvalue problem.

    A Laplacian needs one general product and as many symmetric ones as there are kinds of arrays:
    values alone where q' = c q, values and slopes elsewhere.
    """
    rng = np.random.default_rng(0)
    arrays = [rng.random((ROWS, p)).astype(dtype) for _ in range(3)]
    A = rng.random((2 * p, p))
    A = A.T @ A / (2 * p)

    def products(blocks: int) -> None:
        sums = [np.zeros((p, p)) for _ in range(symmetric + general)]
        for _ in range(blocks):
            for number in range(symmetric):
                sums[number] += arrays[number].T @ arrays[number]
            for number in range(general):
                sums[symmetric + number] += arrays[number + 1].T @ arrays[number]

    def run() -> None:
        blocks = max(1, round(n / ROWS / THREADS))
        with threadpool_limits(1), ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(products, [blocks] * THREADS))
            eigh(A, np.eye(p), subset_by_index=(0, K))

    return run


def case(kernel: str, n: int, p: int, repeats: int, dtype: type = np.float64) -> Comparison:
    X = np.random.default_rng(0).normal(size=(n, D)).astype(dtype)
    section, symmetric = KERNELS[kernel]
    name = f"Laplacian, {kernel}, n={n:,}, p={p}" + (", float32" if dtype is np.float32 else "")
    return compare(
        name,
        lambda: ritz.decompose(
            ritz.laplacian(), ritz.Nystrom(section, p), X, k=K, random_state=0, n_jobs=THREADS
        ),
        floor(n, p, symmetric, 1, dtype),
        repeats,
        enough=10.0,
    )


def cases(repeats: int, full: bool) -> list[Comparison]:
    n = 100_000
    wanted = [("Gaussian", 1000), ("Gaussian", 200), ("Gaussian", 100)]
    wanted += [("exponential", 1000), ("Matern 3/2", 1000)]
    if full:
        wanted += [("Matern 5/2", 1000), ("Gaussian", 50), ("Gaussian", 500), ("Gaussian", 2000)]
        wanted += [("exponential", 200), ("Matern 3/2", 200)]
    return [case(kernel, n, p, repeats) for kernel, p in wanted]


def single(repeats: int) -> list[Comparison]:
    """Time rows of float32 and of float64 alternately; the ratio is the gain."""
    results = []
    for kernel in ("Gaussian", "exponential"):
        X = np.random.default_rng(0).normal(size=(100_000, D)).astype(np.float32)
        wide = X.astype(np.float64)
        basis = ritz.Nystrom(KERNELS[kernel][0], 1000)

        def fit(rows: np.ndarray, basis: ritz.Nystrom) -> object:
            return ritz.decompose(ritz.laplacian(), basis, rows, k=K, random_state=0)

        name = f"float32 for float64, {kernel}, p=1000"
        single, double = partial(fit, X, basis), partial(fit, wide, basis)
        results.append(compare(name, single, double, repeats))
    return results
