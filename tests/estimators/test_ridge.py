"""Ridge regression with a free constant against the normal equations, row by row left out."""

import numpy as np
import pytest

from ritz.estimators.ridge import ridge_path

RNG = np.random.default_rng(0)
PENALTIES = np.logspace(-4, 1, 6)


def naive(A, T, w, tau):
    design = np.column_stack([np.ones(len(A)), A])
    penalty = tau * w.sum() * np.diag([0.0] + [1.0] * A.shape[1])
    solution = np.linalg.solve(
        design.T @ (design * w[:, None]) + penalty, design.T @ (T * w[:, None])
    )
    return solution[1:], solution[0]


@pytest.mark.parametrize("n", [5, 40])
def test_solutions_and_leave_one_out_errors(n):
    A, T = RNG.normal(size=(n, 8)) + 3, RNG.normal(size=(n, 2))
    w = RNG.uniform(0.5, 2, size=n)

    def rows():
        for part in np.array_split(np.arange(n), 3):
            yield A[part], T[part], w[part]

    path = ridge_path(rows, PENALTIES)
    for tau, error in zip(PENALTIES, path.errors, strict=True):
        beta, constant = naive(A, T, w, tau)
        found = path.solution(tau)
        np.testing.assert_allclose(found[0], beta, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found[1], constant, rtol=1e-8)
        missed = []
        for i in range(n):
            rest = np.arange(n) != i
            # The penalty is tau times the sum of all weights, whichever row is left out.
            scale = w.sum() / w[rest].sum()
            beta, constant = naive(A[rest], T[rest], w[rest], tau * scale)
            missed.append(T[i] - A[i] @ beta - constant)
        expected = (w[:, None] * np.square(missed)).sum() / w.sum() / 2
        assert error == pytest.approx(expected, rel=1e-8)
    chosen = list(PENALTIES).index(path.best)
    assert path.errors[chosen] <= 1.001 * path.errors.min()
    assert (path.errors[chosen + 1 :] > 1.001 * path.errors.min()).all()


def test_features_of_very_different_size_keep_their_digits():
    """Small penalties see directions that products of features, squared, would have lost."""
    A = (
        RNG.normal(size=(50, 6))
        @ np.diag([1e4, 1e3, 1.0, 1e-2, 1e-4, 1e-5])
        @ RNG.normal(size=(6, 6))
    )
    T = RNG.normal(size=(50, 1)) + 1e6
    path = ridge_path(lambda: [(A, T, np.ones(50))], np.array([1e-9, 1e-6]))
    for tau in (1e-9, 1e-6):
        beta, constant = path.solution(tau)
        C = A - A.mean(axis=0)
        stacked = np.vstack([C / np.sqrt(50), np.sqrt(tau) * np.eye(6)])
        target = np.vstack([(T - T.mean()) / np.sqrt(50), np.zeros((6, 1))])
        exact = np.linalg.lstsq(stacked, target, rcond=None)[0]
        np.testing.assert_allclose(A @ beta + constant, C @ exact + T.mean(), atol=1e-5)


def test_a_single_row_gives_its_target_and_no_error():
    path = ridge_path(lambda: [(np.ones((1, 3)), np.array([[2.0]]), np.ones(1))], PENALTIES)
    assert np.isinf(path.errors).all()
    assert path.best == PENALTIES[-1]
    beta, constant = path.solution(path.best)
    assert not beta.any()
    assert constant == 2.0


def test_without_a_penalty_and_with_few_rows_the_solution_is_the_shortest():
    """About their mean, n rows span n - 1 directions, and rounding a tiny one more."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A, T = rng.normal(size=(12, 60)), rng.normal(size=(12, 1))
        path = ridge_path(lambda A=A, T=T: [(A, T, np.ones(12))], np.array([0.0]))
        beta, constant = path.solution(0.0)
        exact = np.linalg.lstsq(A - A.mean(axis=0), T - T.mean(), rcond=1e-12)[0]
        np.testing.assert_allclose(beta, exact, atol=1e-12)
        np.testing.assert_allclose(A @ beta + constant, T, atol=1e-12)
