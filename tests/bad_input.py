"""What tests of bad input share: samples, a check of error messages, checks of a spectrum."""

import re

import numpy as np
import pytest

import ritz

N, D = 300, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = X + 0.5 * RNG.normal(size=(N, D))
# One entry is not a number.
X_WITH_NAN = X.copy()
X_WITH_NAN[18, 1] = np.nan

LAPLACIAN = ritz.laplacian()
LINEAR, QUADRATIC = ritz.Monomials(1), ritz.Monomials(2)
SECTIONS = ritz.Nystrom(ritz.Gaussian(1.0), 20)


def decompose(form, basis, data, k=3, **options):
    return ritz.decompose(form, basis, data, k, random_state=0, **options)


def raises(*words, error=(ValueError, TypeError)):
    """Expect an error whose message has all the words, in any order."""
    pattern = "(?s)" + "".join(f"(?=.*{re.escape(word)})" for word in words)
    return pytest.raises(error, match=pattern)


def assert_consistent(spectrum):
    """All numbers are finite, the values ascend, and no error bar is negative."""
    for name in ("values", "residuals"):
        assert np.isfinite(getattr(spectrum, name)).all()
    for name in ("errors", "group_confidence"):
        errors = getattr(spectrum, name)
        assert errors is None or (errors >= 0).all()
    assert (np.diff(spectrum.ritz_values) >= 0).all()
    assert spectrum.rank >= len(spectrum.ritz_values)


def assert_solves_laplacian(spectrum, rows, tolerance=1e-7):
    """The functions are orthonormal over the rows, and their energies are the values."""
    assert_consistent(spectrum)
    assert spectrum.ritz_values[0] == 0.0
    f, g = spectrum(rows), spectrum.gradient(rows)
    n = len(rows)
    np.testing.assert_allclose(f.T @ f / n, np.eye(len(spectrum)), rtol=0, atol=tolerance)
    energies = np.einsum("ndi,ndj->ij", g, g) / n
    # The data have unit size, so energies do too.
    scale = max(spectrum.ritz_values[-1], 1.0)
    np.testing.assert_allclose(
        energies, np.diag(spectrum.ritz_values), rtol=0, atol=tolerance * scale
    )


# Functions of points (b, d) that a user may pass by mistake where one number a row is wanted.


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


WRONG_RESULTS = [column, number, short, nothing, words, imaginary]


def first(x):
    """The first coordinate: right where one number a row is wanted."""
    return x[:, 0]


def broken(x):
    raise ZeroDivisionError("in a function of the user")
