"""Rows far from unit size: said, and mended by a first layer."""

import warnings

import numpy as np
import pytest
import torch

import ritz
from ritz.neural import SpectralNetwork, Standardized, mlp

X = np.random.default_rng(0).uniform(size=(1000, 2)) * [4000.0, 2500.0]


def fitted(module, X):
    return SpectralNetwork(module, ritz.laplacian(), 1, mu=1e-5, n_steps=5, random_state=0).fit(X)


@pytest.mark.parametrize("rows", [X, X / 1e8, X / 1000 + 500], ids=["large", "small", "far away"])
def test_rows_far_from_unit_size_are_told(rows):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fitted(lambda: mlp(2, (8,), 1), rows)
    assert any("unit size" in str(warning.message) for warning in told)


def test_a_first_layer_mends_it():
    def module():
        return torch.nn.Sequential(Standardized(X), mlp(2, (32, 32), 1))

    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Columns of X")
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated")
        found = SpectralNetwork(
            module, ritz.laplacian(), 1, n_steps=100, batch_size=300, random_state=0
        ).fit(X)
    # The first cosine along the longer side.
    np.testing.assert_allclose(found.eigenvalues_, (np.pi / 4000) ** 2, rtol=0.1)
