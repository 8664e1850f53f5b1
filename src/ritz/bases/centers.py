"""Choosing centers among rows of data, in an order such that the first few are good centers too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.kernels import Kernel
from ritz.validation import Array


def randomly_pivoted_cholesky(
    kernel: Kernel, X: Array, m: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Choose m rows as pivots, drawn in proportion to the diagonal of the residual kernel.

    After each pivot s the residual kernel is k(x, y) - F(x) F(y)' with one more column
    F = residual(., s) / sqrt(residual(s, s)). Stops early when the residual vanishes.
    """
    scale = kernel.scales(X.shape[1])
    Z = X / scale
    u = np.zeros(len(Z)) if kernel.family == "distance" else np.einsum("ij,ij->i", Z, Z)
    residual = kernel.profile(u, 0)[0].copy()
    floor = 1e-13 * residual.max()
    F = np.zeros((m, len(X)))
    chosen: list[int] = []
    for step in range(m):
        residual[residual < floor] = 0.0
        total = residual.sum()
        if total <= 0:
            break
        pivot = int(rng.choice(len(X), p=residual / total))
        column = kernel.profile(kernel.invariant(Z, Z[pivot : pivot + 1])[:, 0], 0)[0]
        column = column - F[:step, pivot] @ F[:step]
        F[step] = column / np.sqrt(residual[pivot])
        residual -= F[step] ** 2
        residual[pivot] = 0.0
        chosen.append(pivot)
    return np.array(chosen, dtype=np.intp)


def spread_out(X: Array, m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Choose m distinct rows by k-means++: each far from those before it."""
    # Loaded here, as it takes a fifth of the time of `import ritz`.
    from sklearn.cluster import kmeans_plusplus

    _, index = kmeans_plusplus(X, m, random_state=int(rng.integers(2**31)))
    return np.asarray(index, dtype=np.intp)
