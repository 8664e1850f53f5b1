"""The marginal likelihood against a plain Gaussian density and finite differences."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, qmc

import ritz
from ritz.hermite.functionals import Functionals, covariance
from ritz.hermite.lengths import descend, inside_bounds, maximize
from ritz.hermite.likelihood import Likelihood

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3))
F = Functionals.at(X) + Functionals.along(X[:9], RNG.normal(size=(9, 3)))
Z = RNG.normal(size=(21, 2))
W = RNG.uniform(0.5, 2, size=21)
LENGTHS, NOISE = np.array([0.7, 1.1, 2.0]), np.array([1e-2, 3e-2])
KERNELS = {
    "gaussian": ritz.Gaussian(1.0),
    "matern": ritz.Matern(2.5, 0.8),
    "rational": ritz.RationalQuadratic(1.5, (0.5, 1.0, 2.0)),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_derivatives(kernel):
    likelihood = Likelihood(kernel, F, Z, W, True, RNG.uniform(size=(2, 2)), np.array([3, 5]))
    _, in_lengths, in_noise = likelihood(LENGTHS, NOISE)
    h = 1e-5
    for i, e in enumerate(h * np.eye(3)):
        ends = [likelihood(LENGTHS * np.exp(s * e), NOISE)[0] for s in (1, -1)]
        assert in_lengths[i] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-6)
    for i, e in enumerate(h * np.eye(2)):
        ends = [likelihood(LENGTHS, NOISE * np.exp(s * e))[0] for s in (1, -1)]
        assert in_noise[i] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-6)


def test_value_is_that_of_a_gaussian_density():
    """At the constant and amplitude of maximum likelihood, computed directly here."""
    likelihood = Likelihood(KERNELS["gaussian"], F, Z[:, :1], W)
    value, _, _ = likelihood(LENGTHS, NOISE)
    K = covariance(ritz.Gaussian(tuple(LENGTHS)), F, F)
    K += np.diag(np.where(F.values == 1, NOISE[0], NOISE[1]) / W)
    v, z = F.values, Z[:, 0]
    c = v @ np.linalg.solve(K, z) / (v @ np.linalg.solve(K, v))
    s2 = (z - c * v) @ np.linalg.solve(K, z - c * v) / len(z)
    density = multivariate_normal(c * v, s2 * K).logpdf(z)
    assert -value == pytest.approx(density + len(z) / 2 * (1 + np.log(2 * np.pi)), rel=1e-9)


def test_finds_the_lengths_of_a_random_function():
    points = RNG.uniform(-2, 2, size=(150, 2))
    G = Functionals.at(points) + Functionals.along(points, np.tile([1.0, 0.0], (150, 1)))
    true = np.array([0.8, 2.5])
    K = covariance(ritz.Gaussian(tuple(true)), G, G)
    z = np.linalg.cholesky(K + 1e-10 * np.eye(300)) @ RNG.normal(size=(300, 1))
    z[:150] += 1e-2 * RNG.normal(size=(150, 1))
    found = maximize(Likelihood(KERNELS["gaussian"], G, z, np.ones(300)))
    np.testing.assert_allclose(found.lengths, true, rtol=0.25)
    assert 2e-5 < found.noise[0] < 5e-4
    assert found.noise[1] < 1e-6


def test_repeated_values_can_be_replaced_by_their_means():
    """Values at equal points, one by one or as their means: the same up to a constant."""
    points = np.repeat(X[:6], 3, axis=0)
    z = RNG.normal(size=(18, 1))
    means = z.reshape(6, 3, 1).mean(axis=1)
    squares = np.array([((z.reshape(6, 3, 1) - means[:, None]) ** 2).sum(axis=(0, 1)), [0.0]])
    one = Likelihood(KERNELS["gaussian"], Functionals.at(points), z, np.ones(18))
    other = Likelihood(
        KERNELS["gaussian"],
        Functionals.at(X[:6]),
        means,
        np.full(6, 3.0),
        True,
        squares,
        np.array([12, 0]),
    )
    gaps = []
    for noise in ([0.1, 1.0], [0.5, 1.0]):
        a, b = (likelihood(LENGTHS, np.array(noise)) for likelihood in (one, other))
        gaps.append(a[0] - b[0])
        np.testing.assert_allclose(a[1], b[1], atol=1e-8)
        assert a[2][0] == pytest.approx(b[2][0], abs=1e-8)
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-8)


def test_rounding_does_not_decide_lengths_of_noiseless_data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(30, 2))
    found = []
    for _ in range(3):
        a, b = X.T
        t = np.column_stack([-400 * a * (b - a**2) - 2 * (1 - a), 200 * (b - a**2)])
        model = ritz.HermiteRegressor(random_state=0).fit(
            X, 100 * (b - a**2) ** 2 + (1 - a) ** 2, t
        )
        found.append(model.length_scale_)
        X = X * (1 + 1e-12 * rng.standard_normal(X.shape))
    # The likelihood is flat along long length scales.
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=0.25)


def ackley(x):
    """Return values (n,) and slopes (n, d) of a hill with waves of period 1."""
    d = x.shape[1]
    r = np.sqrt((x**2).mean(axis=1))
    waves = np.exp(np.cos(2 * np.pi * x).mean(axis=1))
    t = 4 / d * (np.exp(-0.2 * r) / r)[:, None] * x
    t += 2 * np.pi / d * np.sin(2 * np.pi * x) * waves[:, None]
    return -20 * np.exp(-0.2 * r) - waves, t


@pytest.mark.parametrize(("n", "d", "width"), [(150, 2, 7.0), (30, 10, 10.0)])
def test_waves_on_a_hill(n, d, width):
    """Waves that the points resolve are found; others are noise of the slopes alone.

    On both data the likelihood has several maxima.
    """
    x = (qmc.Sobol(d, rng=0).random(256)[:n] - 0.5) * width
    y, t = ackley(x)
    x, t = x / x.std(), t * x.std()
    z = np.concatenate([y - y.mean(), t.ravel()]) / y.std()
    at, along = np.repeat(x, d, axis=0), np.tile(np.eye(d), (n, 1))
    G = Functionals.at(x) + Functionals.along(at, along)
    found = maximize(Likelihood(KERNELS["gaussian"], G, z[:, None], np.ones(len(z))))
    assert (found.lengths.max() < 0.3) == (d == 2)
    assert (found.lengths.min() > 1.0) == (d == 10)
    assert found.noise[1] > 10 * found.noise[0]


def observed(n, f, slopes):
    """Return the likelihood of values and partial derivatives at n points of the plane."""
    points = 2 * qmc.Sobol(2, seed=0).random(n)
    along = [Functionals.along(points, np.tile(unit, (n, 1))) for unit in np.eye(2)]
    z = np.concatenate([f(*points.T), *slopes(*points.T)])[:, None]
    return Likelihood(
        KERNELS["gaussian"], Functionals.at(points) + along[0] + along[1], z, 0 * z[:, 0] + 1
    )


def test_a_column_that_hardly_matters_has_a_length_far_beyond_the_data():
    """The likelihood of sin(2 x) + y / 1000 has its maximum there, and no bound stops short."""
    likelihood = observed(
        32, lambda x, y: np.sin(2 * x) + 1e-3 * y, lambda x, y: (2 * np.cos(2 * x), 1e-3 + 0 * y)
    )
    fitted = maximize(likelihood)
    assert fitted.lengths[1] > 300
    noise = np.full(2, 1e-12)
    best, bounded = (
        likelihood(at, noise)[0] for at in (fitted.lengths, fitted.lengths.clip(max=300))
    )
    assert best < bounded - 1


def test_a_few_steps_lead_from_the_maximum_for_some_numbers_to_that_for_all():
    likelihood = observed(
        64, lambda x, y: np.sin(x * y), lambda x, y: (y * np.cos(x * y), x * np.cos(x * y))
    )
    few = maximize(likelihood.take(np.arange(0, 192, 3)))
    start = inside_bounds(likelihood, few.lengths, few.noise)
    found, best = descend(likelihood, start, 15), maximize(likelihood)
    assert found.value < descend(likelihood, start, 1).value - 1
    assert found.value < best.value + 5
    np.testing.assert_allclose(found.lengths, best.lengths, rtol=0.05)


def test_without_values_the_noise_of_derivatives_alone_decides_whether_data_are_exact():
    points = np.random.default_rng(0).normal(size=(20, 2))
    slopes = np.concatenate([np.cos(points[:, 0]), -np.sin(points[:, 1])])[:, None]
    G = Functionals.along(points, np.tile([1.0, 0.0], (20, 1)))
    G += Functionals.along(points, np.tile([0.0, 1.0], (20, 1)))
    fitted = maximize(Likelihood(KERNELS["gaussian"], G, slopes, np.ones(40)))
    assert fitted.noise[1] < np.finfo(float).eps
