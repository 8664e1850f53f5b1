"""What every kernel is: a profile q of one invariant u, and the algebra on such profiles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ritz.arrays import Array, as_number, as_real, as_rows, must
from ritz.kernels.distances import pairwise_squares

Family = Literal["distance", "dot"]
LengthScale = float | tuple[float, ...]


Coefficients = tuple[float, ...]
NO_OFFSET = np.zeros(0)


class Sections(NamedTuple):
    """Kernel sections at some points.

    Parameters
    ----------
    values
        q(u) (n, p), where they are wanted.
    shifted
        q(u) less an offset, where there is one.
    slopes, stretched
        q'(u) and, for distance kernels, |x - y|^2 q'(u), where they are wanted. Where the kernel
        has a rate c, q' = c q, the slopes may be left out, and stretched is |x - y|^2 q(u).
    """

    values: Array | None
    shifted: Array | None = None
    slopes: Array | None = None
    stretched: Array | None = None


class Kernel(ABC):
    """A kernel k(x, y) = q(u), with u = |x - y|^2 / 2 ("distance") or u = x.y ("dot").

    Points are divided by `length_scale` first, a number or one number a dimension.
    """

    family: ClassVar[Family]
    length_scale: LengthScale

    @property
    def smoothness(self) -> int | None:
        """The highest order of derivative that exists, or None for no limit."""
        return None

    @property
    def rate(self) -> float | None:
        """The number c with q' = c q, if there is one: the values then serve for gradients."""
        return None

    @property
    def compiled(self) -> tuple[str, Coefficients, Coefficients] | None:
        """The pass in `compiled.py` that the kernel has, and its coefficients; or None."""
        return None

    @abstractmethod
    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        """Return q, q', ..., q^(order) at u; zero where a derivative diverges at u = 0."""

    def scales(self, dimension: int) -> Array:
        """Return the length scale of each of `dimension` coordinates, checking their number."""
        scale = np.asarray(self.length_scale, dtype=np.float64)
        if scale.ndim == 1 and len(scale) != dimension:
            raise ValueError(
                must("length_scale", f"a number or {dimension} numbers", f"{len(scale)} numbers")
            )
        return scale if scale.ndim else np.full(dimension, scale)

    def invariant(self, X: Array, Y: Array) -> Array:
        """Return u (n, p) of points already divided by the length scale."""
        if self.family == "dot":
            return np.asarray(X @ Y.T)
        u = pairwise_squares(X, Y)
        u *= 0.5
        return u

    def sections(
        self,
        X: Array,
        Y: Array,
        offset: Array = NO_OFFSET,
        slopes: bool = False,
        dtype: Any = np.float64,
        values: bool = True,
    ) -> Sections:
        """Return what the functions k(., y_j) look like at points X (n, d), in length scales.

        Parameters
        ----------
        X, Y
            Points (n, d) and centers (p, d), already divided by the length scale.
        offset
            Numbers (p,) to take off the values, or none of them, (0,).
        slopes
            Whether derivatives in u are wanted.
        dtype
            Of the result.
        values
            Whether values without the offset are wanted too.
        """
        u = self.invariant(X, Y)
        q, *more = self.profile(u, 1 if slopes else 0)
        shifted = np.asarray(q - offset, dtype) if len(offset) else None
        q = np.asarray(q, dtype)
        if not slopes:
            return Sections(q, shifted)
        stretched = None
        if self.family == "distance":
            u *= 2
            with np.errstate(over="ignore", invalid="ignore"):
                u *= more[0]
            stretched = np.asarray(u, dtype)
        return Sections(q, shifted, np.asarray(more[0], dtype), stretched)

    def require_order(self, order: int) -> None:
        """Raise if derivatives of this order do not exist."""
        if self.smoothness is not None and order > self.smoothness:
            raise ValueError(
                f"{self} has derivatives up to order {self.smoothness}; order {order} was asked "
                "for. Use a smoother kernel, such as Gaussian."
            )

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the kernel matrix k(x_i, y_j), (n, p)."""
        X = as_rows(X)
        Y = as_rows(Y, "Y", X.shape[1])
        scale = self.scales(X.shape[1])
        return self.profile(self.invariant(X / scale, Y / scale), 0)[0]

    def __add__(self, other: Kernel) -> Kernel:
        return KernelSum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return KernelProduct(self, other)
        return KernelScaled(self, as_number(other, "factor"))

    __rmul__ = __mul__


def as_length_scale(value: object) -> LengthScale:
    """Return a positive number, or a tuple of one positive number a dimension."""
    array = as_real(value, "length_scale")
    if array.ndim > 1 or array.size == 0 or not np.all((array > 1e-152) & (array < 1e152)):
        what = "positive: a number, or one a dimension, between 1e-152 and 1e152"
        raise ValueError(must("length_scale", what, value))
    return float(array) if array.ndim == 0 else tuple(float(a) for a in array)


def combined_smoothness(a: Kernel, b: Kernel) -> int | None:
    """Return the smoothness of a sum or product."""
    finite = [k.smoothness for k in (a, b) if k.smoothness is not None]
    return min(finite, default=None)


def relative_scale(a: Kernel, b: Kernel) -> float:
    """Return c with u_b = c u_a, the invariants of two kernels of one family.

    Such a number exists when the length scales are proportional.
    """
    if a.family != b.family:
        raise ValueError(
            f"Only kernels of one family can be combined. Got {a} ({a.family}) and {b} "
            f"({b.family}). Use ritz.Stack of two Nystrom bases instead."
        )
    scales = (np.atleast_1d(a.length_scale), np.atleast_1d(b.length_scale))
    if len({len(scale) for scale in scales} - {1}) > 1:
        raise ValueError(
            "Kernels combine only when their length scales have one dimension. Got "
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

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor > 0):
            raise ValueError(must("factor", "positive", self.factor, "Kernels stay positive."))

    @property
    def family(self) -> Family:  # type: ignore[override]
        """The family of the kernel scaled."""
        return self.kernel.family

    @property
    def length_scale(self) -> LengthScale:  # type: ignore[override]
        """The length scale of the kernel scaled."""
        return self.kernel.length_scale

    @property
    def smoothness(self) -> int | None:
        return self.kernel.smoothness

    @property
    def rate(self) -> float | None:
        return self.kernel.rate

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        return tuple(self.factor * q for q in self.kernel.profile(u, order))

    def sections(
        self,
        X: Array,
        Y: Array,
        offset: Array = NO_OFFSET,
        slopes: bool = False,
        dtype: Any = np.float64,
        values: bool = True,
    ) -> Sections:
        inner = self.kernel.sections(X, Y, offset / self.factor, slopes, dtype, values)
        for array in inner:
            if array is not None:
                array *= self.factor
        return inner


@dataclass(frozen=True)
class _Pair(Kernel):
    """Two kernels of one family, the second seen through the first one's length scale."""

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
        """The length scale of the first kernel, one a dimension where either has that."""
        first, second = self.first.length_scale, self.second.length_scale
        if isinstance(first, float) and isinstance(second, tuple):
            return (first,) * len(second)
        return first

    @property
    def smoothness(self) -> int | None:
        return combined_smoothness(self.first, self.second)

    def _profiles(self, u: Array, order: int) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        c = relative_scale(self.first, self.second)
        second = self.second.profile(c * u, order)
        return self.first.profile(u, order), tuple(c**m * q for m, q in enumerate(second))


@dataclass(frozen=True)
class KernelSum(_Pair):
    """The kernel k1 + k2."""

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        return tuple(a + b for a, b in zip(*self._profiles(u, order), strict=True))


@dataclass(frozen=True)
class KernelProduct(_Pair):
    """The kernel k1 k2, with derivatives by Leibniz' rule."""

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        a, b = self._profiles(u, order)
        return tuple(
            np.asarray(sum(comb(m, j) * a[j] * b[m - j] for j in range(m + 1)))
            for m in range(order + 1)
        )
