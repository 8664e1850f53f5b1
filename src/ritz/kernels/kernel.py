"""What a kernel is: a function q of one invariant u of two points; kernels add and multiply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import comb
from typing import ClassVar, Literal, Self, cast

import numpy as np

from ritz import compiled
from ritz.kernels.sections import Coefficients, Sections, compiled_sections, squared_distances
from ritz.validation import Array, as_number, as_real, as_rows, parameter_error

Family = Literal["distance", "dot"]
LengthScale = float | tuple[float, ...] | Literal["auto"]


class Kernel(ABC):
    """A kernel k(x, y) = q(u), with u = |x - y|^2 / 2 ("distance") or u = x.y ("dot").

    Points are divided by `length_scale` first, a number or one number a dimension. With "auto" it
    is chosen from the data by `ritz.decompose` and `ritz.select`.
    """

    family: ClassVar[Family]
    length_scale: LengthScale

    def __post_init__(self) -> None:
        object.__setattr__(self, "length_scale", as_length_scale(self.length_scale))

    @property
    def smoothness(self) -> int | None:
        """The highest order of derivative that exists, or None for no limit."""
        return None

    @property
    def rate(self) -> float | None:
        """The number c with q' = c q, if there is one: gradients then follow from the values."""
        return None

    @property
    def coefficients(self) -> Coefficients | None:
        """The parameters of the compiled loops, or None where only NumPy evaluates the kernel."""
        return None

    @abstractmethod
    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        """Return q, q', ..., q^(order) at u; zero where a derivative diverges at u = 0."""

    def scales(self, dimension: int) -> Array:
        """Return the length scale of each of `dimension` coordinates, checking their number."""
        if self.length_scale == "auto":
            remedy = "ritz.decompose and ritz.select choose it for ritz.Nystrom."
            raise parameter_error("length_scale", "a number or numbers here", "'auto'", remedy)
        scale = np.asarray(self.length_scale, dtype=np.float64)
        if scale.ndim == 1 and len(scale) != dimension:
            what = f"a number or {dimension} numbers"
            raise parameter_error("length_scale", what, f"{len(scale)} numbers")
        return scale if scale.ndim else np.full(dimension, scale)

    def with_length_scale(self, length_scale: LengthScale) -> Self:
        """Return the kernel with another length scale."""
        return replace(self, length_scale=length_scale)  # type: ignore[type-var]

    def invariant(self, X: Array, Y: Array) -> Array:
        """Return u (n, p) of points already divided by the length scale."""
        if self.family == "dot":
            return X @ Y.T
        return squared_distances(X, Y) / 2

    def sections(
        self,
        X: Array,
        Y: Array,
        offset: Array | None = None,
        *,
        slopes: bool = False,
        stretched: bool = False,
    ) -> Sections:
        """Return the sections k(., y_j) at the points X.

        Parameters
        ----------
        X, Y
            Points (n, d) and centers (p, d), already divided by the length scale.
        offset
            Numbers (p,) to subtract from the values, or None.
        slopes, stretched
            Whether to compute q'(u) and |x - y|^2 q'(u) besides q(u).
        """
        coefficients = self.coefficients
        if compiled.AVAILABLE and coefficients is not None and isinstance(X, np.ndarray):
            return compiled_sections(coefficients, X, Y, offset, slopes, stretched)
        u = self.invariant(X, Y)
        q, *derivatives = self.profile(u, 1 if slopes or stretched else 0)
        if stretched:
            with np.errstate(over="ignore", invalid="ignore"):
                u = 2 * u * derivatives[0]
        return Sections(
            q if offset is None else q - offset,
            derivatives[0] if slopes else None,
            u if stretched else None,
        )

    def require_order(self, order: int) -> None:
        """Raise if derivatives of this order do not exist."""
        if self.smoothness is not None and order > self.smoothness:
            raise ValueError(
                f"{self} has derivatives up to order {self.smoothness}; order {order} was asked "
                "for. Use a smoother kernel, such as Gaussian."
            )

    def require_right_derivatives(self, u: Array) -> None:  # noqa: B027
        """Raise if derivatives that a user gave disagree with finite differences at u (m,)."""

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the kernel matrix k(x_i, y_j), (n, p)."""
        X = as_rows(X)
        Y = as_rows(Y, "Y", X.shape[1])
        scale = self.scales(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.profile(self.invariant(X / scale, Y / scale), 0)[0]
        if not np.isfinite(values).all():
            raise parameter_error(
                "X", f"points at which {self} is finite", "overflow", "Scale them."
            )
        return values

    def __add__(self, other: Kernel) -> Kernel:
        return KernelSum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return KernelProduct(self, other)
        return KernelScaled(self, as_number(other, "factor"))

    __rmul__ = __mul__


def as_length_scale(value: object) -> LengthScale:
    """Return a positive number, or a tuple of one positive number a dimension, or "auto"."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    array = as_real(value, "length_scale")
    if array.ndim > 1 or array.size == 0 or not np.all((array > 1e-152) & (array < 1e152)):
        what = "positive: a number, or one a dimension, between 1e-152 and 1e152"
        raise parameter_error("length_scale", what, value)
    return float(array) if array.ndim == 0 else tuple(float(a) for a in array)


