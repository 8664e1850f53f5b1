"""QR decomposition in blocks of rows, and least squares by it."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from ritz.solve.triangular import triangular_factor


def least_squares(blocks, diagonal, outputs):
    """Return R, and the x of least |A x - b|^2 + |diag(diagonal) x|^2."""
    m = len(diagonal)
    R = triangular_factor((np.hstack(block) for block in blocks), m + outputs, diagonal)
    return R[:m, :m], solve_triangular(R[:m, :m], R[:m, m:])


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("rows", [7, 40, 200])
def test_blocks_of_any_size_give_the_least_squares_solution(rows, outputs):
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(120, 30)), rng.normal(size=(120, outputs))
    diagonal = rng.uniform(0, 2, 30)
    blocks = [(A[i : i + rows], b[i : i + rows]) for i in range(0, 120, rows)]
    R, x = least_squares(blocks, diagonal, outputs)
    np.testing.assert_allclose(R, np.triu(R), rtol=0, atol=0)
    np.testing.assert_allclose(R.T @ R, A.T @ A + np.diag(diagonal**2), rtol=0, atol=1e-11)
    stacked = np.vstack([A, np.diag(diagonal)]), np.vstack([b, np.zeros((30, outputs))])
    np.testing.assert_allclose(x, np.linalg.lstsq(*stacked, rcond=None)[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("first", [0.0, 1e-2, 1e15])
@pytest.mark.parametrize("n", [1, 100, 300])
def test_more_columns_than_a_panel_and_fewer_rows_than_columns(n, first):
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(n, 150)), rng.normal(size=(n, 2))
    diagonal = np.full(150, 0.1)
    diagonal[0] = first
    _, x = least_squares([(A, b)], diagonal, 2)
    stacked = np.vstack([A, np.diag(diagonal)]), np.vstack([b, np.zeros((150, 2))])
    slope = stacked[0].T @ (stacked[0] @ x - stacked[1])
    np.testing.assert_allclose(slope / np.maximum(diagonal, 1)[:, None], 0, atol=1e-10)
    assert (np.abs(x[0]) < 1e-20).all() == (first == 1e15)


def test_condition_number_is_not_squared():
    """Columns that differ by 1e-8, and a penalty of 1e-9: A'A would resolve neither."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 2)) @ np.array([[1.0, 1.0], [0.0, 1e-8]])
    diagonal = np.array([0.0, 1e-9])
    R, x = least_squares([(A[:20], A[:20, 1:]), (A[20:], A[20:, 1:])], diagonal, 1)
    apart = np.linalg.norm(A[:, 1] - A[:, 0] * R[0, 1] / R[0, 0])
    assert abs(R[1, 1]) == pytest.approx(np.hypot(apart, 1e-9))
    penalty = 1e-18 / R[1, 1] ** 2
    np.testing.assert_allclose(x[:, 0], [penalty, 1 - penalty], rtol=0, atol=1e-6)
