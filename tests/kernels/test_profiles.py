"""Kernels against their textbook formulas, with |x - y| computed naively."""

import mpmath
import numpy as np
import pytest
import sympy
from scipy.special import gamma, kv
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import polynomial_kernel

import ritz

U = sympy.Symbol("u", positive=True)


def lengths(X, Y, scale=1.0):
    """Return |x_i - y_j| / l pair by pair."""
    scale = np.broadcast_to(scale, (X.shape[1],))
    return np.array([[np.sqrt(sum(((x - y) / scale) ** 2)) for y in Y] for x in X])


def dots(X, Y, scale=1.0):
    """Return x_i.y_j / l^2 pair by pair."""
    scale = np.broadcast_to(scale, (X.shape[1],))
    return np.array([[sum(x * y / scale**2) for y in Y] for x in X])


def matern(nu, r):
    z = np.sqrt(2 * nu) * np.where(r > 0, r, 1.0)
    return np.where(r > 0, 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z), 1.0)


def multiquadric(length_scale=1.0):
    """Return the inverse multiquadric (1 + u)^(-1/2) with four derivatives."""
    return ritz.CustomKernel(
        "distance",
        [
            lambda u: (1 + u) ** -0.5,
            lambda u: -1 / 2 * (1 + u) ** -1.5,
            lambda u: 3 / 4 * (1 + u) ** -2.5,
            lambda u: -15 / 8 * (1 + u) ** -3.5,
            lambda u: 105 / 16 * (1 + u) ** -4.5,
        ],
        length_scale,
    )


def cosh(length_scale=1.0):
    """Return the dot-product kernel cosh(u) with four derivatives."""
    return ritz.CustomKernel("dot", [np.cosh, np.sinh, np.cosh, np.sinh, np.cosh], length_scale)


ARD = (0.7, 1.3, 2.0)

