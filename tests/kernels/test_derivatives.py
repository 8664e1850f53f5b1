"""Partial derivatives of kernel sections against exact symbolic ones."""

from functools import cache
from itertools import product

import mpmath
import numpy as np
import pytest
import sympy

import ritz

HALF = sympy.Rational(1, 2)


def scaled(x, y, scale):
    return [(a - b) / s for a, b, s in zip(x, y, scale, strict=True)]


def square(x, y, scale):
    return sum(z**2 for z in scaled(x, y, scale))


def dot(x, y, scale):
    return sum(a * b / s**2 for a, b, s in zip(x, y, scale, strict=True))


def matern(r, nu):
    z = sympy.sqrt(2 * nu) * r
    polynomial = {1: 1, 3: 1 + z, 5: 1 + z + z**2 / 3, 7: 1 + z + 2 * z**2 / 5 + z**3 / 15}
    return polynomial[2 * nu] * sympy.exp(-z)


# The kernel for a length scale, and k(x, y) in symbols for one scale a coordinate.
KERNELS = {
    "gaussian": (ritz.Gaussian, lambda x, y, s: sympy.exp(-square(x, y, s) / 2)),
    "exponential": (ritz.Exponential, lambda x, y, s: sympy.exp(-sympy.sqrt(square(x, y, s)))),
    "matern 1.5": (
        lambda s: ritz.Matern(1.5, s),
        lambda x, y, s: matern(sympy.sqrt(square(x, y, s)), 3 * HALF),
    ),
    "matern 2.5": (
        lambda s: ritz.Matern(2.5, s),
        lambda x, y, s: matern(sympy.sqrt(square(x, y, s)), 5 * HALF),
    ),
    "rational quadratic": (
        lambda s: ritz.RationalQuadratic(0.75, s),
        lambda x, y, s: (1 + 2 * square(x, y, s) / 3) ** (-3 * HALF / 2),
    ),
    "polynomial": (
        lambda s: ritz.Polynomial(4, 0.5, s),
        lambda x, y, s: (HALF + dot(x, y, s)) ** 4,
    ),
    "dot exponential": (ritz.DotExponential, lambda x, y, s: sympy.exp(dot(x, y, s))),
    "sum": (
        lambda s: ritz.Gaussian(s) + 3 * ritz.Matern(2.5, twice(s)),
        lambda x, y, s: (
            sympy.exp(-square(x, y, s) / 2) + 3 * matern(sympy.sqrt(square(x, y, s)) / 2, 5 * HALF)
        ),
    ),
    "product": (
        lambda s: ritz.Gaussian(s) * ritz.RationalQuadratic(1.0, twice(s)),
        lambda x, y, s: sympy.exp(-square(x, y, s) / 2) / (1 + square(x, y, s) / 8),
    ),
}
SCALES = {1: (sympy.Rational(4, 5),), 2: (HALF, 2), 3: (sympy.Rational(4, 5),) * 3}
# Symbolic derivatives of these swell; one coordinate goes through all orders, more through three.
SWELLING = {"matern 2.5", "sum", "product"}
# In one dimension all orders; in more all low ones, and high ones even, odd and mixed.
HIGH = {
    2: [(4, 0), (2, 2), (1, 3), (0, 5), (6, 0), (3, 3), (2, 4)],
    3: [(1, 1, 1), (3, 0, 0), (1, 0, 3), (2, 2, 0), (3, 1, 1), (6, 0, 0), (2, 2, 2), (1, 2, 3)],
}


def multi_indices(dimension, order):
    every = [a for a in product(range(order + 1), repeat=dimension) if sum(a) <= order]
    if dimension == 1:
        return every
    low = [a for a in every if sum(a) <= 5 - dimension]
    return low + [a for a in HIGH[dimension] if 5 - dimension < sum(a) <= order]


def twice(scale):
    return tuple(2 * s for s in scale) if isinstance(scale, tuple) else 2 * scale


@cache
def symbolic(name, dimension, scale, alpha):
    """Return d^alpha k(., y) as a function of x and y in arbitrary precision."""
    x = sympy.symbols(f"x:{dimension}", real=True)
    y = sympy.symbols(f"y:{dimension}", real=True)
    # In one dimension sympy writes |x - y| and, for its derivatives, a delta at the center.
    modules = [{"DiracDelta": lambda *_: 0}, "mpmath"]
    return sympy.lambdify((x, y), _expression(name, dimension, scale, alpha), modules, cse=True)


