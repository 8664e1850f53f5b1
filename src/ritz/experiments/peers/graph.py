"""The graph Laplacian as the paper has it: normalized weights, restricted to a span."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import thread_time

import numpy as np

import ritz
from ritz.arrays import Array
from ritz.experiments.peers.paper import pencil_inverses


@dataclass(frozen=True, eq=False)
class Weights:
    """The matrix W = D^(-1/2) W~ D^(-1/2) of a graph, n by n numbers, and what it cost.

    Parameters
    ----------
    matrix
        W (n, n).
    degree
        Its row sums (n,).
    seconds
        The time it took one core.
    """

    matrix: Array
    degree: Array
    seconds: float

    @classmethod
    def of(cls, kernel: ritz.Kernel, X: Array) -> Weights:
        """Return those of W~ = k(x_i, x_j)."""
        start = thread_time()
        W = kernel(X, X)
        scale = 1 / np.sqrt(W.sum(axis=1))
        W *= scale
        W *= scale[:, None]
        return cls(W, W.sum(axis=1), thread_time() - start)


def graph_inverses(
    weights: Weights, sections: ritz.KernelSections, X: Array, sizes: Sequence[int], k: int
) -> Iterator[tuple[int, Array, float]]:
    r"""Yield p, inverse eigenvalues and seconds, for the span of the first p sections.

    The energy is :math:`\sum_{ij} w_{ij} (f(x_i) - f(x_j))^2`. Products are shared between the
    sizes; each is charged for its own.

    Parameters
    ----------
    weights
        The weights of the graph.
    sections
        The functions, as many as the largest size.
    X
        Samples (n, d).
    sizes
        Ascending numbers p of functions.
    k
        The number of eigenvalues, the constant's among them.
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
    r"""Return inverses of multiples :math:`c \hat\lambda` with the sum of the true eigenvalues.

    A graph knows the Laplacian up to a factor, which is given to it here. It is found from as
    many eigenvalues as there are.

    Parameters
    ----------
    inverses
        Inverse eigenvalues, largest first.
    truth
        The true eigenvalues, as many or more.
    """
    inverses = inverses[inverses > 0]
    if not len(inverses):
        return inverses
    # Weights without any edge have all eigenvalues zero, and no multiple of them is right.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        factor = truth[: len(inverses)].sum() / (1 / inverses).sum()
        return np.asarray(inverses / factor)
