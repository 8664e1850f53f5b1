"""Spectral clustering: right clusters on unseen points, and as many as there are."""

import numpy as np
import pytest
from palmerpenguins import load_penguins
from scipy.special import softmax
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_wine, make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import ritz
from ritz.estimators.clustering import memberships

CLOUDS = {
    "moons": ritz.datasets.half_moons,
    "circles": lambda n, random_state: ritz.datasets.concentric_circles(
        n, n_circles=2, noise=0.05, random_state=random_state
    ),
}


@pytest.mark.parametrize("n", [2000, 20_000])
@pytest.mark.parametrize("name", CLOUDS)
def test_clusters_of_unseen_points(name, n):
    cloud = CLOUDS[name](n, random_state=0)
    fresh = CLOUDS[name](5000, random_state=1)
    model = ritz.SpectralClustering(2, random_state=0).fit(cloud.X)
    assert adjusted_rand_score(cloud.labels, model.labels_) >= 0.99
    assert adjusted_rand_score(fresh.labels, model.predict(fresh.X)) >= 0.99


def blobs(k, n=1500):
    rng = np.random.default_rng(k)
    angles = 2 * np.pi * np.arange(k) / k
    centers = 2.0 * k * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return centers[rng.integers(k, size=n)] + 0.5 * rng.normal(size=(n, 2))


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_number_of_clusters_is_found_with_evidence(k):
    model = ritz.SpectralClustering("auto", max_clusters=8, random_state=0).fit(blobs(k))
    assert model.n_clusters_ == k
    assert set(model.evidence_) == set(range(2, 9))
    assert model.evidence_[k] == max(model.evidence_.values())
    assert model.sure_
    assert model.confidence_ > 0.99
    assert model.stability_[k] > 0.99
    assert len(model.eigenvalues_) == k - 1


