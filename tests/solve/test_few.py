"""The problem of few functions, at once by compiled code, against the general path."""

import sys

import numpy as np
import pytest

import ritz
from ritz.solve.few import lowest_of_few

RNG = np.random.default_rng(0)
DECOMPOSE = sys.modules["ritz.spectrum.decompose"]
CASES = {
    "Gaussian": (ritz.Nystrom(ritz.Gaussian(1.5), 30), 3),
    "exponential": (ritz.Nystrom(ritz.Exponential(1.5), 32), 3),
    "cubic polynomials, more than there are": (ritz.Nystrom(ritz.Polynomial(3), 30), 3),
    "polynomials in many dimensions": (ritz.Nystrom(ritz.Polynomial(3), 30), 20),
    "two functions": (ritz.Nystrom(ritz.Matern(1.5), 2), 2),
    "monomials": (ritz.Monomials(3), 3),
    "random features": (ritz.RandomFourier(ritz.Gaussian(), 31), 2),
    "a number and lengths": (ritz.Nystrom(ritz.Gaussian((0.3, 0.5)), 25), 2),
}


@pytest.fixture
def general(monkeypatch):
    """Return spectra by the general path."""

    def decompose(*arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(DECOMPOSE, "_few", lambda *_: None)
            return ritz.decompose(*arguments, **options)

    return decompose


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("k", [1, 2, 8])
def test_spectra_at_once_are_those_of_the_general_path(case, k, general, monkeypatch):
    basis, d = CASES[case]
    k = min(k, 3) if case == "two functions" else k
    X = RNG.normal(size=(700, d))
    expected = general(ritz.laplacian(), basis, X, k, random_state=0)
    # Or else.
    monkeypatch.setattr(DECOMPOSE, "_eigen", None)
    found = ritz.decompose(ritz.laplacian(), basis, X, k, random_state=0)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-10)
    assert found.values[0] == 0.0
    np.testing.assert_allclose(found.errors, expected.errors, atol=1e-9)
    np.testing.assert_array_equal(found.groups, expected.groups)
    assert found.rank == expected.rank
    assert found.n_rows == expected.n_rows
    assert (found.residuals < 1e-7).all()
    np.testing.assert_allclose(found(X[:20]), expected(X[:20]), atol=1e-8)
    np.testing.assert_allclose(found.gradient(X[:20]), expected.gradient(X[:20]), atol=1e-7)
    # Orthonormal over the samples, the constant first.
    values = found(X)
    np.testing.assert_allclose(values.T @ values / 700, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(values[:, 0], 1.0, atol=1e-12)


def sums_of(L, Phi):
    """Return sums of one fold with the function 1, which has no part in L and mean zero in Phi."""
    p = len(L)
    whole = np.zeros((2, 1, 1 + p, 1 + p))
    whole[0, 0, 1:, 1:], whole[1, 0, 1:, 1:], whole[1, 0, 0, 0] = L, Phi, 1.0
    return tuple(whole[0]), tuple(whole[1])


def pencil(energies, masses, condition=10.0):
    """Return L and Phi diagonal at once, in mixed coordinates."""
    p = len(energies)
    Q, R = (np.linalg.qr(RNG.standard_normal((p, p)))[0] for _ in range(2))
    V = (Q * np.geomspace(1, condition, p)) @ R
    L, Phi = (V.T * energies) @ V, (V.T * masses) @ V
    return (L + L.T) / 2, (Phi + Phi.T) / 2


@pytest.mark.parametrize("p", [1, 2, 12, 31, 32])
@pytest.mark.parametrize("units", [1.0, 1e-6, 1e8])
def test_known_eigenvalues(p, units):
    L, Phi = pencil(np.arange(1.0, p + 1), np.ones(p))
    found = lowest_of_few(1.0, *sums_of(units * L, Phi), np.zeros(p), 1 + p)
    np.testing.assert_allclose(found.values, units * np.arange(1.0 + p), rtol=1e-10)
    assert found.rank == 1 + p
    A = found.coefficients[:, 1:]
    np.testing.assert_allclose(A.T @ Phi @ A, np.eye(p), atol=1e-10)
    np.testing.assert_allclose(L @ A, Phi @ A * np.arange(1.0, p + 1), atol=1e-8)
    np.testing.assert_array_equal(found.constants, np.eye(1 + p)[0])
    assert not found.coefficients[:, 0].any()


@pytest.mark.parametrize("null", [1, 5])
@pytest.mark.parametrize("squares", [False, True])
def test_directions_without_size_are_left_out(null, squares):
    masses = np.r_[np.ones(20), np.zeros(null)]
    L, Phi = pencil(np.arange(1.0, 21 + null), masses)
    found = lowest_of_few(1.0, *sums_of(L, Phi), np.zeros(20 + null), 11, squares)
    np.testing.assert_allclose(found.values, np.arange(11.0), rtol=1e-9)
    assert found.rank == 21


def test_repeated_and_zero_eigenvalues():
    energies = np.r_[0.0, 0.0, 1.0, 1.0, 1.0, np.arange(2.0, 9.0)]
    found = lowest_of_few(1.0, *sums_of(*pencil(energies, np.ones(12))), np.zeros(12), 8)
    np.testing.assert_allclose(found.values, np.r_[0.0, energies[:7]], atol=1e-12)
    assert (found.values >= 0).all()


def test_means_are_taken_off_and_weights_divided_by():
    X = RNG.normal(size=(500, 4)) * [1.0, 2.0, 3.0, 4.0] + [5.0, -6.0, 7.0, 8.0]
    values = np.column_stack([np.ones(500), X])
    L = np.zeros((5, 5))
    L[1:, 1:] = 500 * np.eye(4)
    found = lowest_of_few(500.0, (L,), (values.T @ values,), np.zeros(4), 5)
    np.testing.assert_allclose(found.means, X.mean(axis=0), rtol=1e-13)
    exact = 1 / np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    np.testing.assert_allclose(found.values[1:], exact, rtol=1e-11)


def test_what_is_out_of_the_ordinary_is_left_to_the_general_path():
    L, Phi = pencil(np.arange(1.0, 7.0), np.ones(6))
    few = lowest_of_few
    assert few(1.0, *sums_of(L, Phi), np.zeros(6), 7) is not None
    assert few(1.0, *sums_of(L, Phi), np.zeros(6), 8) is None
    # The function 1 has a part in it.
    sums = sums_of(L, Phi)
    sums[0][0][0, 1] = sums[0][0][1, 0] = 0.1
    assert few(1.0, *sums, np.zeros(6), 3) is None
    # A function that does not vary but for rounding, one that is zero, and no energy at all.
    assert few(1.0, *sums_of(L, Phi), np.full(6, 1e16), 3) is None
    Phi[0] = Phi[:, 0] = 0.0
    assert few(1.0, *sums_of(L, Phi), np.zeros(6), 3) is None
    L, Phi = pencil(np.arange(1.0, 7.0), np.ones(6))
    assert few(1.0, *sums_of(0 * L, Phi), np.zeros(6), 3) is None
    # More values than there are directions.
    L, Phi = pencil(np.arange(1.0, 7.0), np.r_[np.ones(3), np.zeros(3)])
    assert few(1.0, *sums_of(L, Phi), np.zeros(6), 6) is None
    # Not numbers.
    L, Phi = pencil(np.arange(1.0, 7.0), np.ones(6))
    assert few(1.0, *sums_of(np.nan * L, Phi), np.zeros(6), 3) is None
    assert few(1.0, *sums_of(L, np.nan * Phi), np.zeros(6), 3) is None
    # Not positive, where that is looked at.
    L, Phi = pencil(np.r_[-9.0, np.arange(1.0, 6.0)], np.ones(6))
    assert few(1.0, *sums_of(L, Phi), np.zeros(6), 3, squares=False) is None
    L, Phi = pencil(np.arange(1.0, 7.0), np.r_[np.ones(5), -0.1])
    assert few(1.0, *sums_of(L, Phi), np.zeros(6), 3, squares=False) is None
    # Nothing to find them among.
    assert few(1.0, *sums_of(L[:0, :0], L[:0, :0]), np.zeros(0), 1) is None
    # More functions than there is room for.
    assert few(1.0, *sums_of(np.eye(33), np.eye(33)), np.zeros(33), 3) is None
