"""Errors about samples, weights, groups, operators and bases, raised when sums are computed."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from sklearn.linear_model import LinearRegression

import ritz
from tests.bad_input import (
    LAPLACIAN,
    LINEAR,
    QUADRATIC,
    SECTIONS,
    N,
    X,
    Y,
    assert_solves_laplacian,
    decompose,
    raises,
)

# Samples


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_named(value):
    bad = X.copy()
    bad[18, 1] = value
    remedy = "SimpleImputer" if np.isnan(value) else "Drop such rows"
    where = ("finite", f"{value} in row 18, column 1", remedy)
    for form in (LAPLACIAN, ritz.neighbors(3), ritz.graph(ritz.Gaussian(1.0))):
        with raises("'X'", *where):
            decompose(form, SECTIONS, bad)
    with raises("'Y'", *where):
        decompose(ritz.cross(), SECTIONS, (X, bad))


def test_a_row_that_is_not_finite_is_named_by_its_number_among_all_rows():
    bad = np.zeros((150_000, 1))
    bad[::2] = 1.0
    bad[140_001] = np.nan
    with raises("row 140001, column 0"):
        decompose(LAPLACIAN, LINEAR, bad)


SAMPLES = {
    "one axis": (X[:, 0], ("(n, d)", "(300,)", "reshape(-1, 1)")),
    "three axes": (X[None], ("(n, d)", "(1, 300, 2)", "ritz.Batches")),
    "no columns": (X[:, :0], ("at least one column", "(300, 0)")),
    "a number": (3.0, ("(n, d)", "()")),
    "None": (None, ("(n, d)",)),
    "a string": ("half moons", ("(n, d)",)),
    "ragged": ([[1.0, 2.0], [3.0]], ("(n, d)",)),
    "words": (np.array([["a", "b"]] * 5), ("numbers", "'a'")),
    "complex": (X + 1j, ("real", "complex128")),
    "complex sparse matrix": (sparse.csr_matrix(X + 1j), ("real", "complex128")),
    "masked": (np.ma.masked_array(X, mask=X > 2), ("mask",)),
}
ONE_AXIS = sparse.coo_array(X[:, 0])
# Before SciPy 1.13 that is one row.
if ONE_AXIS.ndim == 1:
    SAMPLES["sparse array of one axis"] = (ONE_AXIS, ("(n, d)", "(300,)"))


@pytest.mark.parametrize("case", SAMPLES)
def test_samples_must_be_an_array_of_rows(case):
    data, words = SAMPLES[case]
    with raises("'X'", *words):
        decompose(LAPLACIAN, QUADRATIC, data)


def test_iterators_yield_arrays_and_not_rows():
    with raises("'batch 0'", "(n, d)", "shape (2,)"):
        decompose(LAPLACIAN, QUADRATIC, (row for row in X))


@pytest.mark.parametrize("n", [0, 1])
def test_at_least_two_rows_are_needed(n):
    for basis in (ritz.Nystrom(ritz.Gaussian(), 1), QUADRATIC):
        with raises("'X'", "at least 2 rows", f"{n} row"):
            decompose(LAPLACIAN, basis, X[:n])


PAIRS = {
    "one array": (ritz.cross(), X, ("'X'", "pair (X, Y)", "ndarray")),
    "one array for pairs()": (ritz.pairs(), X, ("'X'", "pair (X, Y)", "ndarray")),
    "stacked": (ritz.pairs(), np.stack([X, Y]), ("'X'", "pair (X, Y)", "ndarray")),
    "three arrays": (ritz.pairs(), (X, Y, X), ("'X'", "pair (X, Y)")),
    "pair for one": (LAPLACIAN, (X, Y), ("'X'", "one array", "pair")),
    "list for one": (LAPLACIAN, [X, Y], ("'X'", "(n, d)", "(2, 300, 2)")),
    "too few rows": (ritz.cross(), (X, Y[:10]), ("'Y'", "aligned", "300", "10")),
    "too many rows": (ritz.pairs(), (X[:10], Y), ("'Y'", "aligned", "10", "300")),
    "one axis": (ritz.cross(), (X, Y[:, 0]), ("'Y'", "(n, d)", "(300,)")),
    "stream of one": (ritz.cross(), ritz.Batches([X]), ("'X'", "2 view", "1")),
    "stream of two": (LAPLACIAN, ritz.Batches([(X, Y)], views=2), ("'X'", "1 view", "2")),
}


@pytest.mark.parametrize("case", PAIRS)
def test_pairs_of_arrays_go_with_operators_on_pairs(case):
    form, data, words = PAIRS[case]
    with raises(*words):
        decompose(form, QUADRATIC, data)


@pytest.mark.parametrize("basis", [SECTIONS, QUADRATIC, ritz.RandomFourier(ritz.Gaussian(), 9)])
@pytest.mark.parametrize("columns", [1, 3])
def test_both_members_of_a_pair_must_have_the_same_columns(basis, columns):
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
    assert spectrum.ritz_values[0] == pytest.approx(1.0)
    assert [part.shape for part in spectrum(X, Y[:, :1])] == [(N, 2), (N, 2)]


def test_functions_that_are_fixed_keep_their_number_of_columns():
    sums = ritz.assemble(LAPLACIAN, QUADRATIC, X)
    with raises("'X'", "2 columns", "3"):
        ritz.assemble(LAPLACIAN, sums.left, np.zeros((9, 3)))


# Weights and groups

WEIGHTS = {
    "negative": (np.where(np.arange(N) == 5, -1.0, 1.0), ("nonnegative", "-1.0 in row 5")),
    "nan": (np.where(np.arange(N) == 5, np.nan, 1.0), ("finite", "nan in row 5")),
    "infinite": (np.where(np.arange(N) == 5, np.inf, 1.0), ("finite", "inf in row 5")),
    "zeros": (np.zeros(N), ("positive",)),
    "short": (np.ones(30), ("(300,)", "(30,)")),
    "two axes": (np.ones((N, 1)), ("(300,)", "(300, 1)")),
    "a number": (2.0, ("(300,)", "()")),
    "words": (["a"] * N, ("number",)),
    "complex": (np.ones(N) * 1j, ("real",)),
    "sum too large": (np.full(N, 1e307), ("summable", "1e+307", "Scale them")),
    "products too small": (np.full(N, 2e-308), ("multiply", "2e-308", "Scale them")),
    "smallest of all": (np.full(N, 5e-324), ("multiply", "4.9e-324", "Scale them")),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_must_be_nonnegative_numbers_one_a_row(case):
    weight, words = WEIGHTS[case]
    with raises("'sample_weight'", *words):
        decompose(LAPLACIAN, QUADRATIC, X, sample_weight=weight)
    with raises("weight", *words):
        decompose(LAPLACIAN, QUADRATIC, ritz.Batches([(X, weight)], weighted=True))


def test_at_least_two_rows_must_have_weight():
    for basis in (QUADRATIC, ritz.Nystrom(ritz.Gaussian(), 1)):
        with raises("'sample_weight'", "at least 2 rows", "1"):
            decompose(LAPLACIAN, basis, X, sample_weight=np.eye(N)[0])


@pytest.mark.parametrize("shape", [(3,), (N, 1)])
def test_groups_must_be_labels_one_a_row(shape):
    with raises("'groups'", "(300,)", str(shape)):
        decompose(LAPLACIAN, QUADRATIC, X, groups=np.ones(shape))


def test_ragged_groups_are_named():
    with raises("'groups'", "an array", "list"):
        decompose(LAPLACIAN, QUADRATIC, X, groups=[[1], [1, 2]] * (N // 2))


def test_ragged_targets_are_named():
    for model in (ritz.LaplacianRegressor(), ritz.LaplacianClassifier()):
        with raises("'y'", "must be", "list"):
            model.fit(X, [[1], [1, 2]] * (N // 2))


def test_one_huge_row_is_named():
    rows = np.random.default_rng(0).normal(size=(30_000, 2))
    rows[17, 1] = -1e200
    for form, data, name in ((LAPLACIAN, rows, "X"), (ritz.cross(), (0 * rows, rows), "Y")):
        with raises(f"'{name}'", "1e+152", "-1e+200 in row 17, column 1", "Scale"):
            decompose(form, QUADRATIC, data)
    with raises("'batch 1'", "-1e+200 in row 2, column 1", "Scale"):
        decompose(LAPLACIAN, QUADRATIC, ritz.Batches([rows[:15], rows[15:]]))


def test_columns_with_and_without_names_are_refused_by_name():
    def frame_of(rows):
        return pd.DataFrame(rows, columns=["a", 3])

    for call, name in (
        (lambda: decompose(LAPLACIAN, QUADRATIC, frame_of(X)), "X"),
        (lambda: decompose(ritz.cross(), QUADRATIC, (X, frame_of(Y))), "Y"),
        (lambda: decompose(LAPLACIAN, QUADRATIC, ritz.Batches([frame_of(X)])), "batch 0"),
        (lambda: ritz.SpectralEmbedding(2).fit(frame_of(X)), "X"),
        (lambda: ritz.SingularEmbedding(2).fit(X, frame_of(Y)), "y"),
    ):
        with raises(f"'{name}'", "['a', 3]", "astype(str)"):
            call()


def test_a_score_names_the_shape_of_targets():
    y = X[:, 0]
    with raises("'y'", "(300,)", "(200,)"):
        ritz.LaplacianRegressor(random_state=0).fit(X, y).score(X, y[:200])


def test_a_single_group_has_no_error_bars():
    spectrum = decompose(LAPLACIAN, QUADRATIC, X, groups=np.ones(N))
    assert spectrum.errors is None
    assert_solves_laplacian(spectrum, X)


# Operators, bases and numbers

CLASSES = [
    ritz.Monomials,
    ritz.Nystrom,
    ritz.RandomFourier,
    ritz.Functions,
    ritz.KernelSections,
    ritz.Stack,
]
ARGUMENTS = {
    **{
        f"form, {name}": (lambda form=form: decompose(form, LINEAR, X), ("'form'", "laplacian()"))
        for name, form in {"function": ritz.laplacian, "string": "heat", "None": None}.items()
    },
    **{
        f"basis, {name}": (
            lambda basis=basis: decompose(LAPLACIAN, basis, X),
            ("'basis'", "ritz.Nystrom(kernel, 200)", str(basis)),
        )
        for name, basis in {
            "string": "rbf",
            "kernel": ritz.Gaussian(),
            "None": None,
            "estimator": LinearRegression(),
            **{f"class {kind.__name__}": kind for kind in CLASSES},
        }.items()
    },
    "basis, two": (
        lambda: decompose(LAPLACIAN, (LINEAR, LINEAR), X),
        ("'basis'", "one basis", "2"),
    ),
    "basis, three": (
        lambda: decompose(ritz.cross(), (LINEAR,) * 3, (X, Y)),
        ("'basis'", "pair", "3"),
    ),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_operators_and_bases_must_be_what_they_are_passed_as(case):
    call, words = ARGUMENTS[case]
    with raises(*words):
        call()


@pytest.mark.parametrize("value", ["many", np.nan, -3, 0, 1.25])
@pytest.mark.parametrize("name", ["n_folds", "n_jobs"])
def test_folds_and_threads_are_counted_by_positive_integers(name, value):
    with raises(f"'{name}'", "integer", str(value)):
        decompose(LAPLACIAN, LINEAR, X, **{name: value})


def test_large_integers_are_different_groups():
    large = 2**60 + np.arange(N) // 5
    for labels in (large, large.astype(np.uint64), -large):
        count = ritz.assemble(LAPLACIAN, QUADRATIC, X, groups=labels).count
        assert (count > 0).all()
        assert (count % 5 == 0).all()
    # Other labels, or another type, change no fold.
    some = ritz.assemble(LAPLACIAN, QUADRATIC, X[:50], groups=large[:50]).count
    rest = ritz.assemble(LAPLACIAN, QUADRATIC, X[50:], groups=large[50:].astype(np.uint64)).count
    whole = ritz.assemble(LAPLACIAN, QUADRATIC, X, groups=large).count
    np.testing.assert_array_equal(some + rest, whole)


@pytest.mark.parametrize("value", [0, 1.5, "x", None, 1001, 10**12])
def test_the_number_of_folds_is_moderate(value):
    with raises("'n_folds'", "a positive integer up to 1,000", f"Got {value!r}"):
        ritz.assemble(LAPLACIAN, QUADRATIC, X, n_folds=value)


@pytest.mark.parametrize("seed", ["x", -1, 1.5, object()])
def test_a_wrong_seed_is_named(seed):
    for call in (
        lambda: ritz.assemble(LAPLACIAN, QUADRATIC, X, random_state=seed),
        lambda: ritz.decompose(LAPLACIAN, QUADRATIC, X, 2, random_state=seed),
        lambda: ritz.Nystrom(ritz.Gaussian(), 5).fit(X, seed),
        lambda: ritz.RandomFourier(ritz.Gaussian(), 5).fit(X, seed),
        lambda: ritz.Stack(QUADRATIC, QUADRATIC).fit(X, seed),
        lambda: QUADRATIC.fit(X, seed),
        lambda: ritz.datasets.half_moons(10, random_state=seed),
        lambda: ritz.datasets.cube().sample(10, random_state=seed),
    ):
        with raises("'random_state'", "nonnegative integer", f"Got {seed!r}"):
            call()


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_forms_that_compare_rows_need_squares_of_them(size):
    fixed = ritz.assemble(LAPLACIAN, QUADRATIC, X).left
    for form in (
        ritz.neighbors(5),
        ritz.laplacian("pca", dimension=1),
        ritz.laplacian(density_correction=1.0),
    ):
        for basis in (fixed, ritz.RandomFourier(ritz.Gaussian(), 9)):
            with raises("'X'", "between 1e-152 and 1e+152", "Scale the data"):
                ritz.assemble(form, basis, size * X)
