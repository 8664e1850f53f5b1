"""Kernel sections k(., y_j) at centers y_j: the Nystrom basis."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ritz.arrays import (
    Array,
    as_count,
    as_multi_index,
    as_rows,
    drawn,
    lowest_hashed,
    must,
    require_columns,
    squared_distances,
)
from ritz.bases.basis import Basis, RandomState
from ritz.bases.centers import randomly_pivoted_cholesky, spread_out
from ritz.cached import cached_property
from ritz.features import CachedJet, FactoredGradients, Gradients, Jet, Values
from ritz.kernels import Kernel
from ritz.kernels.derivatives import partial_of_sections
from ritz.kernels.distances import FEW, pairwise_squares
from ritz.kernels.kernel import NO_OFFSET, Sections


def require_kernel(kernel: object) -> None:
    """Raise unless it is a kernel, not its class or name."""
    if not isinstance(kernel, Kernel):
        raise TypeError(must("kernel", "a kernel such as ritz.Gaussian(1.0)", repr(kernel)))


@dataclass(frozen=True, eq=False, repr=False)
class KernelSections(Basis):
    """The functions k(., y_j) for given centers y (p, d)."""

    kernel: Kernel
    centers: Array

    def __post_init__(self) -> None:
        require_kernel(self.kernel)
        object.__setattr__(self, "centers", as_rows(self.centers, "centers"))
        if not len(self.centers):
            raise ValueError(must("centers", "at least one point", f"shape {self.centers.shape}"))
        # An error, unless there is one length scale, or one for each coordinate.
        _ = self.scale

    @property
    def size(self) -> int:
        return len(self.centers)

    @property
    def dimension(self) -> int | None:
        return int(self.centers.shape[1])

    def floats_per_row(self, dimension: int) -> int:
        return 4 * self.size

    def gram_root(self) -> Array:
        values, vectors = np.linalg.eigh(self.kernel(self.centers, self.centers))
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def penalty(self, L: Array) -> Array:
        G = self.kernel(self.centers, self.centers)
        return np.asarray(np.abs(np.diag(L)).sum() / np.trace(G) * (G + G.T) / 2)

    @property
    def differentiable(self) -> bool:
        return self.kernel.smoothness is None or self.kernel.smoothness >= 1

    def pick(self, which: Any) -> KernelSections:
        """Return some of the functions, by slice or numbers."""
        return KernelSections(self.kernel, self.centers[which])

    def jet(self, X: Array) -> Jet:
        return KernelJet(self, X)

    @cached_property
    def scale(self) -> Array:
        """The length scale of each coordinate."""
        return self.kernel.scales(self.centers.shape[1])

    @cached_property
    def shift(self) -> Array:
        """The centers' mean for distance kernels, which do not see it; zero for the others."""
        if self.kernel.family == "distance":
            return np.asarray(self.centers.mean(axis=0))
        return np.zeros(self.centers.shape[1])

    @cached_property
    def scaled_centers(self) -> Array:
        """The centers, shifted and in length scales."""
        return (self.centers - self.shift) / self.scale

    @cached_property
    def values_serve_gradients(self) -> bool:
        """Whether products of values, means taken off and put on again, are exact enough.

        Products of gradients are multiplied by |y_i - y_j|^2, which for kernels much narrower than
        the data would multiply that rounding too.
        """
        if self.kernel.family == "dot":
            return True
        Y = self.scaled_centers
        return bool(4 * np.einsum("ij,ij->i", Y, Y).max() < 100)

    @cached_property
    def anchors(self) -> Array:
        """The vectors c = y / l^2 of the gradients, times the kernel's rate where it has one."""
        return self.scaled_centers * (self.turn / self.scale)

    @property
    def turn(self) -> float:
        """The number by which the factors of the gradients are to be multiplied."""
        return 1.0 if self.kernel.rate is None else self.kernel.rate

    @cached_property
    def mirrored(self) -> Array:
        """The anchors of a dot-product kernel, whose gradients are T y."""
        return -self.anchors

    @cached_property
    def spread(self) -> Array:
        """|c_i - c_j|^2 for the anchors c."""
        c = self.anchors
        if c.shape[1] <= FEW:
            return np.asarray(cdist(c, c, "sqeuclidean"))
        S = squared_distances(c, c, exact_near=True)
        return (S + S.T) / 2

    def powers(self, alpha: tuple[int, ...]) -> Array:
        """Return y^alpha / l^(2 alpha), the same array each time: programs are compared by it."""
        cache: dict[tuple[int, ...], Array] = self.__dict__.setdefault("_powers", {})
        if alpha not in cache:
            powers = np.prod((self.scaled_centers / self.scale) ** np.array(alpha), axis=1)
            # Of two threads the first one's counts, for both.
            cache.setdefault(alpha, powers)
        return cache[alpha]

    def centered_jet(self, X: Array, offset: Array, dtype: Any = np.float64) -> Jet:
        return KernelJet(self, X, offset, dtype)


