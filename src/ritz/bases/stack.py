"""Several bases side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from scipy.linalg import block_diag

from ritz.bases.basis import Basis, RandomState, require_recipe
from ritz.features import CachedJet, DenseGradients, Gradients, Jet, Values
from ritz.namespaces import namespace
from ritz.rows import as_generator
from ritz.validation import Array, Names, parameter_error, require_names


@dataclass(frozen=True, eq=False, repr=False)
class StackedBasis(Basis):
    """The functions of several bases, one after the other."""

    file_tag: ClassVar[str] = "StackedBasis"

    parts: tuple[Basis, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise parameter_error("parts", "at least one basis", "none")
        known = {part.dimension for part in self.parts if part.dimension is not None}
        if len(known) > 1:
            requirement = "bases on points of one dimension"
            raise parameter_error("parts", requirement, sorted(known))
        for part in self.parts:
            require_names(part.names, self.names, "parts")

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def dimension(self) -> int | None:
        return next((p.dimension for p in self.parts if p.dimension is not None), None)

    @property
    def names(self) -> Names:
        return next((p.names for p in self.parts if p.names is not None), None)

    def gram_root(self) -> Array:
        return np.asarray(block_diag(*(part.gram_root() for part in self.parts)))

    @property
    def differentiable(self) -> bool:
        return all(part.differentiable for part in self.parts)

    @property
    def portable(self) -> bool:
        return all(part.portable for part in self.parts)

    def jet(self, X: Array) -> Jet:
        return StackedJet(tuple(part.jet(X) for part in self.parts))


class StackedJet(CachedJet):
    """The jets of several bases, joined as dense arrays."""

    def __init__(self, jets: tuple[Jet, ...]) -> None:
        self.jets = jets

    def _at(self, X: Array) -> Jet:
        return StackedJet(tuple(jet.at(X) for jet in self.jets))

    def _value(self) -> Values:
        return Values(_joined([jet.value.dense() for jet in self.jets], axis=1), 1.0)

    def _gradient(self) -> Gradients:
        return DenseGradients(_joined([jet.gradient.dense() for jet in self.jets], axis=2))

    def partial(self, alpha: tuple[int, ...]) -> Values:
        if not any(alpha):
            return self.value
        parts = [jet.partial(alpha).dense() for jet in self.jets]
        return Values(_joined(parts, axis=1), 0.0)


def _joined(parts: list[Array], axis: int) -> Array:
    return cast(Array, namespace(*parts).concat(parts, axis=axis))


@dataclass(frozen=True, eq=False)
class SavedStack:
    """The parts of a `Stack` in files."""

    file_tag: ClassVar[str] = "Stack"

    recipes: tuple[Any, ...]

    def from_file(self) -> Stack:
        """Return the recipe."""
        return Stack(*self.recipes)


class Stack:
    """The functions of several bases together.

    Parameters
    ----------
    *recipes
        Bases or recipes, such as `Nystrom` of two kernels, or `Monomials` and `RandomFourier`.
    """

    def __init__(self, *recipes: Any) -> None:
        what = "bases such as ritz.Nystrom(kernel, 200)"
        if not recipes:
            raise parameter_error("recipes", what, "none", kind=TypeError)
        for recipe in recipes:
            require_recipe(recipe, "recipes", what)
        self.recipes = recipes

    @property
    def pilot_rows(self) -> int:
        """The largest number of rows that a part needs."""
        return max(int(recipe.pilot_rows) for recipe in self.recipes)

    def fit(self, X: Array, random_state: RandomState = None) -> StackedBasis:
        """Make each part from the same rows X (m, d)."""
        rng = as_generator(random_state)
        return StackedBasis(tuple(recipe.fit(X, rng) for recipe in self.recipes))

    def to_file(self) -> SavedStack:
        """Return the recipe as files hold it."""
        return SavedStack(tuple(self.recipes))

    def __repr__(self) -> str:
        return f"Stack({', '.join(map(repr, self.recipes))})"
