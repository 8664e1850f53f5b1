"""Derivatives that users give are compared with finite differences, once for each fit."""

import numpy as np
import pytest

import ritz
from tests.bad_input import LAPLACIAN, X, decompose, raises


def wave(x):
    return np.sin(x[:, 0]) * x[:, 1]


def wave_gradient(x):
    return np.column_stack([np.cos(x[:, 0]) * x[:, 1], np.sin(x[:, 0])])


def fit(f, gradient, rows=X, **options):
    basis = ritz.Functions([wave, f], gradients=[wave_gradient, gradient], **options)
    return decompose(LAPLACIAN, basis, rows, k=2)


WRONG = {
    "sign": lambda x: -wave_gradient(x),
    "half": lambda x: wave_gradient(x) / 2,
    "order of columns": lambda x: wave_gradient(x)[:, ::-1],
    "sign of one column": lambda x: wave_gradient(x) * [1, -1],
    "zero": lambda x: 0 * x,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_gradient_is_refused_with_both_numbers(wrong):
    with raises("'gradients[1]'", "callables[1]", "where finite differences are", "rows"):
        fit(wave, WRONG[wrong])
    fit(wave, WRONG[wrong], check_derivatives=False)


def test_the_numbers_of_the_error_are_those_of_derivative_and_difference():
    basis = ritz.Functions([lambda x: 2 * x[:, 0]], gradients=[lambda x: np.full_like(x, -2.0)])
    with raises("Got -2 where finite differences are 2 ", "rows"):
        decompose(LAPLACIAN, basis, X[:, :1], k=2)


RNG = np.random.default_rng(0)
GRID = RNG.integers(-3, 4, size=(300, 2)).astype(float)
RIGHT = {
    "kinks": (lambda x: np.abs(x).sum(axis=1), np.sign, X),
    "kinks at rows": (lambda x: np.abs(x).sum(axis=1), np.sign, GRID),
    "far": (lambda x: x[:, 0] ** 2, lambda x: 2 * x * [1, 0], X + 1e6),
    "large": (lambda x: x[:, 0] ** 2, lambda x: 2 * x * [1, 0], X * [1e30, 1e-9]),
    "small": (lambda x: x[:, 0] ** 2, lambda x: 2 * x * [1, 0], X * 1e-30),
    "large constant": (lambda x: 1e9 + x[:, 0], lambda x: 0 * x + [1, 0], X),
    "nearly constant": (lambda x: 1 + 1e-12 * x[:, 0], lambda x: 0 * x, X),
    "oscillating": (
        lambda x: np.sin(300 * x[:, 0]),
        lambda x: 300 * np.cos(300 * x) * [1, 0],
        X,
    ),
    "oscillating fast": (
        lambda x: np.sin(1e4 * x[:, 0]),
        lambda x: 1e4 * np.cos(1e4 * x) * [1, 0],
        X,
    ),
    "steps below rounding": (
        lambda x: np.sin((x[:, 0] - 1.7e18) / 1e4),
        lambda x: np.cos((x - 1.7e18) / 1e4) / 1e4,
        X[:, :1] * 1e4 + 1.7e18,
    ),
    "a large quotient": (
        lambda x: np.sin(x[:, 0] / 1e4),
        lambda x: np.cos(x / 1e4) / 1e4,
        X[:, :1] * 1e4 + 1.7e18,
    ),
    "few slopes": (lambda x: np.maximum(x[:, 0] - 2, 0), lambda x: (x > 2) * [1.0, 0], X),
    "single precision": (
        lambda x: np.sin(x[:, 0].astype(np.float32)),
        lambda x: np.cos(x) * [1, 0],
        X,
    ),
    "nan beyond the data": (
        lambda x: np.where(np.abs(x[:, 0]) <= np.abs(X[:, 0]).max(), x[:, 0], np.nan),
        lambda x: 0 * x + [1, 0],
        X,
    ),
    "constant column": (lambda x: x[:, 0], lambda x: 0 * x + [1, 0], X * [1, 0] + [0, 3]),
}


@pytest.mark.parametrize("case", RIGHT)
def test_right_gradients_pass(case):
    f, gradient, rows = RIGHT[case]
    ritz.Functions([f], gradients=[gradient]).fit(rows)


@pytest.mark.parametrize("d", [3, 10, 20, 50])
def test_tangential_gradients_pass(d):
    """Between random rows of a sphere in many dimensions, chords are as long as its radius."""
    rows = np.random.default_rng(0).normal(size=(300, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def gradient(x):
        return np.eye(d)[0] - x[:, :1] * x / (x**2).sum(axis=1, keepdims=True)

    ritz.Functions([lambda x: x[:, 0]], gradients=[gradient]).fit(rows)
    with raises("'gradients[0]'", "where finite differences are"):
        ritz.Functions([lambda x: x[:, 0]], gradients=[lambda x: gradient(x) / 2]).fit(rows)


def test_wrong_gradients_are_found_where_only_long_steps_are_resolved():
    """Values 1e4 times as large as their differences leave few digits of short steps."""
    with raises("Got -1 where finite differences are 1 ", "rows"):
        basis = ritz.Functions([lambda x: 1e4 + x[:, 0]], gradients=[lambda x: 0 * x - 1])
        basis.fit(X[:, :1])


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_rows_are_not_compared(n):
    rows = X[:n]
    assert ritz.Functions([wave], gradients=[wave_gradient]).fit(rows).dimension == 2


def test_most_rows_must_disagree():
    """A wrong gradient beyond x = 1, where a fifth of the rows are, may be a kink or a jump."""
    f, gradient = lambda x: x[:, 0], lambda x: np.where(x[:, :1] > 1, -1.0, 1.0) * [1, 0]
    ritz.Functions([f], gradients=[gradient]).fit(X)


@pytest.mark.parametrize("name", ["callables[1]", "gradients[1]"])
def test_a_function_that_fails_between_rows_is_named(name):
    table = {tuple(row): row for row in X}

    def looked_up(x):
        return np.array([table[tuple(row)] for row in x])

    pair = {"callables[1]": wave, "gradients[1]": wave_gradient, name: looked_up}
    with pytest.raises(KeyError) as caught:
        fit(pair["callables[1]"], pair["gradients[1]"])
    (note,) = caught.value.__notes__
    assert name in note
    assert "between the rows" in note
    assert "check_derivatives=False" in note


def test_gradients_are_compared_once_for_each_fit():
    calls = []

    def gradient(x):
        calls.append(len(x))
        return wave_gradient(x)

    basis = ritz.Functions([wave], gradients=[gradient])
    spectrum = decompose(LAPLACIAN, basis, X, k=2)
    counts = {}
    for check in (True, False):
        calls.clear()
        basis = ritz.Functions([wave], gradients=[gradient], check_derivatives=check)
        sums = ritz.assemble(LAPLACIAN, basis, X)
        counts[check] = len(calls)
    assert counts[True] == counts[False] + 1
    calls.clear()
    ritz.assemble(LAPLACIAN, sums.left, X)
    spectrum(X)
    assert len(calls) == counts[False]


# Kernels


def decay(u):
    return np.exp(-u)


def falling(u):
    return -np.exp(-u)


KERNELS = {
    "sign": ("distance", [decay, decay], 1),
    "factor": ("distance", [decay, lambda u: -2 * np.exp(-u)], 1),
    "second derivative": ("distance", [decay, falling, falling], 2),
    "third derivative": ("distance", [decay, falling, decay, decay], 3),
    "dot": ("dot", [np.cosh, lambda u: -np.sinh(u)], 1),
}


@pytest.mark.parametrize("case", KERNELS)
def test_a_wrong_profile_is_refused(case):
    family, profiles, m = KERNELS[case]
    kernel = ritz.CustomKernel(family, profiles, 1.5)
    words = (f"'profiles[{m}]'", f"derivative of profiles[{m - 1}]", "finite differences")
    for bad in (kernel, 2.0 * kernel, kernel + kernel, kernel * kernel):
        bases = ritz.Nystrom(bad, 20), ritz.KernelSections(bad, X[:9]), ritz.Nystrom(bad, 9, X[:9])
        for basis in (*bases, ritz.Stack(ritz.Monomials(1), bases[0])):
            with raises(*words):
                decompose(LAPLACIAN, basis, X, k=2)
    for estimator in (ritz.SpectralEmbedding, ritz.HermiteRegressor):
        with raises(*words):
            estimator(kernel=kernel).fit(X, X[:, 0])
    skipped = ritz.CustomKernel(family, profiles, 1.5, check_derivatives=False)
    ritz.Nystrom(skipped, 20).fit(X)


SMOOTH = {
    "kink at zero": (
        "distance",
        [lambda u: np.exp(-np.sqrt(2 * u)), lambda u: -np.exp(-np.sqrt(2 * u)) / np.sqrt(2 * u)],
    ),
    "compact": (
        "distance",
        [lambda u: np.maximum(1 - u, 0) ** 3, lambda u: -3 * np.maximum(1 - u, 0) ** 2],
    ),
    "dot": ("dot", [lambda u: (1 + u) ** 3, lambda u: 3 * (1 + u) ** 2]),
}


@pytest.mark.parametrize("length_scale", [1e-3, 0.3, 1.0, 1e4])
@pytest.mark.parametrize("case", SMOOTH)
def test_right_profiles_pass(case, length_scale):
    with np.errstate(divide="ignore"):
        kernel = ritz.CustomKernel(*SMOOTH[case], length_scale)
        ritz.Nystrom(kernel, 30).fit(X)
        ritz.Nystrom(kernel, 30).fit(GRID)
