"""Kernel sections k(., y_j) at centers y_j: the Nystrom basis."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ritz.bases.basis import Basis, RandomState, as_pilot
from ritz.bases.centers import randomly_pivoted_cholesky, spread_out
from ritz.features import CachedJet, FactoredGradients, Gradients, Jet, Values
from ritz.kernels import Kernel
from ritz.kernels.derivatives import monomial, partial_of_sections
from ritz.kernels.sections import squared_distances
from ritz.rows import as_generator, random_integers, sample_rows
from ritz.validation import (
    Array,
    as_choice,
    as_count,
    as_multi_index,
    as_rows,
    parameter_error,
    require_columns,
)


def require_kernel(kernel: object) -> None:
    """Raise unless the argument is a kernel object; a class or a name is not."""
    if not isinstance(kernel, Kernel):
        what = "a kernel such as ritz.Gaussian(1.0)"
        raise parameter_error("kernel", what, repr(kernel), kind=TypeError)


@dataclass(frozen=True, eq=False, repr=False)
class KernelSections(Basis):
    """The functions k(., y_j) for given centers y (p, d)."""

    file_tag: ClassVar[str] = "KernelSections"

    kernel: Kernel
    centers: Array

    def __post_init__(self) -> None:
        require_kernel(self.kernel)
        object.__setattr__(self, "centers", as_rows(self.centers, "centers", at_least=1))
        # Raises unless there is one length scale, or one for each coordinate.
        self.kernel.scales(self.centers.shape[1])

    @property
    def size(self) -> int:
        return int(self.centers.shape[0])

    @property
    def dimension(self) -> int | None:
        return int(self.centers.shape[1])

    @property
    def nested(self) -> bool:
        return True

    def pick(self, which: Any) -> KernelSections:
        some = self.unchecked(centers=self.centers[which])
        if "gram" in vars(self):
            vars(some)["gram"] = self.gram[which][:, which]
        return some

    def fit(self, X: Array, random_state: RandomState = None) -> KernelSections:
        """Return the basis itself, the derivatives of a kernel of the user's own checked."""
        if X.shape[1] == self.dimension:
            Z = (X[:8] - self.shift) / self.scale
            u = self.kernel.invariant(Z, self.scaled_centers[-8:])
            self.kernel.require_right_derivatives(u.ravel())
        return self

    def floats_per_row(self, dimension: int) -> int:
        return 4 * self.size

    def gram_root(self) -> Array:
        values, vectors = np.linalg.eigh(self.gram)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def penalty(self, L: Array) -> Array:
        return np.asarray(np.abs(np.diag(L)).sum() / np.trace(self.gram) * self.gram)

    @property
    def differentiable(self) -> bool:
        return self.kernel.smoothness is None or self.kernel.smoothness >= 1

    @property
    def portable(self) -> bool:
        return True

    def on(self, like: Any) -> Self:
        # The kernel gives its scales as an array of NumPy. From them the rest follows.
        _ = self.scaled_centers
        return super().on(like)

    def evaluate(self, X: Array) -> Array:
        require_columns(X, self.centers.shape[1], "points")
        Z = (X - self.shift) / self.scale
        return self.kernel.sections(Z, self.scaled_centers).values

    def jet(self, X: Array) -> Jet:
        return KernelJet(self, X)

    @cached_property
    def scale(self) -> Array:
        """The length scale of each coordinate."""
        return self.kernel.scales(self.centers.shape[1])

    @cached_property
    def shift(self) -> Array:
        """The mean of the centers, which points are shifted by; zero for dot-product kernels."""
        if self.kernel.family == "distance":
            return np.asarray(self.centers.mean(axis=0))
        return np.zeros(self.centers.shape[1])

    @cached_property
    def scaled_centers(self) -> Array:
        """The centers, shifted and in length scales."""
        return (self.centers - self.shift) / self.scale

    @cached_property
    def anchors(self) -> Array:
        """The vectors c = y / l^2 of `FactoredGradients`."""
        return self.scaled_centers / self.scale

    @cached_property
    def gram(self) -> Array:
        """The values k(y_i, y_j) (p, p), which penalties on all and on some functions share."""
        G = self.evaluate(self.centers)
        return np.asarray((G + G.T) / 2)

    @cached_property
    def spread(self) -> Array:
        """|c_i - c_j|^2 (p, p) for the anchors c."""
        S = squared_distances(self.anchors, self.anchors)
        return (S + S.T) / 2

    def centered_jet(self, X: Array, offset: Array) -> Jet:
        return KernelJet(self, X, offset)


