"""Hermite regression against loops over rows, exact kriging, and fits without each fold."""

import numpy as np
import pytest

import ritz
from ritz.arrays import Block
from ritz.assembly.passes import fold_of, in_pieces, over_folds
from ritz.bases import Centered
from ritz.bases.functionals import Functionals, covariance
from ritz.regression.fold_sums import HermiteSums, sums_of_folds
from ritz.regression.moments import solve
from ritz.regression.observations import Observations, Units
from ritz.regression.validation import Validation
from ritz.regression.whitened import Whitened
from ritz.streams import as_stream

RNG = np.random.default_rng(0)
N, D = 40, 3
X = RNG.normal(size=(N, D))
Y = np.sin(X[:, :2]) + X[:, 2:]
T = np.stack([np.zeros((N, 2)), np.zeros((N, 2)), np.ones((N, 2))], axis=1)
T[:, 0, 0], T[:, 1, 1] = np.cos(X[:, 0]), np.cos(X[:, 1])
PLAIN = Units(np.zeros(D), np.ones(D), np.zeros(2), np.ones(2))
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


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("missing", ["nothing", "rows", "coordinates"])
def test_sums_are_those_of_loops(kernel, missing):
    t, told = T.copy(), np.ones((N, D))
    weight = np.ones(N)
    if missing != "nothing":
        weight = RNG.uniform(0.5, 2, size=N)
    if missing == "rows":
        told[::3] = 0
    if missing == "coordinates":
        told[RNG.random((N, D)) < 0.3] = 0
    t[told == 0] = np.nan
    observations = Observations(Y, t, None, weight, weight, PLAIN)
    functions = Whitened.at(kernel, Functionals.at(CENTERS))
    offset = RNG.normal(size=functions.basis.size)
    sums = HermiteSums(Centered(functions.basis, offset), observations, 3)
    over_folds(as_stream(X, 1, weight, None), in_pieces(sums.add, 7), 3)
    identity = Whitened(
        kernel, functions.functionals, functions.basis, np.eye(functions.basis.size)
    )
    folds = sums.close(identity)
    total = sum(folds[1:], folds[0])
    order = [0] + [
        1 + int(np.flatnonzero((y == CENTERS).all(axis=1))[0]) for y in functions.functionals.points
    ]
    V, G, v, g = (M[order] for M in naive(kernel, weight, weight[:, None] * told))
    V, G = V[:, order], G[:, order]
    # The functions less their offsets.
    shift = np.eye(1 + len(offset))
    shift[0, 1:] = -offset
    V, v = shift.T @ V @ shift, shift.T @ v
    for found, expected in ((total.V, V), (total.G, G), (total.v, v), (total.g, g)):
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(total.weight, [weight.sum(), (weight[:, None] * told).sum()])


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
    # In units of the outputs' spread, which does not change kriging but for the constant.
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
    # That of passes comes from a pilot sample, here all rows.
    np.testing.assert_allclose(a[1], b[1], rtol=1e-3)
    assert all(fit.residual_ < 1e-6 for fit in fits)


def test_folds_left_out_are_fits_without_their_rows():
    weight = np.ones(N)
    observations = Observations(Y, T, None, weight, weight, PLAIN)
    functions = Whitened.at(ritz.Gaussian(1.5), Functionals.at(CENTERS))
    offset = np.zeros(functions.basis.size)
    stream = as_stream(X, 1, None, None)
    folds = sums_of_folds(functions, offset, stream, observations, 3)
    pairs = [(0.5, 1e-3), (2.0, 1e-2)]
    choice = Validation(folds, True).compare(pairs)
    fold = fold_of(Block((X,), weight, np.arange(N)), 3)
    for (rho, gamma), error in zip(pairs, choice.errors, strict=True):
        missed = 0.0
        for k in range(3):
            rest = np.flatnonzero(fold != k)
            part = Observations(Y[rest], T[rest], None, weight[rest], weight[rest], PLAIN)
            own = sums_of_folds(functions, offset, as_stream(X[rest], 1, None, None), part, 1)
            x, _ = solve(own[0], rho, gamma, True)
            psi = functions.features(functions.basis(X[fold == k]))
            missed += ((psi @ x[1:] + x[0] - Y[fold == k]) ** 2).sum()
        assert error == pytest.approx(missed / (2 * N), rel=1e-8)
