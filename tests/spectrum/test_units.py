"""Spectra of data in any unit and with any offset, and errors where floats cannot hold them."""

import numpy as np
import pytest

import ritz
from tests.bad_input import LAPLACIAN, QUADRATIC, N, X, assert_consistent, decompose, raises

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
    # Groups determine the folds here, as the hash of a row changes with its unit.
    a, b = (
        decompose(LAPLACIAN, in_units(name, u), u * X, k=4, groups=np.arange(N) // 5)
        for u in (1.0, c)
    )
    assert_consistent(b)
    np.testing.assert_allclose(b.ritz_values * c * c, a.ritz_values, rtol=1e-7, atol=1e-12)
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
    assert_consistent(b)
    np.testing.assert_allclose(
        b.ritz_values * (c * c) ** power, a.ritz_values, rtol=1e-6, atol=1e-10
    )


@pytest.mark.parametrize("c", [1e-200, 1e200])
@pytest.mark.parametrize("name", ["gaussian", "exponential", "ard"])
def test_length_scales_whose_squares_overflow_or_underflow_are_refused(name, c):
    with raises("'length_scale'", "between 1e-152 and 1e152", str(c)):
        decompose(LAPLACIAN, in_units(name, c), c * X)


def test_samples_whose_squares_overflow_or_underflow_are_refused():
    for size in (1e200, 1e-200):
        for basis in (QUADRATIC, in_units("gaussian", 1.0)):
            with raises("'X'", "between 1e-152 and 1e+152", "squares", "Scale the data"):
                decompose(LAPLACIAN, basis, size * X)


def test_a_row_whose_square_overflows_is_refused():
    rows = np.concatenate([X, [[1e200, 0.0]]])
    for basis in (in_units("gaussian", 1.0), in_units("exponential", 1.0), QUADRATIC):
        with raises("overflow", "Scale the data"):
            decompose(LAPLACIAN, basis, rows)


@pytest.mark.parametrize("units", [(1e-6, 1e6), (1e3, 1.0), (1e-100, 1e100)])
@pytest.mark.parametrize("kernel", [ritz.Gaussian, ritz.Exponential])
def test_columns_may_have_very_different_units(kernel, units):
    # A diffusion and length scales in the units of the columns cancel the units.
    units = np.array(units)
    a = decompose(LAPLACIAN, ritz.Nystrom(kernel(1.0), centers=X[:10]), X, k=5)
    basis = ritz.Nystrom(kernel(units), centers=X[:10] * units)
    b = decompose(ritz.diffusion(units**2), basis, X * units, k=5)
    np.testing.assert_allclose(b.ritz_values, a.ritz_values, rtol=1e-8, atol=1e-12)
    c = decompose(ritz.diffusion(units**2), QUADRATIC, X * units, k=5)
    d = decompose(LAPLACIAN, QUADRATIC, X, k=5)
    np.testing.assert_allclose(c.ritz_values, d.ritz_values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_an_offset_of_the_data_changes_nothing(offset):
    # Multiples of 2^-20, so that adding the offset rounds nothing.
    rows = np.round(X * 2**20) / 2**20
    for kernel in (ritz.Gaussian(), ritz.Exponential(), ritz.Matern(1.5), ritz.RationalQuadratic()):
        a, b = (
            decompose(LAPLACIAN, ritz.Nystrom(kernel, centers=rows[:20] + o), rows + o, k=5)
            for o in (0.0, offset)
        )
        np.testing.assert_allclose(b.ritz_values, a.ritz_values, rtol=1e-9, atol=1e-12)
    a, b = (decompose(LAPLACIAN, QUADRATIC, rows + o, k=5) for o in (0.0, offset))
    np.testing.assert_allclose(b.ritz_values, a.ritz_values, rtol=1e-6, atol=1e-12)
