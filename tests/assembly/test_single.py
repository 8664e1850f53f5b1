"""Rows of float32: products in float32 where they keep every function, in float64 elsewhere."""

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh

import ritz
from ritz.assembly.assemble import fit_bases
from ritz.assembly.single import Change, Sample, change, clearly_positive, single_will_do
from ritz.streams import as_stream

KEPT = {
    "exponential": (ritz.Exponential(3.0), 10),
    "exponential in space": (ritz.Exponential(1.0), 3),
    "narrow Gaussian": (ritz.Gaussian(2.0), 10),
    "Matern": (ritz.Matern(1.5, 3.0), 10),
}
LOST = {
    "wide Gaussian": (ritz.Gaussian(3.0), 2),
    "smooth Matern": (ritz.Matern(2.5, 3.0), 2),
}


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def both(kernel, d, n=5000, p=200, form=None):
    X = normal(n, d).astype(np.float32)
    basis = ritz.Nystrom(kernel, p)
    form = form or ritz.laplacian()
    return [ritz.assemble(form, basis, rows, random_state=0) for rows in (X, X.astype(np.float64))]


@pytest.mark.parametrize("case", KEPT)
def test_eigenvalues_keep_four_digits(case):
    single, double = both(*KEPT[case])
    assert single.rounding == np.finfo(np.float32).eps
    assert double.rounding == np.finfo(np.float64).eps
    for a, b in zip(single.mean().__dict__.values(), double.mean().__dict__.values(), strict=True):
        assert a.dtype == np.float64
        np.testing.assert_allclose(a, b, rtol=0, atol=2e-6 * np.abs(b).max())
    a, b = (ritz.decompose_sums(sums, 17) for sums in (single, double))
    np.testing.assert_allclose(a.values, b.values, rtol=2e-4, atol=1e-12)
    X = normal(100, KEPT[case][1])
    np.testing.assert_allclose(np.abs(a(X)[:, 1]), np.abs(b(X)[:, 1]), atol=0.01)


@pytest.mark.parametrize("case", LOST)
def test_functions_that_float32_would_lose_are_kept_in_float64(case):
    single, double = both(*LOST[case])
    assert single.rounding == double.rounding == np.finfo(np.float64).eps
    np.testing.assert_array_equal(single.mean().L, double.mean().L)


@pytest.mark.parametrize("case", ["exponential", "Matern"])
def test_some_of_many_functions_tell_that_float32_will_do(case):
    single, double = both(*KEPT[case], p=400)
    assert single.rounding == np.finfo(np.float32).eps
    a, b = (ritz.decompose_sums(sums, 16) for sums in (single, double))
    np.testing.assert_allclose(a.values, b.values, rtol=2e-4, atol=1e-12)


@pytest.mark.parametrize(
    "kernel", [ritz.Gaussian(0.5), ritz.Gaussian(2.0), ritz.Matern(2.5, 1.0)], ids=str
)
def test_some_of_many_functions_tell_that_float32_will_not_do(kernel):
    """All of 256 would do, or half of them: how much worse the former are tells about 600."""
    single, double = both(kernel, 3, p=600)
    np.testing.assert_array_equal(single.mean().L, double.mean().L)


def clusters(n, d, spread=0.1):
    rng = np.random.default_rng(0)
    return spread * rng.normal(size=(n, d)) + 3 * rng.normal(size=(8, d))[rng.integers(8, size=n)]


@pytest.mark.parametrize(
    ("kernel", "d", "p"),
    [
        (ritz.Matern(1.5, 2.8), 8, 200),
        (ritz.Matern(1.5, 2.8), 8, 500),
        (ritz.Exponential(7.0), 14, 300),
        (ritz.Exponential(1.0), 8, 300),
    ],
    ids=str,
)
def test_clusters_have_the_eigenvalues_beyond_their_number(kernel, d, p):
    """Beside variances as large as those between clusters, noise looks like small eigenvalues."""
    X = clusters(5000, d).astype(np.float32)
    basis = ritz.Nystrom(kernel, p)
    a, b = (
        ritz.decompose(ritz.laplacian(), basis, rows, k=16, random_state=0)
        for rows in (X, X.astype(np.float64))
    )
    np.testing.assert_allclose(a.values, b.values, rtol=2e-4, atol=1e-12)


