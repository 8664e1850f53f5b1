"""Preparing a basis for sums of products: subtract means, and re-orthogonalize where needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.bases.basis import Basis
from ritz.bases.combination import Combination
from ritz.features import Jet
from ritz.threads import one_blas_thread
from ritz.validation import Array, Names, as_rows, parameter_error, require_names

EPS = float(np.finfo(np.float64).eps)
# Independent functions that sums of products must resolve: as many as are typically asked for.
RESOLVED_FUNCTIONS = 16
# Functions and rows of a first test, which settles most cases at little cost.
FIRST_FUNCTIONS, FIRST_ROWS = 64, 256


@dataclass(frozen=True, eq=False, repr=False)
class Centered(Basis):
    """The functions phi_j - m_j, for numbers m (p,) close to their means.

    A covariance computed as E[phi phi'] - E[phi] E[phi]' cancels where it is small compared with
    the means, as for wide kernels. Subtracting a pilot mean first avoids the cancellation.

    Parameters
    ----------
    basis
        The functions phi.
    offset
        The numbers m (p,).
    reference
        Rows (m, d) that were fixed together with the basis, for operators that look at a sample of
        the data, such as `neighbors`; None for the others. Sums over the same basis then use the
        same sample and can be added.
    reference_weight
        The total weights (m,) of the rows equal to each of them; None for ones.
    repeats
        Whether equal rows occur in the sample of the data that the basis was fixed with: if so, a
        row's fold depends on its place, too. None if no sample was looked at.
    column_names
        The names of the columns of the data that fixed the basis, where they had some.
    """

    file_tag: ClassVar[str] = "Centered"

    basis: Basis
    offset: Array
    reference: Array | None = None
    reference_weight: Array | None = None
    repeats: bool | None = None
    column_names: Names = None

    def __post_init__(self) -> None:
        if np.shape(self.offset) != (self.basis.size,):
            requirement = f"of shape ({self.basis.size},)"
            got = f"shape {np.shape(self.offset)}"
            raise parameter_error("offset", requirement, got)
        object.__setattr__(self, "offset", np.ascontiguousarray(self.offset, dtype=np.float64))
        if self.reference is not None:
            reference = as_rows(self.reference, "reference", self.dimension)
            object.__setattr__(self, "reference", reference)
        if self.column_names is not None:
            require_names(self.column_names, self.basis.names, "column_names")
            if self.dimension not in (None, len(self.column_names)):
                got = f"{len(self.column_names)} names"
                raise parameter_error("column_names", f"{self.dimension} names", got)

    @classmethod
    def around(cls, basis: Basis, pilot: Array) -> Centered:
        """Subtract the means over some rows (m, d)."""
        return cls(basis, np.asarray(basis(pilot).mean(axis=0)))

    @property
    def size(self) -> int:
        return int(self.offset.shape[0])

    @property
    def dimension(self) -> int | None:
        return self.basis.dimension

    @property
    def names(self) -> Names:
        return self.basis.names if self.column_names is None else self.column_names

    def floats_per_row(self, dimension: int) -> int:
        return self.basis.floats_per_row(dimension) + self.size

    def gram_root(self) -> Array:
        return self.basis.gram_root()

    def penalty(self, L: Array) -> Array:
        return self.basis.penalty(L)

    @property
    def differentiable(self) -> bool:
        return self.basis.differentiable

    @property
    def nested(self) -> bool:
        return self.basis.nested

    def pick(self, which: Any) -> Centered:
        return self.unchecked(basis=self.basis.pick(which), offset=self.offset[which])

    @property
    def portable(self) -> bool:
        return self.basis.portable

    def jet(self, X: Array) -> Jet:
        return self.basis.centered_jet(X, self.offset)


class Pilot(NamedTuple):
    """Functions on a pilot sample.

    Parameters
    ----------
    centered
        The functions minus their means over the sample.
    values, spread
        Their values (m, p) and standard deviations (p,) there.
    varies
        Which spreads (p,) exceed the rounding error of the values.
    """

    centered: Centered
    values: Array
    spread: Array
    varies: NDArray[np.bool_]

    @classmethod
    def of(cls, basis: Basis, rows: Array) -> Pilot:
        """Evaluate the functions on rows (m, d)."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = basis.evaluate(rows)
            offset = values.mean(axis=0)
            values = values - offset
            spread = np.sqrt((values * values).mean(axis=0))
        if not np.isfinite(spread).all():
            raise ValueError(
                "The functions overflow on these samples: their squares exceed 1e308. Scale the "
                "data or choose a larger length_scale."
            )
        return cls(Centered(basis, offset), values, spread, spread > 100 * EPS * np.abs(offset))


def conditioned(basis: Basis, pilot: Array) -> Centered:
    """Subtract means, and re-orthogonalize functions that products cannot tell apart.

    Averages of products resolve directions whose size is above sqrt(eps) of the largest; values
    resolve them down to eps. The span of a kernel much wider than the data has nearly all its
    directions in between: with length 100 on N(0, 1), that of the cubic polynomial has size 1e-8.
    Where products resolve fewer than 16 directions, the first 16 singular functions of the pilot
    values, scaled to unit size, replace the functions; otherwise only means are subtracted.

    Parameters
    ----------
    basis
        The functions phi.
    pilot
        Distinct random rows (m, d).
    """
    first = Pilot.of(basis, pilot[: min(max(2 * basis.size, FIRST_FUNCTIONS), FIRST_ROWS)])
    some = np.flatnonzero(first.varies)[:FIRST_FUNCTIONS]
    enough = min(RESOLVED_FUNCTIONS, basis.size)
    if resolved_directions(first.values[:, some] / first.spread[some]) >= enough:
        return first.centered
    with one_blas_thread():
        return orthogonalized(basis, pilot)


def orthogonalized(basis: Basis, pilot: Array) -> Centered:
    """Replace the functions by the first singular functions of their values on the pilot rows.

    Where this does not increase the number of directions that products resolve, only the means are
    subtracted.
    """
    centered, values, spread, varies = Pilot.of(basis, pilot)
    scaled = values[:, varies] / spread[varies]
    known = resolved_directions(scaled)
    if known >= min(RESOLVED_FUNCTIONS, int(varies.sum()), len(pilot) - 1):
        return centered
    # Half of the rows determine the combinations, and all of them check the result.
    half = scaled if len(pilot) < 256 else scaled[::2]
    _, sizes, mixing = np.linalg.svd(half, full_matrices=False)
    # Each value was rounded at eps times its size before the mean was subtracted.
    size = np.abs(centered.offset[varies]) + np.abs(values[:, varies]).max(axis=0)
    rounding = EPS * float((size / spread[varies]).max()) * np.sqrt(half.size)
    floor = max(100 * rounding, len(half) * EPS * sizes[0])
    keep = np.flatnonzero(sizes > floor)[:RESOLVED_FUNCTIONS]
    if len(keep) <= known:
        # The functions have fewer independent directions on the samples than wanted, and products
        # resolve all of them. Functions that vanish on the samples, as |x|^2 - 1 does on a sphere,
        # must stay: they still lower the energy of the others.
        return centered
    mixing = mixing[keep]
    mixing *= np.sign(mixing[np.arange(len(keep)), np.abs(mixing).argmax(axis=1)])[:, None]
    scale = np.sqrt(len(half)) / sizes[keep]
    # Functions that are much larger on the other rows than on those that scaled them are dropped.
    bounded = np.sqrt(((scaled @ mixing.T * scale) ** 2).mean(axis=0)) < 100
    constant = np.flatnonzero(~varies)
    kept = int(bounded.sum())
    A = np.zeros((basis.size, kept + len(constant)))
    A[varies, :kept] = (mixing.T * scale)[:, bounded] / spread[varies][:, None]
    # Functions that are constant on the pilot rows may vary on others, so they stay.
    A[constant, kept + np.arange(len(constant))] = 1.0
    mixed = Combination(centered, A, np.zeros(A.shape[1]))
    if mixed.differentiable:
        mixed = mixed.pick(has_moderate_gradient(mixed, pilot))
    if mixed.size - len(constant) <= known:
        return centered
    return Centered.around(mixed, pilot)


def resolved_directions(scaled: Array) -> int:
    """Return how many directions of values (m, p) are above rounding in their products."""
    if not scaled.size:
        return 0
    gram = scaled @ scaled.T if len(scaled) < scaled.shape[1] else scaled.T @ scaled
    shares = np.linalg.eigvalsh(gram)
    return int((shares > 100 * len(gram) * EPS * shares[-1]).sum())


def has_moderate_gradient(functions: Combination, pilot: Array) -> NDArray[np.bool_]:
    """Return which functions (p,) have gradients within a factor 1e5 of the smallest.

    A function that vanishes on a manifold containing the data has values there that are rounding
    errors only. Scaled to unit size, it has an enormous gradient normal to the manifold.
    """
    slopes = functions.gradient(pilot[:FIRST_ROWS])
    energies = np.einsum("kdr,kdr->r", slopes, slopes)
    largest = energies.max(initial=np.finfo(np.float64).tiny)
    smallest = (energies[energies > 0] / largest).min(initial=1.0)
    return np.asarray(energies / largest <= 1e10 * smallest)
