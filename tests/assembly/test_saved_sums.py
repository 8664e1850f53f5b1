"""Sums that were pickled or saved are the same sums, at half the size."""

import pickle

import numpy as np
import pytest

import ritz
from ritz.assembly.packing import unpacked, upper_rows
from ritz.assembly.sums import PackedSums
from ritz.files import write

N, D, P = 800, 3, 60
X = np.random.default_rng(0).normal(size=(N, D))
Y = X @ np.random.default_rng(1).normal(size=(D, 2))
WEIGHT = np.linspace(0.0, 1.0, N)
GAUSSIAN = ritz.Nystrom(ritz.Gaussian(1.5), P)
FRAMES = np.broadcast_to(np.eye(D)[:, :2], (N, D, 2))
CASES = {
    "laplacian, Gaussian": (ritz.laplacian(), GAUSSIAN, X),
    "laplacian, Matern": (ritz.laplacian(), ritz.Nystrom(ritz.Matern(2.5, 1.5), P), X),
    "laplacian, polynomial": (ritz.laplacian(), ritz.Nystrom(ritz.Polynomial(3), P), X),
    "laplacian, columns": (ritz.laplacian(), ritz.Nystrom(ritz.Gaussian([1.0, 2.0, 3.0]), P), X),
    "frames": (ritz.laplacian(tangent=FRAMES), GAUSSIAN, X),
    "local frames": (ritz.laplacian(tangent="pca", dimension=2), GAUSSIAN, X),
    "density": (ritz.laplacian(density_correction=1.0), GAUSSIAN, X),
    "neighbors": (ritz.neighbors(5), GAUSSIAN, X),
    "towards neighbors": (ritz.neighbors(5, "directional", mutual=True), GAUSSIAN, X),
    "diffusion": (ritz.diffusion(np.diag([1.0, 2.0, 3.0])), ritz.Monomials(3), X),
    "field": (ritz.diffusion((1 + X**2)[:, :, None] * np.eye(D)), ritz.Monomials(3), X),
    "directional": (ritz.directional(X), ritz.RandomFourier(ritz.Gaussian(1.0), P), X),
    "sum": (2 * ritz.laplacian() + ritz.potential(X[:, 0]), ritz.Monomials(3), X),
    "differential": (
        ritz.differential({((0, 0, 0), (1, 0, 0)): X[:, 1]}),
        (ritz.Monomials(2), ritz.Monomials(3)),
        X,
    ),
    "graph": (ritz.graph(ritz.Gaussian(1.0)), ritz.Monomials(2), X),
    "pairs": (ritz.pairs(), GAUSSIAN, (X, X[::-1].copy())),
    "cross": (ritz.cross(), (GAUSSIAN, ritz.Monomials(3)), (X, Y)),
    "stack": (ritz.laplacian(), ritz.Stack(ritz.Monomials(2), GAUSSIAN), X),
}


def height(x):
    return x[:, 0]


def sums_of(name):
    form, basis, data = CASES[name]
    return ritz.assemble(form, basis, data, sample_weight=WEIGHT, random_state=0, n_folds=3)


def saved(sums, path):
    sums.save(path)
    return ritz.load(path)


def pickled(sums, path):
    return pickle.loads(pickle.dumps(sums))