class KernelJet(CachedJet):
    """Kernel sections at some points, an offset taken off: all that is wanted in one pass."""

    def __init__(
        self,
        basis: KernelSections,
        X: Array,
        offset: Array = NO_OFFSET,
        dtype: Any = np.float64,
    ) -> None:
        require_columns(X, basis.dimension, "points")
        self.basis, self.offset, self.dtype = basis, offset, dtype
        self.X = (X - basis.shift) / basis.scale
        self._sections: Sections | None = None

    def _at(self, X: Array) -> Jet:
        return KernelJet(self.basis, X, self.offset, self.dtype)

    def _pass(self, slopes: bool, values: bool) -> Sections:
        """Return the sections with slopes, or values without the offset, if wanted.

        What was computed before stays the same array, so that its products are shared.
        """
        known = self._sections
        lacks_slopes = slopes and (known is None or known.stretched is known.slopes is None)
        lacks_values = values and (known is None or known.values is None)
        if known is None or lacks_slopes or lacks_values:
            basis = self.basis
            values = values or not len(self.offset)
            found = basis.kernel.sections(
                self.X, basis.scaled_centers, self.offset, slopes, self.dtype, values
            )
            if known is not None:
                pairs = zip(known, found, strict=True)
                found = Sections(*(new if old is None else old for old, new in pairs))
            self._sections = known = found
        return known

    @property
    def sections(self) -> Sections:
        """What was computed so far."""
        return Sections(None) if self._sections is None else self._sections

    def _value(self) -> Values:
        sections: Any = self._pass(False, False)
        return Values(sections.shifted if len(self.offset) else sections.values, 1.0)

    def _gradient(self) -> Gradients:
        basis = self.basis
        basis.kernel.require_order(1)
        distance = basis.kernel.family == "distance"
        # Where q' = c q the values serve as factors, and c goes with the vectors.
        serve = basis.kernel.rate is not None
        shifted = serve and basis.values_serve_gradients and len(self.offset) > 0
        # Where nothing was taken off, functions are to be evaluated rather than multiplied.
        lazy = distance and serve and not len(self.offset)
        sections: Any = self._pass(not lazy and (distance or not serve), serve and not shifted)
        offset = self.offset if shifted else None
        T = (sections.shifted if shifted else sections.values) if serve else sections.slopes
        if not distance:
            return FactoredGradients(T, basis.mirrored, offset=offset)
        points = self.X * (basis.turn / basis.scale)
        unit = float(basis.turn / basis.scale[0]) ** 2
        own = np.ndim(basis.kernel.length_scale) > 0

        ST: Array | Callable[[], Array]
        if own:
            ST = partial(stretched_apart, points, basis.anchors, T, offset, self.dtype)
        elif lazy:
            ST = partial(stretched_sections, basis, self.X, self.dtype)
        else:
            rates = serve and sections.slopes is not None
            ST = np.asarray(sections.stretched / basis.turn if rates else sections.stretched)
        unit = 1.0 if own else unit
        return FactoredGradients(T, basis.anchors, points, ST, unit, basis.spread, offset=offset)

    def partial(self, alpha: tuple[int, ...]) -> Values:
        basis = self.basis
        alpha = as_multi_index(alpha, self.X.shape[1])
        order = sum(alpha)
        if order == 0:
            return self.value
        if basis.kernel.family == "dot":
            basis.kernel.require_order(order)
            return Values(self._derivative(order), 0.0, columns=basis.powers(alpha))
        Y = basis.scaled_centers
        units = float(np.prod(basis.scale ** -np.array(alpha, dtype=float)))
        return Values(units * partial_of_sections(basis.kernel, self.X, Y, self._u, alpha), 0.0)

    @cached_property
    def _u(self) -> Array:
        return self.basis.kernel.invariant(self.X, self.basis.scaled_centers)

    def _derivative(self, order: int) -> Array:
        """Return q^(order)(u), the same array each time so that products are shared."""
        cache: dict[int, Array] = self.__dict__.setdefault("_derivatives", {})
        if order not in cache:
            profiles = self.basis.kernel.profile(self._u, order)
            cache.update({m: q for m, q in enumerate(profiles) if m not in cache})
        return cache[order]


