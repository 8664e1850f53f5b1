"""How many centers each way of choosing them needs: the error of eigenvalues against p."""

from __future__ import annotations

import numpy as np

import ritz

WAYS = ("uniform", "kmeans++", "rpcholesky")
PROBLEMS = {
    "normal, d=2": (ritz.datasets.gaussian(2), ritz.Gaussian(1.0)),
    "normal, d=5": (ritz.datasets.gaussian(5), ritz.Gaussian(2.0)),
    "square": (ritz.datasets.cube(2), ritz.Matern(2.5, 0.5)),
}


def errors(n: int = 20_000, k: int = 9, seeds: int = 3) -> dict[tuple[str, str, int], float]:
    """Return the mean relative error of the eigenvalues, by problem, way and p."""
    result = {}
    for name, (problem, kernel) in PROBLEMS.items():
        exact = problem.eigenvalues(k)[1:]
        for way in WAYS:
            for p in (25, 50, 100, 200, 400):
                found = []
                for seed in range(seeds):
                    X = problem.sample(n, random_state=seed)
                    basis = ritz.Nystrom(kernel, p, centers=way)
                    spectrum = ritz.decompose(ritz.laplacian(), basis, X, k=k, random_state=seed)
                    found.append(np.abs(spectrum.values[1:] / exact - 1).mean())
                result[name, way, p] = float(np.mean(found))
    return result


def lines(result: dict[tuple[str, str, int], float]) -> list[str]:
    sizes = sorted({p for _, _, p in result})
    rows = [f"{'':<28}" + "".join(f"p={p:<8}" for p in sizes)]
    for name in PROBLEMS:
        for way in WAYS:
            figures = "".join(f"{result[name, way, p]:<10.4f}" for p in sizes)
            rows.append(f"{name:<16}{way:<12}{figures}")
    return rows


if __name__ == "__main__":
    print("\n".join(lines(errors())))
