"""Errors about bases: wrong columns, centers, kernels and functions of the user."""

from dataclasses import replace

import numpy as np
import pytest

import ritz
from tests.bad_input import (
    LAPLACIAN,
    LINEAR,
    QUADRATIC,
    SECTIONS,
    WRONG_RESULTS,
    X_WITH_NAN,
    X,
    Y,
    broken,
    column,
    decompose,
    first,
    raises,
)

# Points

FITTED = [SECTIONS, QUADRATIC, ritz.RandomFourier(ritz.Gaussian(), 9)]


@pytest.mark.parametrize("basis", FITTED)
@pytest.mark.parametrize("columns", [1, 3])
def test_new_points_must_have_the_columns_of_the_samples(basis, columns):
    new = np.zeros((4, columns))
    spectrum = decompose(LAPLACIAN, basis, X)
    for call in (spectrum, spectrum.gradient, spectrum[1:], lambda x: spectrum.partial(x, (1, 0))):
        with raises("'X'", "2 columns", f"Got {columns}"):
            call(new)
    singular = decompose(ritz.cross(), basis, (X, Y))
    with raises("2 columns", f"Got {columns}"):
        singular(X, new)


@pytest.mark.parametrize("columns", [1, 3])
def test_new_points_for_functions_of_the_user_must_have_the_columns_of_the_samples(columns):
    basis = ritz.Functions([first], gradients=[lambda x: np.eye(x.shape[1])[0] + 0 * x])
    spectrum = decompose(LAPLACIAN, basis, X, k=2)
    with raises("'X'", "2 columns", f"Got {columns}"):
        spectrum(np.zeros((4, columns)))


def test_no_points_have_no_values():
    spectrum = decompose(LAPLACIAN, SECTIONS, X)
    assert spectrum(np.empty((0, 2))).shape == (0, 3)
    assert spectrum.gradient(np.empty((0, 2))).shape == (0, 2, 3)


def test_points_far_from_all_samples_have_finite_values():
    for kernel in (ritz.Gaussian(), ritz.Exponential(), ritz.Matern(1.5), ritz.RationalQuadratic()):
        spectrum = decompose(LAPLACIAN, ritz.Nystrom(kernel, 20), X)
        for factor in (1e6, 1e100, 1e200):
            assert np.isfinite(spectrum(factor * X)).all()
            assert np.isfinite(spectrum.gradient(factor * X)).all()


# Centers


@pytest.mark.parametrize(
    "basis",
    [
        ritz.Nystrom(ritz.Gaussian(), centers=np.eye(3)),
        ritz.KernelSections(ritz.Gaussian(), np.eye(3)),
        ritz.Stack(QUADRATIC, ritz.KernelSections(ritz.Gaussian(), np.eye(3))),
    ],
)
def test_centers_must_have_the_columns_of_the_samples(basis):
    with raises("must be", "3", "2"):
        decompose(LAPLACIAN, basis, X, k=2)


def test_a_center_that_is_not_finite_is_named():
    with raises("'centers'", "finite", "nan in row 18, column 1", "SimpleImputer"):
        ritz.Nystrom(ritz.Gaussian(1.0), centers=X_WITH_NAN)


def test_repeated_centers_add_nothing():
    for kernel in (ritz.Gaussian(), ritz.Exponential()):
        once = decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=X[:10]), X, k=5)
        thrice = decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=np.repeat(X[:10], 3, 0)), X, k=5)
        np.testing.assert_allclose(thrice.ritz_values, once.ritz_values, rtol=1e-8, atol=1e-12)
        assert thrice.rank == once.rank == 11


def test_centers_out_of_reach_of_all_rows_leave_the_constant():
    basis = ritz.Nystrom(ritz.Gaussian(), centers=X[:10] + 1e3)
    with raises("'k'", "at most 1", "rank", "Got 3"):
        decompose(LAPLACIAN, basis, X)
    np.testing.assert_array_equal(decompose(LAPLACIAN, basis, X, k=1).ritz_values, [0.0])


# Functions of the user


def with_function(F):
    return decompose(ritz.pairs(), ritz.Functions([first, F]), (X, Y), k=2)


def with_gradient(F):
    return decompose(LAPLACIAN, ritz.Functions([first], [F]), X, k=2)


@pytest.mark.parametrize("result", WRONG_RESULTS)
def test_functions_and_gradients_must_return_arrays_of_the_right_shape(result):
    with raises("'callables[1]"):
        with_function(result)
    with raises("'gradients[0]"):
        with_gradient(result)


def test_functions_and_gradients_must_return_finite_numbers():
    with raises("callables[1]", "finite", "nan"):
        with_function(lambda x: x[:, 0] * np.nan)
    with raises("gradients[0]", "finite", "nan"):
        with_gradient(lambda x: x * np.nan)


def test_the_shape_that_came_and_the_shape_that_is_wanted_are_named():
    with raises("callables[1]", "(64,)", "(64, 1)"):
        with_function(column)
    with raises("gradients[0]", "2)", ",)"):
        with_gradient(first)


