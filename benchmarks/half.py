"""Half as many centers where a sample says that half will do: energy on new rows, and time.

`python -m benchmarks.half` fits `SpectralEmbedding(8)` to 10,000 rows of several clouds, with the
number of centers it chooses and with 500, and prints the sum of the eigenvalues on 40,000 new rows,
in the span of either, one over the other: less is better, by Rayleigh and Ritz.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_circles, make_moons, make_s_curve, make_swiss_roll

import ritz
from ritz.bases import Centered

ROWS, NEW_ROWS, K = 10_000, 40_000, 8
BLOBS = 4 * np.random.default_rng(0).normal(size=(8, 5))


def torus(n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, size=(n, 2))
    return np.c_[np.cos(angles), np.sin(angles)] + 0.02 * rng.normal(size=(n, 4))


def blobs(n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return BLOBS[rng.integers(8, size=n)] + rng.normal(size=(n, 5))


CLOUDS = {
    **{
        f"normal, d = {d}": lambda n, seed, d=d: np.random.default_rng(seed).normal(size=(n, d))
        for d in (2, 5, 10, 20)
    },
    "unit cube, d = 3": lambda n, seed: np.random.default_rng(seed).uniform(size=(n, 3)),
    "half-moons": lambda n, seed: make_moons(n, noise=0.1, random_state=seed)[0],
    "circles": lambda n, seed: make_circles(n, noise=0.05, factor=0.5, random_state=seed)[0],
    "S curve": lambda n, seed: make_s_curve(n, noise=0.05, random_state=seed)[0],
    "swiss roll": lambda n, seed: make_swiss_roll(n, noise=0.1, random_state=seed)[0],
    "torus in four dimensions": torus,
    "eight blobs, d = 5": blobs,
}


def energy(spectrum: Any, X: Any) -> float:
    functions = Centered(spectrum[1:], np.zeros(len(spectrum) - 1))
    there = ritz.assemble(ritz.laplacian(), functions, X, n_folds=1)
    return float(ritz.decompose_sums(there, len(spectrum)).values.sum())


def main() -> None:
    warnings.simplefilter("ignore")
    for name, rows in CLOUDS.items():
        X, new = rows(ROWS, 0), rows(NEW_ROWS, 1)
        seconds, energies, used = [], [], []
        for centers in ("auto", 500):
            model = ritz.SpectralEmbedding(K, n_centers=centers, random_state=0)
            model.fit(X)
            start = time.perf_counter()
            model.fit(X)
            seconds.append(time.perf_counter() - start)
            energies.append(energy(model.spectrum_, new))
            used.append(model.n_centers_)
        print(
            f"{name:<26} {used[0]} centers: energy {energies[0] / energies[1]:.4f} of that of 500, "
            f"{seconds[0]:.2f} s for {seconds[1]:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
