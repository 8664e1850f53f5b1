"""Errors about kernels, and kernels far wider or narrower than the data."""

from functools import partial

import numpy as np
import pytest

import ritz
from ritz.bases import Centered
from tests.bad_input import (
    LAPLACIAN,
    WRONG_RESULTS,
    N,
    X,
    assert_consistent,
    assert_solves_laplacian,
    broken,
    decompose,
    raises,
)

ARGUMENTS = {
    "profiles, one": (lambda: ritz.CustomKernel("distance", np.exp), ("'profiles'", "list")),
    "family": (lambda: ritz.CustomKernel("dots", [np.exp]), ("'family'", "'dot'", "'dots'")),
    "families": (lambda: ritz.Gaussian() + ritz.Polynomial(2), ("family", "ritz.Stack")),
    "length_scale": (lambda: ritz.Gaussian("wide"), ("'length_scale'", "numbers", "wide")),
    "factor": (lambda: -1.0 * ritz.Gaussian(), ("'factor'", "positive", "-1")),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_wrong_arguments_are_named(case):
    call, words = ARGUMENTS[case]
    with raises(*words):
        call()


NUMBERS = {
    "degree": ritz.Polynomial,
    "offset": lambda value: ritz.Polynomial(2, value),
    "nu": ritz.Matern,
    "alpha": ritz.RationalQuadratic,
}


@pytest.mark.parametrize("value", ["many", np.nan, -3, None])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_the_wrong_kind_are_named(name, value):
    with raises(f"'{name}'", str(value)):
        NUMBERS[name](value)


@pytest.mark.parametrize("degree", [1001, 10**6, 10**12, 1e300])
def test_powers_that_overflow_are_refused(degree):
    with raises("'degree'", "up to 1,000", str(degree)):
        ritz.Polynomial(degree)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, [], [1.0, -1.0], [[1.0]]])
@pytest.mark.parametrize("kernel", [ritz.Gaussian, ritz.Exponential, ritz.DotExponential])
def test_length_scales_are_positive(kernel, scale):
    with raises("'length_scale'", "positive", str(scale)):
        kernel(scale)


def test_there_must_be_as_many_length_scales_as_columns():
    kernel = ritz.Gaussian([1.0, 2.0, 3.0])
    for basis in (ritz.Nystrom(kernel, 20), ritz.Nystrom(kernel, centers=X[:5])):
        with raises("'length_scale'", "2 numbers", "3 numbers"):
            decompose(LAPLACIAN, basis, X)


# Profiles of the user


def with_profile(F):
    """Return the spectrum of a kernel whose profile is F."""
    kernel = ritz.CustomKernel("distance", [F, lambda u: -np.exp(-u)])
    return decompose(LAPLACIAN, ritz.Nystrom(kernel, 5), X)


@pytest.mark.parametrize("result", WRONG_RESULTS)
def test_a_profile_must_return_an_array_of_the_right_shape(result):
    with raises("'profiles[0]"):
        with_profile(result)


def test_a_profile_must_return_finite_numbers():
    with raises("profiles[0]", "finite", "nan"):
        with_profile(lambda u: u * np.nan)


def test_an_error_inside_a_profile_reaches_the_caller():
    with pytest.raises(ZeroDivisionError, match="in a function of the user"):
        with_profile(broken)


# Overflow


def test_a_kernel_that_overflows_is_named():
    with raises("DotExponential(length_scale=0.05)", "overflow", "709", "Raise length_scale"):
        decompose(LAPLACIAN, ritz.Nystrom(ritz.DotExponential(0.05), 20), X)


@pytest.mark.parametrize(
    ("kernel", "factor"),
    [(ritz.DotExponential(0.15), 1.0), (ritz.Polynomial(50), 1e3), (ritz.Polynomial(500), 1e3)],
)
def test_a_kernel_whose_squares_overflow_is_refused(kernel, factor):
    with raises("squares exceed 1e308", "Scale the data", "larger length_scale"):
        decompose(LAPLACIAN, ritz.Nystrom(kernel, 20), factor * X, k=2)


def test_a_kernel_of_very_large_values_gives_a_spectrum():
    spectrum = decompose(LAPLACIAN, ritz.Nystrom(ritz.DotExponential(0.3), 20), X, k=2)
    assert_consistent(spectrum)
    assert spectrum.ritz_values[0] == 0.0


# Kernels narrower or wider than the data

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
    assert_consistent(spectrum)
    assert spectrum.ritz_values[0] == 0.0


@pytest.mark.parametrize(
    ("kernel", "scale"),
    [
        (ritz.Gaussian, 1e2),
        (ritz.Gaussian, 1e4),
        (ritz.DotExponential, 1e2),
        (ritz.DotExponential, 1e4),
        (ritz.Exponential, 1e2),
        (ritz.Exponential, 1e4),
        (ritz.Exponential, 1e8),
    ],
)
def test_kernels_wider_than_the_data_solve_the_laplacian(kernel, scale):
    spectrum = decompose(LAPLACIAN, ritz.Nystrom(kernel(scale), 20), X)
    assert_solves_laplacian(spectrum, X, tolerance=1e-3)


@pytest.mark.parametrize(
    ("kernel", "scale"),
    [
        (ritz.Gaussian, 1e8),
        (ritz.Gaussian, 1e100),
        (ritz.DotExponential, 1e8),
        (ritz.DotExponential, 1e100),
        (ritz.Exponential, 1e100),
    ],
)
def test_kernels_so_wide_that_they_are_constants_have_rank_one(kernel, scale):
    with raises("'k'", "at most 1", "rank", "Got 3", "other functions"):
        decompose(LAPLACIAN, ritz.Nystrom(kernel(scale), 20), X)
