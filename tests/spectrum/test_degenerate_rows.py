"""Spectra of samples with few, equal or repeated rows, or with one row unlike all others."""

import numpy as np
import pytest

import ritz
from tests.bad_input import (
    LAPLACIAN,
    LINEAR,
    QUADRATIC,
    SECTIONS,
    D,
    N,
    X,
    Y,
    assert_consistent,
    assert_solves_laplacian,
    decompose,
    raises,
)

# More than there are rows in most tests.
CENTERS = np.random.default_rng(1).normal(size=(50, D))

# Few rows, few functions


def test_two_rows_determine_a_constant_and_a_line():
    rows = np.array([[0.0], [2.0]])
    # The function x - 1 has variance 1 and slope 1.
    spectrum = decompose(LAPLACIAN, LINEAR, rows, k=2)
    np.testing.assert_allclose(spectrum.ritz_values, [0.0, 1.0], atol=1e-14)
    with raises("'k'", "at most 2", "rank", "Got 3"):
        decompose(LAPLACIAN, LINEAR, rows, k=3)


@pytest.mark.parametrize("kernel", [ritz.Gaussian(), ritz.Exponential(), ritz.Matern(2.5)])
@pytest.mark.parametrize("n", [20, 21, 25])
def test_as_many_rows_as_centers(n, kernel):
    spectrum = decompose(LAPLACIAN, ritz.Nystrom(kernel, 20), X[:n], k=4)
    assert_solves_laplacian(spectrum, X[:n])


@pytest.mark.parametrize("kernel", [ritz.Gaussian(), ritz.Exponential()])
@pytest.mark.parametrize("n", [2, 5])
def test_more_centers_than_rows(n, kernel):
    basis = ritz.Nystrom(kernel, centers=CENTERS)
    for k in {1, 2, n - 1}:
        assert_solves_laplacian(decompose(LAPLACIAN, basis, X[:n], k=k), X[:n], tolerance=1e-5)


