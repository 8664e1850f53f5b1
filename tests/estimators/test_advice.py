"""Unequal columns, dependent rows and far points are told of, and nothing else is."""

import pickle
import time
import warnings

import numpy as np
import pytest
from scipy.signal import lfilter
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import ritz
from ritz.estimators.advice import (
    as_groups,
    integrated_time,
    warn_dependent_rows,
    warn_unequal_columns,
)
from ritz.selection.rows import WeightedRows

SMALL = {"kernel": "gaussian", "length_scale": 2.0, "n_centers": 30, "regularization": 1e-6}


def rows(X):
    return WeightedRows(X, np.ones(len(X)))


def autoregressive(n, phi, rng):
    """A stationary series x_t = phi x_t-1 + noise of unit variance, an Ornstein-Uhlenbeck path."""
    noise = np.sqrt(1 - phi**2) * rng.normal(size=n)
    noise[0] = rng.normal()
    return lfilter([1.0], [1.0, -phi], noise)[:, None]


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_columns_of_different_units_are_told_of(load):
    X = load().data
    with pytest.warns(UserWarning, match=r"times as wide.*StandardScaler"):
        warn_unequal_columns(rows(X), 0, None, "D=1.0")
    scaled = StandardScaler().fit_transform(X)
    warn_unequal_columns(rows(scaled), 0, None, "D=1.0")


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_columns_of_one_unit_are_not(load):
    X = load().data
    warn_unequal_columns(rows(X), 0, None, "D=1.0")


def test_widths_ignore_constants_outliers_clusters_and_rows_without_weight():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(500, 4)), np.ones(500)
    X[:, 1] = 1e6 + 1e-12 * X[:, 1]
    X[0, 2] = 1e6
    X[:, 3] = np.where(rng.random(500) < 0.9, 0.0, 5.0) + 1e-3 * X[:, 3]
    warn_unequal_columns(WeightedRows(X, weight), 0, None, "D=1.0")
    X[250:, 0] *= 1e4
    weight[250:] = 0.0
    warn_unequal_columns(WeightedRows(X, weight), 0, None, "D=1.0")


def test_pixels_that_are_blank_but_for_a_few_rows_have_no_width():
    X = np.random.default_rng(0).uniform(size=(2000, 5))
    X[:, 3] = 0.0
    X[:15, 3] = 0.004
    warn_unequal_columns(rows(X), 0, None, "D=1.0")
    X[15:300, 3] = 1e-3
    with pytest.warns(UserWarning, match="times as wide as column 3"):
        warn_unequal_columns(rows(X), 0, None, "D=1.0")


def test_a_warning_names_the_columns_and_a_form_silences_it():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(1000, 2)) * [0.001, 1.0]
    frame = pandas.DataFrame(X, columns=["hue", "proline"])
    with pytest.warns(UserWarning, match=r"'proline' is [\d,]+ times as wide as column 'hue'"):
        ritz.SpectralEmbedding(1, operator="laplacian", **SMALL).fit(frame)
    with pytest.warns(UserWarning, match="times as wide"):
        ritz.SpectralClustering(2, operator="laplacian", random_state=0, **SMALL).fit(frame)
    model = ritz.LaplacianRegressor(operator="laplacian", **SMALL)
    with pytest.warns(UserWarning, match="times as wide") as told:
        model.fit(frame, frame["hue"])
    assert {warning.filename for warning in told} == {__file__}
    with pytest.warns(UserWarning, match=r"pass mobility=1\.0"):
        ritz.DiffusionModes(1, **SMALL).fit(frame)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*times as wide")
        ritz.DiffusionModes(1, mobility=1.0, **SMALL).fit(frame)
        ritz.SpectralEmbedding(1, operator=ritz.laplacian(), **SMALL).fit(frame)
        ritz.SpectralEmbedding(1, **SMALL).fit(frame)


@pytest.mark.parametrize("phi", [0.5, 0.9])
def test_integrated_time_of_an_autoregressive_series(phi):
    rng = np.random.default_rng(0)
    exact = (1 + phi) / (1 - phi)
    X = autoregressive(50_000, phi, rng)
    assert integrated_time(X) == pytest.approx(exact, rel=0.25)
    # Ten white columns, or a direction across many, do not hide it.
    assert integrated_time(np.hstack([rng.normal(size=(50_000, 4)), X])) > 0.75 * exact
    many = 3 * X @ np.ones((1, 20)) + rng.normal(size=(50_000, 20))
    assert integrated_time(many) == pytest.approx(exact, rel=0.25)


