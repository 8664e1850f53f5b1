"""A user's kernel with too few derivatives says which are missing."""

import numpy as np
import pytest

import ritz


def test_missing_derivatives_are_asked_for():
    kernel = ritz.CustomKernel("distance", [lambda u: np.exp(-u)])
    X = np.random.default_rng(0).normal(size=(100, 1))
    with pytest.raises(ValueError, match=r"order 0; order 1 .*'profiles'.*holds 1.*needs 2"):
        ritz.decompose(ritz.laplacian(), ritz.Nystrom(kernel, 20), X, 2)
