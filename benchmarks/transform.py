"""Eigenfunctions at new points, against the bare products and scikit-learn's kernel."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

import ritz
from benchmarks import TINY
from benchmarks.compare import Comparison, compare

N = 5000 if TINY else 100_000
D, K, LENGTH, BLOCK_ROWS = 10, 8, 2.0, 2048


def cases(repeats: int = 1 if TINY else 5) -> list[Comparison]:
    """Evaluate eight eigenfunctions of p sections; each way may use all cores."""
    X = np.random.default_rng(0).normal(size=(N, D))
    blocks = [X[start : start + BLOCK_ROWS] for start in range(0, N, BLOCK_ROWS)]
    results = []
    for p in (200,) if TINY else (200, 1000):
        basis = ritz.Nystrom(ritz.Gaussian(LENGTH), p)
        spectrum = ritz.decompose(ritz.laplacian(), basis, X[:20_000], k=K, random_state=0)
        centers, A = X[:p], np.random.default_rng(1).normal(size=(p, K))
        sections = np.random.default_rng(2).random((BLOCK_ROWS, p))

        def ours(spectrum=spectrum) -> None:
            spectrum(X)

        def products(centers=centers, A=A, sections=sections) -> None:
            for block in blocks:
                block @ centers.T
                sections @ A

        def peer(centers=centers, A=A) -> None:
            for block in blocks:
                rbf_kernel(block, centers, gamma=0.5 / LENGTH**2) @ A

        name = f"transform, n={N:,}, p={p}"
        results.append(compare(f"{name}, bare products", ours, products, repeats))
        results.append(compare(f"{name}, rbf_kernel", ours, peer, repeats))
    return results


if __name__ == "__main__":
    for comparison in cases():
        print(comparison, flush=True)
