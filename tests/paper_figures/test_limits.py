"""The ambient spectrum on a sphere against known profiles and a fit to many samples."""

import numpy as np
import pytest

import ritz
from paper.limits import ambient_eigenvalues, ambient_error, normal_slopes


@pytest.mark.parametrize("d", [3, 4, 9])
def test_slopes_of_polynomials(d):
    # (1 + x.y)^2 contains the harmonics of degree 1 and 2 as r Y and r^2 Y, and no others.
    np.testing.assert_allclose(normal_slopes(ritz.Polynomial(2), d, [1, 2]), [1, 2], rtol=1e-10)
    assert np.isinf(normal_slopes(ritz.Polynomial(2), d, [3, 4])).all()
    # (1 + x.y)^3 contains the constant as 1 + 3 r^2 E[t^2] with E[t^2] = 1/d.
    (slope,) = normal_slopes(ritz.Polynomial(3), d, [0])
    assert slope == pytest.approx((6 / d) / (1 + 3 / d), rel=1e-10)


def test_slope_of_a_gaussian_in_space():
    # On S^2 the constant's profile is exp(-(r^2 + 1)/2) sinh(r)/r.
    (slope,) = normal_slopes(ritz.Gaussian(1.0), 3, [0])
    assert slope == pytest.approx(1 / np.tanh(1) - 2, rel=1e-10)


@pytest.mark.parametrize("kernel", [ritz.Polynomial(4), ritz.Gaussian(1.0)])
def test_many_samples_approach_the_limit_and_not_the_true_spectrum(kernel):
    X = ritz.datasets.sphere(3).sample(20_000, 0)
    basis = ritz.KernelSections(kernel, X[:60])
    found = ritz.decompose(ritz.laplacian(), basis, X, 25, random_state=0).values
    limit = ambient_eigenvalues(kernel, 3, 25)
    # The radial profile of degree 0 is not constant, and has a larger eigenvalue.
    np.testing.assert_allclose(found[1:16], limit[1:16], rtol=0.05)
    truth = ritz.datasets.sphere(3).eigenvalues(25)
    assert (found[9:16] > 1.3 * truth[9:16]).all()


def test_error_of_the_limit():
    # On S^18 quadratic sections have the eigenvalues 18 + 1, 19 times, and 38 + 4, 5 times.
    total = 19 * (1 / 18 - 1 / 19) + 5 * (1 / 38 - 1 / 42)
    assert ambient_error(ritz.Polynomial(2), 19) == pytest.approx(total / (19 / 18 + 5 / 38))