@pytest.mark.parametrize("n", [300, 400, 600])
def test_few_rows_stay_in_float64(n):
    X = normal(n, 10).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sums = ritz.assemble(ritz.laplacian(), ritz.Nystrom(ritz.Exponential(3.0), 400), X)
    assert sums.rounding < 1e-10


def test_rows_that_repeat_others_do_not_count():
    X = np.tile(normal(150, 10).astype(np.float32), (20, 1))
    basis = ritz.Nystrom(ritz.Exponential(3.0), 100)
    assert ritz.assemble(ritz.laplacian(), basis, X, random_state=0).rounding < 1e-10


@pytest.mark.parametrize("d", [1, 3, 8])
@pytest.mark.parametrize("p", [1, 2, 3, 20, 40])
def test_few_functions_are_compared_all(p, d):
    single, double = both(ritz.Exponential(3.0), d, p=p)
    assert (single.rounding > 1e-10) == (d > 1 or p < 20)
    a, b = (ritz.decompose_sums(sums, min(1 + p, 17)).values for sums in (single, double))
    np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-12)


@pytest.mark.parametrize(
    "weight",
    [np.r_[np.ones(100), np.full(4900, 1e-6)], np.full(5000, 1e-40), np.full(5000, 1e38)],
    ids=["few that count", "tiny", "huge"],
)
def test_weights_that_float32_cannot_add_up(weight):
    X = normal(5000, 5).astype(np.float32)
    basis = ritz.Nystrom(ritz.Exponential(3.0), 60)
    a, b = (
        ritz.assemble(ritz.laplacian(), basis, rows, sample_weight=weight, random_state=0)
        for rows in (X, X.astype(np.float64))
    )
    assert a.rounding < 1e-10
    np.testing.assert_array_equal(a.mean().L, b.mean().L)


def test_even_weights_do_not_matter():
    X = normal(5000, 5).astype(np.float32)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=5000)
    basis = ritz.Nystrom(ritz.Exponential(3.0), 60)
    sums = ritz.assemble(ritz.laplacian(), basis, X, sample_weight=weight, random_state=0)
    assert sums.rounding > 1e-10


def test_change_is_that_of_the_eigenvalues():
    """By the naive formulas: eigenvalues of pencils, and errors whitened by a root of L + s Phi."""
    rng = np.random.default_rng(0)
    A, B, C, D = rng.normal(size=(4, 60, 30))
    L, Phi = A.T @ A, B.T @ B
    E, F = 1e-6 * (C.T @ C), 1e-6 * (D.T @ D)
    found = change((L + F, Phi + E), (L, Phi), by_form=True)
    exact, moved = (
        eigh(*pencil, eigvals_only=True)[:16] for pencil in ((L, Phi), (L + F, Phi + E))
    )
    np.testing.assert_allclose(found.moved, np.abs(moved / exact - 1).max(), rtol=1e-6)
    s = np.trace(L) / np.trace(Phi)
    W = np.linalg.inv(np.linalg.cholesky(L + s * Phi)).T
    noise = np.hypot(*(np.linalg.norm(W.T @ M @ W) for M in (s * E, F)))
    np.testing.assert_allclose(found.noise, noise / (s / (s + exact[-1])) / 0.2, rtol=1e-6)
    alone = change((L, Phi + E), (L, Phi), by_form=False)
    W = np.linalg.inv(np.linalg.cholesky(Phi)).T
    np.testing.assert_allclose(alone, (0.0, np.linalg.norm(W.T @ E @ W) / 5e-3), rtol=1e-6)


def test_noise_grows_as_it_did():
    assert Change(1e-5, 0.06).grown(Change(1e-6, 0.02), 4) == Change(1e-5, pytest.approx(0.54))
    assert Change(1e-5, 0.06).grown(Change(1e-6, 0.2), 4) == Change(1e-5, 0.06)
    assert not Change(1e-5, 0.06).grown(Change(np.inf, np.inf), 2).small


@pytest.mark.parametrize("rows_each", [1.2, 3, 20])
def test_two_views_are_whitened_exactly_enough(rows_each):
    X = normal(int(300 * rows_each), 10).astype(np.float32)
    Y = (0.8 * X + 0.6 * normal(*X.shape, seed=1)).astype(np.float32)
    basis = ritz.Nystrom(ritz.Exponential(3.0), 300)
    single, double = (
        ritz.decompose(ritz.cross(), basis, pair, k=8, random_state=0)
        for pair in ((X, Y), (X.astype(np.float64), Y.astype(np.float64)))
    )
    np.testing.assert_allclose(single.values, double.values, rtol=2e-4)
    used = ritz.assemble(ritz.cross(), basis, (X, Y), random_state=0).rounding > 1e-10
    assert used == (rows_each > 2)


