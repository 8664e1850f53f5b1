"""Error on spheres against samples, by dimension: Galerkin and graph Laplacians (Figure 3).

The error of the first k eigenvalues without the constant's is the sum of absolute errors of their
inverses, relative to the sum of the true inverses, so inverses of zero have error 1. Each method
has the hyperparameters with the smallest mean error over the trials. Seconds are CPU time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np
from matplotlib.figure import Figure

import ritz
from paper import Array
from paper.curves import by_dimension, draw_curves, medians, size_near, slope
from paper.estimates import galerkin, graph, nearest, representer
from paper.records import Record
from paper.runner import Runner, seeds


@dataclass(frozen=True)
class Config:
    """The problems, and the grid of hyperparameters.

    Parameters
    ----------
    rows, dimensions, trials
        Numbers n of samples, dimensions d of the ambient space, repetitions of each problem.
    sizes, kernels
        Numbers p of sections, of which those up to n are used; kernels by name and parameter.
    weights
        Length scales of the Gaussian weights of the graph, in addition to the sections' own kernel.
    penalties
        Penalties of the regularized method and the representer estimator.
    neighbors
        Numbers of neighbors of the nearest-neighbor graph.
    sections
        The largest number n (d + 1) of sections for which the representer estimator is computed.
    k
        The number of eigenvalues, including the constant's.
    """

    rows: tuple[int, ...]
    dimensions: tuple[int, ...]
    trials: int
    sizes: tuple[int, ...]
    kernels: tuple[tuple[str, float], ...]
    weights: tuple[float, ...]
    penalties: tuple[float, ...] = (1e-4, 1e-2, 1.0)
    neighbors: tuple[int, ...] = (10, 20, 40, 80)
    sections: int = 1300
    k: int = 25
    seed: int = 0


QUICK = Config(
    rows=(100, 316, 1000, 3162),
    dimensions=(3, 7, 11, 19),
    trials=4,
    sizes=(31, 74, 177),
    kernels=(
        *(("polynomial", degree) for degree in (2, 3, 4, 6)),
        *(("exponential", length) for length in (1.0, 10.0)),
        *(("gaussian", length) for length in (1.0, 10.0)),
    ),
    weights=(0.1, 1.0, 10.0),
)
# The paper's grid with fewer than its hundred trials. More trials continue an earlier run.
FULL = Config(
    rows=tuple(int(n) for n in np.logspace(2, 4, 10)),
    dimensions=tuple(range(3, 20, 2)),
    trials=10,
    sizes=tuple(int(p) for p in np.logspace(1.5, 3, 5)),
    kernels=(
        *(("polynomial", degree) for degree in (2, 3, 4, 5, 6)),
        *(("exponential", length) for length in (0.1, 1.0, 10.0, 100.0, 1000.0)),
        *(("gaussian", length) for length in (0.01, 0.1, 1.0, 10.0, 100.0)),
    ),
    weights=(0.01, 0.1, 1.0, 10.0, 100.0),
    sections=5000,
)


def run(config: Config, runner: Runner = Runner()) -> list[Record]:
    """Return a record for each estimate, with method, hyperparameters, error and time."""
    grid = asdict(config)
    problems = {name: grid.pop(name) for name in ("rows", "dimensions", "trials", "seed")}
    tasks = [
        {"n": n, "d": d, "trial": trial, "seed": seed, **grid}
        # The largest tasks come first, so that no process is left with one at the end.
        for n, d in product(sorted(problems["rows"], reverse=True), problems["dimensions"])
        for trial, seed in enumerate(seeds(problems["seed"], problems["trials"], n, d))
    ]
    return runner.map(sphere, tasks)


def sphere(
    n: int,
    d: int,
    trial: int,
    seed: int,
    k: int,
    sizes: Sequence[int],
    kernels: Sequence[tuple[str, float]],
    weights: Sequence[float],
    penalties: Sequence[float],
    neighbors: Sequence[int],
    sections: int,
) -> list[Record]:
    """Estimate the spectrum from n samples on the sphere of R^d by every method."""
    problem = ritz.datasets.sphere(d)
    X = problem.sample(n, seed)
    truth = problem.eigenvalues(k)[1:]
    sizes = [p for p in sizes if p <= n]
    found = [
        *galerkin(X, problem.tangent, kernels, sizes, penalties, k, seed),
        *graph(X, kernels, sizes, weights, k, truth),
        *nearest(X, [m for m in neighbors if m < n], k, truth),
    ]
    if n * (d + 1) <= sections:
        found += representer(X, kernels, penalties, k)
    for record in found:
        record["error"] = error(record.pop("inverses"), truth)
    return [{"n": n, "d": d, "trial": trial, **record} for record in found]


def error(inverses: Array, truth: Array) -> float | None:
    r"""Return :math:`\sum |1/\lambda_i - 1/\hat\lambda_i| / \sum 1/\lambda_i`.

    It is None if it is infinite (an eigenvalue is zero) or if no eigenvalue was found.

    Parameters
    ----------
    inverses
        Inverse eigenvalues, largest first; missing ones count as 0.
    truth
        The true eigenvalues.
    """
    if not len(inverses):
        return None
    found = np.zeros(len(truth))
    found[: len(inverses)] = inverses
    with np.errstate(over="ignore"):
        total = float(np.abs(found - 1 / truth).sum() / (1 / truth).sum())
    return total if np.isfinite(total) else None


PANELS = {
    "galerkin": "Galerkin, as in the paper",
    "tangential": "Galerkin, tangential energy",
    "graph": "Graph Laplacian, given its scale",
}


def plot(records: Sequence[Record]) -> Figure:
    """Draw the error against n by method and dimension, and the time of one estimate."""
    figure = Figure(figsize=(15, 4), layout="constrained")
    panels = figure.subplots(1, 4)
    for panel, (method, title) in zip(panels, PANELS.items(), strict=False):
        draw_curves(panel, by_dimension(records, method), "error")
        panel.set(title=title, ylabel="error of 24 eigenvalues")
        panel.sharey(panels[0])
    cubic = {"method": "galerkin", "kernel": "polynomial", "parameter": 3}
    p = size_near(records)
    draw_curves(panels[3], medians(records, **cubic, p=p), "seconds")
    panels[3].sharex(panels[0])
    panels[3].set(title=f"Time: Galerkin, cubic, p = {p}", ylabel="seconds of one core")
    panels[0].legend(fontsize=8, title="dimension", ncols=2)
    return figure


def numbers(records: Sequence[Record]) -> list[Record]:
    """Return the slope, and error and time at the largest n, by method and dimension."""
    rows = []
    for method in PANELS:
        for d, curve in by_dimension(records, method).items():
            last = curve[-1]
            row = {"method": method, "d": d, "slope": slope(curve), "n": last["n"]}
            rows.append({**row, "error": last["error"], "seconds": last["seconds"]})
    return rows
