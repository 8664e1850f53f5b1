"""What a basis is: p functions, or a recipe that makes them from data."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from math import isfinite
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.utils.validation import _check_feature_names

from ritz.features import CenteredJet, Jet
from ritz.rows import row_slices
from ritz.threads import n_threads, one_blas_thread, thread_map
from ritz.validation import Array, Names, as_multi_index, as_rows, parameter_error, require_size

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
    if isinstance(recipe, type) or not (hasattr(recipe, "pilot_rows") and hasattr(recipe, "fit")):
        raise parameter_error(name, what, repr(recipe), kind=TypeError)


def as_pilot(X: Array) -> Array:
    """Return the rows X (m, d) that a recipe is fitted to: at least one, with finite squares."""
    X = as_rows(X, at_least=1)
    require_size(X, "X", smallest=0.0)
    return X


class Basis(ABC):
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
        """Return the values (n, p) at points (n, d), on all cores where there are many points."""
        return self.at_rows(self._rows(X))

    def at_rows(self, X: Array) -> Array:
        """Return the values (n, p) at rows whose names of columns, if any, are checked already."""
        return self._evaluate(as_rows(X, "X", self.dimension), self.evaluate, self.size)

    def gradient(self, X: Array) -> Array:
        """Return the gradients (n, d, p) at points (n, d)."""
        rows = self._rows(X)
        shape = (rows.shape[1], self.size)
        return self._evaluate(rows, lambda part: self.jet(part).gradient.dense(), *shape)

    def partial(self, X: Array, alpha: tuple[int, ...]) -> Array:
        """Return the partial derivatives (n, p) of multi-index `alpha` at points (n, d)."""
        rows = self._rows(X)
        alpha = as_multi_index(alpha, rows.shape[1])
        return self._evaluate(rows, lambda part: self.jet(part).partial(alpha).dense(), self.size)

    def _rows(self, X: Any) -> Array:
        """Return points as rows; raise where their columns have other names than the data had."""
        if self.names is not None:
            _check_feature_names(self, X, reset=False)
        return as_rows(X, "X", self.dimension)

    def _evaluate(self, X: Array, probe: Callable[[Array], Array], *shape: int) -> Array:
        result = np.empty((len(X), *shape))
        width = max(1, self.floats_per_row(X.shape[1]))

        def fill(rows: slice) -> None:
            # Overflow is checked at the end.
            with np.errstate(over="ignore", invalid="ignore"):
                result[rows] = probe(X[rows])

        blocks = row_slices(len(X), max(1, EVALUATED_FLOATS // width))
        # Other threads than the main one may belong to a pool already.
        alone = threading.current_thread() is threading.main_thread()
        if len(blocks) < 8 or not alone:
            for rows in blocks:
                fill(rows)
        else:
            with one_blas_thread():
                thread_map(fill, blocks, n_threads(None))
        if result.size and not (isfinite(result.max()) and isfinite(result.min())):
            row = int(np.argwhere(~np.isfinite(result))[0, 0])
            requirement = "points at which the functions are finite"
            got = f"{X[row]} in row {row}, where they overflow"
            raise parameter_error("X", requirement, got)
        return result
