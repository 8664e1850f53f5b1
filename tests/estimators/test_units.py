"""Columns in units of their own."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

import ritz
from ritz.estimators.units import chosen_scale, deviations, in_units, of_unit_length
from ritz.selection.rows import WeightedRows
from ritz.sparse import SparseRows

X, y = load_wine(return_X_y=True)


def test_clusters_of_columns_in_different_units_are_found():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ritz.SpectralClustering(3, random_state=0).fit(X)
    np.testing.assert_allclose(model.scale_, X.std(axis=0), rtol=2.0**-30)
    assert str(model.operator_) == "neighbors(15, kind='pairs')"
    assert adjusted_rand_score(y, model.labels_) > 0.8
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_units_do_not_change_clusters():
    model = ritz.SpectralClustering(3, scale="standard", random_state=0)
    labels = model.fit(X).labels_
    # A power of two changes no digit but those of the scale.
    assert adjusted_rand_score(model.fit(X * 2.0 ** np.arange(-6, 7)).labels_, labels) > 0.9


@pytest.mark.parametrize("scale", [None, "auto", "standard"])
def test_the_laplacian_keeps_its_units_unless_told(scale):
    model = ritz.SpectralClustering(2, operator="laplacian", scale=scale, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X[:, 11:])
    assert (model.scale_ is None) == (scale != "standard")
    told = any("times as wide as" in str(warning.message) for warning in caught)
    assert told == (scale == "auto")


def test_a_scale_that_is_none_of_these_is_refused():
    with pytest.raises(ValueError, match="'scale' parameter must be 'auto', 'standard' or None"):
        ritz.SpectralClustering(2, scale="minmax").fit(X)


def test_weights_are_repetitions():
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    expected = deviations(WeightedRows(repeated, np.ones(len(repeated))))
    np.testing.assert_array_equal(deviations(WeightedRows(X, weight)), expected)
    np.testing.assert_allclose(expected, repeated.std(axis=0), rtol=2.0**-30)


def test_columns_that_do_not_vary_keep_their_unit():
    constant = np.concatenate([X, np.full((len(X), 1), 7.0)], axis=1)
    assert deviations(WeightedRows(constant, np.ones(len(X))))[-1] == 1.0


def test_sparse_rows_stay_sparse():
    rows = SparseRows(csr_array(X))
    weighted = WeightedRows(rows, np.ones(len(X)))
    scale = chosen_scale("standard", weighted, free=False, seed=0)
    scaled = in_units(rows, scale)
    assert isinstance(scaled, SparseRows)
    np.testing.assert_allclose(np.asarray(scaled), X / scale, rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_in_units_are_the_dense_ones_to_the_last_bit(dtype):
    rng = np.random.default_rng(0)
    some = (rng.poisson(1.0, size=(200, 4)) * rng.uniform(1, 20, size=(200, 4))).astype(dtype)
    scale = rng.uniform(1, 20, size=4)
    found = in_units(SparseRows(csr_array(some)), scale)
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found), in_units(some, scale))


@pytest.mark.parametrize("sparse", [False, True])
def test_cosine_is_the_euclidean_metric_between_rows_of_unit_length(sparse):
    rng = np.random.default_rng(0)
    counts = rng.poisson(3 * rng.dirichlet(np.ones(8), size=300) * rng.uniform(1, 9, (300, 1)))
    counts = counts[counts.any(axis=1)].astype(float)
    # To the last bit, as centers and folds follow from the bytes of rows.
    unit = of_unit_length(counts)
    given = csr_array(counts) if sparse else counts
    model = ritz.SpectralEmbedding(2, metric="cosine", random_state=0).fit(given)
    plain = ritz.SpectralEmbedding(2, random_state=0).fit(unit)
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(
        np.abs(model.transform(given)), np.abs(plain.transform(unit)), atol=1e-5
    )
    # Only the direction counts.
    np.testing.assert_array_equal(model.transform(4 * counts[:5]), model.transform(counts[:5]))
    assert "rows of length 1" in str(model.spectrum_)


def test_lengths_of_rows_of_any_size():
    Z = np.array([[3.0, 4.0], [3e150, -4e150], [3e-150, 4e-150], [0.0, 0.0]])
    expected = np.array([[0.6, 0.8], [0.6, -0.8], [0.6, 0.8], [0.0, 0.0]])
    np.testing.assert_allclose(of_unit_length(Z), expected, rtol=1e-15)
    some = SparseRows(csr_array(Z))
    np.testing.assert_array_equal(np.asarray(of_unit_length(some)), of_unit_length(Z))
    together = of_unit_length(X)
    for j in range(0, len(X), 40):
        np.testing.assert_array_equal(of_unit_length(X[j : j + 1])[0], together[j])


def test_a_metric_that_is_none_of_these_is_refused():
    with pytest.raises(ValueError, match="'metric' parameter must be 'euclidean' or 'cosine'"):
        ritz.SpectralClustering(2, metric="manhattan").fit(X)


ESTIMATORS = {
    "embedding": ritz.SpectralEmbedding(2, random_state=0),
    "clustering": ritz.SpectralClustering(3, random_state=0),
    "classifier": ritz.LaplacianClassifier(random_state=0),
    "regressor": ritz.LaplacianRegressor(random_state=0),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_rule_chooses_operator_and_units_of_all(name):
    model = clone(ESTIMATORS[name]).fit(X, y)
    assert str(model.operator_).startswith("neighbors(")
    np.testing.assert_allclose(model.scale_, X.std(axis=0), rtol=2.0**-30)
    # What was chosen is printed.
    first = str(model.spectrum_).splitlines()[0]
    assert f"{model.operator_}, columns in standard deviations" in first
    square = np.random.default_rng(0).uniform(size=(178, 2))
    model = clone(model).fit(square, y)
    assert str(model.operator_) == "laplacian()"
    assert model.scale_ is None
    assert str(model.spectrum_).startswith("Spectrum of laplacian(): ")


@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_labels_are_learned_in_the_units_of_the_fit(name):
    few = np.where(np.arange(len(X)) % 4 == 0, y, -1).astype(float)
    model = ESTIMATORS[name]
    if name == "regressor":
        few[few < 0] = np.nan
    # Other last digits of the units would choose other rows by their hashes.
    Z = X / chosen_scale("standard", WeightedRows(X, np.ones(len(X))), True, 0)
    scaled = clone(model).fit(Z, few).predict(Z)
    np.testing.assert_allclose(clone(model).fit(X, few).predict(X), scaled, rtol=1e-9)


@pytest.mark.parametrize("name", ["embedding", "clustering", "classifier"])
def test_a_row_alone_is_the_same_to_the_last_bit(name):
    model = clone(ESTIMATORS[name]).set_params(metric="cosine", scale="standard").fit(X, y)
    values = model.transform if name == "embedding" else model.predict_proba
    together = values(X)
    for j in range(len(X)):
        np.testing.assert_array_equal(values(X[j : j + 1])[0], together[j])
