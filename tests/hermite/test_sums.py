"""Hermite regression against loops over rows, exact kriging, and fits without each fold."""

import numpy as np
import pytest

import ritz
from ritz.hermite.choosing import Validation
from ritz.hermite.functionals import Functionals, covariance
from ritz.hermite.moments import fold_moments, solve_moments
from ritz.hermite.observations import Observations, observed_rows
from ritz.hermite.sections import OrthonormalSections, choose_sections
from ritz.hermite.units import Units
from ritz.rows import hash_rows

RNG = np.random.default_rng(0)
N, D = 40, 3
X = RNG.normal(size=(N, D))
Y = np.sin(X[:, :2]) + X[:, 2:]
T = np.stack([np.zeros((N, 2)), np.zeros((N, 2)), np.ones((N, 2))], axis=1)
T[:, 0, 0], T[:, 1, 1] = np.cos(X[:, 0]), np.cos(X[:, 1])
IDENTITY = Units(np.zeros(D), np.ones(D), np.zeros(2), np.ones(2))
CENTERS = RNG.normal(size=(9, D))
KERNELS = {
    "gaussian": ritz.Gaussian(1.7),
    "exponential": ritz.Exponential(0.6),
    "matern": ritz.Matern(1.5, (0.7, 1.4, 2.0)),
    "polynomial": ritz.Polynomial(3, length_scale=1.7),
    "dot exponential": ritz.DotExponential(2.3),
}


def naive(kernel, w, v):
    """Algorithms 3 and 4 of the paper, as loops: b = sum_i y_i k(x_i) + <t_i, grad k(x_i)>."""
    p = len(CENTERS)
    phi, slopes = np.ones((N, 1 + p)), np.zeros((N, D, 1 + p))
    for j, center in enumerate(CENTERS):
        section = ritz.KernelSections(kernel, center[None])
        phi[:, 1 + j] = section(X)[:, 0]
        for i in range(N):
            for c in range(D):
                alpha = tuple(int(c == e) for e in range(D))
                slopes[i, c, 1 + j] = section.partial(X[i : i + 1], alpha)[0, 0]
    V, G, vv, gg = (np.zeros(s) for s in ((1 + p, 1 + p),) * 2 + ((1 + p, 2),) * 2)
    for i in range(N):
        V += w[i] * np.outer(phi[i], phi[i])
        vv += w[i] * np.outer(phi[i], Y[i])
        for c in range(D):
            G += v[i, c] * np.outer(slopes[i, c], slopes[i, c])
            gg += v[i, c] * np.outer(slopes[i, c], np.nan_to_num(T[i, c]))
    return V, G, vv, gg


def observe(X, Y, T, weight):
    rows = observed_rows(Y, weight), observed_rows(T, weight)
    return Observations(X, Y, T, None, weight, weight, *rows, IDENTITY)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("missing", ["nothing", "rows", "coordinates"])
