"""Scores on unseen rows: smallest, or largest, for the truth."""

import numpy as np
import pytest

import ritz
from ritz.assembly import Matrices
from ritz.selection.rows import WeightedRows
from ritz.selection.score import (
    Sample,
    explained_correlation,
    held_out_correlation,
    held_out_loss,
    reference_mu,
    unseen_energy,
)


def sample(X, weight=None):
    return Sample(WeightedRows(X, np.ones(len(X)) if weight is None else weight), ritz.laplacian())


def normal(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 1))


def test_the_energy_is_smallest_for_the_true_functions():
    # N(0, 1): the first three eigenvalues are 1, 2 and 3, with Hermite polynomials.
    seen, unseen = sample(normal(2000, 0)), sample(normal(20_000, 1))
    true = unseen_energy(ritz.Monomials(3), seen, unseen, 3, 0.0)
    assert true == pytest.approx(6, rel=0.05)
    energies = [
        unseen_energy(ritz.Nystrom(ritz.Gaussian(length), 100), seen, unseen, 3, 1e-8)
        for length in (0.03, 0.1, 0.3)
    ]
    assert min(energies) > 0.99 * true
    assert energies == sorted(energies, reverse=True)
    assert energies[0] > 2 * energies[-1]


def test_weights_are_repetitions():
    X, new = normal(200, 0), normal(300, 1)
    w, v = (np.random.default_rng(n).integers(0, 3, size=n) for n in (200, 300))
    weighted = unseen_energy(ritz.Monomials(3), sample(X, w * 1.0), sample(new, v * 1.0), 2, 1e-6)
    repeated = [sample(np.repeat(rows, counts, axis=0)) for rows, counts in ((X, w), (new, v))]
    assert weighted == pytest.approx(unseen_energy(ritz.Monomials(3), *repeated, 2, 1e-6), rel=1e-9)


def test_functions_that_are_missing_or_flat_have_no_energy():
    seen, unseen = sample(normal(100, 0)), sample(normal(100, 1))
    assert unseen_energy(ritz.Monomials(1), seen, unseen, 2, 0.0) == np.inf
    # Sections so narrow that they vanish on all rows but their centers.
    assert unseen_energy(ritz.Nystrom(ritz.Gaussian(1e-6), 50), seen, unseen, 2, 0.0) == np.inf


def test_the_loss_is_smallest_for_the_first_eigenfunctions():
    values, mu = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), 3.5
    best = held_out_loss(Matrices(np.diag(values[:3]), np.eye(3), np.eye(3)), values[:3], mu)
    assert best == pytest.approx(3 - ((1 - values[:3] / mu) ** 2).sum())
    rng = np.random.default_rng(0)
    for _ in range(20):
        # The constant, and two orthonormal combinations of the other eigenfunctions.
        A = np.zeros((6, 3))
        A[0, 0] = 1.0
        A[1:, 1:] = np.linalg.qr(rng.normal(size=(5, 2)))[0]
        L = A.T @ (values[:, None] * A)
        assert held_out_loss(Matrices(L, np.eye(3), np.eye(3)), np.diag(L), mu) > best


def test_the_scale_of_the_loss_has_the_unit_of_an_eigenvalue():
    X = np.random.default_rng(0).normal(size=(500, 2))
    mu = reference_mu(ritz.laplacian(), X, np.ones(500), 3)
    # N(0, I) in the plane: 0, 1, 1.
    assert mu == pytest.approx(1.1, rel=0.2)
    # Other numbers have other centers.
    scaled = reference_mu(ritz.laplacian(), 10 * X, np.ones(500), 3)
    assert scaled == pytest.approx(mu / 100, rel=0.05)


def test_correlation_explained_is_largest_for_the_true_values():
    values = np.array([1.0, 0.8, 0.5])
    true = Matrices(np.diag(values), np.eye(3), np.eye(3))
    assert explained_correlation(true, values) == pytest.approx(0.8**2 + 0.5**2)
    for wrong in ([1.0, 0.9, 0.5], [1.0, 0.8, 0.0], [1.0, 0.5, 0.8]):
        assert explained_correlation(true, np.array(wrong)) < 0.8**2 + 0.5**2


def test_correlation_on_held_out_folds_is_that_of_the_law():
    X, Y = ritz.datasets.gaussian_pair(0.8).sample(5000, random_state=0)
    sums = ritz.assemble(ritz.cross(), ritz.Monomials(3), (X, Y))
    score, values = held_out_correlation(sums, 3, 1e-6)
    np.testing.assert_allclose(values, [0.8, 0.64], atol=0.03)
    assert score == pytest.approx(0.8**2 + 0.8**4, abs=0.04)
