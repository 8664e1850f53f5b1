"""How often intervals hold the true eigenvalues, of all values and of members of groups."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.stats import t

import ritz
from benchmarks.selection.problems import Case, double_well, half_moons
from benchmarks.selection.work import by_row, in_processes, seeds, show
from ritz.validation import Array

ROWS, COMPONENTS = 2000, 8
# Errors are of eight folds.
REACH = float(t.ppf(0.975, 7))


@cache
def problems() -> dict[str, tuple[Any, Case | ritz.datasets.Problem]]:
    """Return an operator and a problem for each name."""
    circle, torus = ritz.datasets.circle(), ritz.datasets.torus((2 * np.pi, 2 * np.pi))
    return {
        "circle": (ritz.laplacian(tangent=circle.tangent), circle),
        "torus": (ritz.laplacian(tangent=torus.tangent), torus),
        "normal, d = 2": ("laplacian", ritz.datasets.gaussian(2)),
        "square": ("laplacian", ritz.datasets.cube(2)),
        "double well": ("laplacian", double_well()),
        "half-moons": ("laplacian", half_moons()),
    }


def measure(name: str, seed: int) -> dict[str, Array]:
    """Return values, errors, basis errors and sizes of groups, eight each; NaN where missing."""
    operator, problem = problems()[name]
    model = ritz.SpectralEmbedding(COMPONENTS, operator=operator, random_state=seed, n_jobs=1)
    spectrum = model.fit(problem.sample(ROWS, seed)).spectrum_

    def first(found: Array | None) -> Array:
        result = np.full(COMPONENTS, np.nan)
        if found is not None:
            result[: len(found) - 1] = found[1:]
        return result

    names = ("values", "errors", "basis_errors")
    sizes = (spectrum.groups[:, None] == spectrum.groups).sum(axis=1)
    return {name: first(getattr(spectrum, name)) for name in names} | {"sizes": first(sizes)}


def shares(samples: list[dict[str, Array]], truth: Array) -> dict[str, float]:
    """Return the shares of intervals that hold the truth; NaN where there are no intervals.

    A value or an error that is missing counts as a miss.
    """
    names = ("values", "errors", "basis_errors", "sizes")
    values, errors, basis_errors, sizes = (np.array([s[name] for s in samples]) for name in names)
    off = np.abs(values - truth)
    inside = off <= REACH * errors
    repeated = sizes > 1
    return {
        "values": float(inside.mean()),
        "groups": float(inside[repeated].mean()) if repeated.any() else np.nan,
        "grouped": float(repeated.mean()),
        "below": float((truth >= values - REACH * errors - np.nan_to_num(basis_errors)).mean()),
        "error": float(np.nanmedian(errors / off)),
    }


def percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.1%}"


def table(count: int, jobs: int) -> None:
    show(f"Nominal 95% intervals that hold the truth, n = {ROWS:,}, {count} samples")
    show("Goal: 90 to 99% of values and of groups; on half-moons at least 90% from below")
    heads = ("values", "groups", "in groups", "from below", "error / actual")
    show(f"{'problem':<16}" + "".join(f"{head:>16}" for head in heads))
    rows = list(problems())
    tasks = [(name, seed) for name in rows for seed in seeds(count)]
    for name, samples in by_row(rows, in_processes(measure, tasks, jobs), count):
        truth = np.asarray(problems()[name][1].eigenvalues(1 + COMPONENTS))[1:]
        found = shares(samples, truth)
        cells = [percent(found[key]) for key in ("values", "groups", "grouped", "below")]
        cells.append("-" if np.isnan(found["error"]) else f"{found['error']:.2f}")
        show(f"{name:<16}" + "".join(f"{cell:>16}" for cell in cells))
