"""Kernels of the dot product: q is a function of u = x.y / l^2."""

from __future__ import annotations

from dataclasses import dataclass
from math import perm
from typing import ClassVar

import numpy as np

from ritz.kernels.kernel import Family, Kernel, LengthScale
from ritz.namespaces import namespace
from ritz.validation import Array, as_count, as_number

# The highest degree: (1 + x.y)^degree of two equal unit vectors overflows from 1,024 on.
MOST_DEGREES = 1000


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel (offset + x.y / l^2)^degree.

    Parameters
    ----------
    degree
        A positive integer up to 1,000.
    offset
        Nonnegative; zero keeps only the monomials of degree `degree`.
    length_scale
        The number l, or one a dimension.
    """

    file_tag: ClassVar[str] = "Polynomial"

    family: ClassVar[Family] = "dot"
    degree: int
    offset: float = 1.0
    length_scale: LengthScale = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", as_count(self.degree, "degree", highest=MOST_DEGREES))
        object.__setattr__(self, "offset", as_number(self.offset, "offset", "nonnegative", 0.0))

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        base = self.offset + u
        # Multiplication, the lowest power first, is ten times as fast as a general power.
        power = integer_power(base, max(self.degree - order, 0))
        result = []
        for m in range(order, -1, -1):
            if m > self.degree:
                result.append(namespace(u).zeros_like(u))
                continue
            result.append(perm(self.degree, m) * power)
            if m:
                power = power * base
        return tuple(result[::-1])


@dataclass(frozen=True)
class DotExponential(Kernel):
    """The kernel exp(x.y / l^2), a power series of all polynomial kernels.

    Parameters
    ----------
    length_scale
        The number l, or one a dimension.
    """

    file_tag: ClassVar[str] = "DotExponential"

    family: ClassVar[Family] = "dot"
    length_scale: LengthScale = 1.0

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        xp = namespace(u)
        with np.errstate(over="ignore"):
            q = xp.exp(u)
        if not xp.all(xp.isfinite(q)):
            raise ValueError(
                f"{self} overflows: x.y / l^2 reaches {float(xp.max(u)):.3g}, above 709. "
                "Raise length_scale or scale the data."
            )
        return (q,) * (order + 1)

    @property
    def rate(self) -> float | None:
        return 1.0


def integer_power(base: Array, exponent: int) -> Array:
    """Return base to a power that is a nonnegative integer, by squaring."""
    result: Array = namespace(base).ones_like(base)
    while exponent:
        if exponent & 1:
            result = result * base
        base, exponent = base * base if exponent > 1 else base, exponent >> 1
    return result
