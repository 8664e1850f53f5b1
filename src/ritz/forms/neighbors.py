"""The energy along nearest neighbors, which follows data lying near a manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ritz.features import Jet, Term, Terms
from ritz.features.gradients import with_zero_border
from ritz.forms.form import Form, as_reference
from ritz.forms.laplacian import along
from ritz.namespaces import namespace, placed, take_rows, to_host
from ritz.rows import Block, Keys, hash_rows, row_slices
from ritz.search import NearestRows, own_place
from ritz.validation import Array, as_choice, as_count, as_real, parameter_error

Search = Literal["exact", "faiss"] | Callable[[Array, int], Any]
Weights = Literal["shared", "uniform"] | Callable[[Array], Any]
# Comparisons of row numbers that are made at a time, one byte each.
COMPARISONS = 2**22


@dataclass(frozen=True, eq=False)
class Neighbors(Form):
    """The average over each sample's neighbors of a squared difference or derivative.

    Neighbors are searched among the reference sample: once for its own rows, when the form is
    prepared, and block by block for other rows, by an exact search.
    """

    file_tag: ClassVar[str] = "Neighbors"

    positive = True
    n_neighbors: int
    kind: Literal["pairs", "directional"]
    search: Search
    reference: Array | None = None
    weights: Weights = "uniform"
    mutual: bool = False

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
        object.__setattr__(form, "_known", KnownNeighbors(form, reference, n_jobs))
        return form

    @cached_property
    def _known(self) -> KnownNeighbors:
        assert self.reference is not None
        return KnownNeighbors(self, self.reference, 1)

    @property
    def portable(self) -> bool:
        return True

    def width(self, dimension: int) -> int:
        # Beside the values at the rows there are those at their neighbors, which rows share.
        return 8 if self.kind == "pairs" else 4 * self.n_neighbors

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        assert self.reference is not None
        X = block.views[0]
        near, weights = self._known(X, block.row_keys())
        weights = weights / self.n_neighbors
        if self.kind == "directional":
            towards = placed(self.reference[near], X) - X[:, None, :]
            steps = towards * placed(np.sqrt(weights), X)[:, :, None]
            return along(f, g, namespace(X).matrix_transpose(steps))
        places, column = np.unique(near, return_inverse=True)
        there = placed(np.asarray(self.reference[places]), X)
        links = csr_array(
            (weights.ravel(), column.ravel(), np.arange(0, near.size + 1, self.n_neighbors)),
            shape=(len(near), len(places)),
        )
        left = Differences(f.value.dense(), f.at(there).value.dense(), links)
        if f is g:
            return Terms((Term(left, left),))
        right = Differences(g.value.dense(), g.at(there).value.dense(), links)
        return Terms((Term(left, right),))

    def __str__(self) -> str:
        parts = [f"{self.n_neighbors}"]
        if self.weights != "shared":
            parts.append(f"weights={self.weights!r}")
        if self.mutual:
            parts.append("mutual=True")
        return f"neighbors({', '.join([*parts, f'kind={self.kind!r}'])})"


@dataclass(frozen=True, eq=False)
class Differences:
    """The differences of all functions between rows and some of their neighbors.

    Parameters
    ----------
    here
        Values (b, p) at the rows.
    there
        Values (m, p) at the points that are neighbors of some row.
    links
        The weight (b, m) of each pair of a row and a point, sparse.
    """

    here: Array
    there: Array
    links: csr_array

    def gram(self, other: Differences, weight: Array) -> Array:
        """Return sum_kj w_kj (f(x_k) - f(y_j)) (g(x_k) - g(y_j)) (1 + p, 1 + q).

        The product is multiplied out, so that each function is needed once at each point.
        """
        links = csr_array(self.links * to_host(weight)[:, None])
        rows, points = (placed(np.asarray(links.sum(axis=axis)), self.here) for axis in (1, 0))
        theirs = linked(links, other.there)
        if other is self:
            half = self.here.T @ (rows[:, None] / 2 * self.here - theirs)
            root = namespace(points).sqrt(points)[:, None] * self.there
            return with_zero_border(half + half.T + root.T @ root)
        mixed = self.here.T @ (rows[:, None] * other.here - theirs)
        mixed -= linked(links, self.there).T @ other.here
        return with_zero_border(mixed + self.there.T @ (points[:, None] * other.there))


def linked(links: csr_array, values: Array) -> Array:
    """Return the sum (b, p) of the values (m, p) at the points that each row is linked to.

    The standard has no sparse matrices: on a device each row gathers its points, as many as others.
    """
    if isinstance(values, np.ndarray):
        return np.asarray(links @ values)
    shape = links.shape[0], links.nnz // links.shape[0]
    near = placed(links.indices.reshape(shape).astype(np.int64), values)
    weight = placed(links.data.reshape(shape), values)
    take = namespace(values).take
    gathered = (weight[:, j, None] * take(values, near[:, j], axis=0) for j in range(shape[1]))
    return cast(Array, sum(gathered))


class KnownNeighbors:
    """The neighbors of points among a reference sample, remembered for its own rows.

    Parameters
    ----------
    form
        The form, which says how many neighbors and with what weights.
    reference
        Distinct rows (m, d).
    n_jobs
        The number of threads of the search; None for all cores.
    """

    def __init__(self, form: Neighbors, reference: Array, n_jobs: int | None) -> None:
        self.form, self.nearest = form, NearestRows(reference)
        keys = hash_rows(reference)
        order = np.argsort(keys)
        self.keys = keys[order]
        self.found = find_neighbors(self.nearest, reference, form.n_neighbors, form.search, n_jobs)
        distances = self._distances(reference, self.found)
        self.reach = distances.max(axis=1)
        self.weights = self._weights(self.found, distances)[order]
        self.place = order

    def __call__(self, X: Array, own: Keys | None = None) -> tuple[NDArray[np.intp], Array]:
        """Return numbers (b, k) of the reference rows nearest to points (b, d), and weights.

        `own` are the hashes (b,) of the points, if known. Points on a device are copied to the host
        for the search, unless they are rows of the reference sample.
        """
        own = hash_rows(X) if own is None else own
        place = np.minimum(np.searchsorted(self.keys, own), len(self.keys) - 1)
        found, weights = self.found[self.place[place]], self.weights[place]
        unknown = np.flatnonzero(self.keys[place] != own)
        if len(unknown):
            rows = to_host(take_rows(X, unknown))
            near = self.nearest(rows, self.form.n_neighbors)[1]
            found[unknown] = near
            weights[unknown] = self._weights(near, self._distances(rows, near))
        return found, weights

    def _distances(self, X: Array, found: NDArray[np.intp]) -> Array:
        """Return the distances (b, k) of points to their neighbors."""
        if self.form.weights == "uniform" and not self.form.mutual:
            return np.zeros(found.shape)
        scale = self.nearest.exponent
        X = np.ldexp(X, -scale)
        distances = np.empty(found.shape)
        for j in range(found.shape[1]):
            distances[:, j] = np.sqrt(((X - self.nearest.points[found[:, j]]) ** 2).sum(axis=1))
        return np.ldexp(distances, scale)

    def _weights(self, found: NDArray[np.intp], distances: Array) -> Array:
        """Return the weights (b, k) of points and their neighbors."""
        if self.form.weights == "uniform":
            weights = np.ones(found.shape)
        elif self.form.weights == "shared":
            weights = shared_weights(found, self.found, distances <= self.reach[found])
        else:
            weights = given_weights(self.form.weights, distances)
        if self.form.mutual:
            weights = np.where(distances <= self.reach[found], weights, 0.0)
        return weights


def shared_weights(
    found: NDArray[np.intp], lists: NDArray[np.intp], mutual: NDArray[np.bool_]
) -> Array:
    """Return the squared share (b, k) of neighbors that points have in common with each neighbor.

    The share is that of two lists, of which each begins with its own point: the number of rows in
    both, divided by that of rows in one of them.

    Parameters
    ----------
    found
        The neighbors (b, k) of points, as row numbers.
    lists
        The neighbors (m, k) of each row.
    mutual
        Whether points are among the neighbors of their neighbors (b, k).
    """
    k = found.shape[1]
    common = np.empty(found.shape)
    for part in row_slices(len(found), max(1, COMPARISONS // k**3)):
        theirs = lists[found[part]]
        equal = theirs[:, :, :, None] == found[part][:, None, None, :]
        common[part] = equal.any(axis=3).sum(axis=2)
    # Each neighbor is in both lists, and a point is if the relation is mutual.
    common += 1 + mutual
    return np.asarray((common / (2 * (k + 1) - common)) ** 2)


def given_weights(weights: Callable[[Array], Any], distances: Array) -> Array:
    """Return the weights (b, k) that a function of the user gives to distances (b, k)."""
    result = as_real(weights(distances), "weights")
    if result.shape != distances.shape:
        what = f"a function that returns weights of shape {distances.shape}"
        raise parameter_error("weights", what, f"shape {result.shape}")
    if not (np.isfinite(result).all() and result.min(initial=0.0) >= 0):
        raise parameter_error("weights", "a function that returns nonnegative numbers", "others")
    return result


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
    n_neighbors: int = 15,
    kind: Literal["pairs", "directional"] = "pairs",
    *,
    weights: Weights = "shared",
    mutual: bool = False,
    search: Search = "exact",
) -> Form:
    """Return the energy along nearest neighbors x' of the samples.

    E[w (f(X) - f(X')) (g(X) - g(X'))], or E[w <grad f(X), X' - X> <grad g(X), X' - X>], averaged
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
    weights
        The weight w of a pair: "shared", the squared share of neighbors that both have in common,
        which is small between clusters; "uniform", which is 1; or a function of distances (n, k)
        that returns weights (n, k).
    mutual
        Whether to drop pairs in which the row is farther from its neighbor than the k-th of the
        neighbor's own.
    search
        "exact"; "faiss", approximate (extra `neighbors`); or a function of (X, k) that returns row
        numbers (n, k), where X is the reference sample in an order of its own.
    """
    n_neighbors = as_count(n_neighbors, "n_neighbors")
    kind = as_choice(kind, "kind", ("pairs", "directional"))
    if not callable(weights):
        weights = as_choice(weights, "weights", ("shared", "uniform"), "a function")
    if not callable(search):
        search = as_choice(search, "search", ("exact", "faiss"), "a function")
    mutual = bool(as_choice(mutual, "mutual", (True, False)))
    return Neighbors(n_neighbors, kind, search, None, weights, mutual)
