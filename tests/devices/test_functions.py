"""Fits to arrays of other libraries, and functions evaluated where the points are."""

import numpy as np
import pytest

import ritz
from ritz.namespaces import device_of
from tests.devices.namespaces import NAMESPACES, largest_gap

X = np.random.default_rng(0).normal(size=(900, 3)) * [1.0, 0.7, 0.5]


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize(
    "basis",
    [
        ritz.Nystrom(ritz.Matern(3.5, 2.0), 30),
        ritz.Nystrom(ritz.DotExponential(2.0), 12),
        ritz.RandomFourier(ritz.Gaussian(1.0), 20),
        ritz.Monomials(3),
    ],
    ids=repr,
)
def test_a_spectrum_is_evaluated_where_the_points_are(basis, namespace):
    points = NAMESPACES[namespace](X)
    options = {"regularization": 1e-6, "random_state": 0}
    expected = ritz.decompose(ritz.laplacian(), basis, X, 5, **options)
    spectrum = ritz.decompose(ritz.laplacian(), basis, points, 5, **options)
    assert largest_gap(spectrum.values, expected.values) < 1e-10
    assert largest_gap(spectrum.errors, expected.errors) < 1e-8
    for there, here in (
        (spectrum(points), spectrum(X)),
        (spectrum.gradient(points), spectrum.gradient(X)),
        (spectrum.partial(points, (1, 0, 1)), spectrum.partial(X, (1, 0, 1))),
    ):
        assert type(there) is type(points)
        assert device_of(there) == device_of(points)
        assert largest_gap(there, here) < 1e-10


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("operator", ["laplacian", "neighbors"])
def test_an_embedding(operator, namespace):
    there = NAMESPACES[namespace]
    options = {"operator": operator, "length_scale": 0.9, "n_centers": 40, "random_state": 0}
    expected = ritz.SpectralEmbedding(3, **options).fit(X)
    found = ritz.SpectralEmbedding(3, **options).fit(there(X))
    assert largest_gap(found.eigenvalues_, expected.eigenvalues_) < 1e-10
    embedded = found.transform(there(X))
    assert type(embedded) is type(there(X))
    assert device_of(embedded) == device_of(there(X))
    assert largest_gap(embedded, expected.transform(X)) < 1e-10
    assert found.score(there(X)) == pytest.approx(expected.score(X), abs=1e-6)


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_an_embedding_of_everything_auto(namespace):
    there = NAMESPACES[namespace]
    # The first column is so wide that columns get units.
    rows = X[:300] * [100.0, 1.0, 1.0]
    expected = ritz.SpectralEmbedding(random_state=0, n_centers=30).fit(rows)
    found = ritz.SpectralEmbedding(random_state=0, n_centers=30).fit(there(rows))
    assert found.length_scale_ == expected.length_scale_
    assert np.array_equal(found.scale_, expected.scale_)
    assert largest_gap(found.transform(there(rows)), expected.transform(rows)) < 1e-9


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("units", [{"metric": "cosine"}, {"scale": "standard"}], ids=str)
def test_an_embedding_in_units(units, dtype, namespace):
    there = NAMESPACES[namespace]
    rows = X.astype(dtype)
    options = {"operator": "laplacian", "length_scale": 0.5, "n_centers": 20, "random_state": 0}
    expected = ritz.SpectralEmbedding(2, **options, **units).fit(rows)
    found = ritz.SpectralEmbedding(2, **options, **units).fit(there(rows))
    assert largest_gap(found.eigenvalues_, expected.eigenvalues_) < 1e-10
    embedded = found.transform(there(rows))
    assert embedded.dtype == there(rows).dtype
    assert largest_gap(embedded, expected.transform(rows)) < (1e-10 if dtype == "float64" else 1e-6)


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_what_auto_chooses_is_what_it_chooses_from_rows_of_numpy(namespace):
    found, expected = (
        ritz.select(ritz.laplacian(), rows, 2, random_state=0)
        for rows in (NAMESPACES[namespace](X), X)
    )
    assert str(found.recipe) == str(expected.recipe)
    assert len(found.candidates) == len(expected.candidates)
    assert found.regularization == expected.regularization


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_partial_fits(namespace):
    there = NAMESPACES[namespace]

    def fitted(place):
        embedding = ritz.SpectralEmbedding(length_scale=0.9, n_centers=20, random_state=0)
        for part in np.split(X, 3):
            embedding.partial_fit(place(part))
        return embedding

    assert largest_gap(fitted(there).eigenvalues_, fitted(np.asarray).eigenvalues_) < 1e-10


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_an_embedding_has_the_type_of_its_points(namespace):
    there = NAMESPACES[namespace]
    embedding = ritz.SpectralEmbedding(length_scale=0.9, n_centers=20, random_state=0).fit(X)
    single = there(X.astype(np.float32))
    assert embedding.transform(single).dtype == single.dtype
    whole = there(np.zeros((2, 3), dtype=np.int64))
    assert embedding.transform(whole).dtype == there(X).dtype


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_wide_kernel_differs_by_far_less_than_its_errors(namespace):
    # Its functions are differences of nearly equal sections, whose rounding errors they magnify.
    basis, rows = ritz.Nystrom(ritz.Gaussian(100.0), 30), X[:, :1]
    found, expected = (
        ritz.decompose(ritz.laplacian(), basis, given, 4, random_state=0)
        for given in (NAMESPACES[namespace](rows), rows)
    )
    assert (np.abs(found.values - expected.values)[1:] < 1e-3 * expected.errors[1:]).all()


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_saved_embedding_keeps_its_first_rows_on_the_host(namespace, tmp_path):
    embedding = ritz.SpectralEmbedding(length_scale=0.9, n_centers=20, random_state=0)
    embedding.partial_fit(NAMESPACES[namespace](X[:300])).save(tmp_path / "embedding.ritz")
    loaded = ritz.load(tmp_path / "embedding.ritz").partial_fit(X[300:])
    for place in (np.asarray, NAMESPACES[namespace]):
        embedding = ritz.SpectralEmbedding(length_scale=0.9, n_centers=20, random_state=0)
        embedding.partial_fit(place(X[:300])).partial_fit(place(X[300:]))
        assert largest_gap(loaded.eigenvalues_, embedding.eigenvalues_) < 1e-10


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_an_embedding_of_a_device_is_written_to_a_file(namespace, tmp_path):
    embedding = ritz.SpectralEmbedding(length_scale=0.9, n_centers=20, random_state=0).fit(X)
    path = tmp_path / "embedded.csv"
    assert embedding.transform_to(NAMESPACES[namespace](X), path) == len(X)
    written = np.loadtxt(path, delimiter=",", skiprows=1)
    assert largest_gap(written, embedding.transform(X)) < 1e-10
