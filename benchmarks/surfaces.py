"""Test functions of regression with exact gradients, and designs of points on their boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Surface:
    """A function on a box: `value(X)` (n,) and `gradient(X)` (n, d) in the units of its bounds."""

    name: str
    bounds: Array = field(repr=False)
    value: Callable[[Array], Array] = field(repr=False)
    gradient: Callable[[Array], Array] = field(repr=False)

    @property
    def dimension(self) -> int:
        return len(self.bounds)

    def sobol(self, n: int, seed: int) -> Array:
        """Return the first n points of a scrambled Sobol sequence on the box, (n, d)."""
        # Drawn up to a power of two: the sequence warns of any other number.
        unit = qmc.Sobol(self.dimension, seed=seed).random_base2(max(n - 1, 1).bit_length())
        return qmc.scale(unit[:n], *self.bounds.T)

    def latin_hypercube(self, n: int, seed: int) -> Array:
        """Return n points of a random Latin hypercube on the box, (n, d)."""
        return qmc.scale(qmc.LatinHypercube(self.dimension, seed=seed).random(n), *self.bounds.T)


def branin_value(X: Array) -> Array:
    """(x2 - b x1^2 + c x1 - 6)^2 + 10 (1 - t) cos x1 + 10."""
    x, y = X[:, 0], X[:, 1]
    return (y - B * x**2 + C * x - 6) ** 2 + 10 * (1 - T) * np.cos(x) + 10


def branin_gradient(X: Array) -> Array:
    x, y = X[:, 0], X[:, 1]
    inner = 2 * (y - B * x**2 + C * x - 6)
    return np.column_stack([inner * (C - 2 * B * x) - 10 * (1 - T) * np.sin(x), inner])


B, C, T = 5.1 / (4 * np.pi**2), 5 / np.pi, 1 / (8 * np.pi)


def rosenbrock_value(X: Array) -> Array:
    """Sum over i < d of 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2."""
    x, following = X[:, :-1], X[:, 1:]
    return _sums(100 * (following - x**2) ** 2 + (1 - x) ** 2)


def rosenbrock_gradient(X: Array) -> Array:
    x, following = X[:, :-1], X[:, 1:]
    bend = 200 * (following - x**2)
    G = np.zeros_like(X)
    G[:, :-1] = -2 * x * bend - 2 * (1 - x)
    G[:, 1:] += bend
    return G


def ackley_value(X: Array) -> Array:
    """20 + e - 20 exp(-0.2 |x| / sqrt(d)) - exp(mean cos(2 pi x_i))."""
    d = X.shape[1]
    radius: Array = np.sqrt(_sums(X**2) / d)
    waves: Array = np.exp(_sums(np.cos(2 * np.pi * X)) / d)
    funnel: Array = 20 - 20 * np.exp(-0.2 * radius)
    return funnel + (np.e - waves)


def ackley_gradient(X: Array) -> Array:
    """Return the gradient, and 0 in the tip of the funnel."""
    d = int(X.shape[1])
    radius = np.sqrt(_sums(X**2) / d)[:, None]
    funnel: Array = 4 * np.exp(-0.2 * radius) * X / (d * np.where(radius > 0, radius, 1.0))
    waves: Array = np.sin(2 * np.pi * X) * np.exp(_sums(np.cos(2 * np.pi * X)) / d)[:, None]
    return funnel + 2 * np.pi / d * waves


def wing_weight_value(X: Array) -> Array:
    """Weight of a light aircraft's wing in pounds (Forrester, Sobester and Keane, 2008).

    The inputs are wing area (ft^2), fuel weight (lb), aspect ratio, sweep (degrees), dynamic
    pressure (lb/ft^2), taper, thickness to chord, ultimate load factor, gross weight (lb), and
    paint weight (lb/ft^2).
    """
    return _wing(X) + X[:, 0] * X[:, 9]


def wing_weight_gradient(X: Array) -> Array:
    sweep = np.deg2rad(X[:, 3])
    # The structure's weight is a product of powers: its gradient is that times exponent / x.
    relative = WING_POWERS / np.where(WING_POWERS == 0, 1.0, X)
    relative[:, 3] = 0.9 * np.tan(sweep) * np.pi / 180
    G: Array = _wing(X)[:, None] * relative
    G[:, 0] += X[:, 9]
    G[:, 9] += X[:, 0]
    return G


WING_FACTOR = float(0.036 * 100**-0.3)
WING_POWERS = np.array([0.758, 0.0035, 0.6, 0.0, 0.006, 0.04, -0.3, 0.49, 0.49, 0.0])


def _wing(X: Array) -> Array:
    powers: Array = np.exp(np.log(np.where(WING_POWERS == 0, 1.0, X)) @ WING_POWERS)
    slant: Array = np.cos(np.deg2rad(X[:, 3])) ** -0.9
    return WING_FACTOR * powers * slant


def hartmann_value(X: Array) -> Array:
    """Return minus the sum of c_k exp(-sum_j A_kj (x_j - P_kj)^2), in six dimensions."""
    return -_sums(_hills(X))


def hartmann_gradient(X: Array) -> Array:
    apart = X[:, None, :] - HILL_CENTERS
    G: Array = np.einsum("nk,kj,nkj->nj", _hills(X), HILL_WIDTHS, apart)
    return 2 * G


HILL_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
HILL_WIDTHS = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
HILL_CENTERS = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def _hills(X: Array) -> Array:
    squares = (X[:, None, :] - HILL_CENTERS) ** 2
    hills: Array = np.exp(-np.einsum("kj,nkj->nk", HILL_WIDTHS, squares))
    return HILL_HEIGHTS * hills


def _sums(terms: Array) -> Array:
    """Return the sum of each row."""
    return np.asarray(terms.sum(axis=1))


def _box(*sides: tuple[float, float]) -> Array:
    return np.array(sides, dtype=np.float64)


rosenbrock = partial(Surface, value=rosenbrock_value, gradient=rosenbrock_gradient)
ackley = partial(Surface, value=ackley_value, gradient=ackley_gradient)
BRANIN = Surface("Branin", _box((-5, 10), (0, 15)), branin_value, branin_gradient)
WING_WEIGHT = Surface(
    "wing weight",
    _box(
        (150, 200),
        (220, 300),
        (6, 10),
        (-10, 10),
        (16, 45),
        (0.5, 1),
        (0.08, 0.18),
        (2.5, 6),
        (1700, 2500),
        (0.025, 0.08),
    ),
    wing_weight_value,
    wing_weight_gradient,
)
HARTMANN = Surface("Hartmann-6", _box(*[(0, 1)] * 6), hartmann_value, hartmann_gradient)
SURFACES = (
    BRANIN,
    rosenbrock("Rosenbrock, d = 2", _box(*[(-2, 2)] * 2)),
    rosenbrock("Rosenbrock, d = 10", _box(*[(-2, 2)] * 10)),
    WING_WEIGHT,
    HARTMANN,
    ackley("Ackley, d = 2", _box(*[(-5, 5)] * 2)),
    ackley("Ackley, d = 10", _box(*[(-5, 5)] * 10)),
)
