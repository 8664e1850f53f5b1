"""Kernels of the distance: q is a function of u = |x - y|^2 / 2, lengths in length scales."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, cast

import numpy as np
from scipy.special import poch

from ritz.kernels.kernel import Family, Kernel, KernelProduct, KernelScaled, KernelSum, LengthScale
from ritz.kernels.sections import Coefficients
from ritz.namespaces import namespace
from ritz.validation import Array, as_number, parameter_error


class Stationary(Kernel):
    """A distance kernel whose Fourier transform is a law that can be sampled."""

    family: ClassVar[Family] = "distance"

    @abstractmethod
    def radii(self, n: int, rng: np.random.Generator) -> Array:
        """Draw r (n,) so that r times N(0, I) has the kernel's spectral law, in length scales."""


@dataclass(frozen=True)
class Gaussian(Stationary):
    """The Gaussian kernel exp(-|x - y|^2 / 2 l^2), so q(u) = exp(-u).

    Parameters
    ----------
    length_scale
        The number l, or one a dimension.

    Examples
    --------
    >>> from ritz import Gaussian
    >>> float(Gaussian(2.0)([[0.0]], [[2.0]])[0, 0])  # exp(-1/2)
    0.6065306597126334
    """

    file_tag: ClassVar[str] = "Gaussian"

    length_scale: LengthScale = 1.0

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        q = namespace(u).exp(-u)
        minus = -q if order else q
        return tuple(minus if m % 2 else q for m in range(order + 1))

    @property
    def rate(self) -> float | None:
        return -1.0

    @property
    def coefficients(self) -> Coefficients | None:
        return Coefficients(is_matern=False)

    def radii(self, n: int, rng: np.random.Generator) -> Array:
        return np.ones(n)


@dataclass(frozen=True)
class Matern(Stationary):
    """The Matern kernel of half-integer order nu.

    With z = sqrt(2 nu) |x - y| / l it is proportional to z^nu K_nu(z), that is
    (1 + z) exp(-z) for nu = 3/2 and (1 + z + z^2 / 3) exp(-z) for nu = 5/2. As d/du lowers the
    order, (1/z d/dz) z^nu K_nu = -z^(nu-1) K_(nu-1), all derivatives have the same shape.
    Derivatives exist up to order 2 nu; the last one jumps at the center, where it is zero.

    Parameters
    ----------
    nu
        1/2, 3/2, 5/2, ... below 100.
    length_scale
        The number l, or one a dimension.
    """

    file_tag: ClassVar[str] = "Matern"

    nu: float
    length_scale: LengthScale = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        what = "1/2, 3/2, 5/2, ... below 100"
        if not 0 < as_number(self.nu, "nu", what) < 100 or (2 * self.nu) % 2 != 1:
            raise parameter_error("nu", what, self.nu, "Gaussian is the limit of large nu.")

    @property
    def smoothness(self) -> int | None:
        return round(2 * self.nu)

    @property
    def coefficients(self) -> Coefficients | None:
        return MATERN_COEFFICIENTS.get(self.nu)

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        self.require_order(order)
        xp, nu = namespace(u), float(self.nu)
        # Beyond 800 the exponential is zero, whatever it is multiplied by.
        z = xp.minimum(xp.sqrt((4 * nu) * u), 800.0)
        decay = xp.exp(-z)
        norm = float(bessel_polynomial(nu, np.zeros(1))[0])
        return tuple(
            reduced_bessel(nu - m, z, decay) * ((-2 * nu) ** m / norm) for m in range(order + 1)
        )

    def radii(self, n: int, rng: np.random.Generator) -> Array:
        return np.asarray(np.sqrt(2 * self.nu / rng.chisquare(2 * self.nu, n)))


MATERN_COEFFICIENTS = {
    0.5: Coefficients(True, (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, -1.0)),
    1.5: Coefficients(True, (1.0, 1.0, 0.0, sqrt(3)), (-3.0, 0.0, 0.0)),
    2.5: Coefficients(True, (1.0, 1.0, 1 / 3, sqrt(5)), (-5 / 3, -5 / 3, 0.0)),
}


