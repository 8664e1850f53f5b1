"""The energy along nearest neighbors, which follows data lying near a manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from ritz.arrays import Array, Block, as_count, hash_rows, must
from ritz.features import Jet, Terms, Values
from ritz.forms.form import Form, Source
from ritz.forms.laplacian import along

Search = Literal["sklearn", "faiss"] | Callable[[Array, int], Any]


@dataclass(frozen=True, eq=False)
class Neighbors(Form):
    """The average over each sample's neighbors of a squared difference or derivative."""

    positive = True
    mergeable = False
    n_neighbors: int
    kind: Literal["pairs", "directional"]
    search: Search
    rows: Array | None = None
    index: NDArray[np.intp] | None = None
    place: NDArray[np.intp] | None = None

    def prepare(self, source: Source, seed: int) -> Form:
        data = source.whole("neighbors() searches among all rows")
        there = data.weight > 0
        # Among distinct rows: a repeated row is a weight, not a neighbor.
        keys = hash_rows(data.views[0][there])
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rows = data.views[0][there][first[order]]
        place = np.full(len(there), -1)
        place[there] = np.argsort(order)[which]
        if self.n_neighbors >= len(rows):
            most = f"at most {len(rows) - 1}, one less than the distinct rows of positive weight"
            raise ValueError(must("n_neighbors", most, self.n_neighbors))
        index = find_neighbors(rows, self.n_neighbors, self.search)
        return replace(self, rows=rows, index=index, place=place)

    def width(self, dimension: int) -> int:
        return 4 * self.n_neighbors

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        assert self.rows is not None
        assert self.index is not None
        assert self.place is not None
        near = self.rows[self.index[self.place[block.index]]]
        if self.kind == "directional":
            steps = np.ascontiguousarray((near - block.views[0][:, None, :]).transpose(0, 2, 1))
            return along(f, g, steps) / self.n_neighbors
        flat = near.reshape(-1, near.shape[2])
        left = _differences(f, flat, self.n_neighbors)
        right = left if f is g else _differences(g, flat, self.n_neighbors)
        product: Terms = left * right
        return product / self.n_neighbors

    def __str__(self) -> str:
        return f"neighbors({self.n_neighbors}, kind={self.kind!r})"


def _differences(f: Jet, near: Array, k: int) -> Values:
    here = f.value.dense()
    there = f.at(near).value.dense().reshape(len(here), k, here.shape[1])
    return Values(here[:, None, :] - there, 0.0)


def find_neighbors(X: Array, k: int, search: Search) -> NDArray[np.intp]:
    """Return the numbers (n, k) of each row's nearest other rows."""
    if callable(search):
        index = np.asarray(search(X, k))
        if index.shape != (len(X), k) or index.dtype.kind not in "iu":
            what = f"a function that returns row numbers ({len(X)}, {k})"
            raise ValueError(must("search", what, f"{index.dtype} of shape {index.shape}"))
        if index.min() < 0 or index.max() >= len(X):
            raise ValueError(must("search", "row numbers of X", f"{index.min()}..{index.max()}"))
        return index.astype(np.intp)
    if search == "sklearn":
        found = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
        return np.asarray(found, dtype=np.intp)
    return approximate_neighbors(X, k)


def approximate_neighbors(X: Array, k: int) -> NDArray[np.intp]:
    """Return the numbers (n, k) of nearly all nearest rows, by a navigable graph (HNSW)."""
    try:
        faiss = import_module("faiss")
    except ImportError:
        raise ImportError(
            "search='faiss' needs the package faiss-cpu: pip install 'ritz[neighbors]'."
        ) from None
    rows = np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float32)
    index = faiss.IndexHNSWFlat(rows.shape[1], 32)
    index.hnsw.efSearch = max(64, 4 * k)
    index.add(rows)
    _, found = index.search(rows, k + 1)
    # The row itself comes first, unless duplicates of it do.
    own = found == np.arange(len(X))[:, None]
    own[:, -1] |= ~own.any(axis=1)
    found = found[~own].reshape(len(X), k)
    if found.min() < 0:
        raise RuntimeError("The approximate search found too few neighbors. Use search='sklearn'.")
    return np.asarray(found, dtype=np.intp)


def neighbors(
    n_neighbors: int = 10,
    kind: Literal["pairs", "directional"] = "pairs",
    *,
    search: Search = "sklearn",
) -> Form:
    """Return the energy along nearest neighbors x' of the samples.

    E[(f(X) - f(X')) (g(X) - g(X'))], or E[<grad f(X), X' - X> <grad g(X), X' - X>], averaged
    over each row's neighbors. In many dimensions, where data lie near a manifold, it
    follows the manifold as the ambient Laplacian does not. Neighbors are distinct rows of positive
    weight, so that a row given twice is a row of weight two. It keeps n times n_neighbors row
    numbers in memory.

    Parameters
    ----------
    n_neighbors
        How many neighbors of each row.
    kind
        "pairs" for differences, "directional" for derivatives towards the neighbors.
    search
        "sklearn", exact; "faiss", approximate and faster for many rows in many dimensions
        (extra `neighbors`); or a function of (X, k) that returns row numbers (n, k).
    """
    n_neighbors = as_count(n_neighbors, "n_neighbors")
    if kind not in ("pairs", "directional"):
        raise ValueError(must("kind", "'pairs' or 'directional'", repr(kind)))
    if not callable(search) and search not in ("sklearn", "faiss"):
        raise ValueError(must("search", "'sklearn', 'faiss' or a function", repr(search)))
    return Neighbors(n_neighbors, kind, search)
