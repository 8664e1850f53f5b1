"""Compiled cosines against NumPy's."""

import numpy as np
import pytest

from ritz.kernels.waves import FARTHEST, cosines

EPS = np.finfo(np.float64).eps
ANGLES = np.concatenate(
    [
        np.random.default_rng(0).normal(size=4000) * scale
        for scale in (1e-9, 1e-3, 1.0, 30.0, 0.2 * FARTHEST)
    ]
)


def derivative(angles, turns):
    """Return the derivative of cos of some order."""
    return (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin)[turns % 4](angles)


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 6])
def test_cosines_have_a_relative_error_of_two_eps(turns):
    angles = ANGLES[np.abs(ANGLES) < FARTHEST]
    expected = derivative(angles, turns)
    found = cosines(angles, turns, 1.0)
    assert (np.abs(found - expected) <= 2 * EPS * np.abs(expected)).all()
    np.testing.assert_array_equal(cosines(angles, turns, 2.0), 2.0 * found)


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_near_zeros_and_at_multiples_of_right_angles(turns):
    angles = np.pi / 2 * np.arange(-60_000, 60_000, 7.0)
    expected = derivative(angles, turns)
    found = cosines(angles, turns, 1.0)
    assert (np.abs(found - expected) <= 2 * EPS * np.abs(expected)).all()


@pytest.mark.parametrize("far", [2e5, 1e300, np.inf, np.nan])
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_far_angles_are_numpys(turns, far):
    angles = np.array([[1.0, far], [0.0, -far]])
    with np.errstate(invalid="ignore"):
        expected = 3.0 * derivative(angles, turns)
        np.testing.assert_array_equal(cosines(angles, turns, 3.0), expected)


def test_shapes_and_none_at_all():
    angles = np.random.default_rng(0).normal(size=(5, 7))
    np.testing.assert_allclose(cosines(angles, 0, 1.0), np.cos(angles), rtol=1e-15)
    np.testing.assert_allclose(cosines(angles[:, ::2], 1, 1.0), -np.sin(angles[:, ::2]), rtol=1e-15)
    np.testing.assert_allclose(cosines(angles.T, 0, 1.0), np.cos(angles.T), rtol=1e-15)
    assert cosines(np.empty((0, 3)), 0, 1.0).shape == (0, 3)