# Each kernel and its formula, a function of the points.
FORMULAS = {
    "gaussian": (ritz.Gaussian(0.8), lambda X, Y: np.exp(-(lengths(X, Y, 0.8) ** 2) / 2)),
    "gaussian ard": (ritz.Gaussian(ARD), lambda X, Y: np.exp(-(lengths(X, Y, ARD) ** 2) / 2)),
    "exponential": (ritz.Exponential(1.7), lambda X, Y: np.exp(-lengths(X, Y, 1.7))),
    "exponential ard": (ritz.Exponential(ARD), lambda X, Y: np.exp(-lengths(X, Y, ARD))),
    "matern 0.5": (ritz.Matern(0.5, 0.9), lambda X, Y: np.exp(-lengths(X, Y, 0.9))),
    "matern 1.5": (
        ritz.Matern(1.5, 0.9),
        lambda X, Y: (
            (1 + np.sqrt(3) * lengths(X, Y, 0.9)) * np.exp(-np.sqrt(3) * lengths(X, Y, 0.9))
        ),
    ),
    "matern 2.5": (
        ritz.Matern(2.5, 0.9),
        lambda X, Y: (
            (1 + np.sqrt(5) * lengths(X, Y, 0.9) + 5 * lengths(X, Y, 0.9) ** 2 / 3)
            * np.exp(-np.sqrt(5) * lengths(X, Y, 0.9))
        ),
    ),
    "matern 3.5 ard": (ritz.Matern(3.5, ARD), lambda X, Y: matern(3.5, lengths(X, Y, ARD))),
    "rational quadratic": (
        ritz.RationalQuadratic(0.6, 1.1),
        lambda X, Y: (1 + lengths(X, Y, 1.1) ** 2 / (2 * 0.6)) ** -0.6,
    ),
    "rational quadratic ard": (
        ritz.RationalQuadratic(3.0, ARD),
        lambda X, Y: (1 + lengths(X, Y, ARD) ** 2 / 6) ** -3.0,
    ),
    "polynomial": (ritz.Polynomial(3, 0.5), lambda X, Y: (0.5 + dots(X, Y)) ** 3),
    "polynomial ard": (ritz.Polynomial(4, 0.0, ARD), lambda X, Y: dots(X, Y, ARD) ** 4),
    "dot exponential": (ritz.DotExponential(1.4), lambda X, Y: np.exp(dots(X, Y, 1.4))),
    "custom distance": (
        multiquadric(1.2),
        lambda X, Y: 1 / np.sqrt(1 + lengths(X, Y, 1.2) ** 2 / 2),
    ),
    "custom dot": (cosh(ARD), lambda X, Y: np.cosh(dots(X, Y, ARD))),
    "scaled": (2.5 * ritz.Gaussian(0.8), lambda X, Y: 2.5 * np.exp(-(lengths(X, Y, 0.8) ** 2) / 2)),
    "scaled twice": (
        0.5 * (ritz.Exponential(2.0) * 3.0),
        lambda X, Y: 1.5 * np.exp(-lengths(X, Y, 2.0)),
    ),
    "sum of two scales": (
        ritz.Gaussian(0.5) + 0.3 * ritz.Gaussian(2.0),
        lambda X, Y: (
            np.exp(-(lengths(X, Y, 0.5) ** 2) / 2) + 0.3 * np.exp(-(lengths(X, Y, 2.0) ** 2) / 2)
        ),
    ),
    "sum of proportional ard scales": (
        ritz.Matern(1.5, ARD) + ritz.Gaussian(tuple(3 * a for a in ARD)),
        lambda X, Y: (
            matern(1.5, lengths(X, Y, ARD)) + np.exp(-(lengths(X, Y, 3 * np.array(ARD)) ** 2) / 2)
        ),
    ),
    "sum of a number and equal scales": (
        ritz.Gaussian((0.7, 0.7, 0.7)) + ritz.Exponential(1.4),
        lambda X, Y: np.exp(-(lengths(X, Y, 0.7) ** 2) / 2) + np.exp(-lengths(X, Y, 1.4)),
    ),
    "product": (
        ritz.Gaussian(1.0) * ritz.RationalQuadratic(2.0, 0.7),
        lambda X, Y: np.exp(-(lengths(X, Y) ** 2) / 2) * (1 + lengths(X, Y, 0.7) ** 2 / 4) ** -2,
    ),
    "product of dots": (
        ritz.Polynomial(2, 1.0, 2.0) * ritz.DotExponential(1.5),
        lambda X, Y: (1 + dots(X, Y, 2.0)) ** 2 * np.exp(dots(X, Y, 1.5)),
    ),
    "algebra": (
        2 * (ritz.Gaussian(1.0) + ritz.Matern(2.5, 0.5)) * ritz.RationalQuadratic(1.0, 3.0),
        lambda X, Y: (
            2
            * (np.exp(-(lengths(X, Y) ** 2) / 2) + matern(2.5, lengths(X, Y, 0.5)))
            / (1 + lengths(X, Y, 3.0) ** 2 / 2)
        ),
    ),
}


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(9, 3))
    Y[:4] = X[:4]
    Y[4] = X[4] + 1e-6
    return X, Y


@pytest.mark.parametrize("name", FORMULAS)
def test_kernel_equals_its_formula(name, points):
    kernel, formula = FORMULAS[name]
    K, truth = kernel(*points), formula(*points)
    assert K.shape == (12, 9)
    assert np.abs(K - truth).max() <= 2e-14 * np.abs(truth).max()


@pytest.mark.parametrize("name", FORMULAS)
def test_kernel_is_symmetric_and_positive(name, points):
    kernel, _ = FORMULAS[name]
    K = kernel(points[0], points[0])
    assert np.abs(K - K.T).max() <= 1e-14 * np.abs(K).max()
    assert np.linalg.eigvalsh((K + K.T) / 2).min() >= -1e-13 * np.abs(K).max()


@pytest.mark.parametrize("name", [n for n, (k, _) in FORMULAS.items() if k.family == "distance"])
def test_distance_kernels_do_not_see_a_common_shift(name, points):
    kernel, formula = FORMULAS[name]
    # Coordinates on a grid of 2^-20 stay exact under the shift.
    X, Y = (np.round(Z * 2**20) / 2**20 for Z in points)
    truth = formula(X, Y)
    assert np.abs(kernel(X + 1e4, Y + 1e4) - truth).max() <= 1e-9 * np.abs(truth).max()


