"""What a basis is: p functions, or a recipe that makes them from data."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import fields
from math import isfinite, prod
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.utils.validation import _check_feature_names

from ritz.devices import DeviceRows, as_device_rows, is_on_device
from ritz.features import CenteredJet, Jet
from ritz.namespaces import namespace, placed, to_host, zeros
from ritz.pickling import WithoutCaches
from ritz.progress import tracked
from ritz.reading import is_dask
from ritz.rows import row_slices
from ritz.sparse import SparseRows, as_points
from ritz.streams import as_stream, is_streamed
from ritz.streams.dask import dask_stream
from ritz.threads import n_threads, one_blas_thread, thread_map
from ritz.validation import (
    Array,
    Names,
    as_contiguous,
    as_multi_index,
    as_rows,
    parameter_error,
    require_names,
    require_size,
)

RandomState = int | np.random.Generator | None
# The most functions that a recipe makes: a matrix of their products takes 20 GB.
MOST_FUNCTIONS = 50_000
# Numbers that one thread computes at a time when functions are evaluated: they stay in cache.
EVALUATED_FLOATS = 2_000_000


@runtime_checkable
class Recipe(Protocol):
    """How to make a basis from a random sample of the data."""

    @property
    def pilot_rows(self) -> int:
        """The number of rows that the recipe needs to see."""

    def fit(self, X: Array, random_state: RandomState = None) -> Basis:
        """Return the basis made from the rows X (m, d)."""


def require_recipe(
    recipe: object, name: str = "basis", what: str = "a basis such as ritz.Nystrom(kernel, 200)"
) -> None:
    """Raise unless the argument is a basis or a recipe for one; a class is neither."""
    # Of the class: a recipe that is not complete has no number of pilot rows yet.
    is_recipe = hasattr(type(recipe), "pilot_rows") or "pilot_rows" in getattr(
        recipe, "__dict__", ()
    )
    if isinstance(recipe, type) or not (is_recipe and hasattr(recipe, "fit")):
        raise parameter_error(name, what, repr(recipe), kind=TypeError)


def as_pilot(X: Array) -> Array:
    """Return the rows X (m, d) that a recipe is fitted to: at least one, with finite squares."""
    X = as_rows(X, at_least=1)
    require_size(X, "X", smallest=0.0)
    return X


class Basis(WithoutCaches, ABC):
    """A finite set of functions on R^d, fixed and ready to be evaluated.

    Any basis is a recipe for itself.
    """

    pilot_rows = 0

    @property
    @abstractmethod
    def size(self) -> int:
        """The number p of functions."""

    @property
    @abstractmethod
    def dimension(self) -> int | None:
        """The number d of coordinates of a point, or None if the functions take any number."""

    @property
    def names(self) -> Names:
        """The names of the coordinates where the data had some, which points must share."""
        return None

    @property
    def feature_names_in_(self) -> Any:
        """The names as an array, or None: what scikit-learn compares with those of points."""
        return None if self.names is None else np.array(self.names, dtype=object)

    @property
    def differentiable(self) -> bool:
        """Whether the functions have gradients."""
        return True

    @property
    def nested(self) -> bool:
        """Whether the first half of the functions is a coarser basis of the same kind."""
        return False

    @property
    def portable(self) -> bool:
        """Whether the functions can be evaluated on any device, by `on`."""
        return False

    def on(self, like: Any) -> Self:
        """Return the same functions with their numbers on the device of an array.

        Their jets then take arrays of its library there.
        """
        twin = copy(self)
        for name, value in vars(self).items():
            object.__setattr__(twin, name, _moved(value, like))
        return twin

    def unchecked(self, **parts: Any) -> Self:
        """Return a copy with other values of some fields, which need no check."""
        twin = object.__new__(type(self))
        for field in fields(self):  # type: ignore[arg-type]  # Bases that are picked have fields.
            value = parts.get(field.name, getattr(self, field.name))
            object.__setattr__(twin, field.name, value)
        return twin

    def pick(self, which: Any) -> Basis:
        """Return some of the functions, by slice or numbers."""
        raise TypeError(f"{type(self).__name__} is used as a whole.")

    @abstractmethod
    def jet(self, X: Array) -> Jet:
        """Return the functions at the rows of a block (b, d)."""

    def evaluate(self, X: Array) -> Array:
        """Return the values (b, p) at the rows of a block (b, d)."""
        return self.jet(X).value.dense()

    def centered_jet(self, X: Array, offset: Array) -> Jet:
        """Return the functions minus numbers (p,), at the rows of a block (b, d)."""
        return CenteredJet(self.jet(X), offset)

    def gram_root(self) -> Array:
        """Return C (p, m) with G = C C', where a'Ga is the squared norm that regularization uses.

        Combinations with large coefficients stay positive only if they multiply a root of G.
        """
        return np.eye(self.size)

    def penalty(self, L: Array) -> Array:
        """Return (tr L / tr G) G (p, p), which has the units of L (p, p)."""
        C = self.gram_root()
        return np.asarray(np.abs(np.diag(L)).sum() / (C**2).sum() * (C @ C.T))

    def floats_per_row(self, dimension: int) -> int:
        """Return how many numbers a jet holds for each row, to choose the size of blocks."""
        return (dimension + 3) * self.size

    def fit(self, X: Array, random_state: RandomState = None) -> Basis:
        """Return the basis itself."""
        return self

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.size} functions>"

    def __call__(self, X: Array) -> Array:
        """Return the values (n, p) at points (n, d), on all cores where there are many points.

        Of a stream, an iterator or an array of dask the values at all rows are one array in memory.
        """
        if is_streamed(X):
            return self._of_blocks(X, self.at_rows)
        return self.at_rows(self._rows(X))

    def at_rows(self, X: Any) -> Array:
        """Return the values (n, p) at rows whose names of columns, if any, are checked already."""
        rows = self._points(X)
        return self._evaluate(rows, lambda basis, part: basis.evaluate(part), self.size)

    def gradient(self, X: Array) -> Array:
        """Return the gradients (n, d, p) at points (n, d), or at the rows of a stream."""
        if is_streamed(X):
            return self._of_blocks(X, self._gradients)
        return self._gradients(self._rows(X))

    def _gradients(self, rows: Array | SparseRows | DeviceRows) -> Array:
        shape = (rows.shape[1], self.size)
        return self._evaluate(rows, lambda basis, part: basis.jet(part).gradient.dense(), *shape)

    def partial(self, X: Array, alpha: tuple[int, ...]) -> Array:
        """Return the partial derivatives (n, p) of multi-index `alpha` at points (n, d)."""
        rows = self._rows(X)
        alpha = as_multi_index(alpha, rows.shape[1])
        return self._evaluate(
            rows, lambda basis, part: basis.jet(part).partial(alpha).dense(), self.size
        )

    def _of_blocks(self, X: Any, function: Callable[[Array], Array]) -> Array:
        """Return what a function makes of rows that come in blocks, one block after the other."""
        stream = dask_stream((X,), at_least=1) if is_dask(X) else as_stream(X)
        if len(stream.dimensions) != 1:
            what = "a stream of one view, which the functions take"
            raise parameter_error("X", what, f"{len(stream.dimensions)} views")
        require_names(stream.names[0], self.names, "X")
        blocks = tracked(stream.blocks(), "evaluating rows", stream.n_rows, len, "rows")
        parts = [function(block.views[0]) for block in blocks]
        if not parts:
            raise parameter_error("X", "rows", "none")
        return np.concatenate(parts)

    def _rows(self, X: Any) -> Array | SparseRows | DeviceRows:
        """Return points as rows; raise where their columns have other names than the data had."""
        if self.names is not None:
            _check_feature_names(self, X, reset=False)
        return self._points(X)

    def _points(self, X: Any) -> Array | SparseRows | DeviceRows:
        """Return points as rows, on their device if the functions can be evaluated there."""
        if not is_on_device(X):
            return as_points(X, "X", self.dimension)
        rows = as_device_rows(X, "X", self.dimension)
        if self.portable:
            return rows
        return as_points(rows.as_host(f"{self!r} is evaluated by NumPy."), "X", self.dimension)

    def _evaluate(
        self,
        X: Array | SparseRows | DeviceRows,
        probe: Callable[[Basis, Array], Array],
        *shape: int,
    ) -> Array:
        """Return what a probe of the functions is at all points, on their device."""
        blocks = row_slices(
            len(X), max(1, EVALUATED_FLOATS // max(1, self.floats_per_row(X.shape[1])))
        )
        if isinstance(X, DeviceRows):
            result: Array = zeros((len(X), *shape), X.array)
            basis = self.on(X.array)
            for rows in blocks:
                result[rows, ...] = probe(basis, X.block(rows))
        else:
            result = np.empty((len(X), *shape))
            self._fill(result, X, probe, blocks)
        xp = namespace(result)
        if prod(result.shape) and not (isfinite(xp.max(result)) and isfinite(xp.min(result))):
            row = int(np.argwhere(~np.isfinite(to_host(result)))[0, 0])
            requirement = "points at which the functions are finite"
            got = f"{np.asarray(X[row : row + 1])[0]} in row {row}, where they overflow"
            raise parameter_error("X", requirement, got)
        return result

    def _fill(
        self,
        result: Array,
        X: Array | SparseRows,
        probe: Callable[[Basis, Array], Array],
        blocks: list[slice],
    ) -> None:
        """Write what a probe of the functions is at all points, on all cores if there are many."""

        def fill(rows: slice) -> None:
            # Overflow is checked at the end.
            with np.errstate(over="ignore", invalid="ignore"):
                result[rows] = probe(self, as_contiguous(X[rows]))

        # Other threads than the main one may belong to a pool already.
        alone = threading.current_thread() is threading.main_thread()
        if len(blocks) < 8 or not alone:
            for rows in blocks:
                fill(rows)
        else:
            with one_blas_thread():
                thread_map(fill, blocks, n_threads(None))


def _moved(value: Any, like: Any) -> Any:
    """Return a field of a basis with its numbers on the device of an array."""
    if isinstance(value, Basis):
        return value.on(like)
    if isinstance(value, tuple):
        return tuple(_moved(part, like) for part in value)
    return placed(value, like)
