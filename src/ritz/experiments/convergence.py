"""Error on spheres against samples, by dimension: Galerkin and graph Laplacians (Figure 3).

The error of the first k eigenvalues, the constant's left out, is that of their inverses relative to
the sum of the true inverses, so that finding nothing costs 1. For each method it is that of the
best hyperparameters, as judged by their mean error over the trials. Seconds are those of one core
at work, whoever else is on the machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from time import thread_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import ritz
from ritz.arrays import Array
from ritz.experiments.curves import by_dimension, draw_curves, medians, size_near, slope
from ritz.experiments.peers import (
    Representer,
    Weights,
    galerkin_inverses,
    graph_inverses,
    neighbor_inverses,
    rescaled,
)
from ritz.experiments.records import Record
from ritz.experiments.runner import Runner, seeds

KERNELS: dict[str, Callable[[Any], ritz.Kernel]] = {
    "polynomial": ritz.Polynomial,
    "exponential": ritz.Exponential,
    "gaussian": ritz.Gaussian,
}
# Each of them differs by one thing from the first, which is the paper's with the function 1 added.
CENTERS = {
    "constant": "uniform",
    "tangential": "uniform",
    "k-means++": "kmeans++",
    "pivoted Cholesky": "rpcholesky",
}


@dataclass(frozen=True)
class Config:
    """The grid: problems first, then what the best is taken over.

    Parameters
    ----------
    rows, dimensions, trials
        Numbers n of samples, dimensions d of the space around the sphere, repetitions of each.
    sizes, kernels
        Numbers p of sections, up to n; kernels by name and parameter.
    weights
        Lengths of the Gaussian weights of the graph; the sections' own kernel comes by itself.
    penalties, neighbors
        Of the regularized method and the representer estimator; of the graph of neighbors.
    sections
        How many sections the representer estimator may have, n (d + 1) being what it needs.
    k
        The number of eigenvalues, the constant's among them.
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
# The paper's grid. It had a hundred trials; more of them continue where fewer ended.
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
    """Return a record for each estimate: method, hyperparameters, error, time."""
    grid = asdict(config)
    problems = {name: grid.pop(name) for name in ("rows", "dimensions", "trials", "seed")}
    tasks = [
        {"n": n, "d": d, "trial": trial, "seed": seed, **grid}
        # The largest come first, so that none is left to the end.
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
    """Estimate the spectrum from n samples on the sphere of R^d with every method."""
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


def galerkin(
    X: Array,
    tangent: Any,
    kernels: Sequence[tuple[str, float]],
    sizes: Sequence[int],
    penalties: Sequence[float],
    k: int,
    seed: int,
) -> Iterator[Record]:
    """Yield the paper's estimates, and ours: each with one thing changed."""
    for (name, parameter), p in product(kernels, sizes):
        kernel = KERNELS[name](parameter)
        place = {"kernel": name, "parameter": parameter, "p": p, "option": None}
        start = thread_time()
        inverses = galerkin_inverses(ritz.KernelSections(kernel, X[:p]), X, k)
        yield {"method": "galerkin", **place, **outcome(inverses, start)}
        for method, centers in CENTERS.items():
            start = thread_time()
            form = ritz.laplacian(tangent if method == "tangential" else None)
            basis = sections_of(kernel, X, p, centers, seed)
            sums = ritz.assemble(form, basis, X, random_state=seed, n_jobs=1, progress=False)
            spent = thread_time() - start
            yield {"method": method, **place, **outcome(spectral_inverses(sums, k), start)}
            for penalty in penalties if method == "constant" else ():
                start = thread_time() - spent
                inverses = spectral_inverses(sums, k, penalty)
                shown = {**place, "option": penalty}
                yield {"method": "regularized", **shown, **outcome(inverses, start)}


def sections_of(
    kernel: ritz.Kernel, X: Array, p: int, centers: str, seed: int
) -> ritz.KernelSections:
    """Return p sections: at the first rows, which are random, or at chosen ones."""
    if centers == "uniform":
        return ritz.KernelSections(kernel, X[:p])
    with warnings.catch_warnings():
        # Polynomials of low degree cannot tell p points apart, and fewer then do as well.
        warnings.filterwarnings("ignore", "n_centers=")
        return ritz.Nystrom(kernel, p, centers).fit(X, seed)


def spectral_inverses(sums: ritz.Sums, k: int, penalty: float = 0.0) -> Array:
    """Return inverse eigenvalues, that of the constant left out."""
    values = ritz.decompose_sums(sums, k, regularization=penalty, fewer=True).values[1:]
    with np.errstate(divide="ignore"):
        return np.asarray(1 / values)


def graph(
    X: Array,
    kernels: Sequence[tuple[str, float]],
    sizes: Sequence[int],
    weights: Sequence[float],
    k: int,
    truth: Array,
) -> Iterator[Record]:
    """Yield the graph Laplacian's estimates, on the span of sections, scaled to the truth."""
    spans = [(name, parameter, KERNELS[name](parameter)) for name, parameter in kernels]
    pairs: list[tuple[float | None, ritz.Kernel, list[Any]]] = []
    pairs += [(length, ritz.Gaussian(length), spans) for length in weights]
    pairs += [(None, kernel, [(name, parameter, kernel)]) for name, parameter, kernel in spans]
    for option, weight, members in pairs:
        W = Weights.of(weight, X)
        for name, parameter, kernel in members:
            sections = ritz.KernelSections(kernel, X[: sizes[-1]])
            for p, inverses, seconds in graph_inverses(W, sections, X, sizes, k):
                yield {
                    "method": "graph",
                    "kernel": name,
                    "parameter": parameter,
                    "p": p,
                    "option": option,
                    "inverses": rescaled(inverses, truth),
                    "seconds": seconds,
                }


def nearest(X: Array, neighbors: Sequence[int], k: int, truth: Array) -> Iterator[Record]:
    """Yield the estimates of graphs of nearest neighbors, scaled to the truth."""
    for m in neighbors:
        start = thread_time()
        found = outcome(rescaled(neighbor_inverses(X, m, k), truth), start)
        place = {"kernel": None, "parameter": None, "p": None, "option": m}
        yield {"method": "neighbors", **place, **found}


def representer(
    X: Array, kernels: Sequence[tuple[str, float]], penalties: Sequence[float], k: int
) -> Iterator[Record]:
    """Yield the estimates over all sections of values and derivatives, of Gaussian kernels."""
    for name, parameter in kernels:
        if name != "gaussian":
            continue
        space = Representer.of(ritz.Gaussian(parameter), X)
        for penalty in penalties:
            start = thread_time() - space.seconds
            found = outcome(space.inverses(penalty, k), start)
            p = X.shape[0] * (1 + X.shape[1])
            place = {"kernel": name, "parameter": parameter, "p": p, "option": penalty}
            yield {"method": "representer", **place, **found}


def outcome(inverses: Array, start: float) -> Record:
    """Return inverse eigenvalues and this thread's own time since the start."""
    return {"inverses": inverses, "seconds": thread_time() - start}


def error(inverses: Array, truth: Array) -> float | None:
    r"""Return :math:`\sum |1/\lambda_i - 1/\hat\lambda_i| / \sum 1/\lambda_i`.

    It is None where it is infinite: an eigenvalue came out as zero, or none did at all.

    Parameters
    ----------
    inverses
        Inverse eigenvalues, largest first; those that are missing are 0.
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
    """Draw error against n for each dimension, and the time of one Galerkin estimate."""
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
    """Return slope, error and time at the largest n, by method and dimension."""
    rows = []
    for method in PANELS:
        for d, curve in by_dimension(records, method).items():
            last = curve[-1]
            row = {"method": method, "d": d, "slope": slope(curve), "n": last["n"]}
            rows.append({**row, "error": last["error"], "seconds": last["seconds"]})
    return rows
