"""Frames in and out, by name, for every estimator that transforms or predicts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone

import ritz

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X[:, :1] + 0.3 * RNG.normal(size=(200, 1))
NAMES = ["length", "width", "height"]
TRANSFORMERS = {
    "spectralembedding": ritz.SpectralEmbedding(2, random_state=0),
    "diffusionmodes": ritz.DiffusionModes(2, random_state=0),
    "singularembedding": ritz.SingularEmbedding(2, random_state=0),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_in_and_out(name, kind, frame):
    data = frame(dict(zip(NAMES, X.T, strict=True)))
    model = TRANSFORMERS[name]
    plain = model.set_output(transform="default").fit(X, Y).transform(X)
    out = model.set_output(transform=kind).fit(data, Y).transform(data)
    assert isinstance(out, frame)
    assert list(out.columns) == [f"{name}0", f"{name}1"]
    np.testing.assert_array_equal(out.to_numpy(), plain)
    assert list(model.feature_names_in_) == NAMES
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame(dict(zip(["length", "depth", "height"], X.T, strict=True))))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_columns_of_labels(frame):
    data = frame(dict(zip(NAMES, X.T, strict=True)))
    y = np.where(np.arange(200) < 50, (X[:, 0] > 0).astype(int), -1)
    column = pd.Series(y) if frame is pd.DataFrame else pl.Series(y)
    model = ritz.LaplacianClassifier(random_state=0).fit(data, column)
    assert model.score(data, column) > 0.9
    target = pd.Series(X[:, 0]) if frame is pd.DataFrame else pl.Series(X[:, 0])
    assert ritz.LaplacianRegressor(random_state=0).fit(data, target).score(data, target) > 0.9


def test_fits_run_side_by_side():
    fit = delayed(lambda seed: ritz.SpectralEmbedding(2, random_state=seed).fit(X).eigenvalues_)
    for backend in ("threading", "loky"):
        together = Parallel(n_jobs=2, backend=backend)(fit(seed) for seed in range(3))
        for seed, values in enumerate(together):
            alone = ritz.SpectralEmbedding(2, random_state=seed).fit(X).eigenvalues_
            np.testing.assert_array_equal(values, alone)


# Any warning is an error here, such as one of feature names that a fit passes to itself.
@pytest.mark.parametrize(
    "model",
    [
        ritz.SpectralClustering(3, random_state=0),
        ritz.LaplacianClassifier(random_state=0),
        ritz.LaplacianRegressor(random_state=0),
        ritz.HermiteRegressor(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_fitted_and_predicted_without_a_warning(model, frame):
    data = frame(dict(zip(NAMES, X.T, strict=True)))
    y = (X[:, 0] > 0).astype(int)
    plain = clone(model).fit(X, y).predict(X)
    named = clone(model).fit(data, y)
    np.testing.assert_allclose(named.predict(data), plain, rtol=1e-9, atol=1e-9)
    if hasattr(model, "fit_predict"):
        np.testing.assert_array_equal(clone(model).fit_predict(data), plain)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    "model", [ritz.SpectralEmbedding(2, random_state=0), ritz.HermiteRegressor(random_state=0)]
)
def test_parts_of_frames_are_added_without_a_warning(model, frame):
    data, target = frame(dict(zip(NAMES, X.T, strict=True))), X[:, 0]
    model = clone(model).partial_fit(data[:100], target[:100]).partial_fit(data[100:], target[100:])
    assert list(model.feature_names_in_) == NAMES
