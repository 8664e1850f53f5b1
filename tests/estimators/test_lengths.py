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


def energy(spectrum, X):
    """Return the sum of the eigenvalues, on rows X, in the span of functions."""
    functions = Centered(spectrum[1:], np.zeros(len(spectrum) - 1))
    there = ritz.assemble(ritz.laplacian(), functions, X, n_folds=1)
    return ritz.decompose_sums(there, len(spectrum)).values.sum()


@pytest.mark.parametrize(("rows", "centers"), [(normal, 250), (roll, 500)])
def test_half_as_many_centers_where_they_leave_as_little_energy_on_new_rows(rows, centers):
    X, new = rows(10_000, 0), rows(20_000, 1)
    auto = ritz.SpectralEmbedding(8, random_state=0).fit(X)
    assert auto.n_centers_ == centers
    assert list(auto.n_centers_path_) == [75, 150]
    assert (auto.n_centers_path_[75] < 1.02 * auto.n_centers_path_[150]) == (centers == 250)
    half, whole = (
        energy(ritz.SpectralEmbedding(8, n_centers=p, random_state=0).fit(X).spectrum_, new)
        for p in (250, 500)
    )
    assert (half < 1.01 * whole) == (centers == 250)


@pytest.mark.parametrize(
    "model",
    [
        ritz.SpectralEmbedding(8, n_centers=500, random_state=0),
        ritz.SpectralEmbedding(11, random_state=0),
        ritz.LaplacianClassifier(random_state=0),
    ],
    ids=["given", "many functions", "labels"],
)
def test_as_many_centers_as_said_elsewhere(model):
    X = normal(10_000, 0)
    assert model.fit(X, X[:, 0] > 0).n_centers_ == 500
    assert model.n_centers_path_ is None


def test_half_as_many_centers_with_a_length_scale_that_is_given():
    X = normal(4000, 0)
    model = ritz.SpectralEmbedding(2, length_scale=3.0, random_state=0).fit(X)
    assert model.length_scale_path_ is None
    assert model.n_centers_ == 316 // 2
