"""Eigenfunctions at new points, against their bare products and against scikit-learn's kernel."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

import ritz
from benchmarks.compare import Comparison, compare

D, K, LENGTH, ROWS = 10, 8, 2.0, 2048


def cases(repeats: int) -> list[Comparison]:
    """Evaluate eight eigenfunctions of p sections at 100,000 points, by all cores for all."""
    X = np.random.default_rng(0).normal(size=(100_000, D))
    results = []
    for p in (200, 1000):
        basis = ritz.Nystrom(ritz.Gaussian(LENGTH), p)
        spectrum = ritz.decompose(ritz.laplacian(), basis, X[:20_000], k=K, random_state=0)
        centers, A = X[:p], np.random.default_rng(1).normal(size=(p, K))
        sections = np.random.default_rng(2).random((ROWS, p))
        blocks = range(0, len(X), ROWS)

        def products(centers=centers, A=A, sections=sections, blocks=blocks) -> None:
            for start in blocks:
                X[start : start + ROWS] @ centers.T
                sections @ A

        def peer(centers=centers, A=A, blocks=blocks) -> None:
            for start in blocks:
                rbf_kernel(X[start : start + ROWS], centers, gamma=0.5 / LENGTH**2) @ A

        name = f"transform, n={len(X):,}, p={p}"
        results.append(
            compare(f"{name}, bare products", lambda s=spectrum: s(X), products, repeats)
        )
        results.append(compare(f"{name}, rbf_kernel", lambda s=spectrum: s(X), peer, repeats))
    return results
