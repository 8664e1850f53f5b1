"""Spectra know the columns of the frame they were found from, and refuse others."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import ritz
from ritz.neural import SingularNetwork, SpectralNetwork

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)) * [1.0, 0.7, 0.4]
Y = X[:, :2] + 0.3 * RNG.normal(size=(200, 2))
NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES)
PAIR = pd.DataFrame(Y, columns=["u", "v"])
PERMUTED = FRAME[["c", "b", "a"]]
BASIS = ritz.Nystrom(ritz.Gaussian(1.0), 20)


def parquet(tmp_path):
    pyarrow.parquet.write_table(pa.table(dict(zip(NAMES, X.T, strict=True))), tmp_path / "a")
    return ritz.Table(tmp_path / "a", format="parquet")


# Data with names of columns.
NAMED = {
    "pandas": lambda _: FRAME,
    "polars": lambda _: pl.DataFrame(FRAME.to_dict("list")),
    "arrow": lambda _: pa.table(FRAME.to_dict("list")),
    "file": parquet,
    "batches": lambda _: ritz.Batches([FRAME[:90], FRAME[90:]]),
}


def learn(data, basis=BASIS):
    return ritz.decompose(ritz.laplacian(), basis, data, 4, random_state=0)


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize("stored", ["as it is", "sliced", "saved", "pickled"])
def test_permuted_and_missing_columns_are_refused(kind, stored, tmp_path):
    found = learn(NAMED[kind](tmp_path))
    if stored == "sliced":
        found = found[1:]
    elif stored == "saved":
        found.save(tmp_path / "model.npz")
        found = ritz.load(tmp_path / "model.npz")
    elif stored == "pickled":
        found = pickle.loads(pickle.dumps(found))
    assert list(found.feature_names_in_) == NAMES
    np.testing.assert_array_equal(found(FRAME), found.at_rows(X))
    for call in (found, found.gradient, lambda rows: found.partial(rows, (1, 0, 0))):
        call(FRAME)
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            call(PERMUTED)
        with pytest.raises(ValueError, match="now missing:\n- c"):
            call(FRAME[["a", "b"]])
        with pytest.raises(ValueError, match="unseen at fit time:\n- d"):
            call(FRAME.rename(columns={"a": "d"}))


def test_points_without_names_are_taken_with_a_warning_as_estimators_do():
    found = learn(FRAME)
    with pytest.warns(UserWarning, match="not have valid feature names, but Spectrum was fitted"):
        values = found(X)
    np.testing.assert_array_equal(values, found(FRAME))


def test_data_without_names_take_any_points():
    found = learn(X)
    assert found.feature_names_in_ is None
    np.testing.assert_array_equal(found(PERMUTED), found(PERMUTED.to_numpy()))
    numbered = learn(pd.DataFrame(X))
    assert numbered.feature_names_in_ is None


def test_names_do_not_change_numbers():
    np.testing.assert_array_equal(learn(FRAME).values, learn(X).values)


def test_both_sides_of_a_singular_spectrum_have_names(tmp_path):
    found = ritz.decompose(ritz.cross(), ritz.Monomials(2), (FRAME, PAIR), 3, random_state=0)
    found.save(tmp_path / "model.npz")
    for each in (found, found[1:], ritz.load(tmp_path / "model.npz")):
        each(FRAME, PAIR)
        with pytest.raises(ValueError, match="feature names"):
            each(PERMUTED, PAIR)
        with pytest.raises(ValueError, match="feature names"):
            each(FRAME, PAIR[["v", "u"]])


def test_two_views_of_one_space_share_their_columns():
    with pytest.raises(ValueError, match=r"'Y' parameter must be data with columns \('a', 'b'"):
        ritz.decompose(ritz.pairs(), BASIS, (FRAME, PERMUTED), 3)


def test_sums_over_other_columns_do_not_add():
    sums = ritz.assemble(ritz.laplacian(), BASIS, FRAME[:100], random_state=0)
    more = ritz.assemble(ritz.laplacian(), sums.left, FRAME[100:])
    assert (sums + more).n_rows == 200
    unnamed = ritz.assemble(ritz.laplacian(), sums.left, X[100:])
    np.testing.assert_array_equal((sums + unnamed).L[0], (sums + more).L[0])
    with pytest.raises(ValueError, match=r"'X' parameter must be data with columns \('a', 'b'"):
        ritz.assemble(ritz.laplacian(), sums.left, PERMUTED)
    with pytest.raises(ValueError, match=r"'sums' parameter must be data with columns"):
        sums + ritz.assemble(ritz.laplacian(), BASIS, PERMUTED, random_state=0)


def test_a_spectrum_as_a_basis_keeps_its_columns():
    found = learn(FRAME)
    with pytest.raises(ValueError, match="columns"):
        learn(PERMUTED, found[1:])
    again = learn(X, found[1:])
    assert list(again.feature_names_in_) == NAMES


def test_batches_have_the_columns_of_the_first():
    batches = ritz.Batches([FRAME[:100], PERMUTED[100:]])
    with pytest.raises(ValueError, match=r"'batch 1' parameter must be data with columns \('a'"):
        learn(batches)


ESTIMATORS = {
    "embedding": ritz.SpectralEmbedding(2, random_state=0),
    "modes": ritz.DiffusionModes(2, random_state=0),
    "regressor": ritz.LaplacianRegressor(random_state=0),
    "network": SpectralNetwork(n_components=2, n_steps=2, mu=5.0, random_state=0),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_spectra_of_estimators_have_their_names(name):
    model = ESTIMATORS[name].fit(FRAME, X[:, 0])
    assert list(model.spectrum_.feature_names_in_) == NAMES
    with pytest.raises(ValueError, match="same order"):
        model.spectrum_(PERMUTED)
    # Names are checked once, by the estimator, without a warning.
    apply = model.transform if hasattr(model, "transform") else model.predict
    apply(FRAME)
    model.fit(X, X[:, 0])
    assert model.spectrum_.feature_names_in_ is None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "model",
    [
        ritz.SingularEmbedding(1, random_state=0),
        SingularNetwork(n_components=1, n_steps=2, random_state=0),
    ],
    ids=["embedding", "network"],
)
def test_estimators_of_two_views_know_the_names_of_both(model):
    model.fit(FRAME, PAIR)
    model.transform(FRAME, PAIR)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(PERMUTED, PAIR)
    with pytest.raises(ValueError, match=r"'y' parameter must be data with columns \('u', 'v'"):
        model.transform(FRAME, PAIR[["v", "u"]])
    with pytest.raises(ValueError, match="feature names"):
        model.spectrum_.right(PAIR[["v", "u"]])


def test_an_estimator_has_the_names_of_its_sums():
    sums = ritz.assemble(ritz.laplacian(), BASIS, FRAME, random_state=0)
    model = ritz.SpectralEmbedding(2).fit(FRAME.rename(columns={"a": "d"})).fit_sums(sums)
    assert list(model.feature_names_in_) == NAMES
    model.fit_sums(ritz.assemble(ritz.laplacian(), BASIS, X, random_state=0))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_network_has_the_names_of_its_stream():
    model = SpectralNetwork(n_components=2, n_steps=2, mu=5.0, random_state=0)
    model.fit(ritz.Batches([FRAME[:90], FRAME[90:]]))
    with pytest.raises(ValueError, match="same order"):
        model.transform(PERMUTED)


def test_partial_fit_keeps_the_names():
    model = ritz.SpectralEmbedding(2, basis=BASIS.fit(X), random_state=0)
    model.partial_fit(FRAME[:100]).partial_fit(FRAME[100:])
    assert list(model.spectrum_.feature_names_in_) == NAMES
    model.transform(FRAME)
    assert np.isfinite(model.score(FRAME))


def test_distances_and_pictures_compare_names():
    found = learn(FRAME[["a", "b"]])
    frame, permuted = FRAME[["a", "b"]], FRAME[["b", "a"]]
    ritz.diffusion_distance(found, frame, frame, 1.0)
    ritz.EigenfunctionDisplay.from_spectrum(found, frame, resolution=10)
    for call in (
        lambda: ritz.diffusion_distance(found, frame, permuted, 1.0),
        lambda: ritz.diffusion_map(found, permuted, 1.0),
        lambda: ritz.pullback_metric(found, permuted, 1.0),
        lambda: ritz.EigenfunctionDisplay.from_spectrum(found, permuted),
    ):
        with pytest.raises(ValueError, match="feature names"):
            call()


def test_hermite_regression_refuses_other_columns():
    model = ritz.HermiteRegressor(random_state=0).fit(FRAME, X[:, 0])
    for call in (model.predict, model.predict_gradient):
        with pytest.raises(ValueError, match="same order"):
            call(PERMUTED)


def test_neighbors_by_diffusion_distance_compare_names():
    spectrum = ritz.decompose(ritz.laplacian(), BASIS, FRAME, 4, random_state=0)
    with pytest.raises(ValueError, match="feature names"):
        ritz.diffusion_neighbors(spectrum, PERMUTED, FRAME, 0.1, 3)
    distances, numbers = ritz.diffusion_neighbors(spectrum, FRAME, FRAME[:5], 0.1, 1)
    assert numbers.ravel().tolist() == [0, 1, 2, 3, 4]
    assert not distances.any()


def test_thousands_of_columns_keep_their_names_in_a_file(tmp_path):
    columns = [f"ENSG{i:011}" for i in range(40_000)]
    frame = pd.DataFrame(RNG.normal(size=(20, 40_000)), columns=columns)
    spectrum = ritz.decompose(
        ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(300.0), 5), frame, 3, random_state=0
    )
    spectrum.save(tmp_path / "wide")
    assert list(ritz.load(tmp_path / "wide").names) == columns
