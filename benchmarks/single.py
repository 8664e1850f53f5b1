"""What float32 does to eigenvalues, with and without the check that keeps it away.

`python -m benchmarks.single` takes the cases below one by one; with `--all`, a grid of clouds and
kernels, and of those that run in float32 by how much it moves the first 16 eigenvalues.
"""

from __future__ import annotations

import sys
from itertools import product
from unittest.mock import patch

import numpy as np
from sklearn.datasets import make_moons, make_swiss_roll

import ritz

N, K = 20_000, 16


def clusters(d: int, spread: float) -> np.ndarray:
    """Return eight of them, a few spreads or many apart."""
    rng = np.random.default_rng(1)
    return spread * rng.normal(size=(N, d)) + 3 * rng.normal(size=(8, d))[rng.integers(8, size=N)]


def normal(d: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, d))


CASES = {
    "Gaussian(2), d=10, p=1000": (ritz.Gaussian(2.0), normal(10), 1000),
    "Gaussian(3), d=10, p=1000": (ritz.Gaussian(3.0), normal(10), 1000),
    "Gaussian(5), d=10, p=1000": (ritz.Gaussian(5.0), normal(10), 1000),
    "Exponential(3), d=10, p=1000": (ritz.Exponential(3.0), normal(10), 1000),
    "Matern(3/2, 3), d=10, p=1000": (ritz.Matern(1.5, 3.0), normal(10), 1000),
    "Matern(5/2, 3), d=10, p=1000": (ritz.Matern(2.5, 3.0), normal(10), 1000),
    "Matern(3/2, 1), d=2, p=300": (ritz.Matern(1.5, 1.0), normal(2), 300),
    "Exponential(1), d=2, p=300": (ritz.Exponential(1.0), normal(2), 300),
    "Gaussian(1), d=3, p=300": (ritz.Gaussian(1.0), normal(3), 300),
    "Matern(3/2, 2.8), clusters, d=8, p=200": (ritz.Matern(1.5, 2.8), clusters(8, 0.1), 200),
    "Exponential(7), clusters, d=14, p=500": (ritz.Exponential(7.0), clusters(14, 0.1), 500),
    "Exponential(1), wide clusters, d=6, p=200": (ritz.Exponential(1.0), clusters(6, 0.3), 200),
}
CLOUDS = {
    **{f"normal, d={d}": normal(d) for d in (2, 3, 5, 10, 20)},
    "square": np.random.default_rng(0).random((N, 2)),
    "swiss roll": make_swiss_roll(N, noise=0.3, random_state=0)[0] / 5,
    "half-moons": make_moons(N, noise=0.05, random_state=0)[0],
    "heavy tails, d=4": np.random.default_rng(0).standard_t(3, size=(N, 4)),
    "clusters, d=8": clusters(8, 0.1),
    "clusters, d=14": clusters(14, 0.1),
    "wide clusters, d=6": clusters(6, 0.3),
}
KERNELS = [
    *(ritz.Gaussian(length) for length in (0.7, 2.0, 2.5)),
    *(ritz.Exponential(length) for length in (1.0, 3.0)),
    *(ritz.Matern(nu, length) for nu in (1.5, 2.5) for length in (1.0, 3.0)),
]


def compared(
    kernel: ritz.kernels.Kernel, X: np.ndarray, p: int, *, force: bool
) -> tuple[bool, float]:
    """Return whether float32 is used, and what it does, there or if it were to be used."""
    rows, basis = X.astype(np.float32), ritz.Nystrom(kernel, p)
    kept = ritz.assemble(ritz.laplacian(), basis, rows, random_state=0).rounding > 1e-10
    if not (kept or force):
        return kept, np.nan
    wide = rows.astype(np.float64)
    double = ritz.decompose(ritz.laplacian(), basis, wide, k=K, random_state=0).values
    with patch.object(sys.modules["ritz.assembly.assemble"], "single_will_do", return_value=True):
        try:
            single = ritz.decompose(ritz.laplacian(), basis, rows, k=K, random_state=0).values
        except ValueError:
            return kept, np.inf
    return kept, float(np.abs(single[1:] / double[1:] - 1).max())


def main() -> None:
    for name, (kernel, X, p) in CASES.items():
        kept, gap = compared(kernel, X, p, force=True)
        use = "float32" if kept else "float64"
        print(f"{name:<42} {use}   in float32: {gap:.1e}", flush=True)
    if "--all" not in sys.argv:
        return
    found = []
    for (name, X), kernel, p in product(CLOUDS.items(), KERNELS, (200, 500)):
        kept, gap = compared(kernel, X, p, force=False)
        found.append(kept)
        if kept:
            print(f"{name:<20} {kernel!s:<36} p={p}   in float32: {gap:.1e}", flush=True)
    print(f"{sum(found)} of {len(found)} in float32")


if __name__ == "__main__":
    main()
