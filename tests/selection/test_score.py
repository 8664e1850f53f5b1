"""Scores on unseen rows: smallest, or largest, for the truth."""

import numpy as np
import pytest

import ritz
from ritz.assembly import Matrices
from ritz.selection.rows import WeightedRows
from ritz.selection.score import (
    explained_correlation,
    held_out_loss,
    reference_mu,
)


def normal(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 1))


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
    mu = reference_mu(ritz.laplacian(), WeightedRows(X, np.ones(500)))
    # N(0, I) in the plane: 0, 1, 1, 2, 2, 2, ..., of which the 30th is 7; few rows find it late.
    assert 1.1 * 7 < mu < 2 * 7
    # Other numbers have other centers.
    scaled = reference_mu(ritz.laplacian(), WeightedRows(10 * X, np.ones(500)))
    assert scaled == pytest.approx(mu / 100, rel=0.05)


def test_correlation_explained_is_largest_for_the_true_values():
    values = np.array([1.0, 0.8, 0.5])
    true = Matrices(np.diag(values), np.eye(3), np.eye(3))
    assert explained_correlation(true, values) == pytest.approx(0.8**2 + 0.5**2)
    for wrong in ([1.0, 0.9, 0.5], [1.0, 0.8, 0.0], [1.0, 0.5, 0.8]):
        assert explained_correlation(true, np.array(wrong)) < 0.8**2 + 0.5**2
