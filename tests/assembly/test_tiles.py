"""Compiled sums over tiles of rows are the sums that blocks of features give."""

import sys

import numpy as np
import pytest

import ritz
from ritz.bases import Centered, Tiles

pytestmark = pytest.mark.usefixtures("squares")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 5))
WEIGHT = RNG.uniform(size=len(X))
KERNELS = [
    ritz.Gaussian(2.0),
    ritz.Gaussian(0.2),
    ritz.Exponential(2.0),
    ritz.Matern(1.5, 2.0),
    ritz.Matern(2.5, 3.0),
    ritz.Polynomial(1),
    ritz.Polynomial(3, offset=0.5, length_scale=2.0),
    ritz.Polynomial(4, length_scale=(1.0, 2.0, 3.0, 2.0, 1.0)),
]


@pytest.fixture
def tiled(monkeypatch):
    """Count the calls, so that a test knows which way the sums were made."""
    calls = []
    add = Tiles.add
    monkeypatch.setattr(Tiles, "add", lambda *args: (calls.append(1), add(*args))[1])
    # Each fold by itself, on one of several threads.
    monkeypatch.setattr(sys.modules["ritz.assembly.assemble"], "LITTLE_WORK", 0.0)
    return calls


def both_ways(monkeypatch, form, kernel, X, weight=None):
    def sums():
        basis = ritz.Nystrom(kernel, 50)
        return ritz.assemble(form, basis, X, sample_weight=weight, random_state=0)

    found = sums()
    with monkeypatch.context() as patch:
        patch.setattr(Tiles, "of", lambda *_: None)
        return found, sums()


def gap(found, expected):
    pairs = [*zip(found.L, expected.L, strict=True), *zip(found.Phi, expected.Phi, strict=True)]
    return max(np.abs(A - B).max() / np.abs(B).max() for A, B in pairs)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
def test_tiles_are_blocks(monkeypatch, tiled, kernel, weight):
    found, expected = both_ways(monkeypatch, 3.0 * ritz.laplacian(), kernel, X, weight)
    assert len(tiled) == 8
    assert gap(found, expected) < 3e-15
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-14)
    assert found.count.tolist() == expected.count.tolist()


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_tiles_of_single_precision(monkeypatch, tiled, kernel):
    rows = X.astype(np.float32)
    module = sys.modules["ritz.assembly.assemble"]
    monkeypatch.setattr(module, "single_will_do", lambda *_: True)
    monkeypatch.setattr(module, "survived", lambda *_: True)
    found, expected = both_ways(monkeypatch, ritz.laplacian(), kernel, rows, WEIGHT)
    assert len(tiled) == 8
    assert found.rounding == expected.rounding == np.finfo(np.float32).eps
    assert gap(found, expected) < 1e-6


@pytest.mark.parametrize("kernel", [ritz.Gaussian(2.0), ritz.Gaussian(0.2), ritz.Matern(1.5)])
@pytest.mark.parametrize("functions", [40, 300])
@pytest.mark.parametrize("n_folds", [1, 3])
def test_sums_of_forms_that_share_products(kernel, functions, n_folds):
    basis = ritz.Nystrom(kernel, functions)
    both, one = (
        ritz.assemble(form, basis, X, n_folds=n_folds, random_state=0)
        for form in (ritz.laplacian() + ritz.laplacian() + ritz.laplacian() * 2.0, ritz.laplacian())
    )
    for fold in range(n_folds):
        np.testing.assert_allclose(both.L[fold], 4 * one.L[fold], rtol=0, atol=1e-11)
        np.testing.assert_array_equal(both.Phi[fold], one.Phi[fold])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("functions", [50, 300])
def test_sums_keep_their_own_matrices_and_little_more(kernel, functions):
    sums = ritz.assemble(ritz.laplacian(), ritz.Nystrom(kernel, functions), X, random_state=0)
    kept = {}
    for matrix in sums.L + sums.Phi:
        while matrix.base is not None:
            matrix = matrix.base
        kept[id(matrix)] = matrix.nbytes
    assert sum(kept.values()) <= 1.01 * sum(matrix.nbytes for matrix in sums.L + sums.Phi)


def test_single_precision_where_samples_are_weighted_by_their_density():
    form, basis = ritz.laplacian(density_correction=1.0), ritz.Nystrom(ritz.Gaussian(1.0), 12)
    rows = np.random.default_rng(0).normal(size=(300, 2)).astype(np.float32)
    single, double = (
        ritz.decompose(form, basis, part, k=4, random_state=0).values
        for part in (rows, rows.astype(np.float64))
    )
    np.testing.assert_allclose(single, double, rtol=2e-4, atol=1e-6)


def test_tiles_where_samples_are_weighted_by_their_density(monkeypatch, tiled):
    form = ritz.laplacian(density_correction=1.0)
    assert gap(*both_ways(monkeypatch, form, ritz.Gaussian(2.0), X)) < 1e-14
    assert len(tiled) == 8


@pytest.mark.parametrize(
    ("kernel", "columns"),
    [
        (ritz.Gaussian((1.0, 2.0, 3.0, 2.0, 1.0)), 5),
        (ritz.Gaussian(9.0), 40),
        (ritz.RationalQuadratic(1.0, 2.0), 5),
        (2.0 * ritz.Gaussian(2.0), 5),
    ],
    ids=["scales", "many coordinates", "not compiled", "scaled kernel"],
)
def test_what_tiles_cannot_do_goes_by_blocks(tiled, kernel, columns):
    rows = RNG.normal(size=(300, columns))
    ritz.assemble(ritz.laplacian(), ritz.Nystrom(kernel, 20), rows, random_state=0)
    assert not tiled


def test_rows_of_another_width_are_refused():
    """A source that changes its mind in the pass itself."""
    calls = []

    def source():
        calls.append(1)
        yield X[:500, : 5 if len(calls) < 3 else 3]

    with pytest.raises(ValueError, match="5 columns"):
        ritz.assemble(ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(2.0), 20), ritz.Batches(source))


@pytest.mark.parametrize("kind", ["strided", "float32", "integers"])
def test_offsets_of_any_kind(kind):
    sections = ritz.KernelSections(ritz.Gaussian(2.0), X[:20])
    given = {
        "strided": np.full((20, 3), 0.5)[:, 0],
        "float32": np.full(20, 0.5, np.float32),
        "integers": np.zeros(20, int),
    }[kind]
    offset = np.array(given, dtype=np.float64)
    found, expected = (
        ritz.assemble(ritz.laplacian(), Centered(sections, o), X) for o in (given, offset)
    )
    assert gap(found, expected) == 0


def test_weights_of_density_take_little_memory_at_once(monkeypatch):
    sizes = []
    form = ritz.laplacian(density_correction=1.0)
    weigh = type(form).row_weight
    monkeypatch.setattr(
        type(form),
        "row_weight",
        lambda self, block: (sizes.append(len(block)), weigh(self, block))[1],
    )
    ritz.assemble(form, ritz.Nystrom(ritz.Gaussian(2.0), 20), np.tile(X, (2, 1)), n_folds=1)
    assert max(sizes) <= 2048
    assert sum(sizes) >= 6000
