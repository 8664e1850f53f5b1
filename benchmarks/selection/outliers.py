"""Values that belong to a few rows, and whether the result says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import ritz
from benchmarks.selection.work import by_row, in_processes, seeds, show
from ritz.validation import Array

COMPONENTS = 8
# More than this share of a function's squares on one row makes it a function of that row.
MOST_ON_ONE_ROW = 0.3
SHARES = (0.9, 0.09, 0.01)
CORNERS = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])

Functions = Array


def with_outliers(rng: np.random.Generator) -> Array:
    """Draw 2,000 normal rows, 1% of them with 20 times the deviation."""
    X = rng.normal(size=(2000, 2))
    X[rng.choice(2000, 20, replace=False)] *= 20
    return X


def in_clusters(rng: np.random.Generator) -> Array:
    """Draw 2,000 rows of three normal clusters of unit deviation, far apart."""
    sizes = [round(2000 * share) for share in SHARES]
    return np.repeat(CORNERS, sizes, axis=0) + rng.normal(size=(2000, 2))


def on_one_row(values: Array, F: Functions, X: Array) -> Any:
    return (F**2).max(axis=0) > MOST_ON_ONE_ROW * (F**2).sum(axis=0)


def below_half(values: Array, F: Functions, X: Array) -> Any:
    """Return which values lie below half of 1, the first eigenvalue of normal rows."""
    return values < 0.5


def not_of_clusters(values: Array, F: Functions, X: Array) -> Any:
    """Return which values are below 1/2 though their functions vary within clusters.

    Inside a cluster the first eigenvalue is 1. Two values near 0 are true: their functions are
    constant on each of the three clusters.
    """
    cluster = ((X[:, None] - CORNERS) ** 2).sum(axis=2).argmin(axis=1)
    sizes = np.bincount(cluster, minlength=3)[:, None]
    means = np.stack([F[cluster == c].sum(axis=0) for c in range(3)]) / sizes
    between = (sizes * means**2).sum(axis=0) / (F**2).sum(axis=0)
    return (values < 0.5) & (between < 0.5)


Sampler = Callable[[np.random.Generator], Array]
Test = Callable[[Array, Functions, Array], Any]
# Samples, and which of their values are spurious.
PROBLEMS: dict[str, tuple[Sampler, Test]] = {
    "normal, d = 2, 1% outliers, n = 2,000": (with_outliers, below_half),
    "Student t3, d = 2, n = 2,000": (lambda rng: rng.standard_t(3, (2000, 2)), on_one_row),
    "normal, d = 50, n = 200": (lambda rng: rng.normal(size=(200, 50)), below_half),
    "clusters of 90, 9 and 1%, n = 2,000": (in_clusters, not_of_clusters),
}


def measure(name: str, seed: int) -> list[tuple[float, float, float, str, bool]]:
    """Return value, error, most mass on one row, flag and whether spurious, for each value."""
    sample, test = PROBLEMS[name]
    X = sample(np.random.default_rng(seed))
    model = ritz.SpectralEmbedding(COMPONENTS, random_state=seed, n_jobs=1).fit(X)
    spectrum = model.spectrum_
    values = np.asarray(spectrum.values)[1:]
    k = len(values)
    errors = np.full(k, np.nan) if spectrum.errors is None else np.asarray(spectrum.errors)[1:]
    found = getattr(spectrum, "flags", None)
    flags = [""] * k if found is None else [as_text(flag) for flag in list(found)[1:]]
    F = np.asarray(spectrum(X))[:, 1:]
    mass = (F**2).max(axis=0) / (F**2).sum(axis=0)
    spurious = np.asarray(test(values, F, X))
    columns = (values.tolist(), errors.tolist(), mass.tolist(), flags, spurious.tolist())
    return list(zip(*columns, strict=True))


def as_text(flag: Any) -> str:
    """Return a flag as text, empty where there is none."""
    if flag is None or isinstance(flag, str):
        return flag or ""
    return ", ".join(map(str, flag)) if isinstance(flag, tuple | list) else str(flag)


def table(count: int, jobs: int) -> None:
    show(f"Values of few rows, {count} samples of each; spurious ones must be flagged")
    rows = [(name, seed) for name in PROBLEMS for seed in seeds(count)]
    total = 0
    for (name, seed), [lines] in by_row(rows, in_processes(measure, rows, jobs), 1):
        show(f"{name}, seed {seed}")
        show(f"{'value':>12}{'error':>10}{'on one row':>12}  {'spurious':<10}flag")
        for value, error, mass, flag, spurious in lines:
            said = "spurious" if spurious else ""
            show(f"{value:>12.4g}{error:>10.1e}{mass:>12.2f}  {said:<10}{flag or '-'}")
        unflagged = sum(spurious and not flag for *_, flag, spurious in lines)
        total += unflagged
        show(f"    {unflagged} unflagged spurious values")
    show(f"{total} unflagged spurious values in all (goal 0)")