@pytest.mark.parametrize(("n", "d"), [(250, 10), (1000, 3)])
def test_independent_rows_raise_no_alarm(n, d):
    rng = np.random.default_rng(0)
    for _ in range(300):
        warn_dependent_rows(rows(rng.normal(size=(n, d))))


def test_dependent_rows_are_told_of_by_their_order():
    rng = np.random.default_rng(0)
    X = autoregressive(5000, 0.9, rng)
    with pytest.warns(UserWarning, match=r"in the order given.*Pass groups='auto'"):
        warn_dependent_rows(rows(X))
    warn_dependent_rows(rows(rng.permutation(X)))
    with pytest.warns(UserWarning, match=r"has to be longer.*only sorted"):
        warn_dependent_rows(rows(np.sort(X, axis=0)))


def test_automatic_groups_are_blocks_of_five_to_ten_integrated_times():
    rng = np.random.default_rng(0)
    for n in (5000, 50_000):
        X = autoregressive(n, 0.9, rng)
        sizes = np.bincount(as_groups("auto", X))
        assert 4.9 < sizes[0] / integrated_time(X) < 10.1
        assert len(sizes) >= 32
    assert as_groups(None, X) is None
    given = np.arange(3)
    assert as_groups(given, X) is given
    with pytest.raises(ValueError, match=r"'groups' parameter .* too short"):
        as_groups("auto", X[:500])
    with pytest.raises(ValueError, match="'groups' parameter"):
        as_groups("rows", X)


@pytest.mark.parametrize("kind", [ritz.DiffusionModes, ritz.SpectralEmbedding])
def test_errors_of_a_path_match_the_scatter_over_repetitions(kind):
    # Medians: about one fit in a hundred loses its first mode, and its value and error are others.
    values, alone, blocks = [], [], []
    for seed in range(40):
        X = autoregressive(20_000, 0.9, np.random.default_rng(seed))
        with pytest.warns(UserWarning, match="in the order given"):
            alone.append(kind(1, random_state=0, **SMALL).fit(X).spectrum_.errors[1])
        model = kind(1, random_state=0, **SMALL).fit(X, groups="auto")
        values.append(model.spectrum_.values[1])
        blocks.append(model.spectrum_.errors[1])
    scatter = 1.4826 * np.median(np.abs(values - np.median(values)))
    assert 1 / 1.7 < np.median(blocks) / scatter < 1.7
    assert np.median(alone) < scatter / 2


@pytest.mark.parametrize("kind", [ritz.DiffusionModes, ritz.SpectralEmbedding])
def test_far_points_are_told_of_and_counted(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    model = kind(2, random_state=0, **SMALL | {"length_scale": 1.0}).fit(X)
    model.transform(X)
    model.transform(rng.normal(size=(3000, 2)))
    for known in (model, pickle.loads(pickle.dumps(model))):
        with pytest.warns(UserWarning, match="3 of 103 points looked at are far"):
            known.transform(np.vstack([X[:100], np.full((3, 2), 30.0)]))
    row = X[:1]
    model.transform(row)
    took = []
    for _ in range(20):
        start = time.perf_counter()
        model.transform(row)
        took.append(time.perf_counter() - start)
    assert min(took) < 5e-3


def test_the_cluster_of_a_far_point_is_doubted(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 2)) + np.repeat([[-4.0], [4.0]], 200, axis=0)
    model = ritz.SpectralClustering(2, random_state=0, **SMALL).fit(X)
    model.predict(X)
    model.save(tmp_path / "model.ritz")
    for known in (model, ritz.load(tmp_path / "model.ritz")):
        with pytest.warns(UserWarning, match="1 of 11 points looked at are far") as told:
            known.predict(np.vstack([X[:10], [[300.0, 300.0]]]))
        assert told[0].filename == __file__


def test_far_points_of_other_functions_or_sums_are_not_judged():
    X = np.random.default_rng(0).normal(size=(500, 1))
    far = np.full((1, 1), 50.0)
    ritz.SpectralEmbedding(1, basis=ritz.Monomials(3)).fit(X).transform(far)
    model = ritz.SpectralEmbedding(1, random_state=0, **SMALL).fit(X)
    other = ritz.SpectralEmbedding(1, keep_sums=True, random_state=1, **SMALL).fit(X[:250])
    model.fit_sums(other.sums_).transform(far)
