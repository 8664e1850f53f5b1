"""Problems with a known spectrum, the sizes, and the grids that the defaults are compared with.

Rules are chosen on `CHOSEN_ON` and confirmed on `SET_ASIDE`, which no rule was tuned to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import pi

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import eigsh
from scipy.stats import norm

import ritz
from ritz.validation import Array

NOISE = 0.1


@dataclass(frozen=True)
class Case:
    """Samples, and the eigenvalues of E[<grad f, grad g>] under their distribution.

    Parameters
    ----------
    name
        What the samples are.
    sample
        Returns samples (n, d) from a number n and a seed.
    eigenvalues
        Returns the k smallest eigenvalues, 0 first.
    """

    name: str
    sample: Callable[[int, int], Array]
    eigenvalues: Callable[[int], Array]


def rates(potential: Callable[[Array], Array], low: float, high: float, k: int) -> Array:
    """Return the k smallest rates of dx = -U' dt + sqrt(2) dW by finite volumes on 8,000 cells."""
    edges = np.linspace(low, high, 8001)
    width = edges[1] - edges[0]
    centers = (edges[1:] + edges[:-1]) / 2
    lowest = potential(centers).min()
    mass, flow = np.exp(lowest - potential(centers)), np.exp(lowest - potential(edges[1:-1]))
    diagonal = (np.append(flow, 0) + np.append(0, flow)) / mass / width**2
    beside = -flow / np.sqrt(mass[1:] * mass[:-1]) / width**2
    found = eigh_tridiagonal(diagonal, beside, select="i", select_range=(0, k - 1))[0]
    return np.maximum(found, 0.0)


def boltzmann(
    potential: Callable[[Array], Array], low: float, high: float, n: int, rng: np.random.Generator
) -> Array:
    """Draw n samples of exp(-U) on an interval, through the inverse of its distribution."""
    x = np.linspace(low, high, 20_001)
    density = np.exp(potential(x).min() - potential(x))
    total = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    rising = np.concatenate([[True], np.diff(total) > 1e-12 * total[-1]])
    inverse = PchipInterpolator(total[rising] / total[-1], x[rising])
    return np.asarray(inverse(rng.uniform(size=n)))[:, None]


def double_well_potential(x: Array) -> Array:
    return np.asarray(4 * (x**2 - 1) ** 2)


def prinz_potential(x: Array) -> Array:
    """Return the four wells of Prinz et al. (2011)."""
    bumps = 0.8 * np.exp(-80 * x**2) + 0.2 * np.exp(-80 * (x - 0.5) ** 2)
    return np.asarray(4 * (x**8 + bumps + 0.5 * np.exp(-40 * (x + 0.5) ** 2)))


def sums_of_spectra(first: Array, second: Array, k: int) -> Array:
    """Return the k smallest sums of two spectra: the spectrum of independent columns."""
    return np.sort((first[:, None] + second).ravel())[:k]


def double_well(harmonic: int = 0) -> Case:
    """A double well of rate 0.119, and columns of independent normal samples."""

    def sample(n: int, seed: int) -> Array:
        rng = np.random.default_rng(seed)
        x = boltzmann(double_well_potential, -3, 3, n, rng)
        return np.hstack([x, rng.normal(size=(n, harmonic))])

    def eigenvalues(k: int) -> Array:
        found = rates(double_well_potential, -3, 3, k)
        if harmonic:
            found = sums_of_spectra(found, ritz.datasets.gaussian(harmonic).eigenvalues(k), k)
        return found

    name = "double well" + (f" and {harmonic} harmonic" if harmonic else "")
    return Case(name, sample, eigenvalues)


def prinz() -> Case:
    def sample(n: int, seed: int) -> Array:
        return boltzmann(prinz_potential, -1.6, 1.6, n, np.random.default_rng(seed))

    return Case("Prinz potential", sample, partial(rates, prinz_potential, -1.6, 1.6))


def noisy_curve_eigenvalues(points: Array, noise: float, step: float, k: int) -> Array:
    """Return the spectrum of points of a plane curve with normal noise, by finite volumes.

    The density is that of equally likely points (m, 2) smoothed by the noise.
    """
    low, high = points.min(axis=0) - 5.5 * noise, points.max(axis=0) + 5.5 * noise
    axes = [np.arange(a, b, step / 2) for a, b in zip(low, high, strict=True)]
    axes = [axis[: len(axis) - (len(axis) + 1) % 2] for axis in axes]
    parts = [norm.pdf(axis[:, None], points[:, i], noise) for i, axis in enumerate(axes)]
    density = parts[0] @ parts[1].T / len(points)
    # Cells have odd places on the half-step grid and faces lie between two cells.
    cell = density[1::2, 1::2]
    number = np.full(cell.shape, -1)
    kept = cell > 1e-13 * cell.max()
    number[kept] = np.arange(kept.sum())
    across = (number[:-1], number[1:], density[2:-1:2, 1::2])
    along = (number[:, :-1], number[:, 1:], density[1::2, 2:-1:2])
    i, j, flow = (
        np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(across, along, strict=True)
    )
    inside = (i >= 0) & (j >= 0)
    i, j, flow = i[inside], j[inside], flow[inside]
    mass = cell[kept]
    weight = flow / np.sqrt(mass[i] * mass[j]) / step**2
    size = len(mass)
    beside = coo_array((weight, (i, j)), shape=(size, size))
    through = np.bincount(i, flow, size) + np.bincount(j, flow, size)
    matrix = diags_array(through / mass / step**2) - beside - beside.T
    found = eigsh(matrix.tocsc(), k, sigma=-1e-3, return_eigenvectors=False)
    return np.maximum(np.sort(found), 0.0)


