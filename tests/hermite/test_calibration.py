"""Intervals of 95% hold about 95% of the values, with and without noise."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

import ritz
from benchmarks.hermite_coverage import PROBLEMS
from ritz.hermite.calibration import Numbers, leverages, points_left_out, spread_of
from ritz.hermite.functionals import Functionals

# Length scales of maximum likelihood, so that fits are quick.
EXACT = {
    "Ishigami, gradients": ("Ishigami", 200, [2.76, 2.48, 3.79], 1.0),
    "Ishigami, sums": ("Ishigami", 2000, [2.7, 2.3, 2.9], 1.0),
    "cantilever, values": ("cantilever", 400, [0.0164, 0.192, 1.17], None),
    "Branin, error of rounding": ("Branin", 200, [3.88, 14.4], 100.0),
}


@pytest.mark.parametrize(("name", "n", "lengths", "rho"), EXACT.values(), ids=EXACT)
def test_intervals_of_exact_data(name, n, lengths, rho):
    problem = PROBLEMS[name]
    X, Z = problem.draw(n, 0), problem.draw(1000, 1000)
    t = None if rho is None else problem.gradient(X)
    model = ritz.HermiteRegressor(
        length_scale=lengths,
        regularization=1e-16,
        gradient_weight=rho or 1.0,
        solver="sums" if n > 1000 else "qr",
        n_centers=300 if n > 1000 else "auto",
        random_state=0,
    ).fit(X, np.real(problem.value(X.T)), t)
    value, deviation = model.predict(Z, return_std=True)
    inside = np.abs(value - np.real(problem.value(Z.T))) < 1.96 * deviation
    assert 0.88 <= inside.mean() <= 0.99


@pytest.mark.parametrize("regularization", [0.0, 1e-16])
def test_intervals_of_few_exact_rows_without_a_penalty(regularization):
    inside = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, Z, w = rng.uniform(-1, 1, (40, 6)), rng.uniform(-1, 1, (500, 6)), rng.normal(size=6)
        t = np.outer(np.sin(X @ w) / (1.5 + np.cos(X @ w)) ** 2, w)
        model = ritz.HermiteRegressor(
            length_scale=1.0, regularization=regularization, gradient_weight=1.0
        ).fit(X, 1 / (1.5 + np.cos(X @ w)), t)
        value, deviation = model.predict(Z, return_std=True)
        inside.append(np.abs(value - 1 / (1.5 + np.cos(Z @ w))) < 1.96 * deviation)
    assert 0.88 < np.mean(inside) < 0.99


@pytest.mark.parametrize("route", ["qr", "sums", "parts"])
def test_intervals_of_noisy_data(route):
    inside = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, size=(150, 2))
        y = np.sin(X[:, 0]) * X[:, 1] + 0.2 * rng.normal(size=150)
        t = np.column_stack([np.cos(X[:, 0]) * X[:, 1], np.sin(X[:, 0])])
        t += 0.4 * rng.normal(size=t.shape)
        options = {"length_scale": 2.0, "gradient_weight": 0.25, "regularization": 0.04}
        model = ritz.HermiteRegressor(**options, solver="qr" if route == "qr" else "sums")
        (model.partial_fit if route == "parts" else model.fit)(X, y, t)
        Z = rng.uniform(-2, 2, size=(200, 2))
        value, deviation = model.predict(Z, return_std=True)
        inside.append(np.abs(value - np.sin(Z[:, 0]) * Z[:, 1]) < 1.96 * deviation)
    assert 0.88 < np.mean(inside) < 0.99


def test_leverages_give_the_errors_of_fits_without_a_row():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(30, 5)), rng.normal(size=30)
    R = np.linalg.qr(A, mode="r")
    x = solve_triangular(R, solve_triangular(R, A.T @ b, trans=1))
    left, others = np.arange(3), np.arange(3, 30)
    without = np.linalg.lstsq(A[others], b[others])[0]
    error = np.linalg.solve(np.eye(3) - leverages(R, A[left]), b[left] - A[left] @ x)
    np.testing.assert_allclose(error, b[left] - A[left] @ without)


def test_all_numbers_of_a_point_are_left_out_together():
    X = np.random.default_rng(0).normal(size=(7, 2))
    F = Functionals.at(X[:5]) + Functionals.along(X, np.ones((7, 2)))
    points, n_points = points_left_out(F)
    assert n_points == 7
    assert sorted(map(len, points[:5])) == [2] * 5
    assert sorted(map(len, points[5:])) == [1] * 2
    assert all((F.points[k] == F.points[k[0]]).all() for k in points)


def test_equal_numbers_are_merged():
    X = np.arange(3.0)[:, None]
    one = Numbers(Functionals.at(X), np.array([[1.0], [2.0], [3.0]]), np.ones(3))
    both = one + Numbers(Functionals.at(X[:1]), np.array([[4.0]]), np.array([2.0]))
    order = np.argsort(both.functionals.points[:, 0])
    np.testing.assert_allclose(both.targets[order, 0], [3.0, 2.0, 3.0])
    np.testing.assert_allclose(both.weight[order], [3.0, 1.0, 1.0])


def test_the_spread_does_not_depend_on_a_few_outliers():
    scores = np.random.default_rng(0).normal(size=(1000, 1))
    scores[:10] = 1e3
    assert spread_of(scores) == pytest.approx(1, abs=0.15)
    assert spread_of(np.empty((0, 2))).tolist() == [1.0, 1.0]
