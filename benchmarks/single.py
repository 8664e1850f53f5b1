"""What float32 does to eigenvalues, with and without the check that keeps it away.

`python -m benchmarks.single` takes the cases below one by one; with `--all`, a grid of clouds and
kernels, and of those that run in float32 by how much it moves the first 16 eigenvalues; with
`--random 60000 500`, five hundred clouds, kernels and sizes at random from that seed on.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import nullcontext
from itertools import product
from unittest.mock import patch

import numpy as np
from sklearn.datasets import make_moons, make_swiss_roll

import ritz

N, K = 20_000, 16
FORM = ritz.laplacian()


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
    kernel: ritz.kernels.Kernel, X: np.ndarray, p: int, *, force: bool, form: ritz.Form = FORM
) -> tuple[bool, float]:
    """Return whether float32 is used, and what it does, there or if it were to be used."""
    rows, basis = X.astype(np.float32), ritz.Nystrom(kernel, p)
    kept = ritz.assemble(form, basis, rows, random_state=0).rounding > 1e-10
    if not (kept or force):
        return kept, np.nan
    wide = rows.astype(np.float64)
    double = ritz.decompose(form, basis, wide, k=K, random_state=0).values
    module = sys.modules["ritz.assembly.assemble"]
    use = patch.multiple(module, single_will_do=lambda *_: True, survived=lambda *_: True)
    with use if force else nullcontext():
        try:
            single = ritz.decompose(form, basis, rows, k=K, random_state=0).values
        except ValueError:
            return kept, np.inf
    # Those of parts that nothing joins are zero but for rounding.
    there = double > 1e-9 * double[-1]
    return kept, float(np.abs(single[there] / double[there] - 1).max())


def cloud(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return rows of one of ten kinds."""
    kind, X = rng.integers(10), rng.normal(size=(n, d))
    if kind == 1:
        return rng.random((n, d))
    if kind == 2:
        return X * np.geomspace(1, 10 ** -rng.uniform(0, 3), d)
    if kind == 3:
        return rng.standard_t(2, size=(n, d))
    if kind == 4:
        centers = rng.normal(size=(rng.integers(2, 12), d)) * 10 ** rng.uniform(0, 1.5)
        return centers[rng.integers(len(centers), size=n)] + X
    if kind == 5:
        return 10 ** rng.uniform(0, 3) + X
    if kind == 6:
        return X / np.linalg.norm(X, axis=1)[:, None] ** rng.uniform(0.9, 1)
    if kind == 7:
        few = rng.random(n) < 10 ** rng.uniform(-3.5, -1)
        return np.where(few[:, None], 0.1 * X + 6, X)
    if kind == 8:
        core = rng.random(n) < 0.9
        return np.where(core[:, None], X * 10 ** -rng.uniform(0, 2), X)
    if kind == 9 and d > 1:
        t = rng.uniform(0, 4 * np.pi, n)
        return 0.01 * X + np.pad(np.c_[t * np.cos(t), t * np.sin(t)] / 6, ((0, 0), (0, d - 2)))
    return X


def at_random(first: int, count: int) -> None:
    """Compare where float32 is used, clouds and kernels being drawn."""
    warnings.simplefilter("ignore")
    gaps = []
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        n, p = (int(np.exp(rng.uniform(*np.log(range_)))) for range_ in ((2e3, 1.2e4), (200, 900)))
        X = cloud(rng, n, int(rng.choice([1, 2, 2, 3, 3, 5, 10, 40])))
        length = float(X.std() * np.sqrt(X.shape[1]) * np.exp(rng.uniform(-2.5, 1)))
        makers = (
            ritz.Gaussian,
            ritz.Exponential,
            lambda length: ritz.Matern(1.5, length),
            lambda length: ritz.Matern(2.5, length),
            lambda length, rng=rng: ritz.Polynomial(int(rng.integers(1, 5)), 1.0, length),
        )
        kernel = makers[rng.integers(len(makers))](length)
        correction = float(rng.uniform(0.2, 1)) if rng.random() < 1 / 3 else 0.0
        form = ritz.laplacian(density_correction=correction)
        try:
            kept, gap = compared(kernel, X, p, force=False, form=form)
        except ValueError as error:
            print(f"{seed}: {kernel}, n={n}, p={p}, d={X.shape[1]}: {error}", flush=True)
            continue
        if kept:
            gaps.append(gap)
        if kept and gap > 5e-4:
            print(f"{seed}: {kernel}, n={n}, p={p}, d={X.shape[1]}: {gap:.1e}", flush=True)
    print(f"{len(gaps)} of {count} in float32, which moves eigenvalues by {max(gaps):.1e} at most")


def main() -> None:
    if "--random" in sys.argv:
        place = sys.argv.index("--random")
        at_random(*map(int, sys.argv[place + 1 : place + 3]))
        return
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
