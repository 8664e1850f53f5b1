"""A user's kernel with too few derivatives says which are missing."""

import numpy as np
import pytest

import ritz


def test_missing_derivatives_are_asked_for():
    kernel = ritz.CustomKernel("distance", [lambda u: np.exp(-u)])
    X = np.random.default_rng(0).normal(size=(100, 1))
    with pytest.raises(ValueError, match=r"order 0; order 1 .*'profiles'.*holds 1.*needs 2"):
        ritz.decompose(ritz.laplacian(), ritz.Nystrom(kernel, 20), X, 2)


def test_functions_are_never_asked_about_no_points():
    """As one would be that divides by the largest of its numbers."""

    def decay(u):
        assert u.size
        return np.exp(-u / max(u.max(), 1.0) * max(u.max(), 1.0))

    kernel = ritz.CustomKernel("distance", (decay, lambda u: -np.exp(-u)))
    X = np.random.default_rng(0).normal(size=(200, 2))
    found, expected = (
        ritz.decompose(ritz.laplacian(), ritz.Nystrom(k, 20), X, k=4, random_state=0).values
        for k in (kernel, ritz.Gaussian(1.0))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