def test_labels_are_predictions_and_weights_are_repetitions():
    X = blobs(3, 600)
    weight = np.random.default_rng(0).integers(0, 3, size=600)
    model = ritz.SpectralClustering(3, random_state=0)
    weighted = clone(model).fit(X, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_array_equal(weighted.labels_, weighted.predict(X))
    np.testing.assert_array_equal(model.fit_predict(X), model.labels_)
    assert len(np.unique(model.labels_)) == 3
    assert (ritz.SpectralClustering(1).fit_predict(X) == 0).all()


@pytest.mark.parametrize(
    ("load", "k", "least"), [(load_wine, 3, 0.85), (load_breast_cancer, 2, 0.6)]
)
def test_tables_are_not_cut_at_single_rows(load, k, least):
    table = load()
    X = StandardScaler().fit_transform(table.data)
    labels = ritz.SpectralClustering(k, random_state=0).fit_predict(X)
    assert adjusted_rand_score(table.target, labels) > least


def test_at_least_two_clusters_are_considered():
    with pytest.raises(ValueError, match="max_clusters"):
        ritz.SpectralClustering("auto", max_clusters=1).fit(blobs(2, 100))


@pytest.mark.parametrize("n", [6, 8, 10, 11, 12, 13])
def test_few_rows_of_many_columns_are_clustered_by_their_distances(n):
    X = np.random.default_rng(n).normal(size=(n, 5))
    X[1::2, 0] += 10.0
    labels = ritz.SpectralClustering(2, random_state=0).fit_predict(X)
    assert adjusted_rand_score(np.arange(n) % 2, labels) == 1.0


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("distinct", [1, 2, 3, 5])
def test_there_are_as_many_clusters_as_distinct_rows(distinct, d):
    rows = np.random.default_rng(0).normal(size=(distinct, d))
    X = np.tile(rows, (4, 1))
    with pytest.warns(UserWarning, match=f"Only {distinct} of 8 clusters.*Lower n_clusters"):
        model = ritz.SpectralClustering(random_state=0).fit(X)
    assert model.n_clusters_ == distinct
    assert len(model.eigenvalues_) == distinct - 1
    # Equal rows are together, others apart.
    np.testing.assert_array_equal(model.labels_, np.tile(model.labels_[:distinct], 4))
    assert sorted(model.labels_[:distinct]) == list(range(distinct))
    np.testing.assert_array_equal(model.predict(rows), model.labels_[:distinct])


def test_few_functions_make_many_clusters_with_a_warning():
    X = np.repeat(np.arange(5.0), 20)[:, None] + 0.01 * np.random.default_rng(0).normal(
        size=(100, 1)
    )
    model = ritz.SpectralClustering(5, basis=ritz.Monomials(1), random_state=0)
    with pytest.warns(UserWarning, match="Only 1 of 4 functions"):
        labels = model.fit_predict(X)
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(np.repeat(np.arange(5), 20), labels) == 1.0


@pytest.mark.parametrize("distinct", [1, 2])
def test_too_few_rows_for_a_gap_are_as_many_clusters(distinct):
    X = np.repeat(np.eye(2)[:distinct], 10, axis=0)
    with pytest.warns(UserWarning, match=f"number of clusters, {distinct}, is not sure"):
        model = ritz.SpectralClustering("auto").fit(X)
    assert model.n_clusters_ == len(np.unique(model.labels_)) == distinct
    assert model.evidence_ == {}


def tens():
    return make_blobs(1500, centers=10, n_features=8, random_state=1)[0], 10


def rings():
    return make_circles(1000, factor=0.5, noise=0.05, random_state=0)[0], 2


@pytest.mark.parametrize(("data", "sure"), [(tens, True), (rings, False)])
def test_ten_blobs_are_ten_and_circles_two(data, sure):
    X, k = data()
    model = ritz.SpectralClustering("auto", random_state=0)
    if sure:
        model.fit(X)
    else:
        # The gap between two rings is one that a single cluster can have.
        with pytest.warns(UserWarning, match="number of clusters, 2, is not sure"):
            model.fit(X)
    assert model.n_clusters_ == k
    assert model.sure_ == sure
    assert model.confidence_ > 0.95


def penguins():
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    return load_penguins()[columns].dropna().to_numpy()


@pytest.mark.parametrize("load", [penguins, lambda: load_wine().data])
def test_three_species_of_a_table_are_found_or_not_sure(load):
    with pytest.warns(UserWarning, match="number of clusters, ., is not sure"):
        model = ritz.SpectralClustering("auto", random_state=0).fit(load())
    assert not model.sure_
    assert model.n_clusters_ in (2, 3)


@pytest.mark.parametrize("operator", ["laplacian", "neighbors"])
def test_isolated_rows_are_no_clusters(operator):
    X = blobs(3, 600)
    far = np.array([[40.0, 0.0], [-35.0, 30.0], [0.0, -45.0]])
    everything = np.concatenate([X, far])
    labels = np.arange(3)[KMeans(3, n_init=10, random_state=0).fit_predict(X)]
    model = ritz.SpectralClustering(3, operator=operator, random_state=0).fit(everything)
    assert adjusted_rand_score(labels, model.labels_[:600]) > 0.99
    model.set_params(n_clusters="auto").fit(everything)
    assert model.n_clusters_ == 3


def test_probabilities_are_those_of_normal_clusters_around_the_means():
    X = blobs(3, 600)
    model = ritz.SpectralClustering(3, random_state=0).fit(X)
    embedded, means = model.spectrum_[1:](X), model.cluster_centers_
    width = np.mean((embedded - means[model.labels_]) ** 2)
    found = model.predict_proba(X)
    between = np.linspace(X[model.labels_ == 0].mean(axis=0), X[model.labels_ == 1].mean(axis=0), 9)
    at = model.spectrum_[1:](between)
    squares = ((at[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_allclose(
        model.predict_proba(between), softmax(-squares / (2 * width), axis=1), atol=1e-12
    )
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(found.argmax(axis=1), model.labels_)
    # Each row of a few that are clusters of their own is sure of its cluster.
    few = ritz.SpectralClustering(2, random_state=0).fit(np.tile([[0.0], [1.0]], (5, 1)))
    assert set(few.predict_proba([[0.0], [1.0]]).ravel()) == {0.0, 1.0}


def test_rows_without_width_are_sure_however_far_apart_they_are():
    far = np.array([[0.0], [100.0]])
    np.testing.assert_array_equal(memberships(far, far, 0.0), np.eye(2))


def test_a_number_that_is_given_forgets_the_evidence_for_another():
    model = ritz.SpectralClustering("auto", random_state=0).fit(blobs(3, 300))
    assert model.n_clusters_ == 3
    model.set_params(n_clusters=2).fit(blobs(3, 300))
    for name in ("evidence_", "stability_", "confidence_", "sure_"):
        assert not hasattr(model, name)
