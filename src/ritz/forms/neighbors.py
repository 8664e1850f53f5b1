"""The energy along nearest neighbors, which follows data lying near a manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from ritz.features import Jet, Terms, Values
from ritz.forms.form import Form, as_reference
from ritz.forms.laplacian import along
from ritz.rows import Block, hash_rows
from ritz.validation import Array, as_count, parameter_error

Search = Literal["sklearn", "faiss"] | Callable[[Array, int], Any]


@dataclass(frozen=True, eq=False)
class Neighbors(Form):
    """The average over each sample's neighbors of a squared difference or derivative.

    Neighbors are searched among the reference sample: once for its own rows, when the form is
    prepared, and block by block for other rows, by an exact search.
    """

    positive = True
    n_neighbors: int
    kind: Literal["pairs", "directional"]
    search: Search
    reference: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "needs_reference", self.reference is None)

    def prepare(self, reference: Array) -> Form:
        if not self.needs_reference:
            return self
        reference = as_reference(reference)
        if self.n_neighbors >= len(reference):
            most = len(reference) - 1
            requirement = f"at most {most}, one less than the distinct rows of positive weight"
            remedy = f"Ask for fewer, as ritz.neighbors({max(most, 1)}) does, or pass more rows."
            raise parameter_error("n_neighbors", requirement, self.n_neighbors, remedy)
        form = replace(self, reference=reference)
        # Search now, once, and not in each thread that needs the result.
        _ = form._table
        return form

    @cached_property
    def _table(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """The sorted hashes of the reference rows, and the neighbors of each in that order."""
        assert self.reference is not None
        keys = hash_rows(self.reference)
        order = np.argsort(keys)
        found = find_neighbors(self.reference, self.n_neighbors, self.search)
        return keys[order], found[order]

    def neighbors_of(self, X: Array) -> Array:
        """Return the neighbors (b, k, d) of points (b, d) in the reference sample."""
        assert self.reference is not None
        keys, index = self._table
        own = hash_rows(X)
        place = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        found = index[place]
        unknown = np.flatnonzero(keys[place] != own)
        if len(unknown):
            found[unknown] = self._index.kneighbors(X[unknown], return_distance=False)
        return np.asarray(self.reference[found])

    @cached_property
    def _index(self) -> NearestNeighbors:
        return NearestNeighbors(n_neighbors=self.n_neighbors).fit(self.reference)

    def width(self, dimension: int) -> int:
        return 4 * self.n_neighbors

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        near = self.neighbors_of(block.views[0])
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
            raise parameter_error("search", what, f"{index.dtype} of shape {index.shape}")
        if index.min() < 0 or index.max() >= len(X):
            raise parameter_error("search", "row numbers of X", f"{index.min()}..{index.max()}")
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
    over each row's neighbors. Where data lie near a manifold in many dimensions, it follows the
    manifold, unlike the ambient Laplacian. Neighbors are searched among a reference
    sample of up to 10,000 distinct rows of positive weight, which is fixed together with the basis:
    a row given twice is a row of weight two, and sums over parts of the data add up.

    Parameters
    ----------
    n_neighbors
        How many neighbors of each row.
    kind
        "pairs" for differences, "directional" for derivatives towards the neighbors.
    search
        "sklearn", exact; "faiss", approximate and faster for many rows in many dimensions
        (extra `neighbors`); or a function of (X, k) that returns row numbers (n, k), where X is the
        reference sample in an order of its own.
    """
    n_neighbors = as_count(n_neighbors, "n_neighbors")
    if kind not in ("pairs", "directional"):
        raise parameter_error("kind", "'pairs' or 'directional'", repr(kind))
    if not callable(search) and search not in ("sklearn", "faiss"):
        raise parameter_error("search", "'sklearn', 'faiss' or a function", repr(search))
    return Neighbors(n_neighbors, kind, search)
