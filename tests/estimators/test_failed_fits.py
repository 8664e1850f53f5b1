"""A fit that fails leaves an estimator exactly as it was."""

import numpy as np
import pytest

import ritz
from ritz.neural import SingularNetwork, SpectralNetwork
from tests.bad_input import N, X, Y, raises

WIDE = np.column_stack([X, X[:, 0] * X[:, 1]])
TARGET = X[:, 0]
BASIS = ritz.Monomials(2)
NETWORK = {"n_steps": 5, "batch_size": 50, "random_state": 0}

# An estimator, what else it is fitted to, parameters whose error comes late, and a word of it.
ESTIMATORS = {
    "SpectralEmbedding": (
        ritz.SpectralEmbedding(2, random_state=0),
        {},
        {"n_folds": 0},
        "n_folds",
    ),
    "SpectralClustering": (
        ritz.SpectralClustering(2, random_state=0),
        {},
        {"n_clusters": "auto", "max_clusters": 1},
        "max_clusters",
    ),
    "DiffusionModes": (
        ritz.DiffusionModes(2, random_state=0),
        {},
        {"n_folds": 0},
        "n_folds",
    ),
    "SingularEmbedding": (
        ritz.SingularEmbedding(2, random_state=0),
        {"y": Y},
        {"n_folds": 0},
        "n_folds",
    ),
    "LaplacianRegressor": (
        ritz.LaplacianRegressor(random_state=0),
        {"y": TARGET},
        {"smoothness": -1.0},
        "smoothness",
    ),
    "LaplacianClassifier": (
        ritz.LaplacianClassifier(random_state=0),
        {"y": (TARGET > 0).astype(int)},
        {"smoothness": -1.0},
        "smoothness",
    ),
    "HermiteRegressor": (
        ritz.HermiteRegressor(length_scale=1.0, random_state=0),
        {"y": TARGET},
        {"centers": np.zeros((3, 7))},
        "centers",
    ),
    "SpectralNetwork": (SpectralNetwork(mu=5.0, **NETWORK), {}, {"n_folds": 0}, "n_folds"),
    "SingularNetwork": (SingularNetwork(**NETWORK), {"y": Y}, {"n_folds": 0}, "n_folds"),
}
# Five steps teach a network nothing.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
each_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def fitted(name):
    model, data, _, _ = ESTIMATORS[name]
    return type(model)(**model.get_params()).fit(X, **data)


def attributes(model):
    return {name: id(value) for name, value in vars(model).items()}


def predicted(model, rows):
    method = model.transform if hasattr(model, "transform") else model.predict
    return method(rows)


@each_estimator
def test_a_refit_that_fails_changes_nothing(name):
    model, (_, data, wrong, word) = fitted(name), ESTIMATORS[name]
    before, expected = attributes(model), predicted(model, X)
    bad = WIDE.copy()
    bad[3, 1] = np.nan
    with raises("'X'"):
        model.fit(bad, **data)
    assert attributes(model) == before
    parameters = {key: model.get_params()[key] for key in wrong}
    model.set_params(**wrong)
    with raises(word):
        model.fit(WIDE, **data)
    model.set_params(**parameters)
    assert attributes(model) == before
    np.testing.assert_array_equal(predicted(model, X), expected)
    with raises("3 features", "2 features"):
        predicted(model, WIDE)


@each_estimator
def test_a_first_fit_that_fails_leaves_nothing_behind(name):
    model, data, wrong, word = ESTIMATORS[name]
    model = type(model)(**{**model.get_params(), **wrong})
    before = attributes(model)
    with raises(word):
        model.fit(WIDE, **data)
    assert attributes(model) == before


def test_an_interrupted_fit_changes_nothing(monkeypatch):
    model = fitted("SpectralEmbedding")
    before = attributes(model)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("ritz.estimators.embedding.wanted_functions", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(WIDE)
    assert attributes(model) == before


@pytest.mark.parametrize("rows", [2, 100], ids=["buffered", "summed"])
def test_a_partial_fit_that_fails_changes_nothing(rows):
    model = ritz.SpectralEmbedding(2, random_state=0, basis=BASIS.fit(X)).partial_fit(X[:rows])
    before = attributes(model)
    with raises("nonnegative"):
        model.partial_fit(X[rows:200], sample_weight=-np.ones(200 - rows))
    with raises("3 features"):
        model.partial_fit(WIDE[rows:200])
    model.set_params(regularization=-1.0)
    with raises("'regularization'"):
        model.partial_fit(X[rows:200])
    model.set_params(regularization="auto")
    assert attributes(model) == before
    model.partial_fit(X[rows:])
    whole = ritz.SpectralEmbedding(2, random_state=0, basis=BASIS.fit(X)).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    assert model.sums_.count.sum() == N


def test_a_partial_fit_of_values_and_gradients_that_fails_changes_nothing():
    model = ritz.HermiteRegressor(length_scale=1.0, n_centers=20, random_state=0)
    model.partial_fit(X[:100], TARGET[:100])
    before, expected = attributes(model), model.predict(X)
    with raises("outputs"):
        model.partial_fit(X[100:], np.column_stack([TARGET, TARGET])[100:])
    model.set_params(regularization=-1.0)
    with raises("'regularization'"):
        model.partial_fit(X[100:], TARGET[100:])
    model.set_params(regularization="auto")
    assert attributes(model) == before
    np.testing.assert_array_equal(model.predict(X), expected)


def test_sums_that_do_not_fit_change_nothing():
    model = fitted("SpectralEmbedding")
    before = attributes(model)
    sums = ritz.assemble(ritz.laplacian(), ritz.Monomials(1), WIDE[:, :1])
    model.set_params(regularization=-1.0)
    with raises("'regularization'"):
        model.fit_sums(sums)
    model.set_params(regularization="auto")
    assert attributes(model) == before
