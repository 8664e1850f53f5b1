"""Results on both sides of each size at which a default, a sample or an algorithm changes."""

from importlib import import_module

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import ritz

N = 600
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2)) * [1.0, 0.6]
Y = 0.8 * X + 0.6 * RNG.normal(size=(N, 2)) * [1.0, 0.6]
# So narrow that rounding is not amplified.
SECTIONS = ritz.Nystrom(ritz.Gaussian(0.5), 40)


def eigenvalues(form, data=X, basis=SECTIONS):
    return ritz.decompose(form, basis, data, 4, regularization=1e-4, random_state=0).values


def graph_eigenvalues():
    return eigenvalues(ritz.graph(lambda x, y: np.exp(-((x[:, None] - y) ** 2).sum(-1))))


def embedding_values():
    return ritz.SpectralEmbedding(3, random_state=0).fit(X).eigenvalues_


def laplacian():
    return eigenvalues(ritz.laplacian())


def neighbors():
    return eigenvalues(ritz.neighbors(5, weights="uniform"))


def cross():
    return ritz.SingularEmbedding(2, n_centers=40, random_state=0).fit(X, Y).singular_values_


def corrected():
    return eigenvalues(ritz.laplacian(density_correction=0.5))


def streamed():
    model = ritz.SpectralEmbedding(3, n_centers=40, length_scale=1.0, random_state=0)
    for part in np.array_split(X, 6):
        model.partial_fit(part)
    return model.eigenvalues_


def hermite():
    y, t = np.sin(X[:, 0]) * X[:, 1], np.stack([np.cos(X[:, 0]) * X[:, 1], np.sin(X[:, 0])], 1)
    model = ritz.HermiteRegressor(random_state=0).fit(X[:80], y[:80], t[:80])
    return model.predict(X[np.abs(X).max(axis=1) < 1.0])


# The constant, two values with the sample on either side, what is computed, and by how much it
# may move: rounding where only the order of sums changes, otherwise the noise of a subsample.
SWITCHES = [
    ("threads.SERIAL_SOLVE", (1, 10_000), laplacian, 1e-7),
    ("assembly.assemble.SERIAL_PRODUCTS", (1, 1e18), laplacian, 1e-7),
    ("assembly.assemble.SERIAL_PRODUCTS", (1, 1e18), neighbors, 1e-7),
    ("assembly.laplacian.LaplacianAssembler.block_rows", (64, 1024), laplacian, 1e-7),
    ("assembly.general.FEATURE_BYTES", (1, 64_000_000), neighbors, 1e-7),
    ("assembly.general.FEATURE_BYTES", (1, 64_000_000), cross, 1e-7),
    ("streams.stream.CHUNK_ROWS", (50, 131_072), laplacian, 1e-7),
    ("streams.stream.CHUNK_BYTES", (800, 64_000_000), cross, 1e-7),
    ("kernels.sections.DIRECT_COLUMNS", (1, 32), neighbors, 1e-7),
    ("kernels.sections.DIRECT_COLUMNS", (1, 32), embedding_values, 1e-7),
    ("forms.graph.GRAPH_ROWS", (100, 1024), graph_eigenvalues, 1e-7),
    ("assembly.assemble.PILOT_ROWS", (50, 2048), laplacian, 0.1),
    ("assembly.assemble.REFERENCE_ROWS", (300, 10_000), neighbors, 0.6),
    ("forms.laplacian.DENSITY_ROWS", (200, 2000), corrected, 0.15),
    ("selection.candidates.SCALE_ROWS", (100, 1000), embedding_values, 0.15),
    ("selection.steps.COMPARED_ROWS", (200, 2000), embedding_values, 0.15),
    ("selection.steps.FEWEST_COMPARED_ROWS", (60, 10_000), embedding_values, 0.15),
    ("estimators.embedding.BUFFERED_ROWS", (150, 5000), streamed, 0.15),
    ("hermite.regressor.MAX_QR_NUMBERS", (10, 24_000), hermite, 1e-3),
    ("hermite.regressor.LIKELIHOOD_NUMBERS", (100, 1200), hermite, 1e-3),
    ("hermite.qr.MAX_FUNCTIONS", (120, 2400), hermite, 1e-2),
    ("hermite.choosing.ALL_PAIRS_FUNCTIONS", (10, 100_000), hermite, 1e-3),
]