SKLEARN = {
    "gaussian": (ritz.Gaussian(0.8), gp.RBF(0.8)),
    "gaussian ard": (ritz.Gaussian(ARD), gp.RBF(ARD)),
    "exponential": (ritz.Exponential(1.3), gp.Matern(1.3, nu=0.5)),
    "matern 1.5": (ritz.Matern(1.5, 0.7), gp.Matern(0.7, nu=1.5)),
    "matern 1.5 ard": (ritz.Matern(1.5, ARD), gp.Matern(ARD, nu=1.5)),
    "matern 2.5": (ritz.Matern(2.5, 0.7), gp.Matern(0.7, nu=2.5)),
    "matern 3.5": (ritz.Matern(3.5, 0.7), gp.Matern(0.7, nu=3.5)),
    "rational quadratic": (
        ritz.RationalQuadratic(0.6, 1.1),
        gp.RationalQuadratic(length_scale=1.1, alpha=0.6),
    ),
    "algebra": (
        2 * ritz.Gaussian(1.0) * ritz.Matern(1.5, 0.5) + ritz.RationalQuadratic(2.0, 3.0),
        gp.ConstantKernel(2) * gp.RBF(1.0) * gp.Matern(0.5, nu=1.5)
        + gp.RationalQuadratic(length_scale=3.0, alpha=2.0),
    ),
}


@pytest.mark.parametrize("name", SKLEARN)
def test_equals_scikit_learn(name, points):
    ours, theirs = SKLEARN[name]
    assert np.abs(ours(*points) - theirs(*points)).max() <= 1e-14 * ours(*points).max()


def test_polynomial_equals_scikit_learn(points):
    truth = polynomial_kernel(*points, degree=3, gamma=1 / 1.5**2, coef0=0.4)
    K = ritz.Polynomial(3, 0.4, 1.5)(*points)
    assert np.abs(K - truth).max() <= 1e-14 * np.abs(truth).max()


def matern_profile(nu):
    z = sympy.sqrt(4 * nu * U)
    polynomial = {
        sympy.Rational(1, 2): 1,
        sympy.Rational(3, 2): 1 + z,
        sympy.Rational(5, 2): 1 + z + z**2 / 3,
        sympy.Rational(7, 2): 1 + z + 2 * z**2 / 5 + z**3 / 15,
    }
    return polynomial[nu] * sympy.exp(-z)


HALF = sympy.Rational(1, 2)
PROFILES = {
    "gaussian": (ritz.Gaussian(), sympy.exp(-U)),
    "exponential": (ritz.Exponential(), matern_profile(HALF)),
    "matern 1.5": (ritz.Matern(1.5), matern_profile(3 * HALF)),
    "matern 2.5": (ritz.Matern(2.5), matern_profile(5 * HALF)),
    "matern 3.5": (ritz.Matern(3.5), matern_profile(7 * HALF)),
    "rational quadratic": (
        ritz.RationalQuadratic(0.75),
        (1 + U / sympy.Rational(3, 4)) ** -sympy.Rational(3, 4),
    ),
    "polynomial": (ritz.Polynomial(3, 0.5), (HALF + U) ** 3),
    "dot exponential": (ritz.DotExponential(), sympy.exp(U)),
    "custom": (multiquadric(), (1 + U) ** -HALF),
    "scaled": (3 * ritz.Matern(2.5), 3 * matern_profile(5 * HALF)),
    "sum": (ritz.Gaussian(1.0) + ritz.Matern(3.5, 2.0), None),
    "product": (ritz.Gaussian(1.0) * ritz.Matern(3.5, 2.0), None),
}
PROFILES["sum"] = (
    PROFILES["sum"][0],
    sympy.exp(-U) + matern_profile(7 * HALF).subs(U, U / 4),
)
PROFILES["product"] = (
    PROFILES["product"][0],
    sympy.exp(-U) * matern_profile(7 * HALF).subs(U, U / 4),
)
GRID = [0.01, 0.125, 0.5, 1.0, 3.0, 20.0]


def highest(kernel):
    return 6 if kernel.smoothness is None else min(kernel.smoothness, 5)


@pytest.mark.parametrize("name", PROFILES)
def test_derivatives_in_u_equal_symbolic_ones(name):
    kernel, q = PROFILES[name]
    profiles = kernel.profile(np.array(GRID), highest(kernel))
    assert len(profiles) == highest(kernel) + 1
    with mpmath.workdps(40):
        for m, values in enumerate(profiles):
            f = sympy.lambdify(U, q, "mpmath")
            truth = np.array([float(f(mpmath.mpf(u))) for u in GRID])
            np.testing.assert_allclose(values, truth, rtol=2e-13, atol=0, err_msg=f"order {m}")
            q = sympy.diff(q, U)