def test_an_error_inside_a_function_reaches_the_caller():
    for call in (with_function, with_gradient):
        with pytest.raises(ZeroDivisionError, match="in a function of the user"):
            call(broken)


# Arguments

PLACES = {
    "Nystrom": lambda kernel: ritz.Nystrom(kernel, 20),
    "RandomFourier": lambda kernel: ritz.RandomFourier(kernel, 20),
    "KernelSections": lambda kernel: ritz.KernelSections(kernel, X),
}
ARGUMENTS = {
    **{
        f"kernel, {name} in {place}": (
            lambda make=make, kernel=kernel: make(kernel),
            ("'kernel'", str(kernel)),
        )
        for name, kernel in {"class": ritz.Gaussian, "string": "rbf", "None": None}.items()
        for place, make in PLACES.items()
    },
    "kernel without a spectral law": (
        lambda: ritz.RandomFourier(ritz.Polynomial(2), 20),
        ("'kernel'", "distance kernel", "ritz.Nystrom"),
    ),
    "stack of a list": (lambda: ritz.Stack([LINEAR, LINEAR]), ("'recipes'", "bases")),
    "stack of a class": (lambda: ritz.Stack(LINEAR, ritz.Monomials), ("'recipes'", "bases")),
    "functions, one": (lambda: ritz.Functions(first), ("'callables'", "list")),
    "functions, None": (lambda: ritz.Functions(None), ("'callables'", "list")),
    "functions, numbers": (lambda: ritz.Functions([1.0]), ("'callables'", "list")),
    "gradients, too few": (
        lambda: ritz.Functions([first, first], [first]),
        ("'gradients'", "2", "1"),
    ),
    "rule for centers": (
        lambda: ritz.Nystrom(ritz.Gaussian(), 20, "grid"),
        ("'centers'", "'kmeans++'", "'grid'"),
    ),
    "no centers": (
        lambda: decompose(LAPLACIAN, ritz.Nystrom(ritz.Gaussian(), centers=X[:0]), X),
        ("'centers'", "(0, 2)"),
    ),
    "centers as their number": (lambda: ritz.Nystrom(ritz.Gaussian(), X[:20]), ("'n_centers'",)),
    "centers of one axis": (
        lambda: ritz.Nystrom(ritz.Gaussian(), centers=X[0]),
        ("'centers'", "(n, d)", "(2,)"),
    ),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_wrong_arguments_are_named(case):
    call, words = ARGUMENTS[case]
    with raises(*words):
        call()


COUNTS = {
    "degree": ritz.Monomials,
    "n_centers": lambda value: ritz.Nystrom(ritz.Gaussian(), value),
    "n_features": lambda value: ritz.RandomFourier(ritz.Gaussian(), value),
}


@pytest.mark.parametrize("value", ["many", np.nan, -3, 1.25])
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_positive_integers(name, value):
    with raises(f"'{name}'", "positive integer", str(value)):
        COUNTS[name](value)


# Polynomials


@pytest.mark.parametrize("degree", [1001, 10**6, 10**12])
def test_polynomials_have_a_highest_degree(degree):
    with raises("'degree'", "up to 1,000", str(degree)):
        ritz.Monomials(degree)


@pytest.mark.parametrize(("degree", "columns"), [(1000, 2), (30, 20)])
def test_more_polynomials_than_matrices_can_hold_are_refused(degree, columns):
    rows = np.random.default_rng(0).normal(size=(50, columns))
    with raises("'degree'", "at most 50,000 polynomials", f"Got {degree}", f"{columns} columns"):
        ritz.Monomials(degree).fit(rows)


PARTS = {
    "a": (np.zeros(3), "a", "(d, degree)"),
    "a, degree": (np.zeros((2, 1001)), "a", "up to 1,000"),
    "b": (np.ones((2, 3)), "b", "(2, 3)"),
    "powers, columns": (np.ones((4, 3), dtype=int), "powers", "(p, 2)"),
    "powers, kind": (np.ones((4, 2)), "powers", "integers"),
    "powers, large": (np.full((4, 2), 10**12), "powers", "between 0 and 3"),
    "powers, negative": (np.full((4, 2), -1), "powers", "between 0 and 3"),
}


@pytest.mark.parametrize("case", PARTS)
def test_parts_of_polynomials_fit_together(case):
    value, name, word = PARTS[case]
    basis = ritz.Monomials(3).fit(X)
    with raises(f"'{name}'", word):
        replace(basis, **{name: value})


# Points


def test_points_where_functions_overflow_are_named():
    points = np.array([[0.0, 0.0], [1e200, 1e200]])
    spectrum = decompose(LAPLACIAN, ritz.Monomials(3), X, k=9)
    for call in (spectrum, spectrum.gradient, lambda x: spectrum.partial(x, (1, 0))):
        with raises("'X'", "finite", "in row 1", "overflow"):
            call(points)
