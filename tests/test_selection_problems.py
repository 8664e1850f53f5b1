"""The truths of the problems that selection is measured on."""

import numpy as np
import pytest

from benchmarks.selection.problems import (
    CHOSEN_ON,
    SET_ASIDE,
    double_well,
    inverse_error,
    mode_error,
    noisy_curve_eigenvalues,
    rates,
)


def test_rates_of_a_parabola_are_whole_numbers():
    found = rates(lambda x: x**2 / 2, -9.0, 9.0, 6)
    np.testing.assert_allclose(found, np.arange(6.0), atol=1e-5)


def test_a_point_with_noise_has_the_spectrum_of_normal_samples():
    found = noisy_curve_eigenvalues(np.zeros((1, 2)), 0.5, 0.05, 6)
    np.testing.assert_allclose(found * 0.5**2, [0, 1, 1, 2, 2, 2], atol=0.01)


def test_harmonic_columns_add_their_rates():
    np.testing.assert_allclose(double_well(4).eigenvalues(3), [0, 0.1191, 1], atol=1e-4)


@pytest.mark.parametrize("case", [*CHOSEN_ON, *SET_ASIDE], ids=lambda case: case.name)
def test_samples_have_the_variance_that_the_spectrum_allows(case):
    """By Poincare, no column's variance exceeds one over the first eigenvalue."""
    X, values = case.sample(20_000, 0), case.eigenvalues(9)
    assert len(X) == 20_000
    assert values[0] == pytest.approx(0.0, abs=1e-8)
    assert (np.diff(values) >= -1e-8).all()
    assert X.var(axis=0).max() <= 1.05 / values[1]


def test_errors_of_found_values():
    truth = np.array([1.0, 2.0])
    assert mode_error(truth, truth) == inverse_error(truth, truth) == 0
    assert mode_error(np.array([2.0, 2.0]), truth) == 0.25
    assert mode_error(np.array([1.0]), truth) == 0.5
    assert inverse_error(np.array([0.0, 2.0]), truth) == pytest.approx(2 / 3)
