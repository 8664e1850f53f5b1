"""Functionals of kernels against finite differences, and their pivoted Cholesky factors."""

import numpy as np
import pytest

import ritz
from ritz.hermite.functionals import Functionals, covariance, variances
from ritz.hermite.sections import FunctionalSections, pivoted_cholesky

RNG = np.random.default_rng(0)
X, U = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3))
Y, V = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))
KERNELS = [
    ritz.Gaussian((0.7, 1.3, 2.0)),
    ritz.Matern(2.5, 1.5),
    ritz.Matern(1.5, 1.5),
    ritz.RationalQuadratic(1.2, 0.9),
    ritz.Polynomial(4, length_scale=1.7),
]
H = 1e-4
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def both(points, directions):
    return Functionals.at(points) + Functionals.along(points, directions)


@kernels
def test_covariances_are_derivatives_of_the_kernel(kernel):
    def k(a, b):
        return kernel(X + a * H * U, Y + b * H * V)

    expected = np.block(
        [
            [k(0, 0), (k(0, 1) - k(0, -1)) / (2 * H)],
            [
                (k(1, 0) - k(-1, 0)) / (2 * H),
                (k(1, 1) - k(-1, 1) - k(1, -1) + k(-1, -1)) / (4 * H**2),
            ],
        ]
    )
    found = covariance(kernel, both(X, U), both(Y, V))
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@kernels
def test_variances_are_the_diagonal(kernel):
    F = both(X, U)
    np.testing.assert_allclose(variances(kernel, F), np.diag(covariance(kernel, F, F)), rtol=1e-12)


@pytest.mark.parametrize("kernel", [KERNELS[i] for i in (0, 1, 3, 4)], ids=str)
def test_sections_and_their_gradients(kernel):
    basis = FunctionalSections(kernel, both(Y, V))
    np.testing.assert_allclose(
        basis(X), covariance(kernel, Functionals.at(X), both(Y, V)), rtol=1e-12
    )
    steps = H * np.eye(3)
    slopes = np.stack([(basis(X + e) - basis(X - e)) / (2 * H) for e in steps], axis=1)
    found = basis.gradient(X)
    np.testing.assert_allclose(found, slopes, atol=1e-6 * np.abs(slopes).max())
    A = RNG.normal(size=(8, 2))
    np.testing.assert_allclose(basis.jet(X).gradient.combine(A), found @ A, atol=1e-12)
    t = RNG.normal(size=(5, 3, 2))
    np.testing.assert_allclose(
        basis.jet(X).gradient.against(t), np.einsum("kdj,kdo->jo", found, t), atol=1e-12
    )


@kernels
def test_pivoted_cholesky_reproduces_the_covariance(kernel):
    F = both(X, U)
    chosen, factor = pivoted_cholesky(kernel, F, len(F))
    K = covariance(kernel, F, F)
    assert len(set(chosen)) == len(chosen) == len(F)
    np.testing.assert_allclose(factor @ factor.T, K, atol=1e-12 * np.abs(K).max())
    triangle = factor[chosen]
    assert (np.triu(triangle, 1) == 0).all()
    np.testing.assert_allclose(
        triangle @ triangle.T, K[np.ix_(chosen, chosen)], atol=1e-12 * np.abs(K).max()
    )


@pytest.mark.parametrize("length", [0.6, 1.0, 3.0])
def test_pivoted_cholesky_stops_at_rounding(length):
    """Variances that are left may be negative by rounding; no such functional is chosen."""
    x = np.random.default_rng(0).uniform(-2, 2, size=(700, 2))
    F = Functionals.at(x) + Functionals.partials(x, np.arange(700), np.zeros(700, dtype=int))
    kernel = ritz.Gaussian(length)
    chosen, factor = pivoted_cholesky(kernel, F, len(F))
    assert len(np.unique(chosen)) == len(chosen) < len(F)
    assert np.isfinite(factor).all()
    assert np.diag(factor[chosen]).min() > 0
    np.testing.assert_allclose(factor @ factor.T, covariance(kernel, F, F), atol=1e-11)


def test_pivoted_cholesky_leaves_less_variance_than_a_random_choice():
    points = RNG.normal(size=(400, 2))
    F = Functionals.at(points) + Functionals.along(points, np.tile([1.0, 0.0], (400, 1)))
    kernel = ritz.Gaussian(1.0)
    chosen, factor = pivoted_cholesky(kernel, F, 60)
    left = variances(kernel, F) - (factor**2).sum(axis=1)
    uniform = RNG.choice(800, 60, replace=False)
    small = covariance(kernel, F.take(uniform), F.take(uniform)) + 1e-12 * np.eye(60)
    cross = covariance(kernel, F, F.take(uniform))
    others = variances(kernel, F) - np.einsum("ij,ij->i", cross, np.linalg.solve(small, cross.T).T)
    assert left.max() < others.max() / 3
    # Repeated points add nothing.
    chosen, _ = pivoted_cholesky(kernel, F.take(np.repeat(np.arange(10), 3)), 30)
    assert len(chosen) == 10
