"""Length scales and numbers of centers chosen from the data."""

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll

import ritz
from ritz.bases import Centered


def normal(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 5))


def roll(n, seed):
    return make_swiss_roll(n, noise=0.1, random_state=seed)[0]


@pytest.mark.parametrize("rows", [normal, roll])
def test_the_choice_does_about_as_well_on_new_rows_as_the_best_length_scale(rows):
    X, new = rows(4000, 0), rows(20_000, 1)

    def energies(model):
        functions = Centered(model.fit(X).spectrum_[1:], np.zeros(4))
        there = ritz.assemble(ritz.laplacian(), functions, new, n_folds=1)
        return np.log(ritz.decompose_sums(there, 5).values[1:]).sum()

    auto = ritz.SpectralEmbedding(4, random_state=0)
    scale = np.sqrt(X.var(axis=0).sum())
    others = [
        ritz.SpectralEmbedding(4, kernel="gaussian", length_scale=c * scale, random_state=0)
        for c in (0.25, 0.5, 1.0)
    ]
    assert energies(auto) < min(map(energies, others)) + 0.1
    assert auto.selection_.chosen.valid


def test_as_many_centers_as_given():
    X = normal(3000, 0)
    assert ritz.SpectralEmbedding(2, n_centers=200, random_state=0).fit(X).n_centers_ == 200
    model = ritz.LaplacianClassifier(random_state=0).fit(X, X[:, 0] > 0)
    assert model.n_centers_ == 500


def test_a_length_scale_that_is_given_is_kept():
    model = ritz.SpectralEmbedding(2, length_scale=3.0, random_state=0).fit(normal(2000, 0))
    assert model.length_scale_ == 3.0
    assert {c.setting.kernel.length_scale for c in model.selection_.candidates} == {3.0}