# Functions of arrays, not of the jet: one that its own gradients hold would outlive its block.


def stretched_apart(
    points: Array, anchors: Array, T: Array, offset: Array | None, dtype: Any
) -> Array:
    """Return |z_k - c_j|^2 T_kj (b, p) for points z and anchors c, T having an offset put on."""
    whole = T if offset is None else T + offset
    return np.asarray(pairwise_squares(points, anchors) * whole, dtype)


def stretched_sections(basis: KernelSections, X: Array, dtype: Any) -> Array:
    """Return |x - y|^2 q(u) (b, p) of a kernel with q' = c q, at points in length scales."""
    found: Any = basis.kernel.sections(X, basis.scaled_centers, slopes=True, dtype=dtype)
    return np.asarray(found.stretched if found.slopes is None else found.stretched / basis.turn)


@dataclass(frozen=True, eq=False)
class Nystrom:
    """Kernel sections at centers chosen from the data, or given.

    Parameters
    ----------
    kernel
        The kernel.
    n_centers
        How many centers to choose; not needed where the centers are given.
    centers
        "uniform": distinct rows at random, whatever their order and repetition; "kmeans++":
        rows far from each other; "rpcholesky": rows that those chosen before explain least, by
        randomly pivoted Cholesky, best for few centers; or an array (p, d) of points, which
        need not be rows of the data.
    """

    kernel: Kernel
    n_centers: int | None = None
    centers: Any = "uniform"

    def __post_init__(self) -> None:
        require_kernel(self.kernel)
        if isinstance(self.centers, str):
            if self.centers not in ("uniform", "kmeans++", "rpcholesky"):
                allowed = "'uniform', 'kmeans++', 'rpcholesky' or an array (p, d)"
                raise ValueError(must("centers", allowed, repr(self.centers)))
            object.__setattr__(self, "n_centers", as_count(self.n_centers, "n_centers"))
        else:
            object.__setattr__(self, "centers", as_rows(self.centers, "centers"))
            if self.n_centers is not None and np.any(self.n_centers != len(self.centers)):
                what = f"None or {len(self.centers)}, as given"
                raise ValueError(must("n_centers", what, self.n_centers))

    @property
    def pilot_rows(self) -> int:
        """How many rows to see: the centers themselves, or enough to choose well among."""
        if not isinstance(self.centers, str):
            return 0
        assert self.n_centers is not None
        if self.centers == "uniform":
            return self.n_centers
        return max(20 * self.n_centers, 10_000)

    def fit(
        self, X: Array, random_state: RandomState = None, in_order: bool = False
    ) -> KernelSections:
        """Choose the centers among the rows of X (m, d).

        Rows in order are those that a stream's `sample` returns for the first number drawn: finite,
        none twice, and the first of them are those that would be chosen.
        """
        if not isinstance(self.centers, str):
            return KernelSections(self.kernel, as_rows(self.centers, "centers"))
        assert self.n_centers is not None
        rng: Any = random_state
        if self.centers != "uniform":
            rng = np.random.default_rng(random_state)
        (first,) = drawn(rng, 1)
        if in_order:
            pilot = X[: self.pilot_rows]
        else:
            X = as_rows(X)
            pilot = X[lowest_hashed(X, self.pilot_rows, first)]
        m = min(self.n_centers, len(pilot))
        if self.centers == "rpcholesky":
            index = randomly_pivoted_cholesky(self.kernel, pilot, m, rng)
        elif self.centers == "kmeans++":
            index = spread_out(pilot / self.kernel.scales(X.shape[1]), m, rng)
        else:
            index = np.arange(m)
        if len(index) < self.n_centers:
            why = (
                "distinct rows" if len(pilot) < self.n_centers else "rows the kernel can tell apart"
            )
            warnings.warn(
                f"n_centers={self.n_centers} exceeds the {len(index)} {why}: all "
                f"{len(index)} are used. Lower n_centers, or give centers as an array.",
                stacklevel=2,
            )
        return KernelSections(self.kernel, pilot[index])
