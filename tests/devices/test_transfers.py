"""What crosses between device and host, and errors of what cannot stay on a device."""

import array_api_strict
import numpy as np
import pytest
import torch

import ritz
from tests.devices.namespaces import NAMESPACES, gap_of_sums

X = np.random.default_rng(0).normal(size=(20_000, 3))
there = NAMESPACES["strict"]
BASIS = ritz.Nystrom(ritz.Gaussian(1.0), 20)
FUNCTIONS = ritz.Functions([lambda x: x[:, 0]], [lambda x: x * 0 + [1.0, 0.0, 0.0]])


@pytest.fixture
def crossed(monkeypatch):
    """The numbers of entries that were copied from the device, one a transfer."""
    sizes = []
    to_device = array_api_strict._array_object.Array.to_device

    def counting(array, device, /, **options):
        sizes.append(array.size)
        return to_device(array, device, **options)

    monkeypatch.setattr(array_api_strict._array_object.Array, "to_device", counting)
    return sizes


def test_the_device_refuses_to_become_an_array_of_numpy():
    with pytest.raises(RuntimeError):
        np.asarray(there(X))


@pytest.mark.parametrize("form", [ritz.laplacian(), ritz.potential(1.0)], ids=str)
def test_each_row_is_copied_once_for_its_hash(form, crossed):
    ritz.assemble(form, BASIS, there(X), random_state=0)
    sample, matrices = 2048 * X.shape[1], 8 * 2 * (1 + BASIS.n_centers) ** 2
    assert X.size <= sum(crossed) <= X.size + sample + matrices


def test_functions_of_points_copy_nothing(crossed):
    spectrum = ritz.decompose(ritz.laplacian(), BASIS, X, 4, random_state=0)
    spectrum(there(X))
    assert sum(crossed) == 0


def test_an_embedding_copies_each_row_once_and_samples(crossed):
    options = {"operator": "laplacian", "length_scale": 1.0, "n_centers": 20, "random_state": 0}
    rows = there(np.concatenate([X] * 6))
    embedding = ritz.SpectralEmbedding(**options).fit(rows)
    # Up to 100,000 rows are looked at for dependence, fewer for widths, centers and distances, and
    # of the others their distance from the centers' mean.
    samples = 3 * (100_000 + 12_000) + rows.shape[0]
    assert rows.size <= sum(crossed) <= rows.size + samples
    crossed.clear()
    embedding.transform(rows)
    assert sum(crossed) <= 2000 * X.shape[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: ritz.assemble(ritz.laplacian(tangent="pca", dimension=2), BASIS, there(X)),
        lambda: ritz.assemble(ritz.laplacian(density_correction=1.0), BASIS, there(X)),
        lambda: ritz.assemble(ritz.laplacian(), FUNCTIONS, there(X)),
        lambda: ritz.assemble(ritz.laplacian(), BASIS, ritz.Batches([there(X)])),
        lambda: ritz.Nystrom(ritz.Gaussian(1.0), centers=there(X[:10])),
        lambda: FUNCTIONS(there(X)),
        lambda: ritz.SpectralClustering(2).fit(there(X)),
        lambda: ritz.LaplacianRegressor().fit(there(X), X[:, 0]),
        lambda: ritz.HermiteRegressor().fit(there(X), X[:, 0]),
    ],
)
def test_what_numpy_computes_is_refused_with_the_remedy(call):
    with pytest.raises(TypeError, match=r"on the host.*np\.asarray\(tensor\.cpu\(\)\)"):
        call()


def test_what_numpy_computes_reads_the_memory_of_a_tensor_of_the_cpu():
    rows = torch.asarray(X[:500])
    form = ritz.laplacian(tangent="pca", dimension=2)
    for basis in (BASIS, FUNCTIONS):
        found, expected = (
            ritz.assemble(form, basis, given, random_state=0) for given in (rows, X[:500])
        )
        assert gap_of_sums(found, expected) == 0


def test_views_live_on_one_device():
    for views in ((there(X), X), (X, there(X)), (there(X), torch.asarray(X))):
        with pytest.raises(TypeError, match="on the device"):
            ritz.assemble(ritz.cross(), BASIS, views)


def test_parts_of_a_partial_fit_live_in_one_place():
    def first(rows):
        return ritz.SpectralEmbedding(length_scale=1.0, n_centers=20).partial_fit(rows)

    for rest in (X[100:200], ritz.Batches([X[100:200]])):
        with pytest.raises(TypeError, match=rf"on the device .*Got {type(rest).__name__}"):
            first(there(X[:100])).partial_fit(rest)
    with pytest.raises(TypeError, match=r"on the host.*The rows before are arrays of NumPy"):
        first(X[:100]).partial_fit(there(X[100:200]))
    assert len(first(X[:100]).partial_fit(torch.asarray(X[100:200]))._buffer) == 200


def test_a_field_of_another_device_is_refused():
    form = ritz.potential(lambda x: array_api_strict.ones(x.shape[0]))
    with pytest.raises(ValueError, match=r"'V .*on the device of the rows"):
        ritz.assemble(form, BASIS, there(X[:100]))


def test_a_device_without_float64_is_refused():
    rows = array_api_strict.asarray(
        X.astype(np.float32), device=array_api_strict.Device("no_float64")
    )
    with pytest.raises(ValueError, match=r"device with float64.*X\.cpu\(\)"):
        ritz.assemble(ritz.laplacian(), BASIS, rows)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (X[:, 0], r"\(n, d\).*shape \(20000,\)"),
        (X[:, :0], "at least one column"),
        (X + 1j, "real"),
        (np.where(np.arange(len(X))[:, None] == 7, np.nan, X), "nan in row 7, column 0"),
        (np.where(np.arange(len(X))[:, None] == 7, 1e200, X), "squares overflow"),
        (X[:1], "at least 2 rows"),
    ],
)
def test_bad_rows(bad, message):
    for place in NAMESPACES.values():
        with pytest.raises(ValueError, match=message):
            ritz.assemble(ritz.laplacian(), BASIS, place(bad))


def test_a_tensor_in_training_is_taken_without_its_graph():
    rows = torch.asarray(X[:200]).requires_grad_()
    found, expected = (
        ritz.assemble(ritz.laplacian(), BASIS, given, random_state=0) for given in (rows, X[:200])
    )
    assert gap_of_sums(found, expected) < 1e-10
