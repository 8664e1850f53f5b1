"""Clouds: without noise the points lie on their shape, and the noise has the stated size."""

from functools import partial

import numpy as np
import pytest

from ritz.datasets import concentric_circles, half_moons, swiss_roll

CLOUDS = [half_moons, concentric_circles, swiss_roll]


def test_half_moons_lie_on_two_half_circles():
    cloud = half_moons(2000, noise=0.0, random_state=0)
    assert cloud.X.shape == (2000, 2)
    assert cloud.parameters.shape == (2000, 1)
    assert set(cloud.labels) == {0, 1}
    centers = np.column_stack([np.zeros(2000), cloud.labels])
    np.testing.assert_allclose(np.linalg.norm(cloud.X - centers, axis=1), 1.0, rtol=1e-14)
    assert (cloud.X[cloud.labels == 1, 0] > 0).all()
    assert (cloud.X[cloud.labels == 0, 0] <= 0).all()
    angles = np.arctan2(cloud.X[:, 1] - cloud.labels, cloud.X[:, 0]) % (2 * np.pi)
    np.testing.assert_allclose(angles, cloud.parameters[:, 0], atol=1e-13)


def test_concentric_circles_have_radii_one_to_n():
    cloud = concentric_circles(3000, n_circles=5, noise=0.0, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(cloud.X, axis=1), 1 + cloud.labels, rtol=1e-14)
    # All circles are equally likely: five standard errors of a share of 1/5.
    shares = np.bincount(cloud.labels, minlength=5) / 3000
    assert np.abs(shares - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 3000)


def test_swiss_roll_is_the_image_of_its_parameters():
    cloud = swiss_roll(1000, random_state=0)
    assert cloud.labels is None
    t, h = cloud.parameters.T
    np.testing.assert_allclose(np.hypot(cloud.X[:, 0], cloud.X[:, 2]), t, rtol=1e-14)
    np.testing.assert_array_equal(cloud.X[:, 1], h)
    assert (t >= 1.5 * np.pi).all()
    assert (t < 4.5 * np.pi).all()
    assert (h >= 0).all()
    assert (h < 21).all()
    assert abs(t.mean() - 3 * np.pi) < 5 * 3 * np.pi / np.sqrt(12 * 1000)
    assert abs(h.mean() - 10.5) < 5 * 21 / np.sqrt(12 * 1000)


@pytest.mark.parametrize("draw", CLOUDS)
def test_noise_is_gaussian_of_the_stated_size(draw):
    clean, noisy = (draw(20_000, noise=s, random_state=0) for s in (0.0, 0.3))
    np.testing.assert_array_equal(clean.parameters, noisy.parameters)
    noise = noisy.X - clean.X
    n = len(noise)
    covariance = noise.T @ noise / n
    # Five standard errors of a variance, sqrt(2/n), which bound those of a covariance.
    d = noise.shape[1]
    np.testing.assert_allclose(covariance, 0.09 * np.eye(d), atol=0.09 * 5 * np.sqrt(2 / n))
    # The fourth moment of a standard normal is 3, the variance of its fourth power 96.
    fourth = ((noise / 0.3) ** 4).mean(axis=0)
    np.testing.assert_allclose(fourth, 3.0, atol=5 * np.sqrt(96 / n))


@pytest.mark.parametrize("draw", CLOUDS)
def test_clouds_are_reproducible(draw):
    one, same, other = (draw(50, random_state=s) for s in (1, np.random.default_rng(1), 2))
    np.testing.assert_array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize("draw", CLOUDS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "'n' parameter must be a positive integer. Got 0 instead"),
        ({"n": 2.5}, "'n' parameter must be a positive integer. Got 2.5 instead"),
        ({"n": 5, "noise": -0.1}, "'noise' .* a nonnegative number. Got -0.1 instead"),
        ({"n": 5, "noise": np.inf}, "'noise' .* a nonnegative number. Got inf instead"),
    ],
)
def test_errors_name_the_argument(draw, arguments, message):
    with pytest.raises(ValueError, match=message):
        draw(**arguments)


def test_there_must_be_a_circle():
    call = partial(concentric_circles, 5, n_circles=0)
    with pytest.raises(ValueError, match="'n_circles' parameter must be a positive integer"):
        call()
