"""Squared distances: right to rounding near and far, by few columns and by many."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ritz.kernels.sections import DIRECT_COLUMNS, squared_distances

EPS = np.finfo(np.float64).eps
# Beyond this number distances come from a matrix product.
COLUMNS = [3, DIRECT_COLUMNS + 1]


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("d", [1, 2, 10, 32, 33, 50])
def test_distances_are_those_of_scipy(d):
    X, Y = normal(60, d), normal(40, d, seed=1)
    found = squared_distances(X, Y)
    assert found.shape == (60, 40)
    size = (X**2).sum(axis=1).max() + (Y**2).sum(axis=1).max()
    np.testing.assert_allclose(found, cdist(X, Y, "sqeuclidean"), rtol=0, atol=8 * EPS * size)


@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("offset", [2.0**10, 2.0**20, 2.0**30])
def test_nothing_is_lost_far_from_the_origin(offset, d):
    # Multiples of 1/1024, so that adding the offset rounds nothing.
    X, Y = np.round(normal(60, d) * 1024) / 1024, np.round(normal(40, d, seed=1) * 1024) / 1024
    size = (X**2).sum(axis=1).max() + (Y**2).sum(axis=1).max()
    truth = cdist(X, Y, "sqeuclidean")
    found = squared_distances(X + offset, Y + offset)
    np.testing.assert_allclose(found, truth, rtol=0, atol=16 * EPS * size)


@pytest.mark.parametrize("d", [4, 40])
@pytest.mark.parametrize("offset", [0.0, 100.0, 1e6])
def test_own_centers_are_at_distance_zero_exactly(offset, d):
    X = normal(300, d) + offset
    own = squared_distances(X, X[:100])
    np.testing.assert_array_equal(np.diag(own), 0.0)
    assert (own[np.nonzero(~np.eye(300, 100, dtype=bool))] > 0).all()


@pytest.mark.parametrize("d", COLUMNS)
def test_distances_are_never_negative(d):
    X = normal(200, d) + 1e3
    assert squared_distances(X, X + 1e-13).min() >= 0


@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e4])
@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6, 1e-9])
def test_near_pairs_keep_their_digits(gap, offset, d):
    Y = normal(50, d) + offset
    X = Y + gap * normal(50, d, seed=1)
    found = squared_distances(X, Y)
    np.testing.assert_allclose(found, cdist(X, Y, "sqeuclidean"), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 31, 40])
def test_more_near_pairs_than_are_repaired_at_a_time(d):
    X = normal(300, d) * 1e-9 + 1.0
    X[0] += 1.0
    np.testing.assert_allclose(
        squared_distances(X, X), cdist(X, X, "sqeuclidean"), rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("d", COLUMNS)
def test_no_points_have_no_distances(d):
    for n, p in ((0, 5), (5, 0), (0, 0)):
        assert squared_distances(np.ones((n, d)), np.ones((p, d))).shape == (n, p)


def test_points_too_far_for_their_squares_are_infinitely_far():
    X = normal(5, 40)
    X[3] = 1e200
    found = squared_distances(X, X[:2])
    assert np.isinf(found[3]).all()
    np.testing.assert_allclose(found[:3], cdist(X[:3], X[:2], "sqeuclidean"), rtol=1e-12)
