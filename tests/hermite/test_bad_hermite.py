"""Errors of HermiteRegressor: each names the argument, what it must be and what came."""

import numpy as np
import pytest

import ritz
from tests.bad_input import raises

N = 20
X = np.random.default_rng(0).normal(size=(N, 2))
Y = np.sin(X[:, 0]) + X[:, 1]
GRADIENT = np.column_stack([np.cos(X[:, 0]), np.ones(N)])


def hermite(**parameters):
    return ritz.HermiteRegressor(**{"random_state": 0, **parameters})


PARAMETERS = {
    "kernel": (["cubic", None, ritz.Gaussian, 3], "'gaussian'"),
    "length_scale": (["long", -1.0, np.nan], "positive"),
    "gradient_weight": ([-1.0, "much", np.nan], "'auto' or a nonnegative number"),
    "regularization": ([-1.0, "much", np.nan], "'auto' or a nonnegative number"),
    "n_centers": ([0, 2.5, "many", None], "positive integer"),
    "solver": (["magic", None], "'auto', 'qr' or 'sums'"),
    "n_folds": ([0, 1.5, "many", 10**9], "positive integer up to 1,000"),
    "n_jobs": ([0, 1.5, "many"], "None for all cores"),
    "constant": (["no", None, 2], "True or False"),
    "random_state": (["x", -1, 1.5], "an integer from 0 to 2**32 - 1"),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, (values, _) in PARAMETERS.items() for value in values],
)
def test_a_wrong_parameter_is_named(name, value):
    with raises(f"'{name}'", "must be", PARAMETERS[name][1], str(value)):
        hermite(**{name: value}).fit(X, Y, GRADIENT)


def test_there_is_one_length_scale_or_one_for_each_column():
    with raises("'length_scale'", "a number or 2 numbers", "Got 3 numbers"):
        hermite(length_scale=[1.0, 2.0, 3.0]).fit(X, Y, GRADIENT)


CENTERS = {
    "columns": (np.zeros((4, 5)), ("2 columns", "5 columns")),
    "one axis": (X[:, 0], ("(n, d)", "(20,)")),
    "none": (X[:0], ("at least 1 row", "(0, 2)")),
    "not finite": (np.full((2, 2), np.nan), ("nan in row 0, column 0",)),
}


@pytest.mark.parametrize("case", CENTERS)
def test_centers_must_be_points_with_the_columns_of_the_samples(case):
    centers, words = CENTERS[case]
    with raises("centers", *words):
        hermite(centers=centers).fit(X, Y, GRADIENT)


def test_more_centers_than_fit_in_memory_are_refused_with_the_number_that_fits():
    with pytest.raises(ValueError, match=r"at most [\d,]+ on this machine.* GB"):
        hermite(n_centers=10_000_000).fit(X, Y, GRADIENT)


def test_gradients_need_a_kernel_with_derivatives():
    kernel = ritz.CustomKernel("distance", [lambda u: np.exp(-np.sqrt(2 * u))])
    with raises("'kernel'", "derivatives where gradients are given", "CustomKernel"):
        hermite(kernel=kernel).fit(X, Y, GRADIENT)


# Values, gradients and directions

UNKNOWN = np.full(N, np.nan)
DATA = {
    "y, too few": ({"y": Y[:3]}, ("'y'", "20 rows", "(3,)")),
    "y, missing": ({"y": None}, ("requires y",)),
    "y, complex": ({"y": Y + 1j}, ("'y'", "real", "complex")),
    "y, infinite": ({"y": np.where(np.arange(N) == 3, np.inf, Y)}, ("y", "infinity")),
    "y, unknown": ({"y": UNKNOWN}, ("'y'", "at least one row")),
    "all unknown": (
        {"y": UNKNOWN, "gradient": np.full((N, 2), np.nan)},
        ("'y'", "at least one row"),
    ),
    "gradient, transposed": ({"gradient": GRADIENT.T}, ("'gradient'", "(20, 2)", "(2, 20)")),
    "gradient, too few": ({"gradient": GRADIENT[:5]}, ("'gradient'", "(20, 2)", "(5, 2)")),
    "gradient, outputs": (
        {"gradient": np.zeros((N, 2, 3))},
        ("'gradient'", "1 output", "Got 3"),
    ),
    "gradient, infinite": ({"gradient": np.full((N, 2), np.inf)}, ("'gradient'", "finite", "NaN")),
    "gradient, large": ({"gradient": 1e200 * GRADIENT}, ("'gradient'", "squares", "Scale")),
    "gradient, complex": ({"gradient": GRADIENT + 1j}, ("'gradient'", "real", "complex")),
    "directions alone": ({"directions": np.zeros((N, 2))}, ("'gradient'", "directions", "None")),
    "directions, columns": (
        {"gradient": np.zeros(N), "directions": np.zeros((N, 3))},
        ("'directions'", "(20, 2)", "(20, 3)"),
    ),
    "directions, not finite": (
        {"gradient": np.zeros(N), "directions": np.full((N, 2), np.nan)},
        ("directions", "NaN"),
    ),
    "weights, negative": (
        {"sample_weight": -np.ones(N)},
        ("'sample_weight'", "nonnegative", "-1.0 in row 0"),
    ),
    "weights, too few": ({"sample_weight": np.ones(3)}, ("sample_weight", "(3,)", "(20,)")),
}


@pytest.mark.parametrize("case", DATA)
def test_wrong_data_are_named(case):
    arguments, words = DATA[case]
    with raises(*words):
        hermite().fit(X, **{"y": Y, **arguments})


def test_a_row_that_is_not_finite_is_named():
    bad = X.copy()
    bad[7, 1] = np.nan
    with raises("'X'", "finite", "NaN in row 7, column 1", "SimpleImputer"):
        hermite().fit(bad, Y, GRADIENT)


def test_new_points_must_have_the_columns_of_the_samples():
    model = hermite().fit(X, Y, GRADIENT)
    for call in (model.predict, model.predict_gradient):
        with raises("3 features", "2 features"):
            call(np.zeros((4, 3)))


def test_a_partial_fit_that_fails_changes_nothing():
    model = hermite(n_centers=15).partial_fit(X, Y, GRADIENT)
    before = model.predict(X)
    with raises("outputs"):
        model.partial_fit(X, np.column_stack([Y, Y]), np.stack([GRADIENT, GRADIENT], axis=2))
    np.testing.assert_array_equal(model.predict(X), before)


def test_the_memory_order_of_rows_changes_nothing():
    y = np.sin(X).sum(axis=1)
    models = [
        ritz.HermiteRegressor(n_centers=15).fit(rows, y) for rows in (X, np.asfortranarray(X))
    ]
    np.testing.assert_array_equal(*(model.predict(X) for model in models))


@pytest.mark.parametrize("regularization", ["auto", 1e-6])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_gradients_alone_have_a_positive_weight(method, regularization):
    model = hermite(gradient_weight=0, regularization=regularization)
    with raises("'gradient_weight'", "must be positive where no value of y is known", "0"):
        getattr(model, method)(X, None, GRADIENT)
