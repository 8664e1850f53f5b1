"""Singular problems: biorthogonality under exact quadrature, and the law of the samples."""

import numpy as np
import pytest
from scipy.special import roots_hermitenorm

from ritz import datasets


@pytest.fixture
def rule():
    x, w = roots_hermitenorm(30)
    return x, w / w.sum()


def test_derivative_is_diagonal_between_its_functions(rule):
    x, w = rule
    problem, k, step = datasets.derivative(), 9, 1e-4
    X = x[:, None]

    def g(shift):
        return problem.right_functions(X + shift, k)

    slopes = (8 * (g(step) - g(-step)) - (g(2 * step) - g(-2 * step))) / (12 * step)
    F = problem.left_functions(X, k)
    sigma = problem.singular_values(k)
    np.testing.assert_allclose(sigma, np.sqrt(np.arange(k)), rtol=1e-15)
    np.testing.assert_allclose(F.T @ (w[:, None] * slopes), np.diag(sigma), atol=1e-8)
    # The derivative of each right function is a multiple of its left one, also pointwise.
    np.testing.assert_allclose(slopes[5:-5], (sigma * F)[5:-5], atol=1e-5)


def test_derivative_functions_are_orthonormal_except_the_partner_of_the_constant(rule):
    x, w = rule
    problem, k = datasets.derivative(), 9
    F, G = problem.left_functions(x[:, None], k), problem.right_functions(x[:, None], k)
    np.testing.assert_allclose(G.T @ (w[:, None] * G), np.eye(k), atol=1e-12)
    expected = np.eye(k)
    expected[0, 0] = 0.0
    np.testing.assert_allclose(F.T @ (w[:, None] * F), expected, atol=1e-12)


@pytest.mark.parametrize("r", [0.0, 0.5, 0.9])
def test_pair_is_diagonal_between_its_functions(rule, r):
    x, w = rule
    problem, k = datasets.gaussian_pair(r), 8
    X, Z = (a.reshape(-1, 1) for a in np.meshgrid(x, x))
    Y, weight = r * X + np.sqrt(1 - r**2) * Z, np.outer(w, w).reshape(-1, 1)
    F, G = problem.left_functions(X, k), problem.right_functions(Y, k)
    sigma = problem.singular_values(k)
    np.testing.assert_array_equal(sigma, [r**s for s in range(k)])
    np.testing.assert_allclose(F.T @ (weight * G), np.diag(sigma), atol=1e-12)
    np.testing.assert_allclose(F.T @ (weight * F), np.eye(k), atol=1e-12)
    np.testing.assert_allclose(G.T @ (weight * G), np.eye(k), atol=1e-12)


def test_pair_samples_have_the_correlation():
    n, r = 100_000, 0.8
    X, Y = datasets.gaussian_pair(r).sample(n, random_state=0)
    assert X.shape == Y.shape == (n, 1)
    # Five standard errors: var(xy) = 1 + r^2 and var(x^2) = 2.
    assert abs((X * Y).mean() - r) < 5 * np.sqrt((1 + r**2) / n)
    assert abs((X**2).mean() - 1) < 5 * np.sqrt(2 / n)
    assert abs((Y**2).mean() - 1) < 5 * np.sqrt(2 / n)


def test_derivative_samples_are_standard_normal():
    n = 100_000
    problem = datasets.derivative()
    X = problem.sample(n, random_state=0)
    assert X.shape == (n, 1)
    means = problem.right_functions(X, 5)[:, 1:].mean(axis=0)
    assert np.abs(means).max() < 5 / np.sqrt(n)


def test_samples_are_reproducible():
    for problem in (datasets.derivative(), datasets.gaussian_pair()):
        np.testing.assert_array_equal(problem.sample(5, 1), problem.sample(5, 1))
        assert not np.array_equal(problem.sample(5, 1), problem.sample(5, 2))


def test_energies_and_the_order_they_imply():
    derivative, pair = datasets.derivative(), datasets.gaussian_pair()
    assert (derivative.energy, pair.energy) == ("derivative", "cross")
    assert (np.diff(derivative.singular_values(6)) > 0).all()
    assert (np.diff(pair.singular_values(6)) < 0).all()


@pytest.mark.parametrize("k", [1, 2])
def test_few_functions(k):
    for problem in (datasets.derivative(), datasets.gaussian_pair()):
        X = np.zeros((3, 1))
        assert problem.left_functions(X, k).shape == (3, k)
        assert problem.right_functions(X, k).shape == (3, k)
        assert problem.singular_values(k).shape == (k,)


@pytest.mark.parametrize("r", [-0.5, 1.0, np.nan, "half"])
def test_correlation_must_be_in_the_unit_interval(r):
    with pytest.raises(ValueError, match=r"'correlation' parameter .* \[0, 1\)"):
        datasets.gaussian_pair(r)


def test_errors_name_the_argument():
    problem = datasets.gaussian_pair()
    with pytest.raises(ValueError, match="'Y' parameter must be an array with 1 columns"):
        problem.right_functions(np.zeros((3, 2)), 2)
    with pytest.raises(ValueError, match=r"'k' parameter .* Got 0"):
        problem.singular_values(0)
