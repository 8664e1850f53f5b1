"""The energy along nearest neighbors, which follows data lying near a manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ritz.features import Jet, Terms, Values
from ritz.forms.form import Form, as_reference
from ritz.forms.laplacian import along
from ritz.rows import Block, hash_rows
from ritz.search import NearestRows, own_place
from ritz.validation import Array, as_choice, as_count, parameter_error

Search = Literal["exact", "faiss"] | Callable[[Array, int], Any]


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

    def prepare(
        self, reference: Array, weight: Array | None = None, n_jobs: int | None = None
    ) -> Form:
        if not self.needs_reference:
            return self
        reference, _ = as_reference(reference, weight)
        if self.n_neighbors >= len(reference):
            most = len(reference) - 1
            requirement = f"at most {most}, one less than the distinct rows of positive weight"
            remedy = f"Ask for fewer, as ritz.neighbors({max(most, 1)}) does, or pass more rows."
            raise parameter_error("n_neighbors", requirement, self.n_neighbors, remedy)
        form = replace(self, reference=reference)
        # Search now, once, and not in each thread that needs the result.
        known = _KnownNeighbors(reference, self.n_neighbors, self.search, n_jobs)
        object.__setattr__(form, "_known", known)
        return form

    @cached_property
    def _known(self) -> _KnownNeighbors:
        assert self.reference is not None
        return _KnownNeighbors(self.reference, self.n_neighbors, self.search, 1)

    def neighbors_of(self, X: Array) -> Array:
        """Return the neighbors (b, k, d) of points (b, d) in the reference sample."""
        assert self.reference is not None
        return np.asarray(self.reference[self._known(X)])

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


class _KnownNeighbors:
    """The neighbors of points among a reference sample, remembered for its own rows.

    Parameters
    ----------
    reference
        Distinct rows (m, d).
    k
        How many neighbors.
    search
        How the neighbors of the sample's own rows are found; others are searched exactly.
    n_jobs
        The number of threads of this search; None for all cores.
    """

    def __init__(self, reference: Array, k: int, search: Search, n_jobs: int | None) -> None:
        self.k, self.nearest = k, NearestRows(reference)
        keys = hash_rows(reference)
        order = np.argsort(keys)
        self.keys = keys[order]
        self.found = find_neighbors(self.nearest, reference, k, search, n_jobs)[order]

    def __call__(self, X: Array) -> NDArray[np.intp]:
        """Return the numbers (b, k) of the reference rows nearest to points (b, d)."""
        own = hash_rows(X)
        place = np.minimum(np.searchsorted(self.keys, own), len(self.keys) - 1)
        found = self.found[place]
        unknown = np.flatnonzero(self.keys[place] != own)
        if len(unknown):
            found[unknown] = self.nearest(X[unknown], self.k)[1]
        return found


def _differences(f: Jet, near: Array, k: int) -> Values:
    here = f.value.dense()
    there = f.at(near).value.dense().reshape(len(here), k, here.shape[1])
    return Values(here[:, None, :] - there, 0.0)


def find_neighbors(
    nearest: NearestRows, X: Array, k: int, search: Search, n_jobs: int | None
) -> NDArray[np.intp]:
    """Return the numbers (n, k) of the other rows nearest to each row of X (n, d).

    `nearest` is the exact search among the same rows.
    """
    if callable(search):
        index = np.asarray(search(X, k))
        if index.shape != (len(X), k) or index.dtype.kind not in "iu":
            what = f"a function that returns row numbers ({len(X)}, {k})"
            raise parameter_error("search", what, f"{index.dtype} of shape {index.shape}")
        if index.min() < 0 or index.max() >= len(X):
            raise parameter_error("search", "row numbers of X", f"{index.min()}..{index.max()}")
        return index.astype(np.intp)
    if search == "exact":
        return nearest.others(k, n_jobs)[1]
    return approximate_neighbors(nearest.points, k)


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
    found = found[~own_place(found)].reshape(len(X), k)
    if found.min() < 0:
        raise RuntimeError("The approximate search found too few neighbors. Use search='exact'.")
    return np.asarray(found, dtype=np.intp)


def neighbors(
    n_neighbors: int = 10,
    kind: Literal["pairs", "directional"] = "pairs",
    *,
    search: Search = "exact",
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
        "exact"; "faiss", approximate (extra `neighbors`); or a function of (X, k) that returns row
        numbers (n, k), where X is the reference sample in an order of its own.
    """
    n_neighbors = as_count(n_neighbors, "n_neighbors")
    kind = as_choice(kind, "kind", ("pairs", "directional"))
    if not callable(search):
        search = as_choice(search, "search", ("exact", "faiss"), "a function")
    return Neighbors(n_neighbors, kind, search)