def relative_scale(a: Kernel, b: Kernel) -> float:
    """Return c with u_b = c u_a, the invariants of two kernels of one family.

    Such a number exists when the length scales are proportional.
    """
    if a.family != b.family:
        raise ValueError(
            f"Only kernels of one family can be combined. Got {a} ({a.family}) and {b} "
            f"({b.family}). Use ritz.Stack of two Nystrom bases instead."
        )
    if "auto" in (a.length_scale, b.length_scale):
        raise parameter_error("length_scale", "numbers in kernels that are combined", "'auto'")
    scales = (np.atleast_1d(a.length_scale), np.atleast_1d(b.length_scale))
    if len({len(scale) for scale in scales} - {1}) > 1:
        raise ValueError(
            "Kernels combine only when their length scales have the same number of entries. Got "
            f"{a.length_scale} and {b.length_scale}."
        )
    ratio = (scales[0] / scales[1]) ** 2
    if not np.allclose(ratio, ratio[0], rtol=1e-14, atol=0):
        raise ValueError(
            "Kernels combine only when their length scales are proportional. Got "
            f"{a.length_scale} and {b.length_scale}. Use ritz.Stack of two Nystrom bases instead."
        )
    return float(ratio[0])


@dataclass(frozen=True)
class KernelScaled(Kernel):
    """The kernel c k, for a positive number c."""

    file_tag: ClassVar[str] = "KernelScaled"

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor > 0):
            raise parameter_error("factor", "positive", self.factor, "Kernels stay positive.")

    @property
    def family(self) -> Family:  # type: ignore[override]
        """The family of the kernel scaled."""
        return self.kernel.family

    @property
    def length_scale(self) -> LengthScale:  # type: ignore[override]
        """The length scale of the kernel scaled."""
        return self.kernel.length_scale

    def with_length_scale(self, length_scale: LengthScale) -> Self:
        return replace(self, kernel=self.kernel.with_length_scale(length_scale))

    @property
    def smoothness(self) -> int | None:
        return self.kernel.smoothness

    @property
    def rate(self) -> float | None:
        return self.kernel.rate

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        return tuple(self.factor * q for q in self.kernel.profile(u, order))

    def require_right_derivatives(self, u: Array) -> None:
        self.kernel.require_right_derivatives(u)

    def sections(self, X: Array, Y: Array, offset: Array | None = None, **wanted: bool) -> Sections:
        inner_offset = None if offset is None else offset / self.factor
        values, *slopes = self.kernel.sections(X, Y, inner_offset, **wanted)
        scaled = [None if part is None else self.factor * part for part in slopes]
        return Sections(self.factor * values, *scaled)


@dataclass(frozen=True)
class _Pair(Kernel):
    """Two kernels of one family; the invariant of the second is a multiple of the first's."""

    first: Kernel
    second: Kernel

    def __post_init__(self) -> None:
        relative_scale(self.first, self.second)

    @property
    def family(self) -> Family:  # type: ignore[override]
        """The family of both kernels."""
        return self.first.family

    @property
    def length_scale(self) -> LengthScale:  # type: ignore[override]
        """The length scale of the first kernel, with one entry a dimension if either has that."""
        first, second = self.first.length_scale, self.second.length_scale
        if isinstance(first, float) and isinstance(second, tuple):
            return (first,) * len(second)
        return first

    @property
    def smoothness(self) -> int | None:
        finite = [k.smoothness for k in (self.first, self.second) if k.smoothness is not None]
        return min(finite, default=None)

    def require_right_derivatives(self, u: Array) -> None:
        self.first.require_right_derivatives(u)
        self.second.require_right_derivatives(relative_scale(self.first, self.second) * u)

    def _profiles(self, u: Array, order: int) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        c = relative_scale(self.first, self.second)
        second = self.second.profile(c * u, order)
        return self.first.profile(u, order), tuple(c**m * q for m, q in enumerate(second))


@dataclass(frozen=True)
class KernelSum(_Pair):
    """The kernel k1 + k2."""

    file_tag: ClassVar[str] = "KernelSum"

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        return tuple(a + b for a, b in zip(*self._profiles(u, order), strict=True))


@dataclass(frozen=True)
class KernelProduct(_Pair):
    """The kernel k1 k2, with derivatives by Leibniz' rule."""

    file_tag: ClassVar[str] = "KernelProduct"

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        a, b = self._profiles(u, order)
        return tuple(
            cast(Array, sum(comb(m, j) * a[j] * b[m - j] for j in range(m + 1)))
            for m in range(order + 1)
        )
