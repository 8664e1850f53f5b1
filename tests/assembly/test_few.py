"""Few rows and functions, at once by compiled code, against the general path."""

import sys

import numpy as np
import pytest

import ritz
from ritz.assembly.few import is_few, sums_of_few
from ritz.streams import as_stream

RNG = np.random.default_rng(0)
ASSEMBLE = sys.modules["ritz.assembly.assemble"]
KERNELS = [
    ritz.Gaussian(1.5),
    # Much narrower than the data: values are not taken apart from their means.
    ritz.Gaussian(0.1),
    ritz.Exponential(2.0),
    ritz.Matern(1.5),
    ritz.Matern(2.5, 3.0),
    ritz.Polynomial(3),
    ritz.Polynomial(4, 0.5, 2.0),
    ritz.Polynomial(3, 1.0, (1.0, 2.0, 0.5)),
]


def few(kernel, p, X, weight=None, folds=8, seed=3):
    """Return the sums at once, or None."""
    basis, stream = ritz.Nystrom(kernel, p), as_stream(X, 1, weight)
    assert is_few(basis, stream)
    return sums_of_few(ritz.laplacian(), basis, stream, folds, seed)


@pytest.fixture
def general(monkeypatch):
    """Return sums by the general path, and whether the other would serve."""

    def assemble(*arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(ASSEMBLE, "is_few", lambda basis, stream: False)
            return ritz.assemble(*arguments, **options)

    return assemble


def assert_same(found, expected, tolerance=1e-12):
    assert found.n_folds == expected.n_folds
    np.testing.assert_array_equal(found.left.basis.centers, expected.left.basis.centers)
    np.testing.assert_array_equal(found.count, expected.count)
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-14)
    size = np.abs(expected.left.offset).max()
    np.testing.assert_allclose(found.left.offset, expected.left.offset, atol=1e-14 * size)
    for name in ("L", "Phi"):
        ours, theirs = (np.array(getattr(sums, name)) for sums in (found, expected))
        # Symmetric to the last bit, as sums of squares are.
        np.testing.assert_array_equal(ours, ours.transpose(0, 2, 1))
        np.testing.assert_allclose(ours, theirs, atol=tolerance * np.abs(theirs).max())
    assert found.Psi is found.Phi
    assert found.rounding == expected.rounding


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("p", [1, 2, 15, 24, 30, 32])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_at_once_are_those_of_the_general_path(kernel, p, weighted, general):
    X = RNG.normal(size=(300, 3))
    weight = RNG.uniform(0.1, 3.0, size=300) if weighted else None
    expected = general(
        ritz.laplacian(), ritz.Nystrom(kernel, p), X, sample_weight=weight, random_state=0
    )
    found = ritz.assemble(
        ritz.laplacian(), ritz.Nystrom(kernel, p), X, sample_weight=weight, random_state=0
    )
    assert_same(found, expected)
    assert few(kernel, p, X, weight) is not None


@pytest.mark.parametrize("d", [1, 2, 4, 7, 20, 32])
@pytest.mark.parametrize("folds", [1, 3, 8, 50])
def test_any_columns_and_folds(d, folds, general):
    X, basis = RNG.normal(size=(200, d)), ritz.Nystrom(ritz.Exponential(float(d) ** 0.5), 17)
    assert few(basis.kernel, 17, X, folds=folds) is not None
    options = {"n_folds": folds, "random_state": 5}
    found, expected = (
        run(ritz.laplacian(), basis, X, **options) for run in (ritz.assemble, general)
    )
    assert_same(found, expected)


@pytest.mark.parametrize("n", [33, 64, 65, 500, 2048])
def test_any_number_of_rows_in_any_order(n, general):
    X, basis = RNG.normal(size=(n, 2)), ritz.Nystrom(ritz.Matern(1.5), 30)
    expected = general(ritz.laplacian(), basis, X, random_state=0)
    for rows in (X, X[::-1], np.asfortranarray(X), X.tolist()):
        assert few(basis.kernel, 30, rows) is not None
        assert_same(ritz.assemble(ritz.laplacian(), basis, rows, random_state=0), expected)


def test_rows_without_weight_are_not_there(general):
    X, weight, basis = RNG.normal(size=(200, 3)), np.ones(200), ritz.Nystrom(ritz.Gaussian(), 20)
    weight[::3] = 0.0
    assert few(basis.kernel, 20, X, weight) is not None
    found = ritz.assemble(ritz.laplacian(), basis, X, sample_weight=weight, random_state=0)
    assert_same(found, general(ritz.laplacian(), basis, X[weight > 0], random_state=0))
    # Nor are they looked at.
    X[0] = 1e300
    again = ritz.assemble(ritz.laplacian(), basis, X, sample_weight=weight, random_state=0)
    np.testing.assert_array_equal(again.L, found.L)