@cache
def _expression(name, dimension, scale, alpha):
    x = sympy.symbols(f"x:{dimension}", real=True)
    y = sympy.symbols(f"y:{dimension}", real=True)
    if not any(alpha):
        return KERNELS[name][1](x, y, scale)
    i = next(i for i, a in enumerate(alpha) if a)
    lower = tuple(a - (j == i) for j, a in enumerate(alpha))
    return sympy.diff(_expression(name, dimension, scale, lower), x[i])


@pytest.mark.parametrize("dimension", SCALES)
@pytest.mark.parametrize("name", KERNELS)
def test_partials_equal_symbolic_derivatives(name, dimension):
    scale = SCALES[dimension]
    number = len(set(scale)) == 1
    kernel = KERNELS[name][0](float(scale[0]) if number else tuple(map(float, scale)))
    rng = np.random.default_rng(dimension)
    X, Y = rng.normal(size=(3, dimension)), rng.normal(size=(2, dimension))
    basis = ritz.KernelSections(kernel, Y)
    highest = 6 if kernel.smoothness is None else kernel.smoothness
    if name in SWELLING and dimension > 1:
        highest = min(highest, 3)
    largest = {}
    gaps = {}
    with mpmath.workdps(30):
        points = [[mpmath.mpf(float(a)) for a in x] for x in X]
        centers = [[mpmath.mpf(float(a)) for a in y] for y in Y]
        for alpha in multi_indices(dimension, highest):
            f = symbolic(name, dimension, scale, alpha)
            truth = np.array([[float(f(x, y)) for y in centers] for x in points])
            values = basis.partial(X, alpha)
            order = sum(alpha)
            gaps[alpha] = np.abs(values - truth).max()
            largest[order] = max(largest.get(order, 0.0), np.abs(truth).max())
    for alpha, gap in gaps.items():
        assert gap <= 1e-13 * largest[sum(alpha)], alpha


@pytest.mark.parametrize("scale", [0.7, (0.7, 1.9, 3.1)])
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize(
    "kernel",
    [
        ritz.Exponential,
        lambda s: ritz.Matern(0.5, s),
        lambda s: 2 * ritz.Exponential(s) + ritz.Gaussian(s),
        lambda s: ritz.Exponential(s) * ritz.RationalQuadratic(1.0, s),
        lambda s: ritz.CustomKernel(
            "distance",
            [lambda u: np.exp(-np.sqrt(2 * u)), lambda u: -np.exp(-np.sqrt(2 * u)) / safe_root(u)],
            s,
        ),
    ],
)
def test_a_kink_has_gradient_zero_at_its_own_center(kernel, offset, scale):
    Y = np.random.default_rng(0).normal(size=(80, 3)) + offset
    basis = ritz.KernelSections(kernel(scale), Y)
    i = np.arange(len(Y))
    assert (basis.gradient(Y)[i, :, i] == 0.0).all()
    for axis in np.eye(3, dtype=int):
        assert (basis.partial(Y, tuple(axis))[i, i] == 0.0).all()
    # Elsewhere the gradient of exp(-r / l) is nowhere near zero.
    others = np.abs(basis.gradient(Y)).max(axis=1)
    others[i, i] = 1.0
    assert others.min() > 0


def safe_root(u):
    with np.errstate(divide="ignore"):
        return np.where(u > 0, np.sqrt(2 * u), np.inf)


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_own_centers_are_seen_among_other_rows(dimension):
    rng = np.random.default_rng(dimension)
    X = 10 * rng.normal(size=(500, dimension))
    basis = ritz.KernelSections(ritz.Exponential(1.0), X[100:180])
    G = basis.gradient(X)
    assert (G[np.arange(100, 180), :, np.arange(80)] == 0.0).all()