def test_centers_that_are_close_to_others_are_seen_among_some_of_them():
    X = normal(5000, 10).astype(np.float32)
    centers = np.concatenate([X[:200], X[:200] + np.float32(1e-5)])
    basis = ritz.Nystrom(ritz.Gaussian(2.0), centers=centers)
    assert ritz.assemble(ritz.laplacian(), basis, X).rounding < 1e-10


def test_forms_of_small_differences_stay_in_float64():
    for form in (
        ritz.neighbors(3),
        ritz.laplacian(tangent=lambda x: x[:, :, None] / np.linalg.norm(x, axis=1)[:, None, None]),
    ):
        single, double = both(ritz.Exponential(3.0), 3, n=500, p=20, form=form)
        np.testing.assert_array_equal(single.mean().L, double.mean().L)


def test_sums_of_both_kinds_add_and_are_as_rough_as_the_rougher():
    X = normal(4000, 5).astype(np.float32).astype(np.float64)
    basis = ritz.Nystrom(ritz.Exponential(2.0), 50)
    first = ritz.assemble(ritz.laplacian(), basis, X[:2000].astype(np.float32), random_state=0)
    second = ritz.assemble(ritz.laplacian(), first.left, X[2000:])
    assert (first + second).rounding == np.finfo(np.float32).eps
    whole = ritz.assemble(ritz.laplacian(), first.left, X)
    expected = ritz.decompose_sums(whole, 5).values
    np.testing.assert_allclose(
        ritz.decompose_sums(first + second, 5).values, expected, rtol=1e-4, atol=1e-9
    )


def test_two_views():
    X = normal(5000, 1)
    Y = 0.8 * X + 0.6 * normal(5000, 1, seed=1)
    pair = [A.astype(np.float32) for A in (X, Y)]
    basis = ritz.Nystrom(ritz.Exponential(1.0), 20)
    single = ritz.decompose(ritz.cross(), basis, tuple(pair), k=4, random_state=0)
    double = ritz.decompose(
        ritz.cross(), basis, tuple(A.astype(float) for A in pair), k=4, random_state=0
    )
    np.testing.assert_allclose(single.values, double.values, rtol=1e-4)
    wide = ritz.Nystrom(ritz.Gaussian(3.0), 20)
    assert ritz.assemble(ritz.cross(), wide, tuple(pair), random_state=0).rounding < 1e-10


def test_weights_that_a_sample_does_not_have():
    """Weights that make another distribution of the rows: what float32 does there is not known."""
    X = np.random.default_rng(0).normal(size=(20_000, 3)).astype(np.float32)
    squares = (X.astype(np.float64) ** 2).sum(axis=1)
    weight = np.exp(-squares / 2 * (1 / 0.3**2 - 1))
    basis = ritz.Nystrom(ritz.Gaussian(0.5), 40)
    sums = ritz.assemble(ritz.laplacian(), basis, X, sample_weight=weight, random_state=0)
    assert sums.rounding < 1e-10


@pytest.mark.parametrize("seed", range(2))
def test_functions_that_depend_on_each_other_beyond_those_looked_at(seed):
    """Cubic polynomials of ten numbers have rank 286: 256 of them show nothing of it."""
    X = np.random.default_rng(seed).normal(size=(5000, 10)).astype(np.float32)
    basis = ritz.Nystrom(ritz.Polynomial(3, 1.0, 3.0), 472)
    stream = as_stream(X)
    left, _ = fit_bases(ritz.laplacian(), basis, stream, (seed, seed))
    assert single_will_do(ritz.laplacian(), left, stream, 0) is not None
    sums = ritz.assemble(ritz.laplacian(), basis, X, random_state=seed)
    assert sums.rounding < 1e-10
    double = ritz.assemble(ritz.laplacian(), basis, X.astype(np.float64), random_state=seed)
    np.testing.assert_array_equal(sums.L, double.L)


