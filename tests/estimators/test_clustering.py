"""Spectral clustering: right clusters on unseen points, and as many as there are."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import ritz

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


def test_too_few_rows_or_no_gap_for_a_number_of_clusters():
    with pytest.raises(ValueError, match=r"2 functions besides the constant.*at most 1"):
        ritz.SpectralClustering("auto").fit(np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0))
    with pytest.raises(ValueError, match="max_clusters"):
        ritz.SpectralClustering("auto", max_clusters=1).fit(blobs(2, 100))