def test_sums_are_those_of_loops(kernel, missing):
    t, known = T.copy(), np.ones((N, D))
    weight = np.ones(N)
    if missing != "nothing":
        weight = RNG.uniform(0.5, 2, size=N)
    if missing == "rows":
        known[::3] = 0
    if missing == "coordinates":
        known[RNG.random((N, D)) < 0.3] = 0
    t[known == 0] = np.nan
    # The identity in place of the triangle: sums over the sections themselves.
    sections = OrthonormalSections.of(kernel, Functionals.at(CENTERS), np.eye(len(CENTERS)))
    offset = RNG.normal(size=len(CENTERS))
    folds = fold_moments(sections, offset, observe(X, Y, t, weight), 3)
    total = sum(folds[1:], folds[0])
    V, G, v, g = naive(kernel, weight, weight[:, None] * known)
    # The functions less their offsets.
    shift = np.eye(1 + len(offset))
    shift[0, 1:] = -offset
    V, v = shift.T @ V @ shift, shift.T @ v
    for found, expected in zip((*total.gram, *total.cross), (V, G, v, g), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(total.weight, [weight.sum(), (weight[:, None] * known).sum()])


def kriging(kernel, F, z, noise, constant, points):
    """Return the exact representer solution, simple or ordinary kriging, by one dense solve."""
    K = covariance(kernel, F, F) + np.diag(noise)
    trend = F.values[:, None]
    inverse = np.linalg.inv(K)
    c = np.zeros((1, z.shape[1]))
    if constant:
        c = np.linalg.solve(trend.T @ inverse @ trend, trend.T @ inverse @ z)
    alpha = inverse @ (z - trend @ c)
    values = covariance(kernel, Functionals.at(points), F) @ alpha + c
    slopes = [
        covariance(
            kernel, Functionals.partials(points, np.arange(len(points)), np.full(len(points), i)), F
        )
        @ alpha
        for i in range(points.shape[1])
    ]
    return values, np.stack(slopes, axis=1)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("name", ["gaussian", "matern52", "rational_quadratic"])
def test_all_sections_give_the_exact_representer_solution(constant, name):
    """n(d + 1) unknowns: simple kriging without a constant, ordinary kriging with one."""
    kernel = {
        "gaussian": ritz.Gaussian(1.3),
        "matern52": ritz.Matern(2.5, 1.3),
        "rational_quadratic": ritz.RationalQuadratic(1.0, 1.3),
    }[name]
    rho, gamma = 0.5, 1e-4
    model = ritz.HermiteRegressor(
        kernel, gradient_weight=rho, regularization=gamma, constant=constant, n_centers=N * (1 + D)
    ).fit(X, Y, T)
    assert model.n_centers_ == N * (1 + D)
    row, column = np.divmod(np.arange(N * D), D)
    F = Functionals.at(X) + Functionals.partials(X, row, column)
    z = np.concatenate([Y, T.reshape(N * D, 2)])
    points = RNG.normal(size=(20, D))
    noise = np.where(F.values == 1, gamma, gamma / rho)
    values, slopes = kriging(kernel, F, z, noise, constant, points)
    np.testing.assert_allclose(model.predict(points), values, atol=1e-8)
    np.testing.assert_allclose(model.predict_gradient(points), slopes, atol=1e-7)


def test_error_falls_to_that_of_the_exact_solution():
    points = RNG.normal(size=(200, D))
    truth = np.sin(points[:, :2]) + points[:, 2:]

    def error(p):
        model = ritz.HermiteRegressor(
            ritz.Gaussian(1.5), gradient_weight=1.0, regularization=1e-8, n_centers=p
        ).fit(X, Y, T)
        return np.sqrt(np.mean((model.predict(points) - truth) ** 2))

    errors = [error(p) for p in (5, 20, 80, 160)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 4 * errors[-1]
    assert errors[2] < 2.5 * errors[-1]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_passes_and_qr_agree(constant, missing):
    """The same functions, weight and penalty: by QR, and by passes over the rows."""
    rows = RNG.normal(size=(600, 2))
    y = np.sin(rows[:, 0]) * rows[:, 1]
    t = np.column_stack([np.cos(rows[:, 0]) * rows[:, 1], np.sin(rows[:, 0])])
    if missing:
        t[RNG.random(t.shape) < 0.3] = np.nan
        y[::7] = np.nan
    centers = RNG.normal(size=(30, 2))
    fits = [
        ritz.HermiteRegressor(
            length_scale=1.5,
            gradient_weight=0.3,
            regularization=1e-6,
            centers=centers,
            constant=constant,
            solver=solver,
        ).fit(rows, y, t)
        for solver in ("qr", "sums")
    ]
    points = RNG.normal(size=(50, 2))
    a, b = (fit.predict(points, return_std=True) for fit in fits)
    np.testing.assert_allclose(a[0], b[0], atol=1e-5)
    # The deviations of passes come from a sample, here of all rows.
    np.testing.assert_allclose(a[1], b[1], rtol=1e-3)
    assert all(fit.residual_ < 1e-6 for fit in fits)


def test_folds_left_out_are_fits_without_their_rows():
    weight = np.ones(N)
    functions, _ = choose_sections(ritz.Gaussian(1.5), Functionals.at(CENTERS), len(CENTERS))
    offset = np.zeros(functions.size)
    folds = fold_moments(functions, offset, observe(X, Y, T, weight), 3)
    pairs = [(0.5, 1e-3), (2.0, 1e-2)]
    path = Validation(folds, True).compare(pairs)
    fold = hash_rows(X) % np.uint64(3)
    for (rho, gamma), error in zip(pairs, path.errors, strict=True):
        missed = 0.0
        for k in range(3):
            rest = np.flatnonzero(fold != k)
            part = observe(X[rest], Y[rest], T[rest], weight[rest])
            (own,) = fold_moments(functions, offset, part, 1)
            x, _ = solve_moments(own, rho, gamma, True)
            psi = functions.from_sections(functions.basis(X[fold == k]))
            missed += ((psi @ x[1:] + x[0] - Y[fold == k]) ** 2).sum()
        assert error == pytest.approx(missed / (2 * N), rel=1e-8)