@pytest.mark.parametrize(("least", "clear"), [(1e-7, False), (3e-7, False), (1e-3, True)])
def test_what_float32_may_have_added_is_taken_off(least, clear):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 50)))[0]
    B = (Q * np.r_[least, np.linspace(0.5, 1.5, 49)]) @ Q.T
    assert clearly_positive((B + B.T) / 2) == clear
    assert not clearly_positive(np.full((3, 3), np.nan))
    assert not clearly_positive(np.zeros((3, 3)))


@pytest.mark.parametrize("seed", [0, 3, 6])
def test_scalar_products_that_float32_leaves_not_quite_positive(seed):
    """No error blames the user for it, and the eigenvalues are right."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 4 * np.pi, 3700)
    X = np.c_[t * np.cos(t) / 6, t * np.sin(t) / 6] + 0.01 * rng.normal(size=(3700, 2))
    X = X.astype(np.float32)
    form, basis = ritz.laplacian(density_correction=0.2), ritz.Nystrom(ritz.Exponential(1.0), 287)
    sums = ritz.assemble(form, basis, X, random_state=0)
    assert sums.rounding > 1e-10
    exact = ritz.decompose(form, basis, X.astype(np.float64), random_state=0).values
    np.testing.assert_allclose(ritz.decompose_sums(sums).values, exact, rtol=1e-3, atol=1e-12)


@pytest.mark.parametrize("degree", [2, 3])
def test_rows_far_from_all_others_that_a_sample_does_not_have(degree):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15_000, 3))
    X[:3] *= 300
    X = X.astype(np.float32)
    basis = ritz.Nystrom(ritz.Polynomial(degree), 9)
    stream = as_stream(X)
    left, _ = fit_bases(ritz.laplacian(), basis, stream, (0, 0))
    assert single_will_do(ritz.laplacian(), left, stream, 0) is not None
    single, double = (
        ritz.decompose(ritz.laplacian(), basis, rows, k=6, random_state=0)
        for rows in (X, X.astype(np.float64))
    )
    np.testing.assert_array_equal(single.values, double.values)


def test_rows_that_are_there_many_times_are_there_once_in_a_sample():
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal(size=(3000, 2)), np.repeat(rng.normal(size=(20, 2)) / 9, 500, 0)]
    )
    X = X.astype(np.float32)
    basis = ritz.Nystrom(ritz.Exponential(1.0), 20)
    once = ritz.assemble(ritz.laplacian(), basis, np.unique(X, axis=0), random_state=0)
    assert once.rounding > 1e-10
    assert ritz.assemble(ritz.laplacian(), basis, X, random_state=0).rounding < 1e-10


def test_sums_that_overflow_in_float32_alone():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 3)).astype(np.float32)
    X[7] = 1e5 * rng.normal(size=3)
    basis = ritz.Nystrom(ritz.Polynomial(4), 3)
    single, double = (
        ritz.decompose(ritz.laplacian(), basis, rows, k=2, random_state=0).values
        for rows in (X, X.astype(np.float64))
    )
    np.testing.assert_array_equal(single, double)


def test_a_sample_tells_of_rows_like_its_own():
    sample = Sample(np.array([2, 0, 1]), np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 0.0]))
    L, Phi = np.array([2.0, 3.0, 1.0]), np.array([1.0, 5.0, 1.0])
    assert sample.tells_of(np.diag(L), np.diag(Phi))
    assert sample.tells_of(np.diag(1.4 * L), np.diag(Phi / 1.4))
    for factor in (0.6, 1.6, np.nan, np.inf):
        assert not sample.tells_of(np.diag(factor * L), np.diag(Phi))
        assert not sample.tells_of(np.diag(L), np.diag(factor * Phi))
    # Of functions most of which are nowhere to be seen it tells nothing.
    unseen = sample._replace(variance=np.array([1.0, 0.0, 0.0]))
    assert not unseen.tells_of(np.diag(L), np.diag(Phi))


def test_weighted_products_of_few_functions_are_symmetric():
    """Of forms that need not be positive it is checked: nobody is blamed for rounding."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(250, 40)).astype(np.float32), rng.uniform(1, 4, 250)
    form, basis = (
        2 * ritz.laplacian() - ritz.laplacian(),
        ritz.Nystrom(ritz.Polynomial(2, 1, 6), 20),
    )
    sums = ritz.assemble(form, basis, X, sample_weight=weight, n_folds=1, random_state=0)
    for matrix in (*sums.L, *sums.Phi):
        np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-12 * np.abs(matrix).max())
