"""Compiled passes against NumPy: the exponential, and everything a section yields at once."""

import numpy as np
import pytest

import ritz
from ritz.kernels.distances import pairwise_squares

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=(25, 3))
X[:5] = Y[:5]
SQUARES = ((X[:, None] - Y) ** 2).sum(axis=2)
KERNELS = [
    ritz.Gaussian(),
    ritz.Exponential(),
    ritz.Matern(1.5),
    ritz.Matern(2.5),
    ritz.Matern(3.5),
    2.5 * ritz.Gaussian(),
    ritz.Gaussian() + ritz.Matern(1.5),
    ritz.RationalQuadratic(0.7),
]


def test_the_exponential_is_right_to_the_last_places():
    # A Gaussian at points on a line, which has exact squares, is the exponential alone.
    distances = np.sqrt(np.concatenate([np.linspace(0, 1416, 20_001), [1e4, 1e300, 0.0]]))
    found = ritz.Gaussian()(distances[:, None], np.zeros((1, 1)))[:, 0]
    exact = np.exp(-(distances**2) / 2)
    np.testing.assert_allclose(found, exact, rtol=1e-15, atol=3e-308)
    assert found[-1] == 1.0


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sections_are_profiles(kernel, dtype):
    offset = RNG.normal(size=25)
    found = kernel.sections(X, Y, offset, slopes=True, dtype=dtype)
    q, slope = kernel.profile(SQUARES / 2, 1)
    tolerance = 1e-13 if dtype is np.float64 else 1e-6
    np.testing.assert_allclose(found.values, q, rtol=tolerance)
    np.testing.assert_allclose(found.shifted, q - offset, atol=tolerance * 10)
    if found.slopes is None:
        slope = slope / kernel.rate
    else:
        np.testing.assert_allclose(found.slopes, slope, rtol=tolerance)
    np.testing.assert_allclose(found.stretched, SQUARES * slope, rtol=tolerance, atol=1e-300)
    assert {array.dtype for array in found if array is not None} == {np.dtype(dtype)}


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_what_is_not_wanted_is_not_there(kernel):
    alone = kernel.sections(X, Y)
    assert alone.shifted is alone.slopes is alone.stretched is None
    np.testing.assert_allclose(alone.values, kernel(X, Y), rtol=1e-13)


@pytest.mark.parametrize("kernel", [*KERNELS, ritz.Polynomial(2)], ids=str)
@pytest.mark.parametrize("d", [3, 40])
def test_no_points_have_no_values(kernel, d):
    for n, p in ((0, 5), (5, 0), (0, 0)):
        assert kernel(np.ones((n, d)), np.ones((p, d))).shape == (n, p)
        found = kernel.sections(np.ones((n, d)), np.ones((p, d)), np.zeros(p), slopes=True)
        assert {array.shape for array in found if array is not None} == {(n, p)}


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_many_coordinates(kernel):
    """Beyond 32 coordinates distances come from a matrix product."""
    A, B = np.pad(X, ((0, 0), (0, 37))), np.pad(Y, ((0, 0), (0, 37)))
    few, many = (kernel.sections(*pair, np.ones(len(Y)), True) for pair in ((X, Y), (A, B)))
    for one, other in zip(few, many, strict=True):
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("d", [1, 3, 4, 31, 40])
def test_squares_are_exact_where_points_are_close(d):
    X = RNG.normal(size=(40, d))
    shifted = X + 1e3
    near = shifted[:, None] + 1e-7 * RNG.normal(size=(40, 2, d))
    for i in range(40):
        exact = ((shifted[i] - near[i]) ** 2).sum(axis=1)
        np.testing.assert_allclose(
            pairwise_squares(shifted[i : i + 1], near[i])[0], exact, rtol=1e-12
        )
    assert (np.diag(pairwise_squares(X, X)) == 0).all()
