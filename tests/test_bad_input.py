"""Bad input: a clear error that names the argument and what came, or the right answer."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.linear_model import LinearRegression

import ritz
from ritz.bases import Centered

N, D = 300, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = X + 0.5 * RNG.normal(size=(N, D))
CENTERS = RNG.normal(size=(50, D))
FRAMES = np.repeat(np.eye(D)[None], N, axis=0)

LAPLACIAN = ritz.laplacian()
LINEAR, QUADRATIC = ritz.Monomials(1), ritz.Monomials(2)
SECTIONS = ritz.Nystrom(ritz.Gaussian(1.0), 20)


def decompose(form, basis, data, k=3, **options):
    return ritz.decompose(form, basis, data, k, random_state=0, **options)


def saying(*words):
    """Return a pattern that finds all the words, in any order."""
    return "(?s)" + "".join(f"(?=.*{re.escape(word)})" for word in words)


def raises(*words, error=(ValueError, TypeError)):
    return pytest.raises(error, match=saying(*words))


def answer_or_error(call, pattern):
    """Return what a call returns, or None after an error whose message has the pattern."""
    try:
        return call()
    except ValueError as error:
        if not re.search(pattern, str(error)):
            raise
        return None


def assert_sane(spectrum):
    """There is no NaN anywhere, values ascend, and no error bar is negative."""
    for name in ("values", "group_values", "residuals"):
        assert np.isfinite(getattr(spectrum, name)).all()
    for name in ("errors", "group_errors"):
        errors = getattr(spectrum, name)
        assert errors is None or (errors >= 0).all()
    assert (np.diff(spectrum.values) >= 0).all()
    assert spectrum.rank >= len(spectrum.values)


def assert_true_laplacian(spectrum, rows, weight=None, tolerance=1e-7):
    """The functions are orthonormal over the rows, and their energies are the values."""
    assert_sane(spectrum)
    assert spectrum.values[0] == 0.0
    weight = np.ones(len(rows)) if weight is None else np.asarray(weight)
    weight = weight / weight.sum()
    f, g = spectrum(rows), spectrum.gradient(rows)
    np.testing.assert_allclose(
        f.T @ (weight[:, None] * f), np.eye(len(spectrum)), rtol=0, atol=tolerance
    )
    energies = np.einsum("n,ndi,ndj->ij", weight, g, g)
    # The data have unit size, so energies do too.
    scale = max(spectrum.values[-1], 1.0)
    np.testing.assert_allclose(energies, np.diag(spectrum.values), rtol=0, atol=tolerance * scale)


# Rows that are not finite


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_bad_row_is_named(value):
    bad = X.copy()
    bad[18, 1] = value
    where = ("'X'", "finite", f"{value} in row 18, column 1", "Drop or impute")
    for form in (LAPLACIAN, ritz.neighbors(3), ritz.graph(ritz.Gaussian(1.0))):
        with raises(*where):
            decompose(form, SECTIONS, bad)
    with raises("'Y'", *where[1:]):
        decompose(ritz.cross(), SECTIONS, (X, bad))
    with raises("batch 1", *where[1:]):
        decompose(LAPLACIAN, SECTIONS, ritz.Batches([X, bad]))
    with raises("'centers'", *where[1:]):
        ritz.Nystrom(ritz.Gaussian(1.0), centers=bad)
    spectrum = decompose(LAPLACIAN, SECTIONS, X)
    for call in (spectrum, spectrum.gradient, lambda x: spectrum.partial(x, (1, 0))):
        with raises(*where):
            call(bad)


def test_a_bad_row_far_down_is_named_by_its_place_in_all_rows():
    bad = np.zeros((150_000, 1))
    bad[::2] = 1.0
    bad[140_001] = np.nan
    with raises("row 140001, column 0"):
        decompose(LAPLACIAN, LINEAR, bad)


# Dimensions


@pytest.mark.parametrize("basis", [SECTIONS, QUADRATIC, ritz.RandomFourier(ritz.Gaussian(), 9)])
@pytest.mark.parametrize("columns", [1, 3])
def test_new_points_must_have_the_columns_of_the_old(basis, columns):
    spectrum = decompose(LAPLACIAN, basis, X)
    new = np.zeros((4, columns))
    for call in (spectrum, spectrum.gradient, spectrum[1:], lambda x: spectrum.partial(x, (1, 0))):
        with raises("'X'", "2 columns", f"Got {columns}"):
            call(new)
    singular = decompose(ritz.cross(), basis, (X, Y))
    with raises("2 columns", f"Got {columns}"):
        singular(X, new)


@pytest.mark.parametrize("columns", [1, 3])
def test_new_points_for_a_users_functions_must_have_the_columns_of_the_old(columns):
    basis = ritz.Functions([lambda x: x[:, 0]], gradients=[lambda x: np.eye(x.shape[1])[0] + 0 * x])
    spectrum = decompose(LAPLACIAN, basis, X, k=2)
    with raises("'X'", "2 columns", f"Got {columns}"):
        spectrum(np.zeros((4, columns)))


def test_no_new_points_have_no_values():
    spectrum = decompose(LAPLACIAN, SECTIONS, X)
    assert spectrum(np.empty((0, 2))).shape == (0, 3)
    assert spectrum.gradient(np.empty((0, 2))).shape == (0, 2, 3)


def test_points_far_from_all_samples_have_finite_values():
    for kernel in (ritz.Gaussian(), ritz.Exponential(), ritz.Matern(1.5), ritz.RationalQuadratic()):
        spectrum = decompose(LAPLACIAN, ritz.Nystrom(kernel, 20), X)
        for factor in (1e6, 1e100, 1e200):
            assert np.isfinite(spectrum(factor * X)).all()
            assert np.isfinite(spectrum.gradient(factor * X)).all()


@pytest.mark.parametrize(
    "basis",
    [
        ritz.Nystrom(ritz.Gaussian(), centers=np.eye(3)),
        ritz.KernelSections(ritz.Gaussian(), np.eye(3)),
        ritz.Stack(QUADRATIC, ritz.KernelSections(ritz.Gaussian(), np.eye(3))),
    ],
)
def test_centers_must_have_the_columns_of_the_data(basis):
    with raises("must be", "3", "2"):
        decompose(LAPLACIAN, basis, X, k=2)


def test_a_fitted_basis_belongs_to_its_dimension():
    sums = ritz.assemble(LAPLACIAN, QUADRATIC, X)
    with raises("'X'", "2 columns", "3"):
        ritz.assemble(LAPLACIAN, sums.left, np.zeros((9, 3)))


@pytest.mark.parametrize("basis", [SECTIONS, QUADRATIC, ritz.RandomFourier(ritz.Gaussian(), 9)])
@pytest.mark.parametrize("columns", [1, 3])
def test_both_versions_of_a_pair_must_have_the_same_columns(basis, columns):
    other = np.random.default_rng(1).normal(size=(N, columns))
    own = ritz.form(
        lambda f, g, x, y: (f.value - f.at(y).value) * (g.value - g.at(y).value),
        symmetric=True,
        views=2,
    )
    for form in (ritz.pairs(), own):
        with raises("'Y'", "2 columns", f"{columns}"):
            decompose(form, basis, (X, other))


def test_two_views_may_differ_in_columns():
    spectrum = decompose(ritz.cross(), LINEAR, (X, Y[:, :1]), k=2)
    assert spectrum.values[0] == pytest.approx(1.0)
    assert [part.shape for part in spectrum(X, Y[:, :1])] == [(N, 2), (N, 2)]


SHAPES = {
    "one axis": (X[:, 0], ("(n, d)", "(300,)", "reshape(-1, 1)")),
    "three axes": (X[None], ("(n, d)", "(1, 300, 2)")),
    "no columns": (X[:, :0], ("at least one column", "(300, 0)")),
    "a number": (3.0, ("(n, d)", "()")),
    "None": (None, ("(n, d)",)),
    "a string": ("half moons", ("(n, d)",)),
    "ragged": ([[1.0, 2.0], [3.0]], ("(n, d)",)),
    "words": (np.array([["a", "b"]] * 5), ("numeric", "'a'")),
    "complex": (X + 1j, ("real", "complex128")),
    "sparse matrix": (sparse.csr_matrix(X), ("dense", "sparse", "toarray()")),
    "sparse array": (sparse.coo_array(X), ("dense", "sparse", "toarray()")),
    "generator": ((row for row in X), ("(n, d)",)),
    "masked": (np.ma.masked_array(X, mask=X > 2), ("mask",)),
}


@pytest.mark.parametrize("what", SHAPES)
def test_data_that_are_not_rows_of_numbers(what):
    data, words = SHAPES[what]
    with raises("'X'", *words):
        decompose(LAPLACIAN, QUADRATIC, data)


PAIRS = {
    "one array": (ritz.cross(), X, ("'X'", "pair (X, Y)", "ndarray")),
    "one array, augmented": (ritz.pairs(), X, ("'X'", "pair (X, Y)", "ndarray")),
    "stacked": (ritz.pairs(), np.stack([X, Y]), ("'X'", "pair (X, Y)", "ndarray")),
    "three arrays": (ritz.pairs(), (X, Y, X), ("'X'", "pair (X, Y)")),
    "pair for one": (LAPLACIAN, (X, Y), ("'X'", "one array", "pair")),
    "list for one": (LAPLACIAN, [X, Y], ("'X'", "(n, d)", "(2, 300, 2)")),
    "misaligned": (ritz.cross(), (X, Y[:10]), ("'Y'", "aligned", "300", "10")),
    "misaligned, augmented": (ritz.pairs(), (X[:10], Y), ("'Y'", "aligned", "10", "300")),
    "one axis": (ritz.cross(), (X, Y[:, 0]), ("'Y'", "(n, d)", "(300,)")),
    "stream of one": (ritz.cross(), ritz.Batches([X]), ("'X'", "2 view", "1")),
    "stream of two": (LAPLACIAN, ritz.Batches([(X, Y)], views=2), ("'X'", "1 view", "2")),
}


@pytest.mark.parametrize("what", PAIRS)
def test_pairs_where_the_operator_wants_them_and_only_there(what):
    form, data, words = PAIRS[what]
    with raises(*words):
        decompose(form, QUADRATIC, data)


# Few samples, few functions


@pytest.mark.parametrize("n", [0, 1])
def test_at_least_two_rows(n):
    for basis in (ritz.Nystrom(ritz.Gaussian(), 1), QUADRATIC):
        with raises("'X'", "at least 2 rows", f"{n} row"):
            decompose(LAPLACIAN, basis, X[:n])
        with raises("rows" if n else "nonempty"):
            decompose(LAPLACIAN, basis, ritz.Batches([X[:n]]))


def test_two_rows_have_a_constant_and_a_line():
    rows = np.array([[0.0], [2.0]])
    # The function x - 1 has variance 1 and slope 1.
    spectrum = decompose(LAPLACIAN, LINEAR, rows, k=2)
    np.testing.assert_allclose(spectrum.values, [0.0, 1.0], atol=1e-14)
    with raises("'k'", "at most 2", "rank", "Got 3"):
        decompose(LAPLACIAN, LINEAR, rows, k=3)


def test_fewer_rows_than_centers_are_all_used_and_said():
    for rule in ("uniform", "kmeans++", "rpcholesky"):
        with pytest.warns(UserWarning, match=saying("n_centers=20", "10 distinct rows")):
            spectrum = decompose(LAPLACIAN, ritz.Nystrom(ritz.Gaussian(), 20, rule), X[:10], k=3)
        given = decompose(LAPLACIAN, ritz.Nystrom(ritz.Gaussian(), centers=X[:10]), X[:10], k=3)
        np.testing.assert_allclose(spectrum.values, given.values, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("kernel", [ritz.Gaussian(), ritz.Exponential(), ritz.Matern(2.5)])
@pytest.mark.parametrize("n", [20, 21, 25])
def test_just_as_many_rows_as_centers(n, kernel):
    spectrum = decompose(LAPLACIAN, ritz.Nystrom(kernel, 20), X[:n], k=4)
    assert_true_laplacian(spectrum, X[:n])


@pytest.mark.parametrize("kernel", [ritz.Gaussian(), ritz.Exponential()])
@pytest.mark.parametrize("n", [2, 5])
def test_more_centers_than_rows(n, kernel):
    basis = ritz.Nystrom(kernel, centers=CENTERS)
    for k in {1, 2, n - 1}:
        assert_true_laplacian(decompose(LAPLACIAN, basis, X[:n], k=k), X[:n], tolerance=1e-5)


@pytest.mark.parametrize("kernel", [ritz.Gaussian(), ritz.Exponential()])
@pytest.mark.parametrize("n", [2, 5, 20])
def test_more_centers_than_rows_have_no_more_than_n_functions(n, kernel):
    basis = ritz.Nystrom(kernel, centers=CENTERS)
    spectrum = decompose(LAPLACIAN, basis, X[:n], k=max(n // 2, 1))
    assert_sane(spectrum)
    # Some functions are flat at every row, as far as rounding tells.
    assert spectrum.values[0] > -1e-5
    f = spectrum(X[:n])
    np.testing.assert_allclose(f.T @ f / n, np.eye(len(spectrum)), rtol=0, atol=1e-4)
    with raises("'k'", "at most", "rank", f"Got {n + 1}", "more samples"):
        decompose(LAPLACIAN, basis, X[:n], k=n + 1)


@pytest.mark.parametrize("n", [10, 20])
def test_two_views_with_more_centers_than_rows(n):
    basis = ritz.Nystrom(ritz.Exponential(), centers=CENTERS)
    # As many functions as rows tell every pair apart: all correlations are 1.
    spectrum = decompose(ritz.cross(), basis, (X[:n], Y[:n]), k=n)
    np.testing.assert_allclose(spectrum.values, 1.0, rtol=1e-6)
    assert spectrum.errors is None or not np.isnan(spectrum.errors).any()
    with raises("'k'", f"at most {n}", f"Got {n + 1}"):
        decompose(ritz.cross(), basis, (X[:n], Y[:n]), k=n + 1)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_rank_is_what_k_may_reach(n):
    basis = ritz.Nystrom(ritz.Exponential(), centers=CENTERS)
    rank = decompose(LAPLACIAN, basis, X[:n], k=1).rank
    assert rank <= n
    assert_sane(decompose(LAPLACIAN, basis, X[:n], k=rank))


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("d", [1, 2])
def test_one_function(k, d):
    for kernel in (ritz.Gaussian(), ritz.Exponential(), ritz.Polynomial(2)):
        spectrum = decompose(LAPLACIAN, ritz.Nystrom(kernel, 1), X[:, :d], k=k)
        assert_true_laplacian(spectrum, X[:, :d])
        with raises("'k'", "at most 2", "rank", "Got 3"):
            decompose(LAPLACIAN, ritz.Nystrom(kernel, 1), X[:, :d], k=3)


def test_no_centers_are_an_error():
    with raises("'centers'", "(0, 2)"):
        decompose(LAPLACIAN, ritz.Nystrom(ritz.Gaussian(), centers=X[:0]), X)


# k


def test_k_may_reach_the_rank_and_no_more():
    assert_true_laplacian(decompose(LAPLACIAN, QUADRATIC, X, k=6), X)
    assert decompose(LAPLACIAN, QUADRATIC, X, k=6).rank == 6
    with raises("'k'", "at most 6", "rank", "Got 7", "Lower k"):
        decompose(LAPLACIAN, QUADRATIC, X, k=7)
    # Fifty sections of a quadratic kernel span six functions only.
    with raises("'k'", "at most 6", "rank", "Got 7"):
        decompose(LAPLACIAN, ritz.Nystrom(ritz.Polynomial(2), 50), X, k=7)
    with raises("'k'", "at most 6", "Got 7"):
        decompose(ritz.cross(), QUADRATIC, (X, Y), k=7)


@pytest.mark.parametrize("k", [0, -1, 1.5, "three", None, np.nan, np.inf, [3], 2 + 1j])
def test_k_must_be_a_positive_integer(k):
    sums = ritz.assemble(LAPLACIAN, QUADRATIC, X)
    for call in (
        lambda: decompose(LAPLACIAN, QUADRATIC, X, k),
        lambda: ritz.decompose_sums(sums, k),
    ):
        with raises("'k'", "positive integer", str(k)):
            call()


def test_integers_of_numpy_will_do():
    plain = decompose(LAPLACIAN, SECTIONS, X, k=3)
    for k in (np.int64(3), np.uint8(3)):
        np.testing.assert_array_equal(decompose(LAPLACIAN, SECTIONS, X, k=k).values, plain.values)


# Degenerate rows


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
def test_equal_rows_know_the_constant_only(basis, point):
    rows = np.full((50, D), point)
    with raises("'k'", "at most 1", "rank", "Got 2"):
        decompose(LAPLACIAN, basis, rows, k=2)
    spectrum = decompose(LAPLACIAN, basis, rows, k=1)
    np.testing.assert_array_equal(spectrum.values, [0.0])
    np.testing.assert_array_equal(spectrum(rows), 1.0)


def test_equal_rows_and_forms_that_look_at_neighbors():
    rows = np.ones((50, D))
    basis = ritz.RandomFourier(ritz.Gaussian(), 10)
    with raises("distinct rows"):
        decompose(ritz.laplacian("pca", dimension=1), basis, rows, k=2)
    with raises("distinct rows"):
        decompose(ritz.laplacian(density_correction=1.0), basis, rows, k=2)
    with raises("n_neighbors", "distinct rows"):
        decompose(ritz.neighbors(3), basis, rows, k=2)
    with raises("'k'", "at most 1", "rank", "Got 2"):
        decompose(ritz.graph(ritz.Gaussian()), basis, rows, k=2)


@pytest.mark.parametrize(
    "basis",
    [
        QUADRATIC,
        SECTIONS,
        ritz.Nystrom(ritz.Exponential(), 20),
        ritz.Nystrom(ritz.Gaussian(), 20, "kmeans++"),
        ritz.Nystrom(ritz.Gaussian(), 20, "rpcholesky"),
        ritz.RandomFourier(ritz.Gaussian(), 20),
    ],
)
def test_repeated_rows_are_weights(basis):
    times = np.random.default_rng(1).integers(1, 6, size=N)
    times[7] = 300
    repeated = np.random.default_rng(2).permutation(np.repeat(X, times, axis=0))
    a = decompose(LAPLACIAN, basis, repeated, k=5)
    b = decompose(LAPLACIAN, basis, X, k=5, sample_weight=times)
    assert_true_laplacian(a, repeated)
    np.testing.assert_allclose(a.values, b.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.errors, b.errors, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(a(X), b(X), atol=1e-6)


def test_half_the_rows_equal():
    rows = np.concatenate([X, np.ones((N, D))])
    for basis in (QUADRATIC, SECTIONS, ritz.Nystrom(ritz.Exponential(), 20)):
        assert_true_laplacian(decompose(LAPLACIAN, basis, rows, k=5), rows)
    for form in (
        ritz.laplacian("pca", dimension=1),
        ritz.laplacian(density_correction=1.0),
        ritz.neighbors(5),
        ritz.neighbors(5, "directional"),
    ):
        assert_sane(decompose(form, SECTIONS, rows, k=5))


def test_repeated_centers_add_nothing():
    for kernel in (ritz.Gaussian(), ritz.Exponential()):
        once = decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=X[:10]), X, k=5)
        thrice = decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=np.repeat(X[:10], 3, 0)), X, k=5)
        np.testing.assert_allclose(thrice.values, once.values, rtol=1e-8, atol=1e-12)
        assert thrice.rank == once.rank == 11


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e6])
@pytest.mark.parametrize("place", [0, 1])
def test_a_constant_column_changes_nothing(constant, place):
    line = X[:, :1]
    rows = np.insert(line, place, constant, axis=1)
    a, b = decompose(LAPLACIAN, QUADRATIC, rows, k=3), decompose(LAPLACIAN, QUADRATIC, line, k=3)
    np.testing.assert_allclose(a.values, b.values, rtol=1e-12, atol=1e-14)
    assert_true_laplacian(a, rows)
    for kernel in (ritz.Gaussian(0.3), ritz.Exponential(0.3), ritz.RationalQuadratic(1.0, 0.3)):
        a = decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=rows[:10]), rows, k=5)
        b = decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=line[:10]), line, k=5)
        np.testing.assert_allclose(a.values, b.values, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    "basis",
    [
        QUADRATIC,
        SECTIONS,
        ritz.Nystrom(ritz.Exponential(), 20),
        ritz.Nystrom(ritz.Gaussian(), 20, "kmeans++"),
        ritz.Nystrom(ritz.Gaussian(), 20, "rpcholesky"),
    ],
)
def test_sorted_rows_have_the_spectrum_of_shuffled_rows(basis):
    a = decompose(LAPLACIAN, basis, X, k=5)
    b = decompose(LAPLACIAN, basis, X[np.lexsort(X.T)], k=5)
    np.testing.assert_allclose(b.values, a.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(b.errors, a.errors, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(b(X), a(X), atol=1e-6)


@pytest.mark.parametrize("basis", [QUADRATIC, SECTIONS, ritz.Nystrom(ritz.Exponential(), 20)])
@pytest.mark.parametrize("size", [1e4, 1e8, 1e30])
def test_one_row_far_from_all_others(basis, size):
    # What one row decides has no error bar worth the name, but it has a value.
    assert_sane(decompose(LAPLACIAN, basis, np.concatenate([X, [[size, 0.0]]]), k=3))


# Weights


WEIGHTS = {
    "negative": (np.where(np.arange(N) == 5, -1.0, 1.0), ("nonnegative", "-1.0 in row 5")),
    "nan": (np.where(np.arange(N) == 5, np.nan, 1.0), ("finite", "nan in row 5")),
    "infinite": (np.where(np.arange(N) == 5, np.inf, 1.0), ("finite", "inf in row 5")),
    "zeros": (np.zeros(N), ("positive", "zeros")),
    "short": (np.ones(30), ("(300,)", "(30,)")),
    "two axes": (np.ones((N, 1)), ("(300,)", "(300, 1)")),
    "a number": (2.0, ("(300,)",)),
    "words": (["a"] * N, ("number",)),
    "complex": (np.ones(N) * 1j, ("real",)),
}


@pytest.mark.parametrize("what", WEIGHTS)
def test_weights_must_be_nonnegative_numbers_one_a_row(what):
    weight, words = WEIGHTS[what]
    with raises("sample_weight", *words):
        decompose(LAPLACIAN, QUADRATIC, X, sample_weight=weight)
    with raises("weight", *(words if what != "zeros" else ("positive",))):
        decompose(LAPLACIAN, QUADRATIC, ritz.Batches([(X, weight)], weighted=True))


def test_one_row_of_positive_weight_is_too_few():
    weight = np.eye(N)[0]
    for basis in (QUADRATIC, ritz.Nystrom(ritz.Gaussian(), 1)):
        with raises("at least 2 rows", "1"):
            decompose(LAPLACIAN, basis, X, sample_weight=weight)


@pytest.mark.parametrize("weight", [1e4, 1e8, 1e16, 1e30])
def test_one_row_may_outweigh_all_others(weight):
    weights = np.ones(N)
    weights[3] = weight
    # Beyond 1 / eps the others' share is rounding.
    pattern = r"'k'.*at most [12]\b.*rank" if weight > 1e12 else "no excuse"
    for basis in (QUADRATIC, SECTIONS):
        spectrum = answer_or_error(
            lambda basis=basis: decompose(LAPLACIAN, basis, X, k=3, sample_weight=weights), pattern
        )
        if spectrum is not None:
            assert_sane(spectrum)


def test_weights_of_all_sizes():
    weights = 10.0 ** np.random.default_rng(3).uniform(-200, 0, size=N)
    for basis in (QUADRATIC, SECTIONS):
        assert_sane(decompose(LAPLACIAN, basis, X, k=3, sample_weight=weights))


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e150, 1e300, 1e307])
def test_the_unit_of_the_weights_does_not_matter(factor):
    a = decompose(LAPLACIAN, SECTIONS, X, k=3)
    b = answer_or_error(
        lambda: decompose(LAPLACIAN, SECTIONS, X, k=3, sample_weight=np.full(N, factor)),
        "overflow" if factor > 1e300 else "no excuse",
    )
    if b is not None:
        np.testing.assert_allclose(b.values, a.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [5e-324, 1e-320, 2e-308])
def test_weights_that_products_lose_are_refused(size):
    with raises("'sample_weight'", "multiply", "Scale them"):
        decompose(LAPLACIAN, SECTIONS, X, k=3, sample_weight=np.full(N, size))


GROUPS = {
    "short": (np.ones(3), ("(300,)", "(3,)")),
    "two axes": (np.ones((N, 1)), ("(300,)", "(300, 1)")),
}


@pytest.mark.parametrize("what", GROUPS)
def test_groups_must_be_labels_one_a_row(what):
    groups, words = GROUPS[what]
    with raises("groups", *words):
        decompose(LAPLACIAN, QUADRATIC, X, groups=groups)


def test_too_few_groups_give_no_error_bars():
    one = decompose(LAPLACIAN, QUADRATIC, X, groups=np.ones(N))
    assert one.errors is None
    assert_true_laplacian(one, X)


# A user's functions of the wrong shape


def column(x):
    return x[:, :1]


def number(x):
    return 1.0


def short(x):
    return x[:-1, 0]


def nothing(x):
    return None


def words(x):
    return np.array(["a"] * len(x))


def imaginary(x):
    return 1j * x[:, 0]


def first(x):
    return x[:, 0]


PLACES = {
    "callables": lambda F: decompose(ritz.pairs(), ritz.Functions([first, F]), (X, Y), k=2),
    "gradients": lambda F: decompose(LAPLACIAN, ritz.Functions([first], [F]), X, k=2),
    "V": lambda F: decompose(LAPLACIAN + ritz.potential(F), QUADRATIC, X),
    "tangent": lambda F: decompose(ritz.laplacian(F), QUADRATIC, X),
    "A": lambda F: decompose(ritz.diffusion(F), QUADRATIC, X),
    "U": lambda F: decompose(ritz.directional(F), QUADRATIC, X),
    "coefficient": lambda F: decompose(
        ritz.differential({((1, 0), (1, 0)): F, ((0, 1), (0, 1)): 1.0}), QUADRATIC, X
    ),
    "profiles": lambda F: decompose(
        LAPLACIAN, ritz.Nystrom(ritz.CustomKernel("distance", [F, lambda u: -np.exp(-u)]), 5), X
    ),
    "search": lambda F: decompose(ritz.neighbors(3, search=lambda x, k: F(x)), QUADRATIC, X),
    "weights": lambda F: decompose(ritz.graph(lambda x, y: F(x)), QUADRATIC, X),
    "H": lambda F: decompose(ritz.form(lambda f, g, x: F(x), symmetric=True), QUADRATIC, X),
    "factor": lambda F: decompose(
        ritz.form(lambda f, g, x: F(x) * (f.value * g.value), symmetric=True), QUADRATIC, X
    ),
}
RESULTS = [column, number, short, nothing, words, imaginary]


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("place", PLACES)
def test_a_users_function_must_return_the_right_shape(place, result):
    if place == "factor" and result is number:
        assert_sane(PLACES[place](result))
        return
    with raises("factor" if place == "factor" else f"'{place}"):
        PLACES[place](result)


NOT_FINITE = {
    "callables": lambda x: x[:, 0] * np.nan,
    "gradients": lambda x: x * np.nan,
    "V": lambda x: x[:, 0] * np.nan,
    "tangent": lambda x: x[:, :, None] * np.nan,
    "A": lambda x: x[:, 0] * np.inf,
    "U": lambda x: x * np.nan,
    "coefficient": lambda x: x[:, 0] * np.nan,
    "profiles": lambda x: x * np.nan,
    "weights": lambda x: np.full((len(x), len(x)), np.nan),
    "factor": lambda x: x[:, 0] * np.nan,
}


@pytest.mark.parametrize("place", NOT_FINITE)
def test_a_users_function_must_return_finite_numbers(place):
    with raises(place, "finite", "inf" if place == "A" else "nan"):
        PLACES[place](NOT_FINITE[place])


SHAPED = {
    "callables shape": (
        lambda: PLACES["callables"](column),
        ("callables[1]", "(64,)", "(64, 1)"),
    ),
    "gradients shape": (lambda: PLACES["gradients"](first), ("gradients[0]", "2)")),
    "tangent rows": (
        lambda: decompose(ritz.laplacian(FRAMES[:200, :, :1]), QUADRATIC, X),
        ("'tangent'", "300 rows", "200"),
    ),
    "tangent axes": (lambda: ritz.laplacian(X), ("'tangent'", "(n, d, r)", "(300, 2)")),
    "tangent columns": (
        lambda: decompose(ritz.laplacian(np.ones((N, 3, 1))), QUADRATIC, X),
        ("'tangent'", "(n, 2, r)", "3"),
    ),
    "tangent empty": (
        lambda: decompose(ritz.laplacian(FRAMES[:, :, :0]), QUADRATIC, X),
        ("tangent", "0)"),
    ),
    "tangent not orthonormal": (
        lambda: decompose(ritz.laplacian(2 * FRAMES[:, :, :1]), QUADRATIC, X),
        ("'tangent'", "orthonormal", "by 3", "qr"),
    ),
    "tangent too many": (
        lambda: decompose(ritz.laplacian(np.ones((N, 2, 3))), QUADRATIC, X),
        ("'tangent'", "orthonormal"),
    ),
    "A not symmetric": (
        lambda: decompose(ritz.diffusion([[1.0, 0.5], [0.0, 1.0]]), QUADRATIC, X),
        ("'A'", "symmetric", "0.5"),
    ),
    "A(x) not symmetric": (
        lambda: decompose(
            ritz.diffusion(lambda x: np.tile([[1.0, 0.5], [0.0, 1.0]], (len(x), 1, 1))),
            QUADRATIC,
            X,
        ),
        ("A", "symmetric", "0.5"),
    ),
    "A not positive": (
        lambda: decompose(ritz.diffusion(np.diag([1.0, -2.0])), QUADRATIC, X),
        ("'A'", "positive", "-2"),
    ),
    "A negative": (
        lambda: decompose(ritz.diffusion(-1.0), QUADRATIC, X),
        ("'A'", "positive", "-1"),
    ),
    "A(x) not positive": (
        lambda: decompose(ritz.diffusion(lambda x: -np.ones(len(x))), QUADRATIC, X),
        ("A", "positive", "-1"),
    ),
    "A(x) not positive matrices": (
        lambda: decompose(ritz.diffusion(lambda x: np.tile(-np.eye(2), (len(x), 1, 1))), LINEAR, X),
        ("A", "positive", "-1"),
    ),
    "A size": (
        lambda: decompose(ritz.diffusion(np.eye(3)), QUADRATIC, X),
        ("'A'", "(2, 2)", "(3, 3)"),
    ),
    "A rows": (
        lambda: decompose(ritz.diffusion(FRAMES[:10]), QUADRATIC, X),
        ("'A'", "300 rows", "10"),
    ),
    "A axes": (
        lambda: decompose(ritz.diffusion(np.ones((N, 2, 2, 2))), QUADRATIC, X),
        ("'A'", "(300, 2, 2, 2)"),
    ),
    "V rows": (
        lambda: decompose(LAPLACIAN + ritz.potential(np.ones(3)), QUADRATIC, X),
        ("'V'", "300 rows", "3 rows"),
    ),
    "V axes": (lambda: ritz.potential(np.ones((N, 2))), ("'V'", "(n,)", "(300, 2)")),
    "V nan": (lambda: ritz.potential(np.array([1.0, np.nan])), ("'V'", "finite", "row 1")),
    "U rows": (
        lambda: decompose(ritz.directional(X[:20]), QUADRATIC, X),
        ("'U'", "300 rows", "20"),
    ),
    "U axes": (lambda: ritz.directional(X[:, 0]), ("'U'", "(n, d)", "(300,)")),
    "U columns": (
        lambda: decompose(ritz.directional(np.ones((N, 3))), QUADRATIC, X),
        ("'U'", "2)", "3"),
    ),
    "U nan": (
        lambda: decompose(ritz.directional(X * np.nan), QUADRATIC, X),
        ("'U'", "finite", "nan"),
    ),
    "coefficient rows": (
        lambda: decompose(ritz.differential({((0, 1), (0, 1)): np.ones(3)}), QUADRATIC, X),
        ("coefficient", "300 rows", "3 rows"),
    ),
    "coefficient axes": (
        lambda: decompose(ritz.differential({((0, 1), (0, 1)): np.ones((N, 2))}), QUADRATIC, X),
        ("coefficient", "2)"),
    ),
    "search numbers": (
        lambda: decompose(
            ritz.neighbors(3, search=lambda x, k: np.full((len(x), k), len(x))), QUADRATIC, X
        ),
        ("'search'", "row numbers", "300"),
    ),
    "search shape": (
        lambda: decompose(
            ritz.neighbors(3, search=lambda x, k: np.zeros((len(x), 2), int)), QUADRATIC, X
        ),
        ("'search'", "(300, 3)", "(300, 2)"),
    ),
    "weights negative": (
        lambda: decompose(ritz.graph(lambda x, y: -np.ones((len(x), len(y)))), QUADRATIC, X),
        ("'weights'", "-"),
    ),
    "weights negative, not normalized": (
        lambda: decompose(ritz.graph(lambda x, y: x @ y.T, normalized=False), QUADRATIC, X),
        ("'weights'", "nonnegative"),
    ),
    "weights zero": (
        lambda: decompose(ritz.graph(lambda x, y: np.zeros((len(x), len(y)))), QUADRATIC, X),
        ("'weights'", "positive", "0"),
    ),
    "weights not symmetric": (
        lambda: decompose(ritz.graph(lambda x, y: np.exp(x[:, :1] + 0 * y[:, 0])), QUADRATIC, X),
        ("weights", "symmetric"),
    ),
    "H not symmetric": (
        lambda: decompose(
            ritz.form(lambda f, g, x: f.value * g.partial((1, 0)), symmetric=True), QUADRATIC, X
        ),
        ("symmetric", "symmetric=False"),
    ),
    "factor shape": (
        lambda: PLACES["factor"](column),
        ("factor", "one number a row", "1)", "x[:, 0]"),
    ),
    "factor of a gradient": (
        lambda: decompose(
            ritz.form(lambda f, g, x: (x * f.gradient) @ g.gradient, symmetric=True), LINEAR, X
        ),
        ("factor", "one number a row", "2)"),
    ),
}


@pytest.mark.parametrize("what", SHAPED)
def test_fields_must_have_the_right_shape_and_kind(what):
    call, expected = SHAPED[what]
    with raises(*expected):
        call()


def test_array_fields_must_have_the_rows_of_a_stream():
    for length in (3, N + 1):
        stream = ritz.Batches([X[:100], X[100:]])
        with raises("V", str(length)):
            decompose(LAPLACIAN + ritz.potential(np.ones(length)), QUADRATIC, stream)


MISUSED = {
    "partial of the wrong length": (lambda f, g, x: f.partial((1,)) * g.partial((1,)), "alpha"),
    "partial of half an order": (lambda f, g, x: f.partial((0.5, 0)) * g.value, "alpha"),
    "at points of one column": (lambda f, g, x: f.at(x[:, :1]).value * g.value, "2 columns"),
    "at fewer points": (lambda f, g, x: f.at(x[:3]).value * g.value, "rows"),
    "gradients by *": (lambda f, g, x: f.gradient * g.gradient, "@"),
    "value by gradient": (lambda f, g, x: f.value * g.gradient, "@"),
    "gradient by value": (lambda f, g, x: f.gradient @ g.value, "Gradients"),
    "along one direction without its axis": (
        lambda f, g, x: f.gradient.along(x) * g.gradient.along(x),
        "(b, d, r)",
    ),
    "f alone": (lambda f, g, x: f.value, "'H'"),
}


@pytest.mark.parametrize("basis", [SECTIONS, QUADRATIC])
@pytest.mark.parametrize("what", MISUSED)
def test_a_form_must_multiply_a_probe_of_f_by_one_of_g(what, basis):
    H, word = MISUSED[what]
    with raises(word):
        decompose(ritz.form(H, symmetric=False), basis, X, k=2)


# Missing derivatives


def test_operators_with_derivatives_need_gradients():
    with raises("gradients=[...]", "ritz.Functions"):
        decompose(LAPLACIAN, ritz.Functions([first]), X, k=2)
    second = ritz.differential({((2, 0), (2, 0)): 1.0})
    with raises("first derivatives only", "(2, 0)"):
        decompose(second, ritz.Functions([first], [lambda x: 0 * x]), X, k=2)


@pytest.mark.parametrize(
    ("kernel", "order"),
    [
        (ritz.Exponential(), 2),
        (ritz.Matern(0.5), 2),
        (ritz.Matern(1.5), 4),
        (ritz.Exponential() + ritz.Gaussian(), 2),
        (ritz.Exponential() * ritz.Gaussian(), 2),
        (2.0 * ritz.Exponential(), 2),
        (ritz.CustomKernel("distance", [lambda u: np.exp(-u), lambda u: -np.exp(-u)]), 2),
        (ritz.CustomKernel("dot", [np.exp]), 1),
    ],
)
def test_a_kernel_must_be_smooth_enough(kernel, order):
    form = ritz.differential({((order, 0), (order, 0)): 1.0})
    with raises("order", str(order), str(order - 1)):
        decompose(form, ritz.Nystrom(kernel, 20), X, k=2)


# Wrong types

TYPES = {
    "form, function": (
        lambda: decompose(ritz.laplacian, LINEAR, X),
        ("'form'", "ritz.laplacian()"),
    ),
    "form, string": (lambda: decompose("laplacian", LINEAR, X), ("'form'", "ritz.laplacian()")),
    "form, None": (lambda: decompose(None, LINEAR, X), ("'form'", "ritz.laplacian()")),
    "basis, string": (lambda: decompose(LAPLACIAN, "rbf", X), ("'basis'", "ritz.Nystrom", "rbf")),
    "basis, kernel": (
        lambda: decompose(LAPLACIAN, ritz.Gaussian(), X),
        ("'basis'", "ritz.Nystrom"),
    ),
    "basis, None": (lambda: decompose(LAPLACIAN, None, X), ("'basis'", "ritz.Nystrom")),
    "basis, estimator": (
        lambda: decompose(LAPLACIAN, LinearRegression(), X),
        ("'basis'", "ritz.Nystrom"),
    ),
    "basis, two": (
        lambda: decompose(LAPLACIAN, (LINEAR, LINEAR), X),
        ("'basis'", "one basis", "2"),
    ),
    "basis, three": (
        lambda: decompose(ritz.cross(), (LINEAR,) * 3, (X, Y)),
        ("'basis'", "pair", "3"),
    ),
    **{
        f"basis, class {kind.__name__}": (
            lambda kind=kind: decompose(LAPLACIAN, kind, X),
            ("'basis'", "ritz.Nystrom", kind.__name__),
        )
        for kind in (
            ritz.Monomials,
            ritz.Nystrom,
            ritz.RandomFourier,
            ritz.Functions,
            ritz.KernelSections,
            ritz.Stack,
        )
    },
    **{
        f"kernel, {name} in {place.__name__}": (
            lambda kernel=kernel, place=place: (
                place(kernel, 20) if place is not ritz.KernelSections else place(kernel, X)
            ),
            ("'kernel'",),
        )
        for name, kernel in {"class": ritz.Gaussian, "string": "rbf", "None": None}.items()
        for place in (ritz.Nystrom, ritz.RandomFourier, ritz.KernelSections)
    },
    "kernel without a spectral law": (
        lambda: ritz.RandomFourier(ritz.Polynomial(2), 20),
        ("'kernel'", "distance kernel", "ritz.Nystrom"),
    ),
    "stack of nothing": (lambda: ritz.Stack(), ("'recipes'", "bases")),
    "stack of a list": (lambda: ritz.Stack([LINEAR, LINEAR]), ("'recipes'", "bases")),
    "stack of a class": (lambda: ritz.Stack(LINEAR, ritz.Monomials), ("'recipes'", "bases")),
    "functions, one": (lambda: ritz.Functions(first), ("'callables'", "list")),
    "functions, none": (lambda: ritz.Functions([]), ("'callables'", "list")),
    "functions, None": (lambda: ritz.Functions(None), ("'callables'", "list")),
    "functions, numbers": (lambda: ritz.Functions([1.0]), ("'callables'", "list")),
    "gradients, too few": (
        lambda: ritz.Functions([first, first], [first]),
        ("'gradients'", "2", "1"),
    ),
    "profiles, one": (lambda: ritz.CustomKernel("distance", np.exp), ("'profiles'", "list")),
    "profiles, none": (lambda: ritz.CustomKernel("distance", []), ("'profiles'", "list")),
    "family": (lambda: ritz.CustomKernel("dots", [np.exp]), ("'family'", "'dot'", "'dots'")),
    "families": (lambda: ritz.Gaussian() + ritz.Polynomial(2), ("family", "ritz.Stack")),
    "kernel factor": (lambda: -1.0 * ritz.Gaussian(), ("'factor'", "positive", "-1")),
    "form factor": (lambda: np.nan * LAPLACIAN, ("'factor'", "finite", "nan")),
    "form and number": (lambda: LAPLACIAN + 1.0, ("Laplacian", "float")),
    "views added": (lambda: LAPLACIAN + ritz.pairs(), ("laplacian()", "pairs()", "views")),
    "H": (lambda: ritz.form(3.0, symmetric=True), ("'H'", "function", "3.0")),
    "order": (
        lambda: ritz.form(first, symmetric=False, order="top"),
        ("'order'", "'largest'", "'top'"),
    ),
    "views": (lambda: ritz.form(first, symmetric=True, views=3), ("'views'", "1 or 2", "3")),
    "graph, string": (lambda: ritz.graph("rbf"), ("'weights'", "kernel", "rbf")),
    "graph, class": (lambda: ritz.graph(ritz.Gaussian), ("'weights'", "kernel", "Gaussian")),
    "tangent": (lambda: ritz.laplacian("svd"), ("'tangent'", "'pca'", "'svd'")),
    "kind": (lambda: ritz.neighbors(3, "both"), ("'kind'", "'directional'", "'both'")),
    "search": (lambda: ritz.neighbors(3, search="annoy"), ("'search'", "'faiss'", "'annoy'")),
    "centers": (
        lambda: ritz.Nystrom(ritz.Gaussian(), 20, "grid"),
        ("'centers'", "'kmeans++'", "'grid'"),
    ),
    "centers of another number": (
        lambda: ritz.Nystrom(ritz.Gaussian(), 20, X[:5]),
        ("'n_centers'", "5", "20"),
    ),
    "centers in the wrong place": (lambda: ritz.Nystrom(ritz.Gaussian(), X[:20]), ("'n_centers'",)),
    "centers of one axis": (
        lambda: ritz.Nystrom(ritz.Gaussian(), centers=X[0]),
        ("'centers'", "(n, d)", "(2,)"),
    ),
    "coefficients, empty": (lambda: ritz.differential({}), ("'coefficients'", "dictionary")),
    "coefficients, list": (lambda: ritz.differential([1.0]), ("'coefficients'", "dictionary")),
    "coefficients, keys": (
        lambda: ritz.differential({(0, 1): 1.0}),
        ("'coefficients'", "multi-indices", "(0, 1)"),
    ),
    "alpha, negative": (
        lambda: ritz.differential({((0, -1), (0, 1)): 1.0}),
        ("'alpha'", "nonnegative", "(0, -1)"),
    ),
    "alpha, half": (
        lambda: ritz.differential({((0, 0.5), (0, 1)): 1.0}),
        ("'alpha'", "integers", "(0, 0.5)"),
    ),
    "beta, length": (lambda: ritz.differential({((0,), (0, 1)): 1.0}), ("'beta'", "(0, 1)")),
    "alpha, dimension": (
        lambda: decompose(ritz.differential({((0,), (1,)): 1.0}), QUADRATIC, X),
        ("'alpha'", "2 nonnegative integers", "(0,)"),
    ),
    "sums": (lambda: ritz.decompose_sums(X, 3), ("'sums'",)),
    "too many neighbors": (
        lambda: decompose(ritz.neighbors(N), QUADRATIC, X),
        ("'n_neighbors'", "299", "300"),
    ),
    "manifold of more dimensions": (
        lambda: decompose(ritz.laplacian("pca", dimension=5), QUADRATIC, X),
        ("'dimension'", "at most 2", "5"),
    ),
    "one neighbor spans nothing": (
        lambda: decompose(ritz.laplacian("pca", dimension=1, n_neighbors=1), QUADRATIC, X),
        ("'n_neighbors'", "1"),
    ),
    "neighbors of a stream": (
        lambda: decompose(ritz.neighbors(3), QUADRATIC, ritz.Batches([X])),
        ("neighbors()", "array", "Batches"),
    ),
    "graph of a stream": (
        lambda: decompose(ritz.graph(ritz.Gaussian()), QUADRATIC, ritz.Batches([X])),
        ("graph()", "array", "Batches"),
    ),
}


@pytest.mark.parametrize("what", TYPES)
def test_wrong_types_are_named(what):
    call, expected = TYPES[what]
    with raises(*expected):
        call()


NUMBERS = {
    "degree": ritz.Monomials,
    "degree ": ritz.Polynomial,
    "offset": lambda value: ritz.Polynomial(2, value),
    "nu": ritz.Matern,
    "alpha": ritz.RationalQuadratic,
    "length_scale": ritz.Gaussian,
    "n_centers": lambda value: ritz.Nystrom(ritz.Gaussian(), value),
    "n_features": lambda value: ritz.RandomFourier(ritz.Gaussian(), value),
    "n_neighbors": ritz.neighbors,
    "n_neighbors ": lambda value: decompose(
        ritz.laplacian("pca", dimension=1, n_neighbors=value), LINEAR, X
    ),
    "dimension": lambda value: ritz.laplacian("pca", dimension=value),
    "density_correction": lambda value: ritz.laplacian(density_correction=value),
    "n_folds": lambda value: decompose(LAPLACIAN, LINEAR, X, n_folds=value),
    "n_jobs": lambda value: decompose(LAPLACIAN, LINEAR, X, n_jobs=value),
    "regularization": lambda value: decompose(LAPLACIAN, LINEAR, X, regularization=value),
}
WRONG = ["many", np.nan, -3]


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_the_wrong_kind_are_named(name, value):
    if name == "density_correction" and value == -3:
        assert_sane(decompose(NUMBERS[name](value), LINEAR, X))
        return
    with raises(name.strip()):
        NUMBERS[name](value)


@pytest.mark.parametrize(
    "name", ["degree", "degree ", "nu", "n_centers", "n_features", "n_neighbors", "n_folds"]
)
@pytest.mark.parametrize("value", [0, 1.25, None])
def test_counts_are_positive(name, value):
    with raises(name.strip(), str(value)):
        NUMBERS[name](value)


# Kernels


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, [], [1.0, -1.0], [[1.0]]])
@pytest.mark.parametrize("kernel", [ritz.Gaussian, ritz.Exponential, ritz.DotExponential])
def test_length_scales_are_positive(kernel, scale):
    with raises("'length_scale'", "positive", str(scale)):
        kernel(scale)


def test_length_scales_must_be_as_many_as_the_columns():
    kernel = ritz.Gaussian([1.0, 2.0, 3.0])
    for call in (
        lambda: decompose(LAPLACIAN, ritz.Nystrom(kernel, 20), X),
        lambda: decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=X[:5]), X),
        lambda: decompose(LAPLACIAN, ritz.RandomFourier(kernel, 20), X),
        lambda: kernel(X, X),
    ):
        with raises("'length_scale'", "2 numbers", "3 numbers"):
            call()


def test_a_kernel_that_overflows_says_so():
    with raises("DotExponential(length_scale=0.05)", "overflow", "709", "Raise length_scale"):
        decompose(LAPLACIAN, ritz.Nystrom(ritz.DotExponential(0.05), 20), X)


@pytest.mark.parametrize(
    ("kernel", "factor"),
    [
        (ritz.DotExponential(0.15), 1.0),
        (ritz.DotExponential(0.3), 1.0),
        (ritz.Polynomial(50), 1e3),
        (ritz.Polynomial(500), 1e3),
    ],
)
def test_a_kernel_whose_squares_overflow_gives_an_answer_or_says_so(kernel, factor):
    spectrum = answer_or_error(
        lambda: decompose(LAPLACIAN, ritz.Nystrom(kernel, 20), factor * X, k=2), "overflow|rank"
    )
    if spectrum is not None:
        assert_sane(spectrum)
        assert spectrum.values[0] == 0.0


NARROW = [ritz.Gaussian, ritz.Exponential, partial(ritz.RationalQuadratic, 1.0)]


@pytest.mark.parametrize("scale", [1.0, 1e-1, 1e-2])
@pytest.mark.parametrize("kernel", NARROW)
def test_energies_of_narrow_kernels_are_those_of_their_gradients(kernel, scale):
    # Each center is a row, where its own section has no gradient.
    sections = ritz.KernelSections(kernel(scale), X[:20])
    gradients = sections.gradient(X)
    L = np.einsum("ndi,ndj->ij", gradients, gradients) / N
    found = ritz.assemble(LAPLACIAN, Centered(sections, np.zeros(20)), X).mean().L[1:, 1:]
    np.testing.assert_allclose(found, L, rtol=0, atol=1e-12 * np.abs(L).max())


@pytest.mark.parametrize("scale", [1e-1, 1e-2, 1e-3, 1e-8])
@pytest.mark.parametrize("kernel", NARROW)
def test_kernels_narrower_than_the_gaps_have_no_negative_eigenvalues(kernel, scale):
    spectrum = decompose(LAPLACIAN, ritz.Nystrom(kernel(scale), 20), X)
    assert_sane(spectrum)
    assert spectrum.values[0] == 0.0


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e8, 1e100])
@pytest.mark.parametrize("kernel", [ritz.Gaussian, ritz.Exponential, ritz.DotExponential])
def test_kernels_wider_than_the_data_are_right_as_far_as_their_rank_goes(kernel, scale):
    basis = ritz.Nystrom(kernel(scale), 20)
    # Beyond 1 / eps the functions are constants to the last digit.
    pattern = r"'k'.*at most [12]\b.*rank" if scale > 1e7 else "no excuse"
    spectrum = answer_or_error(lambda: decompose(LAPLACIAN, basis, X), pattern)
    if spectrum is not None:
        assert_true_laplacian(spectrum, X, tolerance=1e-3)


def test_centers_that_no_row_sees():
    basis = ritz.Nystrom(ritz.Gaussian(), centers=X[:10] + 1e3)
    with raises("'k'", "at most 1", "rank", "Got 3"):
        decompose(LAPLACIAN, basis, X)
    np.testing.assert_array_equal(decompose(LAPLACIAN, basis, X, k=1).values, [0.0])


@pytest.mark.parametrize("alpha", [-50.0, 5.0, 50.0, 1000.0])
def test_a_density_correction_too_strong_gives_an_answer_or_says_so(alpha):
    form = ritz.laplacian(density_correction=alpha)
    spectrum = answer_or_error(lambda: decompose(form, QUADRATIC, X), "density_correction|rank")
    if spectrum is not None:
        assert_sane(spectrum)


# Units

KERNELS = {
    "gaussian": lambda c: ritz.Gaussian(c),
    "exponential": lambda c: ritz.Exponential(c),
    "matern": lambda c: ritz.Matern(1.5, c),
    "rational quadratic": lambda c: ritz.RationalQuadratic(1.0, c),
    "ard": lambda c: ritz.Gaussian([c, 2 * c]),
    "polynomial": lambda c: ritz.Polynomial(2, 1.0, c),
    "dot exponential": lambda c: ritz.DotExponential(2 * c),
}


def in_units(name, c):
    """Return a basis that scales with the data."""
    if name == "monomials":
        return QUADRATIC
    if name == "fourier":
        return ritz.RandomFourier(ritz.Gaussian(c), 20)
    return ritz.Nystrom(KERNELS[name](c), centers=c * X[:8])


@pytest.mark.parametrize("c", [1e-150, 1e-75, 1e-6, 1e6, 1e75, 1e150])
@pytest.mark.parametrize("name", [*KERNELS, "monomials", "fourier"])
def test_eigenvalues_have_the_unit_of_one_over_length_squared(name, c):
    # Folds by groups, as the hash of a row changes with its unit.
    a, b = (
        decompose(LAPLACIAN, in_units(name, u), u * X, k=4, groups=np.arange(N) // 5)
        for u in (1.0, c)
    )
    assert_sane(b)
    np.testing.assert_allclose(b.values * c * c, a.values, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(b.errors * c * c, a.errors, rtol=1e-5, atol=1e-12)
    np.testing.assert_array_equal(a.groups, b.groups)
    f, g = a(X), b(c * X)
    np.testing.assert_allclose(g * np.sign((f * g).sum(axis=0)), f, atol=1e-5)


UNITLESS = {
    "neighbors": ritz.neighbors(5),
    "directional neighbors": ritz.neighbors(5, "directional"),
    "pca": ritz.laplacian("pca", dimension=1),
    "density": ritz.laplacian(density_correction=1.0),
}


@pytest.mark.parametrize("c", [1e-150, 1e150])
@pytest.mark.parametrize("name", UNITLESS)
def test_forms_that_look_at_neighbors_do_not_depend_on_the_unit(name, c):
    form = UNITLESS[name]
    power = 0 if "neighbors" in name else 1
    a, b = (decompose(form, in_units("gaussian", u), u * X, k=4) for u in (1.0, c))
    assert_sane(b)
    np.testing.assert_allclose(b.values * (c * c) ** power, a.values, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("c", [1e-200, 1e200])
@pytest.mark.parametrize("name", ["gaussian", "exponential", "ard", "monomials"])
def test_units_whose_squares_floats_cannot_hold_are_an_error(name, c):
    with pytest.raises(ValueError, match=r"(?i)overflow|underflow|length_scale|rank"):
        decompose(LAPLACIAN, in_units(name, c), c * X)


def test_a_row_whose_square_overflows_is_an_error_or_far_away():
    rows = np.concatenate([X, [[1e200, 0.0]]])
    for basis in (in_units("gaussian", 1.0), in_units("exponential", 1.0), QUADRATIC):
        spectrum = answer_or_error(
            lambda basis=basis: decompose(LAPLACIAN, basis, rows), "overflow|[Ss]cale"
        )
        if spectrum is not None:
            assert_sane(spectrum)


@pytest.mark.parametrize("units", [(1e-6, 1e6), (1e3, 1.0), (1e-100, 1e100)])
@pytest.mark.parametrize("kernel", [ritz.Gaussian, ritz.Exponential])
def test_columns_of_very_different_units(kernel, units):
    # Diffusion and length scales in the columns' units undo them.
    units = np.array(units)
    a = decompose(LAPLACIAN, ritz.Nystrom(kernel(1.0), centers=X[:10]), X, k=5)
    basis = ritz.Nystrom(kernel(units), centers=X[:10] * units)
    b = decompose(ritz.diffusion(units**2), basis, X * units, k=5)
    np.testing.assert_allclose(b.values, a.values, rtol=1e-8, atol=1e-12)
    c = decompose(ritz.diffusion(units**2), QUADRATIC, X * units, k=5)
    d = decompose(LAPLACIAN, QUADRATIC, X, k=5)
    np.testing.assert_allclose(c.values, d.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_an_offset_of_the_data_changes_nothing(offset):
    # Multiples of 2^-20, so that adding the offset rounds nothing.
    rows = np.round(X * 2**20) / 2**20
    for kernel in (ritz.Gaussian(), ritz.Exponential(), ritz.Matern(1.5), ritz.RationalQuadratic()):
        a, b = (
            decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=rows[:20] + o), rows + o, k=5)
            for o in (0.0, offset)
        )
        np.testing.assert_allclose(b.values, a.values, rtol=1e-9, atol=1e-12)
    a, b = (decompose(LAPLACIAN, QUADRATIC, rows + o, k=5) for o in (0.0, offset))
    np.testing.assert_allclose(b.values, a.values, rtol=1e-6, atol=1e-12)


# Streams

STREAMS = {
    "iterator": (
        lambda: ritz.Batches(iter([X])),
        ("'source'", "function", "list_iterator", "once"),
    ),
    "generator": (lambda: ritz.Batches(x for x in [X]), ("'source'", "function", "generator")),
    "number": (lambda: ritz.Batches(3), ("'source'", "list", "3")),
    "views": (lambda: ritz.Batches([X], views=3), ("'views'", "1 or 2", "3")),
    "one array": (lambda: ritz.Batches(X), ("batch 0", "(n, d)", "(2,)")),
    "columns": (lambda: ritz.Batches([X, X[:, :1]]), ("batch 1", "2 columns", "1 columns")),
    "columns later": (
        lambda: ritz.Batches([X[:0], X, X[:0], X, np.ones((4, 3))]),
        ("batch 4", "2 columns", "3 columns"),
    ),
    "nothing": (lambda: ritz.Batches([]), ("'source'", "nonempty")),
    "empties": (lambda: ritz.Batches([X[:0], X[:0]]), ("'source'", "nonempty")),
    "one row": (lambda: ritz.Batches([X[:1]]), ("at least 2 rows", "1")),
    "no weights": (lambda: ritz.Batches([X], weighted=True), ("batch 0", "2 arrays", "ndarray")),
    "pairs not asked for": (lambda: ritz.Batches([(X, Y)]), ("batch 0", "(n, d)")),
    "an iterator in a function": (
        lambda: ritz.Batches(partial(next, iter([iter([X, X])] * 9))),
        ("'source'", "fresh iterator"),
    ),
    "a function of nothing": (lambda: ritz.Batches(lambda: None), ("'source'", "iterator", "None")),
}


@pytest.mark.parametrize("what", STREAMS)
def test_streams_that_are_not(what):
    call, expected = STREAMS[what]
    with raises(*expected):
        decompose(LAPLACIAN, QUADRATIC, call())


def test_batches_of_pairs_must_be_aligned():
    with raises("batch 1", "aligned", "300 and 5"):
        decompose(ritz.cross(), QUADRATIC, ritz.Batches([(X, Y), (X, Y[:5])], views=2))


def test_a_stream_carries_its_own_weights():
    for labels in ({"sample_weight": np.ones(N)}, {"groups": np.ones(N)}):
        with raises(*labels, "ritz.Batches", "weighted=True"):
            decompose(LAPLACIAN, QUADRATIC, ritz.Batches([X]), **labels)


def test_empty_batches_are_fine():
    whole = decompose(LAPLACIAN, SECTIONS, X)
    empty = np.empty((0, D))
    for batches in ([empty, X, empty], [X[:7], empty, empty, X[7:]], [np.empty((0, 5)), X]):
        found = decompose(LAPLACIAN, SECTIONS, ritz.Batches(batches))
        np.testing.assert_allclose(found.values, whole.values, rtol=1e-9, atol=1e-12)


def test_an_error_inside_a_stream_comes_through():
    def broken():
        yield X
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        decompose(LAPLACIAN, QUADRATIC, ritz.Batches(broken))


def test_an_error_inside_a_users_function_comes_through():
    def broken(x):
        raise ZeroDivisionError("in my function")

    for call in PLACES.values():
        with pytest.raises(ZeroDivisionError, match="in my function"):
            call(broken)
