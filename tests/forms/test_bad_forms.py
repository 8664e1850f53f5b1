"""Errors about operators: fields of the wrong shape, forms that are no forms, wrong numbers."""

import numpy as np
import pytest

import ritz
from tests.bad_input import (
    LAPLACIAN,
    LINEAR,
    QUADRATIC,
    SECTIONS,
    WRONG_RESULTS,
    D,
    N,
    X,
    assert_consistent,
    broken,
    column,
    decompose,
    first,
    number,
    raises,
)

FRAMES = np.repeat(np.eye(D)[None], N, axis=0)

# Functions of the user. Each entry passes a function of points to one argument.

PLACES = {
    "V": lambda F: decompose(LAPLACIAN + ritz.potential(F), QUADRATIC, X),
    "tangent": lambda F: decompose(ritz.laplacian(F), QUADRATIC, X),
    "A": lambda F: decompose(ritz.diffusion(F), QUADRATIC, X),
    "U": lambda F: decompose(ritz.directional(F), QUADRATIC, X),
    "coefficient": lambda F: decompose(
        ritz.differential({((1, 0), (1, 0)): F, ((0, 1), (0, 1)): 1.0}), QUADRATIC, X
    ),
    "search": lambda F: decompose(ritz.neighbors(3, search=lambda x, k: F(x)), QUADRATIC, X),
    "weights": lambda F: decompose(ritz.graph(lambda x, y: F(x)), QUADRATIC, X),
    "H": lambda F: decompose(ritz.form(lambda f, g, x: F(x), symmetric=True), QUADRATIC, X),
    "factor": lambda F: decompose(
        ritz.form(lambda f, g, x: F(x) * (f.value * g.value), symmetric=True), QUADRATIC, X
    ),
}


@pytest.mark.parametrize("result", WRONG_RESULTS)
@pytest.mark.parametrize("place", PLACES)
def test_a_function_must_return_an_array_of_the_right_shape(place, result):
    if place == "factor" and result is number:
        assert_consistent(PLACES[place](result))
        return
    with raises("factor" if place == "factor" else f"'{place}"):
        PLACES[place](result)


NOT_FINITE = {
    "V": lambda x: x[:, 0] * np.nan,
    "tangent": lambda x: x[:, :, None] * np.nan,
    "A": lambda x: x[:, 0] * np.nan,
    "U": lambda x: x * np.nan,
    "coefficient": lambda x: x[:, 0] * np.nan,
    "weights": lambda x: np.full((len(x), len(x)), np.nan),
    "factor": lambda x: x[:, 0] * np.nan,
}


@pytest.mark.parametrize("place", NOT_FINITE)
def test_a_function_must_return_finite_numbers(place):
    with raises(place, "finite", "nan"):
        PLACES[place](NOT_FINITE[place])


@pytest.mark.parametrize("place", PLACES)
def test_an_error_inside_a_function_reaches_the_caller(place):
    with pytest.raises(ZeroDivisionError, match="in a function of the user"):
        PLACES[place](broken)


