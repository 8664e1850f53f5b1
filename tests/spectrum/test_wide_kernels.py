"""Kernels far wider than the data: what they span within rounding is polynomials, no less.

A Gaussian kernel of length l on data of size 1 spans the polynomials of degree s up to terms of
relative size l^(-s); functions below rounding are cut, and those left are polynomials of one
degree and perhaps some of the next. So by the minimax principle its eigenvalues lie between those
of the polynomials of these two degrees, on the same samples.
"""

from functools import cache
from math import comb

import numpy as np
import pytest

import ritz

N = 50_000


@cache
def samples(d, n=N, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def values(basis, X, k):
    return ritz.decompose(ritz.laplacian(), basis, X, k, random_state=0).ritz_values


def degree_of(rank, d):
    """The largest degree whose polynomials, comb(d + degree, d) of them, are not more than rank."""
    degree = 0
    while comb(d + degree + 1, d) <= rank:
        degree += 1
    return degree


def check_between_polynomials(X, length, k, rtol):
    d = X.shape[1]
    basis = ritz.Nystrom(ritz.Gaussian(length), 50)
    found = ritz.decompose(ritz.laplacian(), basis, X, k, random_state=0)
    degree = degree_of(found.rank, d)
    fewer, more = (values(ritz.Monomials(s), X, k) for s in (degree, degree + 1))
    assert found.ritz_values[0] == 0.0
    assert (found.ritz_values >= more * (1 - rtol)).all()
    assert (found.ritz_values <= fewer * (1 + rtol)).all()
    return found


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("length", [10.0, 30.0, 100.0])
def test_on_the_line(length, offset):
    X = samples(1)
    found = check_between_polynomials(X + offset, length, 4, 1e-3)
    # Exactly the polynomials of degree rank - 1, on the line.
    same = values(ritz.Monomials(found.rank - 1), X, 4)
    np.testing.assert_allclose(found.ritz_values, same, rtol=1e-3)
    assert found.rank >= 5


@pytest.mark.parametrize("length", [10.0, 100.0])
def test_the_first_eigenvalues_are_one_two_and_three(length):
    X = samples(1, 400_000)
    basis = ritz.Nystrom(ritz.Gaussian(length), 50)
    found = ritz.decompose(ritz.laplacian(), basis, X, 4, random_state=0)
    cubic = values(ritz.Monomials(3), X, 4)
    np.testing.assert_allclose(found.ritz_values, np.arange(4.0), rtol=0.03)
    np.testing.assert_allclose(found.ritz_values[1:3], cubic[1:3], rtol=1e-3)
    fresh = samples(1, 5000, seed=1)
    F, G = found(fresh), found.gradient(fresh)[:, 0]
    x = fresh[:, 0]
    hermite = np.column_stack([np.ones_like(x), x, (x**2 - 1) / np.sqrt(2)])
    slopes = np.column_stack([np.zeros_like(x), np.ones_like(x), np.sqrt(2) * x])
    signs = np.sign((F[:, :3] * hermite).mean(axis=0))
    np.testing.assert_allclose(((F[:, :3] * signs - hermite) ** 2).mean(axis=0), 0.0, atol=1e-3)
    np.testing.assert_allclose(((G[:, :3] * signs - slopes) ** 2).mean(axis=0), 0.0, atol=2e-3)


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("length", [10.0, 30.0, 100.0])
def test_in_the_plane(length, offset):
    found = check_between_polynomials(samples(2) + offset, length, 6, 1e-3)
    np.testing.assert_allclose(found.ritz_values, [0, 1, 1, 2, 2, 2], rtol=0.03)


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("length", [10.0, 100.0])
def test_few_samples(n, length):
    X = samples(1, n)
    found = check_between_polynomials(X, length, 4, 5e-3)
    F = found(X)
    np.testing.assert_allclose(F.T @ F / n, np.eye(4), atol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("length", [0.3, 0.5, 1.0, 2.0, 3.0, 5.0])
def test_no_spurious_small_eigenvalue_at_usual_lengths(length, offset):
    for d, truth in ((1, np.arange(4.0)), (2, np.array([0.0, 1, 1, 2, 2, 2]))):
        basis = ritz.Nystrom(ritz.Gaussian(length), 50)
        found = values(basis, samples(d) + offset, len(truth))
        assert found[0] == 0.0
        assert (found >= 0.9 * truth).all(), found
        if length >= 2:
            np.testing.assert_allclose(found, truth, rtol=0.08)


WIDE = {
    "rational quadratic": ritz.Nystrom(ritz.RationalQuadratic(2.0, 30.0), 50),
    "dot exponential": ritz.Nystrom(ritz.DotExponential(30.0), 50),
    "Matern": ritz.Nystrom(ritz.Matern(2.5, 100.0), 50),
    "Fourier": ritz.RandomFourier(ritz.Gaussian(30.0), 50),
    "rpcholesky": ritz.Nystrom(ritz.Gaussian(30.0), 8, centers="rpcholesky"),
    "kmeans++": ritz.Nystrom(ritz.Gaussian(30.0), 50, centers="kmeans++"),
    "one length a dimension": ritz.Nystrom(ritz.Gaussian((10.0, 100.0)), 50),
}


@pytest.mark.parametrize("basis", WIDE.values(), ids=WIDE.keys())
def test_other_wide_functions(basis):
    found = values(basis, samples(2), 3)
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1:], values(ritz.Monomials(3), samples(2), 3)[1:], rtol=0.01)


def test_regularization_does_not_undo_it():
    X = samples(1)
    basis = ritz.Nystrom(ritz.Gaussian(10.0), 50)
    found = ritz.decompose(
        ritz.laplacian(), basis, X, 4, regularization=1e-12, random_state=0
    ).ritz_values
    np.testing.assert_allclose(found, values(ritz.Monomials(4), X, 4), rtol=0.02)