@pytest.mark.parametrize("kernel", [ritz.Gaussian(), ritz.Exponential()])
@pytest.mark.parametrize("n", [2, 5, 20])
def test_more_centers_than_rows_leave_at_most_as_many_functions_as_rows(n, kernel):
    basis = ritz.Nystrom(kernel, centers=CENTERS)
    spectrum = decompose(LAPLACIAN, basis, X[:n], k=max(n // 2, 1))
    assert_consistent(spectrum)
    # Some functions are flat at every row, up to rounding.
    assert spectrum.ritz_values[0] > -1e-5
    f = spectrum(X[:n])
    np.testing.assert_allclose(f.T @ f / n, np.eye(len(spectrum)), rtol=0, atol=1e-4)
    with raises("'k'", "at most", "rank", f"Got {n + 1}", "more samples"):
        decompose(LAPLACIAN, basis, X[:n], k=n + 1)


@pytest.mark.parametrize("n", [10, 20])
def test_two_views_with_more_centers_than_rows(n):
    basis = ritz.Nystrom(ritz.Exponential(), centers=CENTERS)
    # There are as many functions as rows, so all correlations are 1.
    spectrum = decompose(ritz.cross(), basis, (X[:n], Y[:n]), k=n)
    np.testing.assert_allclose(spectrum.ritz_values, 1.0, rtol=1e-6)
    assert spectrum.errors is None or not np.isnan(spectrum.errors).any()
    with raises("'k'", f"at most {n}", f"Got {n + 1}"):
        decompose(ritz.cross(), basis, (X[:n], Y[:n]), k=n + 1)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_k_may_be_as_large_as_the_rank(n):
    basis = ritz.Nystrom(ritz.Exponential(), centers=CENTERS)
    rank = decompose(LAPLACIAN, basis, X[:n], k=1).rank
    assert rank <= n
    assert_consistent(decompose(LAPLACIAN, basis, X[:n], k=rank))


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("d", [1, 2])
def test_one_function(k, d):
    for kernel in (ritz.Gaussian(), ritz.Exponential(), ritz.Polynomial(2)):
        spectrum = decompose(LAPLACIAN, ritz.Nystrom(kernel, 1), X[:, :d], k=k)
        assert_solves_laplacian(spectrum, X[:, :d])
        with raises("'k'", "at most 2", "rank", "Got 3"):
            decompose(LAPLACIAN, ritz.Nystrom(kernel, 1), X[:, :d], k=3)


# The number of functions asked for


def test_functions_that_depend_on_each_other_do_not_count():
    # Fifty sections of a quadratic kernel span six functions only.
    for call in (
        lambda: decompose(LAPLACIAN, ritz.Nystrom(ritz.Polynomial(2), 50), X, k=7),
        lambda: decompose(ritz.cross(), QUADRATIC, (X, Y), k=7),
    ):
        with raises("'k'", "at most 6", "rank", "Got 7", "Lower k"):
            call()


@pytest.mark.parametrize("k", [0, -1, 1.5, "three", None, np.nan, np.inf, [3], 2 + 1j])
def test_k_must_be_a_positive_integer(k):
    sums = ritz.assemble(LAPLACIAN, QUADRATIC, X)
    with raises("'k'", "positive integer", str(k)):
        ritz.decompose_sums(sums, k)


def test_k_may_be_an_integer_of_numpy():
    plain = decompose(LAPLACIAN, SECTIONS, X, k=3)
    for k in (np.int64(3), np.uint8(3)):
        np.testing.assert_array_equal(
            decompose(LAPLACIAN, SECTIONS, X, k=k).ritz_values, plain.ritz_values
        )


@pytest.mark.parametrize("value", ["strong", None])
def test_regularization_must_be_a_number(value):
    with raises("'regularization'", "nonnegative", str(value)):
        decompose(LAPLACIAN, LINEAR, X, regularization=value)


def test_sums_must_be_sums():
    with raises("'sums'", "assemble"):
        ritz.decompose_sums(X, 3)


# Equal and repeated rows


@pytest.mark.parametrize(
    "basis",
    [
        LINEAR,
        QUADRATIC,
        ritz.Nystrom(ritz.Gaussian(), 1),
        ritz.Nystrom(ritz.Exponential(), centers=X[:20]),
        ritz.Nystrom(ritz.Polynomial(2), 1),
        ritz.RandomFourier(ritz.Gaussian(), 10),
        ritz.Stack(QUADRATIC, ritz.Nystrom(ritz.Gaussian(), 1)),
    ],
)
@pytest.mark.parametrize("point", [0.0, 1.0, 1e6])
def test_equal_rows_determine_the_constant_only(basis, point):
    rows = np.full((50, D), point)
    with raises("'k'", "at most 1", "rank", "Got 2"):
        decompose(LAPLACIAN, basis, rows, k=2)
    spectrum = decompose(LAPLACIAN, basis, rows, k=1)
    np.testing.assert_array_equal(spectrum.ritz_values, [0.0])
    np.testing.assert_array_equal(spectrum(rows), 1.0)


@pytest.mark.parametrize(
    "basis",
    [
        SECTIONS,
        ritz.Nystrom(ritz.Exponential(), 20),
        ritz.Nystrom(ritz.Gaussian(), 20, "kmeans++"),
        ritz.Nystrom(ritz.Gaussian(), 20, "rpcholesky"),
    ],
)
def test_a_row_that_is_repeated_often_is_a_weight(basis):
    times = np.random.default_rng(1).integers(1, 6, size=N)
    times[7] = 300
    repeated = np.random.default_rng(2).permutation(np.repeat(X, times, axis=0))
    a = decompose(LAPLACIAN, basis, repeated, k=5)
    b = decompose(LAPLACIAN, basis, X, k=5, sample_weight=times)
    assert_solves_laplacian(a, repeated)
    np.testing.assert_allclose(a.ritz_values, b.ritz_values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a(X), b(X), atol=1e-6)


def test_half_of_the_rows_may_be_equal():
    rows = np.concatenate([X, np.ones((N, D))])
    for basis in (QUADRATIC, SECTIONS, ritz.Nystrom(ritz.Exponential(), 20)):
        assert_solves_laplacian(decompose(LAPLACIAN, basis, rows, k=5), rows)
    for form in (
        ritz.laplacian("pca", dimension=1),
        ritz.laplacian(density_correction=1.0),
        ritz.neighbors(5),
        ritz.neighbors(5, "directional"),
    ):
        assert_consistent(decompose(form, SECTIONS, rows, k=5))


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e6])
@pytest.mark.parametrize("place", [0, 1])
def test_a_constant_column_changes_nothing(constant, place):
    line = X[:, :1]
    rows = np.insert(line, place, constant, axis=1)
    a, b = decompose(LAPLACIAN, QUADRATIC, rows, k=3), decompose(LAPLACIAN, QUADRATIC, line, k=3)
    np.testing.assert_allclose(a.ritz_values, b.ritz_values, rtol=1e-12, atol=1e-14)
    assert_solves_laplacian(a, rows)
    for kernel in (ritz.Gaussian(0.3), ritz.Exponential(0.3), ritz.RationalQuadratic(1.0, 0.3)):
        a = decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=rows[:10]), rows, k=5)
        b = decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=line[:10]), line, k=5)
        np.testing.assert_allclose(a.ritz_values, b.ritz_values, rtol=1e-8, atol=1e-12)


# One row unlike all others


@pytest.mark.parametrize("basis", [QUADRATIC, SECTIONS, ritz.Nystrom(ritz.Exponential(), 20)])
@pytest.mark.parametrize("size", [1e4, 1e8, 1e30])
def test_one_row_may_be_far_from_all_others(basis, size):
    # An error bar means little where one row decides, but the value is right.
    assert_consistent(decompose(LAPLACIAN, basis, np.concatenate([X, [[size, 0.0]]]), k=3))


@pytest.mark.parametrize("basis", [QUADRATIC, SECTIONS])
@pytest.mark.parametrize("weight", [1e4, 1e8])
def test_one_row_may_outweigh_all_others(weight, basis):
    weights = np.where(np.arange(N) == 3, weight, 1.0)
    assert_consistent(decompose(LAPLACIAN, basis, X, k=3, sample_weight=weights))


@pytest.mark.parametrize("basis", [QUADRATIC, SECTIONS])
def test_a_row_beside_which_all_others_are_rounding_leaves_the_constant(basis):
    weights = np.where(np.arange(N) == 3, 1e30, 1.0)
    with raises("'k'", "at most 1", "rank", "Got 3"):
        decompose(LAPLACIAN, basis, X, k=3, sample_weight=weights)


def test_weights_may_be_of_all_sizes():
    weights = 10.0 ** np.random.default_rng(3).uniform(-200, 0, size=N)
    for basis in (QUADRATIC, SECTIONS):
        assert_consistent(decompose(LAPLACIAN, basis, X, k=3, sample_weight=weights))