FIELDS = {
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
        ("'tangent'", "r >= 1", "0)"),
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
        ("'weights'", "symmetric", "transpose"),
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


@pytest.mark.parametrize("case", FIELDS)
def test_fields_must_have_the_right_shape_and_kind(case):
    call, words = FIELDS[case]
    with raises(*words):
        call()


# Forms of the user

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
@pytest.mark.parametrize("case", MISUSED)
def test_a_form_must_multiply_a_probe_of_f_by_one_of_g(case, basis):
    H, word = MISUSED[case]
    with raises(word):
        decompose(ritz.form(H, symmetric=False), basis, X, k=2)


# Arguments of operators

ARGUMENTS = {
    "factor": (lambda: np.nan * LAPLACIAN, ("'factor'", "finite", "nan")),
    "form and number": (lambda: LAPLACIAN + 1.0, ("Laplacian", "float")),
    "views of a sum": (lambda: LAPLACIAN + ritz.pairs(), ("laplacian()", "pairs()", "views")),
    "H": (lambda: ritz.form(3.0, symmetric=True), ("'H'", "function", "3.0")),
    "order as an array": (
        lambda: ritz.form(first, symmetric=False, order=np.array(["smallest", "largest"])),
        ("'order'", "'largest'"),
    ),
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
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_wrong_arguments_are_named(case):
    call, words = ARGUMENTS[case]
    with raises(*words):
        call()


NUMBERS = {
    "n_neighbors": ritz.neighbors,
    "n_neighbors of tangents": lambda value: decompose(
        ritz.laplacian("pca", dimension=1, n_neighbors=value), LINEAR, X
    ),
    "dimension": lambda value: ritz.laplacian("pca", dimension=value),
}


@pytest.mark.parametrize("value", ["many", np.nan, -3, 0, 1.25])
@pytest.mark.parametrize("name", NUMBERS)
def test_counts_are_positive_integers(name, value):
    with raises(f"'{name.split()[0]}'", str(value)):
        NUMBERS[name](value)


@pytest.mark.parametrize("value", ["many", np.nan, np.inf])
def test_the_density_correction_is_a_finite_number(value):
    with raises("'density_correction'", str(value)):
        ritz.laplacian(density_correction=value)


@pytest.mark.parametrize("alpha", [-50.0, -3.0, 5.0])
def test_a_density_correction_of_either_sign_gives_a_spectrum(alpha):
    assert_consistent(decompose(ritz.laplacian(density_correction=alpha), QUADRATIC, X))


def test_a_density_correction_too_strong_for_finite_weights_is_named():
    with raises("'density_correction'", "finite", "1000"):
        decompose(ritz.laplacian(density_correction=1000.0), QUADRATIC, X)


# Missing derivatives and samples without distinct rows


def test_operators_with_derivatives_need_gradients():
    with raises("gradients=[...]", "ritz.Functions"):
        decompose(LAPLACIAN, ritz.Functions([first]), X, k=2)
    second = ritz.differential({((2, 0), (2, 0)): 1.0})
    with raises("first derivatives only", "(2, 0)"):
        decompose(
            second, ritz.Functions([first], [lambda x: 0 * x], check_derivatives=False), X, k=2
        )
    with raises("order 1", "order 2"):
        decompose(second, ritz.Nystrom(ritz.Exponential(), 20), X, k=2)


def test_operators_that_look_at_neighbors_need_distinct_rows():
    rows = np.ones((50, D))
    basis = ritz.RandomFourier(ritz.Gaussian(), 10)
    for form in (
        ritz.laplacian("pca", dimension=1),
        ritz.laplacian(density_correction=1.0),
        ritz.neighbors(3),
    ):
        with raises("n_neighbors" if "neighbors(" in str(form) else "", "distinct rows"):
            decompose(form, basis, rows, k=2)
    with raises("'k'", "at most 1", "rank", "Got 2"):
        decompose(ritz.graph(ritz.Gaussian()), basis, rows, k=2)


@pytest.mark.parametrize("basis", [LINEAR, ritz.Nystrom(ritz.Gaussian(1.0))])
@pytest.mark.parametrize("form", [ritz.laplacian, lambda f, g, x: f.value * g.value, "laplacian"])
def test_what_is_no_form_is_named_before_anything_else(form, basis):
    with raises("'form'", "ritz.laplacian()", "ritz.form(H, symmetric=True)", error=TypeError):
        ritz.decompose(form, basis, X, 2)


NO_PRODUCTS = {
    "functions called": lambda f, g, x: f(x) * g(x),
    "functions multiplied": lambda f, g, x: f * g,
    "values by @": lambda f, g, x: f.value @ g.value,
    "gradients by *": lambda f, g, x: f.gradient * g.gradient,
    "one entry of gradients": lambda f, g, x: f.gradient[0] * g.gradient[0],
    "a square": lambda f, g, x: (f.value - g.value) ** 2,
    "an array function": lambda f, g, x: np.exp(f.value) * g.value,
    "a number added": lambda f, g, x: f.value * g.value + 1.0,
    "an unknown probe": lambda f, g, x: f.grad @ g.grad,
    "too few arguments": lambda f, g: f.value * g.value,
}


@pytest.mark.parametrize("name", NO_PRODUCTS)
def test_a_function_that_does_not_multiply_probes_is_told_which_there_are(name):
    with pytest.raises((TypeError, AttributeError)) as error:
        decompose(ritz.form(NO_PRODUCTS[name], symmetric=True), SECTIONS, X)
    (note,) = error.value.__notes__
    for words in ("H(f, g, x)", "f.value * g.value", "f.gradient @ g.gradient", "f.partial(alpha)"):
        assert words in note
