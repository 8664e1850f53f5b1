"""Training: on data of any size, to the best state, and on after an interruption."""

import numpy as np
import pytest

import ritz
from ritz.neural import SpectralNetwork, mlp

ROWS = np.random.default_rng(0).normal(size=(1000, 2))


def model(module=lambda: mlp(2, (8,), 2), **options):
    settings = {
        "n_components": 2,
        "mu": 4.0,
        "n_steps": 20,
        "batch_size": 100,
        "evaluate_every": 5,
        "random_state": 0,
    }
    return SpectralNetwork(module, **{**settings, **options})


@pytest.mark.parametrize(("scale", "shift"), [(1e3, 0.0), (1e-3, 0.0), (1.0, 300.0)])
def test_the_default_module_learns_from_data_of_any_size(scale, shift):
    found = model(None, n_steps=60, mu=4.0 / scale**2).fit(scale * ROWS + shift)
    # Standard normals have the eigenvalues 1 and 1, here on a thousand samples.
    np.testing.assert_allclose(found.eigenvalues_ * scale**2, [1, 1], rtol=0.12)
    assert found.alive_.all()


def test_a_column_that_is_constant_does_no_harm():
    found = model(None).fit(np.column_stack([ROWS, np.full(1000, 0.1)]))
    assert found.best_step_ > 0
    assert np.isfinite(found.transform(np.zeros((1, 3)))).all()


def test_a_state_that_is_the_first_is_told():
    with pytest.warns(RuntimeWarning, match="none of 20 steps lowered the loss"):
        found = model(learning_rate=100.0).fit(ROWS)
    assert found.best_step_ == 0


def test_an_operator_that_sees_the_constant_at_few_rows_is_seen_to():
    rows = np.random.default_rng(0).normal(size=(2000, 1))
    form = ritz.laplacian() + ritz.potential(lambda x: 50.0 * (np.abs(x[:, 0]) > 2.6))
    truth = ritz.decompose(form, ritz.Monomials(10), rows, k=2).values
    found = model(
        lambda: mlp(1, (32,), 2), operator=form, n_steps=150, learning_rate=2e-2, mu=10.0
    ).fit(rows)
    # The lowest is near zero, and its function nearly constant, but not quite.
    np.testing.assert_allclose(found.eigenvalues_, truth, atol=0.25)
    assert found.transform(rows).shape == (2000, 2)