def test_no_row_has_weight():
    stream = ritz.streams.ArrayStream((np.eye(9),), np.zeros(9))
    with pytest.raises(ValueError, match="at least one of positive weight"):
        ritz.assemble(ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(), 5), stream)


def test_more_centers_than_there_are_numbers_for():
    with pytest.warns(UserWarning, match="exceeds the 50 distinct rows"):
        ritz.assemble(
            ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(), 2**40), RNG.normal(size=(50, 2))
        )


def test_the_form_by_its_formula():
    """Against gradients one by one, with the functions that were chosen."""
    X, weight = RNG.normal(size=(100, 3)), RNG.uniform(0.5, 2.0, size=100)
    for kernel in KERNELS[:-1]:
        sums = few(kernel, 12, X, weight)
        values = np.column_stack([np.ones(100), sums.left(X)])
        gradients = np.zeros((100, 3, 13))
        gradients[:, :, 1:] = sums.left.gradient(X)
        L = np.einsum("n,ndi,ndj->ij", weight, gradients, gradients)
        np.testing.assert_allclose(sum(sums.L), L, atol=1e-12 * np.abs(L).max())
        Phi = (values.T * weight) @ values
        np.testing.assert_allclose(sum(sums.Phi), Phi, atol=1e-12 * np.abs(Phi).max())


def test_what_is_out_of_the_ordinary_is_left_to_the_general_path(general):
    X, kernel = RNG.normal(size=(200, 3)), ritz.Gaussian()
    repeated = np.repeat(RNG.normal(size=(10, 3)), 20, axis=0)
    left = [
        few(kernel, 20, repeated),
        few(kernel, 10, X, np.r_[np.ones(5), np.zeros(195)]),
        few(kernel, 10, X.astype(np.float32)),
        few(ritz.Gaussian((1.0, 2.0, 3.0)), 10, X),
        few(ritz.Matern(3.5), 10, X),
        few(2.0 * kernel, 10, X),
        few(kernel, 10, RNG.normal(size=(200, 33))),
        # So wide a kernel that products of values would lose most functions.
        few(ritz.Gaussian(1000.0), 20, X),
        few(ritz.Polynomial(3), 5, np.zeros((200, 3))),
        few(ritz.Polynomial(90), 5, 1e3 * X),
    ]
    assert left == [None] * len(left)
    basis = ritz.Nystrom(kernel, 10)
    grouped = as_stream(X, 1, None, np.arange(200) // 10)
    assert sums_of_few(ritz.laplacian(), basis, grouped, 8, 0) is None
    for form in (
        2.0 * ritz.laplacian(),
        ritz.laplacian(density_correction=0.5),
        ritz.laplacian(lambda x: np.broadcast_to(np.eye(3)[:, :2], (len(x), 3, 2))),
    ):
        assert sums_of_few(form, basis, as_stream(X, 1), 8, 0) is None
    with pytest.warns(UserWarning, match="exceeds the 10 distinct rows"):
        ritz.assemble(ritz.laplacian(), ritz.Nystrom(kernel, 20), repeated)


def test_rows_that_are_not_finite_are_named():
    X = RNG.normal(size=(200, 3))
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="nan in row 7, column 1"):
        ritz.assemble(ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(), 10), X)


@pytest.mark.parametrize("n_jobs", ["many", 0, -5, 1.5])
def test_options_are_looked_at_all_the_same(n_jobs):
    with pytest.raises(ValueError, match="'n_jobs'"):
        ritz.assemble(
            ritz.laplacian(),
            ritz.Nystrom(ritz.Gaussian(), 5),
            RNG.normal(size=(99, 2)),
            n_jobs=n_jobs,
        )


def test_many_rows_or_functions_are_not_few():
    X = np.zeros((2049, 1))
    assert not is_few(ritz.Nystrom(ritz.Gaussian(), 10), as_stream(X, 1))
    assert not is_few(ritz.Nystrom(ritz.Gaussian(), 33), as_stream(X[:100], 1))
    assert not is_few(ritz.Nystrom(ritz.Gaussian(), 10, "kmeans++"), as_stream(X[:100], 1))
    assert not is_few(ritz.Nystrom(ritz.Gaussian(), centers=X[:5]), as_stream(X[:100], 1))
    assert not is_few(ritz.Monomials(2), as_stream(X[:100], 1))
