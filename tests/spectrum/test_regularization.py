"""Regularization: explicit, scale-free, and for every basis, mixed ones included."""

import numpy as np
import pytest

import ritz

X = np.random.default_rng(0).normal(size=(3000, 2))


@pytest.mark.parametrize("length", [0.3, 1.0, 3.0, 10.0, 100.0])
@pytest.mark.parametrize("gamma", [1e-8, 1e-4, 1e-1])
def test_every_length_scale_can_be_regularized(length, gamma):
    basis = ritz.Nystrom(ritz.Gaussian(length), 60)
    plain = ritz.decompose(ritz.laplacian(), basis, X, 3, random_state=0)
    found = ritz.decompose(ritz.laplacian(), basis, X, 3, regularization=gamma, random_state=0)
    # Rayleigh quotients inside a span are no smaller than those of the whole, but for what the
    # rank cut of a smooth kernel leaves out.
    assert (found.ritz_values >= (1 - 1e-3) * plain.ritz_values).all()
    found = ritz.decompose(ritz.cross(), basis, (X, X + 0.1), 3, regularization=gamma)
    assert (found.ritz_values <= 1 + 1e-9).all()


def test_a_penalty_takes_away_functions_that_live_on_one_row():
    rows = np.concatenate([X, [[6.0, 0.0]]])
    basis = ritz.Nystrom(ritz.Matern(2.5, 1.0), centers=rows[-200:])
    plain, found = (
        ritz.decompose(ritz.laplacian(), basis, rows, 6, regularization=gamma).ritz_values
        for gamma in (0.0, 1e-3)
    )
    truth = [0, 1, 1, 2, 2, 2]
    assert np.abs(found - truth).max() < np.abs(plain - truth).max()


def test_units_do_not_matter():
    basis = ritz.Nystrom(ritz.Matern(1.5, 1.0), centers=X[:40])
    scaled = ritz.Nystrom(ritz.Matern(1.5, 10.0), centers=10 * X[:40])
    one = ritz.decompose(ritz.laplacian(), basis, X, 5, regularization=1e-2)
    two = ritz.decompose(ritz.laplacian(), scaled, 10 * X, 5, regularization=1e-2)
    np.testing.assert_allclose(100 * two.ritz_values, one.ritz_values, rtol=1e-9, atol=1e-12)


def test_smallest_singular_values_refuse_it():
    form = ritz.differential({((0, 0), (1, 0)): 1.0})
    with pytest.raises(ValueError, match=r"'regularization'.*artifacts"):
        ritz.decompose(form, ritz.Monomials(2), X, 2, regularization=1e-3)
