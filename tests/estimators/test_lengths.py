"""Length scales and numbers of centers chosen from the data."""

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll

import ritz
from ritz.bases import Centered
from ritz.estimators.defaults import auto_length_scale
from ritz.estimators.lengths import choose_length_scale
from ritz.kernels.distances import FEW


@pytest.mark.parametrize("n", [30, 500])
def test_equal_weights_of_any_size_give_the_same_quantile(n):
    """Weights that differ by rounding take the other way, by sorting."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    equal = auto_length_scale(X, np.ones(n), 0)
    nearly = np.ones(n)
    nearly[0] += 1e-12
    assert auto_length_scale(X, nearly, 0) == pytest.approx(equal, rel=1e-3)
    assert auto_length_scale(X, np.full(n, 3.0), 0) == equal


@pytest.mark.parametrize("form", [ritz.laplacian(), ritz.graph(ritz.Gaussian(0.5))])
def test_threads_do_not_change_the_energies(form):
    # Of so many columns that threads are worth it, two have a say.
    X = np.random.default_rng(0).normal(size=(300, FEW + 1))
    X[:, 2:] *= 0.01
    weight = np.ones(300)
    one, three = (
        choose_length_scale(form, ritz.Gaussian, 1.0, X, weight, 3, 0, 0.0, n_jobs)
        for n_jobs in (1, 3)
    )
    assert one == three
    assert len(one[1]) == 5


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