def bessel_polynomial(nu: float, z: Array) -> Array:
    """Return P with sqrt(2/pi) z^nu K_nu(z) = P(z) exp(-z), for half-integer nu > 0.

    P_(nu+1) = 2 nu P_nu + z^2 P_(nu-1), from P_(1/2) = 1 and P_(3/2) = 1 + z.
    """
    before: Array = namespace(z).ones_like(z)
    now, order = 1 + z, 1.5
    if nu == 0.5:
        return before
    while order < nu:
        before, now = now, 2 * order * now + z**2 * before
        order += 1
    return now


def reduced_bessel(nu: float, z: Array, decay: Array) -> Array:
    """Return sqrt(2/pi) z^nu K_nu(z) for half-integer nu of either sign; zero where infinite.

    Points so close that z^2 underflows or a power of 1 / z overflows count as equal.
    """
    if nu > 0:
        return bessel_polynomial(nu, z) * decay
    power = round(-2 * nu)
    nearest = max(1e-150, 10.0 ** (-250 / power))
    xp = namespace(z)
    inverse = xp.where(z > nearest, 1.0 / xp.where(z > nearest, z, 1.0), 0.0)
    return cast(Array, bessel_polynomial(-nu, z) * decay * inverse**power)


@dataclass(frozen=True)
class Exponential(Stationary):
    """The exponential kernel exp(-|x - y| / l), the Matern kernel of order 1/2.

    It has a kink at its center: its gradient there is zero by definition.

    Parameters
    ----------
    length_scale
        The number l, or one a dimension.
    """

    file_tag: ClassVar[str] = "Exponential"

    length_scale: LengthScale = 1.0

    @property
    def smoothness(self) -> int | None:
        return 1

    @property
    def coefficients(self) -> Coefficients | None:
        return MATERN_COEFFICIENTS[0.5]

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        self.require_order(order)
        return Matern(0.5).profile(u, order)

    def radii(self, n: int, rng: np.random.Generator) -> Array:
        return Matern(0.5).radii(n, rng)


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """The rational quadratic kernel (1 + |x - y|^2 / (2 alpha l^2))^(-alpha).

    A mixture of Gaussian kernels of many length scales; q(u) = (1 + u / alpha)^(-alpha).

    Parameters
    ----------
    alpha
        Positive; Gaussian is the limit of large alpha.
    length_scale
        The number l, or one a dimension.
    """

    file_tag: ClassVar[str] = "RationalQuadratic"

    alpha: float = 1.0
    length_scale: LengthScale = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if as_number(self.alpha, "alpha", "positive") <= 0:
            raise parameter_error("alpha", "positive", self.alpha)

    def profile(self, u: Array, order: int) -> tuple[Array, ...]:
        alpha = float(self.alpha)
        base = 1 + u / alpha
        power = base**-alpha
        return tuple(
            (-1.0) ** m * float(poch(alpha, m)) / alpha**m * power * base**-m
            for m in range(order + 1)
        )

    def radii(self, n: int, rng: np.random.Generator) -> Array:
        return np.asarray(np.sqrt(rng.gamma(self.alpha, 1 / self.alpha, n)))


def sample_frequencies(kernel: Kernel, n: int, dimension: int, rng: np.random.Generator) -> Array:
    """Draw frequencies w (n, d) with k(x, y) = k(x, x) E cos(w.(x - y)).

    Products of kernels add independent frequencies, sums mix them.
    """
    if isinstance(kernel, KernelScaled):
        return sample_frequencies(kernel.kernel, n, dimension, rng)
    if isinstance(kernel, KernelProduct):
        return sample_frequencies(kernel.first, n, dimension, rng) + sample_frequencies(
            kernel.second, n, dimension, rng
        )
    if isinstance(kernel, KernelSum):
        pick = rng.random(n) * amplitude(kernel) < amplitude(kernel.first)
        first = sample_frequencies(kernel.first, n, dimension, rng)
        return np.where(pick[:, None], first, sample_frequencies(kernel.second, n, dimension, rng))
    if isinstance(kernel, Stationary):
        normal = rng.standard_normal((n, dimension))
        return kernel.radii(n, rng)[:, None] * normal / kernel.scales(dimension)
    what = "a distance kernel with a known spectral law"
    raise parameter_error("kernel", what, kernel, "Use ritz.Nystrom.")


def amplitude(kernel: Kernel) -> float:
    """Return k(x, x) of a distance kernel."""
    return float(kernel.profile(np.zeros(1), 0)[0][0])