@pytest.mark.parametrize("way", [saved, pickled])
@pytest.mark.parametrize("name", CASES)
def test_sums_come_back_to_the_last_bit(name, way, tmp_path):
    sums = sums_of(name)
    again = way(sums, tmp_path / "sums.npz")
    for matrices in ("L", "Phi", "Psi"):
        for ours, theirs in zip(getattr(sums, matrices), getattr(again, matrices), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(sums.weight, again.weight)
    np.testing.assert_array_equal(sums.count, again.count)
    assert (again.right is again.left) == (sums.right is sums.left)
    assert (again.Psi is again.Phi) == (sums.Psi is sums.Phi)
    assert again.grouped == sums.grouped
    assert repr(again) == repr(sums)
    ours, theirs = (ritz.decompose_sums(part, 3).values for part in (sums, again))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("way", [saved, pickled])
@pytest.mark.parametrize("name", [name for name in CASES if name != "graph"])
def test_sums_that_come_back_still_add_up(name, way, tmp_path):
    sums = sums_of(name)
    both = sums + way(sums, tmp_path / "sums.npz")
    assert both.n_rows == 2 * sums.n_rows
    np.testing.assert_array_equal(both.mean().L, (sums + sums).mean().L)


@pytest.mark.parametrize("name", ["neighbors", "density", "local frames"])
def test_sums_of_more_rows_are_those_of_the_same_operator(name, tmp_path):
    sums = sums_of(name)
    again = saved(sums, tmp_path / "sums.npz")
    more, same = (ritz.assemble(s.form, s.left, X[:100], n_folds=3) for s in (sums, again))
    np.testing.assert_array_equal(more.mean().L, same.mean().L)
    assert (again + more).n_rows == sums.n_rows + 100


def test_symmetric_matrices_take_half_the_space(tmp_path):
    X = np.random.default_rng(0).normal(size=(3000, D))
    basis = ritz.Nystrom(ritz.Gaussian(1.0), 300)
    for form in (ritz.laplacian(), ritz.neighbors(5), 2 * ritz.laplacian()):
        sums = ritz.assemble(form, basis, X, random_state=0)
        n_matrices, p = 2 * sums.n_folds, 301
        triangles = 8 * n_matrices * p * (p + 1) // 2
        # The sample that neighbors are searched among is one array in memory, and two in files.
        sample = 8 * (D + 1) * 3000 if form.needs_reference else 0
        assert triangles < len(pickle.dumps(sums)) < triangles + sample + 20_000
        sums.save(tmp_path / "sums.npz")
        assert (tmp_path / "sums.npz").stat().st_size < triangles + 2 * sample + 40_000


def test_row_arrays_stay_behind():
    small, large = (
        ritz.assemble(
            ritz.potential(np.arange(n)), ritz.Monomials(1), np.arange(n, dtype=float)[:, None]
        )
        for n in (100, 100_000)
    )
    assert abs(len(pickle.dumps(small)) - len(pickle.dumps(large))) < 200


def test_a_matrix_that_is_not_symmetric_stays_as_it_is():
    matrix = np.random.default_rng(0).normal(size=(5, 5))
    assert upper_rows(matrix) is matrix
    symmetric = matrix + matrix.T
    assert upper_rows(symmetric).shape == (15,)
    np.testing.assert_array_equal(unpacked(upper_rows(symmetric), (5, 5), "L"), symmetric)
    nearly = symmetric.copy()
    nearly[0, 1] = np.nextafter(nearly[0, 1], np.inf)
    assert upper_rows(nearly) is nearly


def test_functions_of_yours_are_not_saved(tmp_path):
    form = ritz.potential(height)
    sums = ritz.assemble(form, ritz.Monomials(2), X)
    np.testing.assert_array_equal(pickled(sums, None).mean().L, sums.mean().L)
    with pytest.raises(TypeError, match=r"Potential\.V holds functions of yours.*never code"):
        sums.save(tmp_path / "sums.npz")
    assert not list(tmp_path.iterdir())


def crafted(path, change):
    """Save sums whose packed fields are changed, without a look at them."""
    hostile = object.__new__(PackedSums)
    vars(hostile).update(vars(sums_of("laplacian, Gaussian").to_file()) | change)
    write(hostile, path)


@pytest.mark.parametrize(
    "change",
    [
        {"weight": np.ones(2)},
        {"Phi": (np.zeros(3),) * 3},
        {"L": (np.zeros((P, P)),) * 3},
        {"count": np.array([-1, 1, 1])},
        {"homes": (np.full(P, 7), np.full(P, 7))},
        {"homes": (np.zeros(3, int), np.zeros(3, int))},
        {"L": (np.zeros((1 + P, 1 + P)),)},
        {"grouped": "yes"},
        {"left": None},
        {"form": ritz.Gaussian(1.0)},
    ],
    ids=str,
)
def test_files_of_sums_that_do_not_fit_together_are_refused(change, tmp_path):
    path = tmp_path / "sums.npz"
    crafted(path, change)
    with pytest.raises(ValueError, match=r"not a file saved by ritz, or it is damaged.*must be"):
        ritz.load(path)