@cache
def half_moons_eigenvalues(k: int) -> Array:
    t = np.linspace(0, 2 * pi, 4000, endpoint=False) + pi / 4000
    points = np.column_stack([np.cos(t), np.sin(t) + (np.cos(t) > 0)])
    return noisy_curve_eigenvalues(points, NOISE, 0.02, k)


def half_moons() -> Case:
    return Case(
        "half-moons",
        lambda n, seed: ritz.datasets.half_moons(n, NOISE, seed).X,
        half_moons_eigenvalues,
    )


def exact(name: str, problem: ritz.datasets.Problem) -> Case:
    return Case(name, problem.sample, problem.eigenvalues)


def mixed_scales() -> Case:
    """Normal columns of standard deviations 1, 2 and 1/2."""
    scales = np.array([1.0, 2.0, 0.5])
    orders = np.stack(np.meshgrid(*[np.arange(40)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)

    def eigenvalues(k: int) -> Array:
        return np.sort(orders @ scales**-2.0)[:k]

    return Case(
        "normal, deviations 1, 2, 1/2",
        lambda n, seed: scales * np.random.default_rng(seed).normal(size=(n, 3)),
        eigenvalues,
    )


def triple_well() -> Case:
    """Three wells of different depth on a line."""

    def potential(x: Array) -> Array:
        return np.asarray(2 * np.cos(2 * x) + 0.3 * x + 0.01 * x**4)

    def sample(n: int, seed: int) -> Array:
        return boltzmann(potential, -7, 7, n, np.random.default_rng(seed))

    return Case("three wells", sample, partial(rates, potential, -7, 7))


def ring() -> Case:
    """A noisy ring around the origin."""
    t = np.linspace(0, 2 * pi, 2000, endpoint=False)
    points = np.column_stack([np.cos(t), np.sin(t)])

    def sample(n: int, seed: int) -> Array:
        return ritz.datasets.concentric_circles(n, 1, 0.15, seed).X

    @cache
    def eigenvalues(k: int) -> Array:
        return noisy_curve_eigenvalues(points, 0.15, 0.02, k)

    return Case("noisy ring", sample, eigenvalues)


CHOSEN_ON = (
    exact("normal, d = 2", ritz.datasets.gaussian(2)),
    exact("normal, d = 5", ritz.datasets.gaussian(5)),
    exact("square", ritz.datasets.cube(2)),
    exact("cube", ritz.datasets.cube(3)),
    exact("disk", ritz.datasets.disk()),
    exact("torus", ritz.datasets.torus((2 * pi, 2 * pi))),
    double_well(),
    prinz(),
    half_moons(),
)
SET_ASIDE = (
    exact("interval", ritz.datasets.cube(1)),
    exact("normal, d = 3", ritz.datasets.gaussian(3)),
    exact("torus, lengths 2 pi and 3", ritz.datasets.torus((2 * pi, 3.0))),
    mixed_scales(),
    triple_well(),
    ring(),
)
SIZES = (1000, 10_000)
SEEDS = (10, 11, 12)

# The grid: what someone who knows the truth picks the best of.
KERNELS = ("gaussian", "matern52", "exponential")
LENGTH_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
CENTERS = (50, 200, 600)
PENALTIES = (1e-8, 1e-4, 1e-2)
# The paper's grid on spheres: numbers of sections, kernels and their parameters.
PAPER_SIZES = tuple(int(p) for p in np.logspace(1.5, 3, 5))
SPHERES = (3, 7, 19)
SPHERE_ROWS = (100, 1000, 10_000)


def sphere_seed(seed: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(12345, spawn_key=(seed,)))


def inverse_error(found: Array, truth: Array) -> float:
    """Return the paper's error, sum |1 / found - 1 / truth| / sum 1 / truth, without constants."""
    missing = np.full(max(0, len(truth) - len(found)), np.inf)
    found = np.concatenate([found, missing])[: len(truth)]
    with np.errstate(divide="ignore"):
        inverse = np.where(found > 0, 1 / found, 0.0)
    return float(np.abs(inverse - 1 / truth).sum() / (1 / truth).sum())


def mode_error(found: Array, truth: Array) -> float:
    """Return the mean of |found - truth| / max(found, truth): all modes count alike, up to 1."""
    missing = np.full(max(0, len(truth) - len(found)), np.inf)
    found = np.concatenate([found, missing])[: len(truth)]
    # 1 - smaller / larger, which is 1 for a value that was not found.
    return float(np.mean(1 - np.minimum(found, truth) / np.maximum(found, truth)))
