"""Centers: which way to choose them needs fewest, and whether the automatic number suffices."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_circles, make_moons, make_s_curve, make_swiss_roll

import ritz
from benchmarks import TINY

WAYS = ("uniform", "kmeans++", "rpcholesky")
SIZES = (25, 50) if TINY else (25, 50, 100, 200, 400)
PROBLEMS = {
    "normal, d=2": (ritz.datasets.gaussian(2), ritz.Gaussian(1.0)),
    "normal, d=5": (ritz.datasets.gaussian(5), ritz.Gaussian(2.0)),
    "square": (ritz.datasets.cube(2), ritz.Matern(2.5, 0.5)),
}
Errors = dict[tuple[str, str, int], float]


def errors(k: int = 9) -> Errors:
    """Return the mean relative error of the eigenvalues, by problem, way and p."""
    n, seeds = (1000, 1) if TINY else (20_000, 3)
    result = {}
    for name, (problem, kernel) in PROBLEMS.items():
        exact = problem.eigenvalues(k)[1:]
        for way in WAYS:
            for p in SIZES:
                found = []
                for seed in range(seeds):
                    X = problem.sample(n, random_state=seed)
                    basis = ritz.Nystrom(kernel, p, centers=way)
                    spectrum = ritz.decompose(ritz.laplacian(), basis, X, k=k, random_state=seed)
                    found.append(np.abs(spectrum.values[1:] / exact - 1).mean())
                result[name, way, p] = float(np.mean(found))
    return result


def lines(result: Errors) -> list[str]:
    rows = [f"{'':<28}" + "".join(f"p={p:<8}" for p in SIZES)]
    for name in PROBLEMS:
        for way in WAYS:
            figures = "".join(f"{result[name, way, p]:<10.4f}" for p in SIZES)
            rows.append(f"{name:<16}{way:<12}{figures}")
    return rows


def torus(n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, size=(n, 2))
    return np.c_[np.cos(angles), np.sin(angles)] + 0.02 * rng.normal(size=(n, 4))


def blobs(n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return BLOB_CENTERS[rng.integers(8, size=n)] + rng.normal(size=(n, 5))


BLOB_CENTERS = 4 * np.random.default_rng(0).normal(size=(8, 5))
CLOUDS: dict[str, Any] = {
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


def automatic(k: int = 8, most: int = 500) -> list[str]:
    """Compare `SpectralEmbedding`'s own number of centers with 500, on rows not seen before.

    The energy is the sum of the eigenvalues on new rows in the span of the functions found. By the
    principle of Rayleigh and Ritz, less is better.
    """
    n, n_new = (1000, 2000) if TINY else (10_000, 40_000)
    rows = []
    for name, sample in CLOUDS.items():
        X, new = sample(n, 0), sample(n_new, 1)
        energies, used = [], []
        for n_centers in ("auto", most):
            model = ritz.SpectralEmbedding(k, n_centers=n_centers, random_state=0).fit(X)
            functions = model.spectrum_[1:]
            there = ritz.decompose(ritz.laplacian(), functions, new, k=len(functions) + 1)
            energies.append(there.values.sum())
            used.append(model.n_centers_)
        ratio = energies[0] / energies[1]
        rows.append(f"{name:<26} {used[0]:>4} centers: energy {ratio:.4f} times that of {most}")
    return rows


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("\n".join(lines(errors())), flush=True)
    print("\n".join(automatic()))
