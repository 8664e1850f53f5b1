"""The Dirichlet energy of functions of the samples, ambient or along a manifold."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from ritz.features import Jet, Terms
from ritz.forms.density import Density
from ritz.forms.form import Field, Form, as_field, as_reference
from ritz.forms.frames import LocalFrames, complement, require_orthonormal
from ritz.rows import Block
from ritz.validation import Array, as_count, as_number, evaluate_field, parameter_error

# Rows of the reference sample that estimate the density: more would cost as much as the sums.
DENSITY_ROWS = 2_000


@dataclass(frozen=True, eq=False)
class Laplacian(Form):
    """The form E<grad f, grad g>, tangential where there are frames."""

    file_tag: ClassVar[str] = "Laplacian"

    positive = True
    row_fields: ClassVar[tuple[str, ...]] = ("tangent",)
    tangent: Literal["pca"] | Field | None = None
    density_correction: float = 0.0
    dimension: int | None = None
    n_neighbors: int | None = None
    reference: Array | None = None
    reference_weight: Array | None = None

    def __post_init__(self) -> None:
        refers = isinstance(self.tangent, str) or self.density_correction != 0
        object.__setattr__(self, "needs_reference", refers and self.reference is None)

    def prepare(
        self, reference: Array, weight: Array | None = None, n_jobs: int | None = None
    ) -> Form:
        if not self.needs_reference:
            return self
        reference, weight = as_reference(reference, weight)
        if self.dimension is not None and self.dimension > reference.shape[1]:
            requirement = f"at most {reference.shape[1]}, the columns of X"
            raise parameter_error("dimension", requirement, self.dimension)
        form = replace(self, reference=reference, reference_weight=weight)
        # Compute both now, so that errors are raised before the pass.
        _ = form._frames, form._density
        return form

    @cached_property
    def _frames(self) -> LocalFrames | None:
        if not isinstance(self.tangent, str):
            return None
        assert self.reference is not None
        assert self.dimension is not None
        near = self.n_neighbors or 10 + 3 * self.dimension
        return LocalFrames(self.reference, self.dimension, near)

    @cached_property
    def _density(self) -> Density | None:
        if not self.density_correction:
            return None
        assert self.reference is not None
        assert self.reference_weight is not None
        return Density(self.reference[:DENSITY_ROWS], self.reference_weight[:DENSITY_ROWS])

    @property
    def reweighting(self) -> Hashable:
        return ("density", self.density_correction) if self.density_correction else None

    def row_weight(self, block: Block) -> Array | None:
        if self._density is None:
            return None
        with np.errstate(over="ignore"):
            weight = np.asarray(self._density(block.views[0]) ** -self.density_correction)
        if not np.isfinite(weight).all():
            requirement = "small enough for finite weights"
            raise parameter_error("density_correction", requirement, self.density_correction)
        return weight

    def width(self, dimension: int) -> int:
        return 1 if self.tangent is None else dimension

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        if self.tangent is None:
            return f.gradient @ g.gradient
        X = block.views[0]
        tangent = self.tangent if self._frames is None else self._frames
        U = evaluate_field(tangent, X, block.index, "tangent", 3)
        if U.shape[1] != X.shape[1] or U.shape[2] == 0:
            requirement = f"frames (n, {X.shape[1]}, r), r >= 1"
            got = f"shape (n, {U.shape[1]}, {U.shape[2]})"
            raise parameter_error("tangent", requirement, got)
        require_orthonormal(U)
        if 2 * U.shape[2] <= U.shape[1]:
            return along(f, g, U)
        if U.shape[2] == U.shape[1]:
            return f.gradient @ g.gradient
        return f.gradient @ g.gradient - along(f, g, complement(U))

    def __str__(self) -> str:
        options = []
        if self.tangent is not None:
            pca = isinstance(self.tangent, str)
            options.append(f"tangent='pca', dimension={self.dimension}" if pca else "tangent=...")
        if self.density_correction:
            options.append(f"density_correction={self.density_correction:g}")
        return f"laplacian({', '.join(options)})"


def along(f: Jet, g: Jet, U: Array) -> Terms:
    """Return sum_r <grad f, U_r> <grad g, U_r>, for directions U (b, d, r)."""
    left = f.gradient.along(U)
    right = left if f is g else g.gradient.along(U)
    return left * right  # type: ignore[no-any-return]


def laplacian(
    tangent: Any = None,
    density_correction: float = 0.0,
    *,
    dimension: int | None = None,
    n_neighbors: int | None = None,
) -> Form:
    """Return the Laplacian, the form E<grad f(X), grad g(X)>.

    For samples of density exp(-V) its operator is f -> -Laplace f + <grad V, grad f>, the
    generator of the Langevin diffusion with the samples as its equilibrium.

    Parameters
    ----------
    tangent
        For samples on a manifold: orthonormal frames of its tangent spaces, as an array
        (n, d, r) or a function of points (b, d), so that only tangential gradients count; or
        "pca" to estimate them from nearest neighbors in a reference sample of 10,000 rows.
    density_correction
        The number alpha: L and Phi are weighted by the density of the samples to the power
        -alpha, estimated up to a factor by a weighted kernel estimate on 2,000 rows of the
        reference sample. With 0 the operator belongs to the samples' own law, with 1 to the uniform
        law on their support. The parameter of diffusion maps is (1 + alpha) / 2.
    dimension
        With tangent="pca": the dimension r of the manifold.
    n_neighbors
        With tangent="pca": how many neighbors, by default 10 + 3 r.
    """
    if isinstance(tangent, str):
        if tangent != "pca":
            allowed = "None, frames (n, d, r), a function of x, or 'pca'"
            raise parameter_error("tangent", allowed, repr(tangent))
        what = "the manifold's dimension, a positive integer, with tangent='pca'"
        dimension = as_count(dimension, "dimension", what)
        if n_neighbors is not None:
            n_neighbors = as_count(n_neighbors, "n_neighbors")
            if n_neighbors <= dimension:
                what = f"above {dimension}, the dimension of the manifold"
                raise parameter_error("n_neighbors", what, n_neighbors)
    elif tangent is not None:
        tangent = as_field(tangent, "tangent")
        if not callable(tangent) and tangent.ndim != 3:
            raise parameter_error("tangent", "frames (n, d, r)", f"shape {tangent.shape}")
    alpha = as_number(density_correction, "density_correction")
    return Laplacian(tangent, alpha, dimension, n_neighbors)