def test_gradient_near_a_kink_keeps_its_size():
    # |grad exp(-r)| = exp(-r) however small r is.
    center = np.array([[0.3, -1.2, 5.0]])
    for r in (1e-3, 1e-6, 1e-9):
        step = np.array([[0.6, 0.8, 0.0]]) * r
        X = center + step
        distance = np.linalg.norm(X - center)
        others = np.array([[4.0, 1.0, 2.0], [-3.0, 0.5, 1.0]])
        basis = ritz.KernelSections(ritz.Exponential(1.0), np.concatenate([center, others]))
        size = np.linalg.norm(basis.gradient(X)[0, :, 0])
        # The step itself is known to eps |x| / r.
        assert size == pytest.approx(np.exp(-distance), rel=1e-13 + 4e-16 * 6 / r)


@pytest.mark.parametrize(("nu", "second"), [(1.5, -3.0), (2.5, -5 / 3), (3.5, -7 / 5)])
def test_matern_at_its_center_has_the_limits(nu, second):
    # (1 - z^2 / (4 (nu - 1)) + ...) with z^2 = 2 nu r^2 / l^2: second derivatives -nu/(nu-1)/l^2.
    center = np.array([[0.4, -0.7]])
    basis = ritz.KernelSections(ritz.Matern(nu, 0.5), center)
    assert basis.partial(center, (2, 0))[0, 0] == pytest.approx(4 * second, rel=1e-14)
    assert basis.partial(center, (1, 1))[0, 0] == 0.0
    assert basis.partial(center, (3, 0))[0, 0] == 0.0
    assert basis.partial(center, (1, 2))[0, 0] == 0.0
    assert basis.partial(center, (round(2 * nu), 0))[0, 0] == 0.0


@pytest.mark.parametrize("distance", [1e-8, 1e-30])
def test_the_last_derivative_keeps_its_size_near_the_center(distance):
    # k = 1 - 3 r^2 / 2 + sqrt(3) r^3 + ...: the third derivative jumps by 2 * 6 sqrt(3).
    basis = ritz.KernelSections(ritz.Matern(1.5, 1.0), np.zeros((1, 1)))
    third = basis.partial(np.array([[distance], [-distance]]), (3,))[:, 0]
    assert third == pytest.approx([6 * 3**0.5, -6 * 3**0.5], rel=1e-6)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 3.5, 5.5])
def test_all_derivatives_are_finite_at_any_distance(nu):
    basis = ritz.KernelSections(ritz.Matern(nu, 1.0), np.zeros((1, 1)))
    X = np.logspace(-300, 3, 600)[:, None]
    for order in range(round(2 * nu) + 1):
        values = basis.partial(X, (order,))
        # The derivative of order m of such kernels is at most (2 nu)^m, away from the center.
        assert np.abs(values).max() <= (1 + 1e-12) * (2 * nu) ** order


@pytest.mark.parametrize(
    ("kernel", "order"),
    [
        (ritz.Exponential(1.0), 1),
        (ritz.Matern(1.5), 3),
        (ritz.Matern(2.5), 5),
        (2 * ritz.Matern(1.5) + ritz.Gaussian(), 3),
        (ritz.Matern(1.5) * ritz.Exponential(), 1),
        (ritz.CustomKernel("distance", [lambda u: np.exp(-u), lambda u: -np.exp(-u)]), 1),
        (ritz.CustomKernel("dot", [np.exp, np.exp, np.exp]), 2),
    ],
)
def test_beyond_the_smoothness_is_a_clear_error(kernel, order):
    basis = ritz.KernelSections(kernel, np.zeros((2, 2)))
    X = np.ones((3, 2))
    assert basis.partial(X, (order, 0)).shape == (3, 2)
    for alpha in [(order + 1, 0), (order, 1), (0, order + 2)]:
        message = rf"derivatives up to order {order}; order {sum(alpha)} was asked for"
        with pytest.raises(ValueError, match=message):
            basis.partial(X, alpha)


def test_a_kernel_without_derivatives_has_no_gradient():
    basis = ritz.KernelSections(
        ritz.CustomKernel("distance", [lambda u: np.exp(-u)]), np.zeros((2, 2))
    )
    assert basis(np.ones((3, 2))).shape == (3, 2)
    with pytest.raises(ValueError, match="derivatives up to order 0; order 1 was asked for"):
        basis.gradient(np.ones((3, 2)))


def test_beyond_a_polynomial_is_zero():
    basis = ritz.KernelSections(ritz.Polynomial(2), np.ones((1, 2)))
    assert basis.partial(np.ones((2, 2)), (2, 1)).tolist() == [[0.0], [0.0]]