class KernelJet(CachedJet):
    """Kernel sections minus an offset at some points."""

    def __init__(self, basis: KernelSections, X: Array, offset: Array | None = None) -> None:
        self.basis, self.offset = basis, offset
        require_columns(X, basis.dimension, "points")
        self.X = (X - basis.shift) / basis.scale

    def _at(self, X: Array) -> Jet:
        return KernelJet(self.basis, X, self.offset)

    def _value(self) -> Values:
        basis = self.basis
        return Values(basis.kernel.sections(self.X, basis.scaled_centers, self.offset).values, 1.0)

    def _gradient(self) -> Gradients:
        basis = self.basis
        basis.kernel.require_order(1)
        # A form that needs gradients needs values too, for its metric: one pass computes both.
        sections = basis.kernel.sections(self.X, basis.scaled_centers, self.offset, slopes=True)
        assert sections.slopes is not None
        if self._known_value is None:
            self._known_value = Values(sections.values, 1.0)
        if basis.kernel.family == "dot":
            return FactoredGradients(sections.slopes, basis.anchors)
        points = self.X / basis.scale
        return FactoredGradients(sections.slopes, basis.anchors, points, basis.spread)

    def partial(self, alpha: tuple[int, ...]) -> Values:
        basis, kernel = self.basis, self.basis.kernel
        alpha = as_multi_index(alpha, self.X.shape[1])
        order = sum(alpha)
        if order == 0:
            return self.value
        Y = basis.scaled_centers
        u = kernel.invariant(self.X, Y)
        if kernel.family == "dot":
            kernel.require_order(order)
            powers = monomial(basis.anchors, alpha)
            return Values(kernel.profile(u, order)[order] * powers, 0.0)
        units = 1.0 / float(monomial(basis.scale[None, :], alpha)[0])
        return Values(units * partial_of_sections(kernel, self.X, Y, u, alpha), 0.0)


@dataclass(frozen=True, eq=False)
class Nystrom:
    """Kernel sections at centers chosen from the data, or given.

    Parameters
    ----------
    kernel
        The kernel.
    n_centers
        The number of centers to choose. None leaves it to `ritz.decompose`, which chooses it by
        the number of rows; it is not needed where the centers are given.
    centers
        "uniform": distinct rows at random, whatever their order and repetition; "kmeans++":
        rows far from each other; "rpcholesky": rows that the kernel explains least from those
        chosen before, by randomly pivoted Cholesky, which is best for few centers; or an array
        (p, d) of points, which need not be rows of the data.
    """

    file_tag: ClassVar[str] = "Nystrom"

    kernel: Kernel
    n_centers: int | None = None
    centers: Any = "uniform"

    def __post_init__(self) -> None:
        require_kernel(self.kernel)
        if isinstance(self.centers, str):
            ways = ("uniform", "kmeans++", "rpcholesky")
            as_choice(self.centers, "centers", ways, "an array (p, d)")
            if self.n_centers is not None:
                object.__setattr__(self, "n_centers", as_count(self.n_centers, "n_centers"))
        else:
            object.__setattr__(self, "centers", as_rows(self.centers, "centers"))
            if self.n_centers is not None and np.any(self.n_centers != len(self.centers)):
                what = f"None or {len(self.centers)}, as given"
                raise parameter_error("n_centers", what, self.n_centers)

    @property
    def pilot_rows(self) -> int:
        """The number of rows from which the centers are chosen."""
        if not isinstance(self.centers, str):
            return 0
        wanted = self._wanted()
        return wanted if self.centers == "uniform" else max(20 * wanted, 10_000)

    def _wanted(self) -> int:
        if self.n_centers is None:
            remedy = "ritz.decompose chooses the number of centers where it is left out."
            raise parameter_error("n_centers", "a positive integer", "None", remedy)
        return self.n_centers

    def fit(self, X: Array, random_state: RandomState = None) -> KernelSections:
        """Choose the centers among the rows of X (m, d)."""
        if not isinstance(self.centers, str):
            return KernelSections(self.kernel, self.centers).fit(X)
        wanted = self._wanted()
        rng = as_generator(random_state)
        X = as_pilot(X)
        pilot = X[sample_rows(X, self.pilot_rows, *random_integers(rng, 1))]
        m = min(wanted, len(pilot))
        if self.centers == "rpcholesky":
            index = randomly_pivoted_cholesky(self.kernel, pilot, m, rng)
        elif self.centers == "kmeans++":
            index = spread_out(pilot / self.kernel.scales(X.shape[1]), m, rng)
        else:
            index = np.arange(m)
        if len(index) < wanted:
            kind = "distinct rows" if len(pilot) < wanted else "rows the kernel can tell apart"
            warnings.warn(
                f"n_centers={wanted} exceeds the {len(index)} {kind}: all {len(index)} are used. "
                "Lower n_centers, or give centers as an array.",
                stacklevel=2,
            )
        return KernelSections(self.kernel, pilot[index]).fit(X)
