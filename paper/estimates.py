"""The estimates that `convergence` compares: the paper's method, its variants, and baselines.

Each generator yields records with the method, its hyperparameters, inverse eigenvalues and seconds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from time import thread_time
from typing import Any

import numpy as np

import ritz
from paper import Array
from paper.baselines import (
    Representer,
    Weights,
    galerkin_inverses,
    graph_inverses,
    neighbor_inverses,
    rescaled,
)
from paper.records import Record

KERNELS: dict[str, Callable[[Any], ritz.Kernel]] = {
    "polynomial": ritz.Polynomial,
    "exponential": ritz.Exponential,
    "gaussian": ritz.Gaussian,
}
# The choice of centers. "constant" is the paper's method with the function 1 added, and each of the
# others differs from it in one respect.
CENTERS = {
    "constant": "uniform",
    "tangential": "uniform",
    "k-means++": "kmeans++",
    "pivoted Cholesky": "rpcholesky",
}


def galerkin(
    X: Array,
    tangent: Any,
    kernels: Sequence[tuple[str, float]],
    sizes: Sequence[int],
    penalties: Sequence[float],
    k: int,
    seed: int,
) -> Iterator[Record]:
    """Yield the paper's estimates, and variants that differ in one respect each."""
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
    """Return p sections, at the first rows, which are random, or at chosen rows."""
    if centers == "uniform":
        return ritz.KernelSections(kernel, X[:p])
    with warnings.catch_warnings():
        # Polynomials of low degree span fewer than p functions, and fewer centers are enough.
        warnings.filterwarnings("ignore", "n_centers=")
        return ritz.Nystrom(kernel, p, centers).fit(X, seed)


def spectral_inverses(sums: ritz.Sums, k: int, penalty: float = 0.0) -> Array:
    """Return inverse eigenvalues without that of the constant."""
    values = ritz.decompose_sums(sums, k, regularization=penalty, fewer=True).ritz_values[1:]
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
    """Yield the estimates of graph Laplacians on the span of sections, scaled to the truth."""
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
    """Yield the estimates of nearest-neighbor graphs, scaled to the truth."""
    for m in neighbors:
        start = thread_time()
        found = outcome(rescaled(neighbor_inverses(X, m, k), truth), start)
        place = {"kernel": None, "parameter": None, "p": None, "option": m}
        yield {"method": "neighbors", **place, **found}


def representer(
    X: Array, kernels: Sequence[tuple[str, float]], penalties: Sequence[float], k: int
) -> Iterator[Record]:
    """Yield the representer estimates with Gaussian kernels."""
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
    """Return inverse eigenvalues and the CPU time of this thread since the start."""
    return {"inverses": inverses, "seconds": thread_time() - start}
