"""Rows far from unit size: a warning, and a first layer that standardizes them."""

import warnings

import numpy as np
import pytest
import torch

import ritz
from ritz.neural import SpectralNetwork, Standardized, mlp
from ritz.neural.modules import equalize_energies
from ritz.streams import as_stream

X = np.random.default_rng(0).uniform(size=(1000, 2)) * [4000.0, 2500.0]


def fitted(module, X):
    return SpectralNetwork(module, ritz.laplacian(), 1, mu=1e-5, n_steps=5, random_state=0).fit(X)


@pytest.mark.parametrize("rows", [X, X / 1e8, X / 1000 + 500], ids=["large", "small", "far away"])
def test_rows_far_from_unit_size_give_a_warning(rows):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted(lambda: mlp(2, (8,), 1), rows)
    of_scale = [warning for warning in caught if "unit size" in str(warning.message)]
    assert len(of_scale) == 1
    # It points at the call of `fit`.
    assert of_scale[0].filename == __file__


def test_a_standardizing_layer_needs_no_warning_and_learns():
    def module():
        return torch.nn.Sequential(Standardized(X), mlp(2, (32, 32), 1))

    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Columns of X")
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated")
        found = SpectralNetwork(
            module, ritz.laplacian(), 1, n_steps=100, batch_size=300, random_state=0
        ).fit(X)
    # The eigenvalue of the first cosine along the longer side.
    np.testing.assert_allclose(found.eigenvalues_, (np.pi / 4000) ** 2, rtol=0.1)


def test_columns_of_very_different_widths_are_learned_by_the_default_module():
    rows = np.random.default_rng(0).normal(size=(3000, 3)) * [1.0, 1e-3, 1000.0] + [0.0, 5.0, 0.0]
    found = SpectralNetwork(None, "laplacian", 2, n_steps=100, batch_size=300, random_state=0)
    # The eigenvalues of Hermite polynomials of the widest column.
    np.testing.assert_allclose(found.fit(rows).eigenvalues_, [1e-6, 2e-6], rtol=0.1)


def equalized(form, rows):
    stream = as_stream(rows)
    layer = Standardized(rows)
    equalize_energies(layer, form.prepare(stream.sample(10_000, 0)), next(stream.blocks()))
    return layer.scale.numpy()


def test_columns_are_scaled_to_the_same_energy():
    rows = np.random.default_rng(0).normal(size=(400, 70)) * np.geomspace(1e-2, 1e3, 70)
    rows[:, 3] = 0.1
    widest = np.full(69, 1 / rows[:, -1].std())
    # A constant column has no quotient and is left out.
    np.testing.assert_allclose(np.delete(equalized(ritz.laplacian(), rows), 3), widest, rtol=1e-3)
    # An operator whose weights undo the widths leaves the columns standardized.
    own = ritz.diffusion(np.diag(rows.var(axis=0)))
    expected = np.delete(1 / rows.std(axis=0), 3)
    np.testing.assert_allclose(np.delete(equalized(own, rows), 3), expected, rtol=1e-3)
    # Linear functions have no second derivatives, so there is nothing to equalize.
    second = ritz.differential({((2,), (2,)): 1.0})
    np.testing.assert_allclose(equalized(second, rows[:, :1]), 1 / rows[:, 0].std(), rtol=1e-6)
