"""The graph Laplacian of the paper, with normalized weights, on the span of sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import thread_time

import numpy as np

import ritz
from paper import Array
from paper.baselines.galerkin import pencil_inverses


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights W = D^(-1/2) W~ D^(-1/2) of a graph, and the time to compute them.

    Parameters
    ----------
    matrix
        W (n, n).
    degree
        Its row sums (n,).
    seconds
        CPU time.
    """

    matrix: Array
    degree: Array
    seconds: float

    @classmethod
    def of(cls, kernel: ritz.Kernel, X: Array) -> Weights:
        """Return the normalized weights of W~ = k(x_i, x_j)."""
        start = thread_time()
        W = kernel(X, X)
        scale = 1 / np.sqrt(W.sum(axis=1))
        W *= scale
        W *= scale[:, None]
        return cls(W, W.sum(axis=1), thread_time() - start)


def graph_inverses(
    weights: Weights, sections: ritz.KernelSections, X: Array, sizes: Sequence[int], k: int
) -> Iterator[tuple[int, Array, float]]:
    r"""Yield p, inverse eigenvalues and seconds for the span of the first p sections.

    The energy is :math:`\sum_{ij} w_{ij} (f(x_i) - f(x_j))^2`. Products are shared between
    sizes, and the seconds of each size include those that it needs.

    Parameters
    ----------
    weights
        The weights of the graph.
    sections
        The functions, as many as the largest of the sizes.
    X
        Samples (n, d).
    sizes
        Numbers p of functions in ascending order.
    k
        The number of eigenvalues, including the constant's.
    """
    start = thread_time()
    F = sections(X)
    WF = np.empty_like(F)
    shared = weights.seconds + thread_time() - start
    for done, p in pairwise((0, *sizes)):
        start = thread_time()
        WF[:, done:p] = weights.matrix @ F[:, done:p]
        shared += thread_time() - start
        start = thread_time()
        Phi = F[:, :p].T @ F[:, :p]
        L = (F[:, :p].T * weights.degree) @ F[:, :p] - F[:, :p].T @ WF[:, :p]
        inverses = pencil_inverses(L + L.T, Phi, k)
        yield p, inverses, shared + thread_time() - start


def rescaled(inverses: Array, truth: Array) -> Array:
    r"""Scale eigenvalues by the factor c that gives :math:`c \hat\lambda` the true sum.

    A graph determines the Laplacian only up to a factor, for which the truth is used here. The
    factor compares as many eigenvalues as were found.

    Parameters
    ----------
    inverses
        Inverse eigenvalues, largest first.
    truth
        The true eigenvalues, at least as many.
    """
    inverses = inverses[inverses > 0]
    if not len(inverses):
        return inverses
    # Without edges all eigenvalues are zero, and their inverses stay infinite.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        factor = truth[: len(inverses)].sum() / (1 / inverses).sum()
        return np.asarray(inverses / factor)