@pytest.mark.parametrize(
    ("constant", "sides", "compute", "tolerance"),
    SWITCHES,
    ids=[f"{constant}-{compute.__name__}" for constant, _, compute, _ in SWITCHES],
)
def test_both_sides_of_a_switch_agree(monkeypatch, constant, sides, compute, tolerance):
    place, name = constant.rsplit(".", 1)
    try:
        owner = import_module(f"ritz.{place}")
    except ModuleNotFoundError:
        place, kind = place.rsplit(".", 1)
        owner = getattr(import_module(f"ritz.{place}"), kind)
    results = []
    for value in sides:
        monkeypatch.setattr(owner, name, value)
        results.append(compute())
    size = np.abs(results[1]).max()
    np.testing.assert_allclose(results[0], results[1], rtol=tolerance, atol=tolerance * size)


# Sizes beyond the samples of 2,000, 10,000 and 20,000 rows, with few functions.
@pytest.mark.parametrize("n", [1500, 9000, 21_000])
@pytest.mark.parametrize("operator", ["laplacian", "neighbors"])
def test_every_estimator_fits_few_and_many_rows(n, operator):
    rng = np.random.default_rng(n)
    truth = np.arange(n) % 2
    rows = 0.5 * rng.normal(size=(n, 4))
    rows[:, 0] += 3.0 * truth
    few = {"n_centers": 60, "random_state": 0}
    embedding = ritz.SpectralEmbedding(1, operator=operator, **few).fit(rows)
    side = embedding.transform(rows)[:, 0] > 0
    assert adjusted_rand_score(truth, side) > 0.95
    assert np.isfinite(embedding.score(rows))
    clusters = ritz.SpectralClustering(2, operator=operator, **few).fit(rows)
    assert adjusted_rand_score(truth, clusters.labels_) > 0.95
    labels = np.where(np.arange(n) < 40, truth, -1)
    classifier = ritz.LaplacianClassifier(operator=operator, **few).fit(rows, labels)
    assert classifier.score(rows, truth) > 0.95
    target = np.where(labels < 0, np.nan, labels)
    regressor = ritz.LaplacianRegressor(operator=operator, **few).fit(rows, target)
    assert adjusted_rand_score(truth, regressor.predict(rows) > 0.5) > 0.95


@pytest.mark.parametrize("n", [1500, 9000, 21_000])
def test_modes_and_pairs_of_few_and_many_rows(n):
    rng = np.random.default_rng(n)
    x = rng.uniform(size=(n, 1))
    modes = ritz.DiffusionModes(2, n_centers=60, random_state=0).fit(x)
    np.testing.assert_allclose(modes.rates_, np.pi**2 * np.array([1, 4]), rtol=0.1)
    x = rng.normal(size=(n, 1))
    y = 0.8 * x + 0.6 * rng.normal(size=(n, 1))
    pairs = ritz.SingularEmbedding(1, n_centers=60, random_state=0).fit(x, y)
    assert pairs.singular_values_[0] == pytest.approx(0.8, abs=0.06)
    assert pairs.score(x, y) > 0.5


@pytest.mark.parametrize("n", [150, 399, 401, 30_000, 39_999, 40_001, 10**6, 10**8])
def test_the_number_of_centers_has_no_jump_but_its_bounds(n):
    p = ritz.selection.candidates.auto_n_centers
    assert 50 <= p(n) <= 1000
    assert abs(p(n + 1) - p(n)) <= 1
    assert n * p(n) ** 2 <= 3e10 or p(n) == 50