@pytest.mark.parametrize("name", PROFILES)
def test_derivatives_at_zero_are_limits_or_zero(name):
    kernel, q = PROFILES[name]
    profiles = kernel.profile(np.zeros(1), min(4, highest(kernel)))
    for m, values in enumerate(profiles):
        limit = sympy.limit(sympy.diff(q, U, m), U, 0, "+")
        if limit.is_finite:
            assert values[0] == pytest.approx(float(limit), rel=1e-14, abs=0)
        elif name in ("sum", "product"):
            # The diverging part alone is left out; powers of x - y multiply what remains.
            assert np.isfinite(values[0])
        else:
            assert values[0] == 0.0


@pytest.mark.parametrize("name", FORMULAS)
def test_derivatives_in_u_are_slopes(name):
    kernel, _ = FORMULAS[name]
    u = np.array([0.3, 0.8, 1.5])
    order = 3 if kernel.smoothness is None else min(3, kernel.smoothness)
    derivatives = kernel.profile(u, order)
    for m in range(order):
        errors = []
        for h in (2e-2, 1e-2):
            ahead, behind = kernel.profile(u + h, m)[m], kernel.profile(u - h, m)[m]
            errors.append(np.abs((ahead - behind) / (2 * h) - derivatives[m + 1]).max())
        # Central differences err by O(h^2): halving h divides the error by 4.
        assert errors[1] <= errors[0] / 3.9 + 1e-12 * np.abs(derivatives[m]).max()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ritz.Gaussian(0.0), "'length_scale' parameter must be positive"),
        (lambda: ritz.Gaussian(-1.0), "'length_scale' parameter must be positive"),
        (lambda: ritz.Gaussian(np.nan), "'length_scale' parameter must be positive"),
        (lambda: ritz.Exponential((1.0, 0.0)), "'length_scale' parameter must be positive"),
        (lambda: ritz.Matern(1.5, [[1.0]]), "'length_scale' parameter must be positive"),
        (lambda: ritz.Matern(1.0), "'nu' parameter must be 1/2, 3/2"),
        (lambda: ritz.RationalQuadratic(0.0), "'alpha' parameter must be positive"),
        (lambda: ritz.Polynomial(0), "'degree' parameter must be a positive integer"),
        (lambda: ritz.Polynomial(1.5), "'degree' parameter must be a positive integer"),
        (lambda: ritz.Polynomial(2, -1.0), "'offset' parameter must be nonnegative"),
        (lambda: -1.0 * ritz.Gaussian(), "'factor' parameter must be positive"),
        (lambda: ritz.CustomKernel("other", [np.exp]), "'family' parameter must be"),
        (lambda: ritz.CustomKernel("dot", []), "'profiles' parameter must be"),
        (lambda: ritz.Gaussian() + ritz.Polynomial(2), "one family"),
        (lambda: ritz.Gaussian((1.0, 2.0)) * ritz.Gaussian(), "proportional"),
        (lambda: ritz.Gaussian((1.0, 2.0)) + ritz.Gaussian((1.0, 2.0, 3.0)), "length_scale|scales"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_wrong_number_of_length_scales_is_named(points):
    for kernel in (
        ritz.Gaussian((1.0, 2.0)),
        ritz.Gaussian(1.0) + ritz.Gaussian((2.0, 2.0)),
        ritz.Gaussian((2.0, 2.0)) + ritz.Gaussian(1.0),
    ):
        with pytest.raises(ValueError, match=r"'length_scale' parameter must be .* 3 numbers"):
            kernel(*points)


def test_custom_profile_of_wrong_shape_or_values_is_named():
    rows = np.zeros((2, 1))
    with pytest.raises(ValueError, match=r"profiles\[0\]"):
        ritz.CustomKernel("distance", [lambda u: 1.0])(rows, rows)
    with pytest.raises(ValueError, match=r"profiles\[0\].*finite"):
        ritz.CustomKernel("distance", [lambda u: np.full_like(u, np.nan)])(rows, rows + 1)


def test_overflow_of_the_dot_exponential_is_said():
    with pytest.raises(ValueError, match="overflows"):
        ritz.DotExponential()([[100.0]], [[100.0]])
