"""Sparse rows: the results of the dense array, a block of which is in memory at a time."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.base import clone

import ritz
from tests.bad_input import raises

N, D = 400, 12
RNG = np.random.default_rng(0)
DENSE = np.where(RNG.uniform(size=(N, D)) < 0.3, RNG.uniform(size=(N, D)), 0.0)
MATRIX = sparse.csr_array(DENSE)
TARGET = DENSE[:, 0] - DENSE[:, 1]
FORMATS = ("csr_array", "csc_array", "coo_array", "csr_matrix", "lil_matrix")
KERNELS = (ritz.Gaussian(1.0), ritz.Polynomial(2), ritz.DotExponential(1.0))
FORMS = {
    "laplacian": ritz.laplacian(),
    "neighbors": ritz.neighbors(5),
    "tangent": ritz.laplacian(tangent="pca", dimension=2),
    "density": ritz.laplacian(density_correction=1.0),
    "graph": ritz.graph(ritz.Gaussian(1.0)),
    "diffusion": ritz.diffusion(2.0),
}
ESTIMATORS = {
    "SpectralEmbedding": (ritz.SpectralEmbedding(3), None),
    "along neighbors": (ritz.SpectralEmbedding(3, operator="neighbors"), None),
    "SpectralClustering": (ritz.SpectralClustering(3), None),
    "DiffusionModes": (ritz.DiffusionModes(2), None),
    "SingularEmbedding": (ritz.SingularEmbedding(2), TARGET),
    "LaplacianRegressor": (ritz.LaplacianRegressor(), TARGET),
    "LaplacianClassifier": (ritz.LaplacianClassifier(), (TARGET > 0).astype(int)),
}


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("form", FORMS)
def test_every_operator_takes_sparse_rows(form, kernel):
    basis = ritz.Nystrom(kernel, 20)
    sums, dense = (ritz.assemble(FORMS[form], basis, X, random_state=0) for X in (MATRIX, DENSE))
    for name in ("L", "Phi"):
        np.testing.assert_array_equal(getattr(sums, name), getattr(dense, name))


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_is_one_matrix(kind):
    X = getattr(sparse, kind)(MATRIX)
    form, basis = ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(1.0), 20)
    found, dense = (ritz.decompose(form, basis, Z, 4, random_state=0) for Z in (X, DENSE))
    close(found.values, dense.values)
    for method in ("__call__", "gradient"):
        close(getattr(found, method)(X), getattr(dense, method)(DENSE))
    close(found.partial(X, (1,) + (0,) * (D - 1)), dense.partial(DENSE, (1,) + (0,) * (D - 1)))


def test_entries_that_are_stored_twice_add_up():
    X = sparse.csr_array((np.ones(4), np.array([1, 1, 0, 1]), np.array([0, 2, 3, 4])), shape=(3, 2))
    found = ritz.assemble(ritz.laplacian(), ritz.Monomials(1), X, n_folds=1)
    dense = ritz.assemble(ritz.laplacian(), ritz.Monomials(1), X.toarray(), n_folds=1)
    np.testing.assert_array_equal(found.Phi, dense.Phi)
    assert len(X.data) == 4


def test_two_views_and_batches_may_be_sparse():
    form, basis = ritz.cross(), ritz.Monomials(1)
    pair = ritz.assemble(form, basis, (MATRIX, MATRIX[:, :3]), random_state=0)
    dense = ritz.assemble(form, basis, (DENSE, DENSE[:, :3]), random_state=0)
    np.testing.assert_array_equal(pair.L, dense.L)
    batches = ritz.Batches([MATRIX[:150], MATRIX[150:]])
    whole = ritz.assemble(ritz.laplacian(), basis, DENSE, random_state=0)
    close(ritz.assemble(ritz.laplacian(), basis, batches, random_state=0).L, whole.L)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_find_what_they_find_from_the_dense_array(name):
    model, y = ESTIMATORS[name]
    found, dense = (clone(model).set_params(random_state=0).fit(X, y) for X in (MATRIX, DENSE))
    close(found.spectrum_.values, dense.spectrum_.values)
    for method in ("transform", "predict", "predict_proba"):
        if hasattr(found, method):
            close(getattr(found, method)(MATRIX), getattr(dense, method)(DENSE))
            close(getattr(found, method)(DENSE), getattr(found, method)(MATRIX))
    if hasattr(found, "score"):
        scored = (DENSE,) if y is None else (DENSE, y)
        assert found.score(MATRIX, *scored[1:]) == pytest.approx(dense.score(*scored), abs=1e-12)


def test_weights_groups_and_repeated_rows():
    X, dense = sparse.vstack([MATRIX, MATRIX[:100]]).tocsr(), np.vstack([DENSE, DENSE[:100]])
    weight = np.random.default_rng(1).uniform(size=len(dense))
    weight[:20] = 0.0
    options = {"sample_weight": weight, "groups": np.arange(len(dense)) // 5}
    found, expected = (
        ritz.SpectralEmbedding(3, random_state=0).fit(Z, **options) for Z in (X, dense)
    )
    close(found.eigenvalues_, expected.eigenvalues_)
    close(found.eigenvalue_errors_, expected.eigenvalue_errors_)


def test_partial_fits_of_sparse_and_dense_parts():
    model, dense = (ritz.SpectralEmbedding(2, random_state=0) for _ in range(2))
    for rows in (slice(0, 100), slice(100, 250), slice(250, None)):
        model.partial_fit(MATRIX[rows])
        dense.partial_fit(DENSE[rows])
    close(model.eigenvalues_, dense.eigenvalues_)
    close(model.partial_fit(DENSE).eigenvalues_, dense.partial_fit(MATRIX).eigenvalues_)


def test_float32_is_kept_in_what_is_returned():
    model = ritz.SpectralEmbedding(2, random_state=0).fit(MATRIX.astype(np.float32))
    assert model.transform(MATRIX.astype(np.float32)).dtype == np.float32
    dense = ritz.SpectralEmbedding(2, random_state=0).fit(DENSE.astype(np.float32))
    close(model.eigenvalues_, dense.eigenvalues_)


@pytest.mark.parametrize(("value", "remedy"), [(np.nan, "SimpleImputer"), (np.inf, "Drop")])
def test_numbers_that_are_not_finite_are_named(value, remedy):
    bad = MATRIX.tolil()
    bad[7, 3] = value
    for fit in (
        ritz.SpectralEmbedding().fit,
        lambda X: ritz.assemble(ritz.laplacian(), ritz.Monomials(1), X),
        ritz.SpectralEmbedding(2, basis=ritz.Monomials(1)).fit(DENSE).spectrum_,
    ):
        with raises("'X'", "finite", "row 7, column 3", remedy):
            fit(bad.tocsr())


def test_a_matrix_of_other_columns_is_refused():
    model = ritz.SpectralEmbedding(2, basis=ritz.Monomials(1)).fit(MATRIX)
    with pytest.raises(ValueError, match="features"):
        model.transform(MATRIX[:, :4])
    with raises("'X'", "12 columns"):
        model.spectrum_(MATRIX[:, :4])


def peak(call):
    """Return a result, and the most memory in bytes that arrays take on the way."""
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_that_of_blocks():
    n, d = 20_000, 2_000
    rng = np.random.default_rng(0)
    count = int(0.005 * n * d)
    places = rng.integers(n, size=count), rng.integers(d, size=count)
    X = sparse.csr_array((rng.uniform(size=count), places), shape=(n, d))
    dense = 8 * n * d
    options = {"length_scale": 3.0, "n_centers": 50, "regularization": 1e-6, "random_state": 0}
    for kernel in ("gaussian", "polynomial"):
        estimator = ritz.SpectralEmbedding(
            2, operator="laplacian", scale=None, kernel=kernel, **options
        )
        model, fit = peak(partial(estimator.fit, X))
        embedded, transform = peak(partial(model.transform, X))
        assert embedded.shape == (n, 2)
        assert fit < 0.7 * dense
        assert transform < 0.32 * dense
