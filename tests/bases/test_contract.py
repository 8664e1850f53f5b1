"""What every basis promises: shapes, derivatives that are derivatives, and one jet in all forms."""

import numpy as np
import pytest

import ritz
from ritz.bases import Centered, Combination, FourierFeatures
from ritz.bases import basis as basis_module

D = 3
ARD = (0.8, 1.3, 2.1)


def data(n=40, seed=0):
    return np.random.default_rng(seed).normal(size=(n, D))


def sections(kernel):
    return ritz.KernelSections(kernel, data(6, seed=1))


def functions():
    return ritz.Functions(
        [
            lambda x: np.sin(x[:, 0]) * x[:, 1],
            lambda x: np.exp(-(x**2).sum(axis=1) / 4),
        ],
        gradients=[
            lambda x: np.stack(
                [np.cos(x[:, 0]) * x[:, 1], np.sin(x[:, 0]), np.zeros(len(x))], axis=1
            ),
            lambda x: -x / 2 * np.exp(-(x**2).sum(axis=1) / 4)[:, None],
        ],
    )


def multiquadric(length_scale=1.0):
    return ritz.CustomKernel(
        "distance",
        [
            lambda u: (1 + u) ** -0.5,
            lambda u: -1 / 2 * (1 + u) ** -1.5,
            lambda u: 3 / 4 * (1 + u) ** -2.5,
            lambda u: -15 / 8 * (1 + u) ** -3.5,
        ],
        length_scale,
    )


def combination(basis, size=4):
    rng = np.random.default_rng(2)
    return Combination(basis, rng.normal(size=(basis.size, size)), rng.normal(size=size))


def spectrum(form=None, basis=None):
    return ritz.decompose(
        ritz.laplacian() if form is None else form,
        ritz.Nystrom(ritz.Gaussian(2.0), 12) if basis is None else basis,
        data(300, seed=3),
        k=5,
        random_state=0,
    )


# Each basis with the highest order of derivative it has, at most the third.
BASES = {
    "gaussian": (lambda: sections(ritz.Gaussian(1.2)), 3),
    "gaussian ard": (lambda: sections(ritz.Gaussian(ARD)), 3),
    "exponential": (lambda: sections(ritz.Exponential(0.9)), 1),
    "exponential ard": (lambda: sections(ritz.Exponential(ARD)), 1),
    "matern 1.5": (lambda: sections(ritz.Matern(1.5, 1.1)), 3),
    "matern 1.5 ard": (lambda: sections(ritz.Matern(1.5, ARD)), 3),
    "matern 2.5 ard": (lambda: sections(ritz.Matern(2.5, ARD)), 3),
    "rational quadratic": (lambda: sections(ritz.RationalQuadratic(0.7, 1.1)), 3),
    "rational quadratic ard": (lambda: sections(ritz.RationalQuadratic(0.7, ARD)), 3),
    "polynomial": (lambda: sections(ritz.Polynomial(3, 0.5)), 3),
    "polynomial ard": (lambda: sections(ritz.Polynomial(3, 0.5, ARD)), 3),
    "dot exponential": (lambda: sections(ritz.DotExponential(1.5)), 3),
    "dot exponential ard": (lambda: sections(ritz.DotExponential(ARD)), 3),
    "custom": (lambda: sections(multiquadric(ARD)), 3),
    "sum": (lambda: sections(ritz.Gaussian(1.0) + 2 * ritz.Matern(2.5, 1.7)), 3),
    "product ard": (
        lambda: sections(
            ritz.Gaussian(ARD) * ritz.RationalQuadratic(1.0, tuple(2 * np.array(ARD)))
        ),
        3,
    ),
    "one center": (lambda: ritz.KernelSections(ritz.Gaussian(1.2), data(1, seed=1)), 3),
    "random fourier": (lambda: ritz.RandomFourier(ritz.Matern(1.5), 7).fit(data(), 0), 3),
    "random fourier ard": (lambda: ritz.RandomFourier(ritz.Gaussian(ARD), 7).fit(data(), 0), 3),
    "fourier": (lambda: FourierFeatures(data(5, seed=4), np.arange(5.0), 1.3), 3),
    "monomials": (lambda: ritz.Monomials(4).fit(data(), 0), 3),
    "functions": (functions, 1),
    "stack": (
        lambda: ritz.Stack(
            ritz.Nystrom(ritz.Gaussian(1.0), 4),
            ritz.Monomials(2),
            ritz.RandomFourier(ritz.Matern(2.5, 2.0), 3),
        ).fit(data(), 0),
        3,
    ),
    "stack with functions": (lambda: ritz.Stack(functions(), ritz.Monomials(2)).fit(data(), 0), 1),
    "combination": (lambda: combination(sections(ritz.Gaussian(1.2))), 3),
    "combination of a combination": (
        lambda: combination(combination(sections(ritz.Matern(1.5, ARD))), 2),
        3,
    ),
    "combination of a stack": (
        lambda: combination(ritz.Stack(sections(ritz.Polynomial(2)), functions()).fit(data(), 0)),
        1,
    ),
    "centered": (lambda: Centered(sections(ritz.Gaussian(1.2)), np.arange(6.0)), 3),
    "centered dot": (lambda: Centered.around(sections(ritz.Polynomial(3)), data()), 3),
    "spectrum": (spectrum, 3),
    "sliced spectrum": (lambda: spectrum()[1:4], 3),
    "spectrum of a spectrum": (lambda: spectrum(basis=spectrum()), 3),
    "singular functions": (
        lambda: spectrum(ritz.differential({((0, 0, 0), (1, 0, 0)): 1.0}), ritz.Monomials(2)).right,
        3,
    ),
}


@pytest.fixture(scope="module", params=BASES)
def case(request):
    make, order = BASES[request.param]
    return make(), order


@pytest.fixture(scope="module")
def basis(case):
    return case[0]


@pytest.fixture(scope="module")
def X():
    return data(9, seed=5)


def unit(i):
    return tuple(int(i == j) for j in range(D))


def plus(alpha, beta):
    return tuple(a + b for a, b in zip(alpha, beta, strict=True))


def close(a, b, relative=1e-13):
    return a.shape == b.shape and np.abs(a - b).max() <= relative * max(np.abs(b).max(), 1e-300)


def assert_derivative(f, derivative, X, i):
    """Check d_i f by central differences: their error is O(h^2), so h / 2 leaves a quarter."""
    step = np.array(unit(i))
    errors = [
        np.abs((f(X + h * step) - f(X - h * step)) / (2 * h) - derivative).max()
        for h in (2e-3, 1e-3)
    ]
    size = max(np.abs(f(X)).max(), np.abs(derivative).max())
    assert errors[0] <= 1e-3 * size
    # What rounding leaves: eps / h of the values.
    assert errors[1] <= errors[0] / 3.9 + 1e-12 * size


def test_shapes(basis, X):
    assert isinstance(basis, ritz.Basis)
    assert basis.size == len(basis) > 0
    assert basis.dimension in (D, None)
    assert basis(X).shape == (9, basis.size)
    assert basis.gradient(X).shape == (9, D, basis.size)
    assert basis.partial(X, unit(0)).shape == (9, basis.size)
    assert basis.gram_root().shape[0] == basis.size


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows_keep_the_shapes(basis, X, rows):
    assert basis(X[:rows]).shape == (rows, basis.size)
    assert basis.gradient(X[:rows]).shape == (rows, D, basis.size)
    assert basis.partial(X[:rows], unit(1)).shape == (rows, basis.size)


def test_rows_do_not_see_each_other(basis, X, monkeypatch):
    values, gradient = basis(X), basis.gradient(X)
    monkeypatch.setattr(basis_module, "EVALUATED_FLOATS", 1)
    assert close(basis(X), values)
    assert close(basis.gradient(X), gradient)


def test_input_is_left_alone(basis, X):
    before = X.copy()
    basis(X)
    basis.gradient(X)
    assert (before == X).all()


def test_lists_and_other_types_are_taken(basis):
    rows = np.array([[1, 0, 2], [0, -1, 1]])
    assert close(basis(rows), basis(rows.astype(float)))
    assert close(basis(rows.tolist()), basis(rows.astype(float)))
    assert close(basis(np.asfortranarray(rows.astype(np.float32))), basis(rows.astype(float)))


def test_gradient_is_the_slope(basis, X):
    gradient = basis.gradient(X)
    for i in range(D):
        assert_derivative(basis, gradient[:, i], X, i)


def test_partial_of_order_zero_is_the_value(basis, X):
    assert close(basis.partial(X, (0,) * D), basis(X))


def test_first_partials_are_the_gradient(basis, X):
    partials = np.stack([basis.partial(X, unit(i)) for i in range(D)], axis=1)
    assert close(partials, basis.gradient(X))


@pytest.mark.parametrize("lower", [(1, 0, 0), (0, 1, 0), (0, 1, 1), (2, 0, 0)])
def test_higher_partials_are_slopes_of_lower_ones(case, X, lower):
    basis, order = case
    for i in range(D):
        alpha = plus(lower, unit(i))
        if sum(alpha) <= order:
            assert_derivative(lambda Z: basis.partial(Z, lower), basis.partial(X, alpha), X, i)
        else:
            with pytest.raises(ValueError, match="derivatives"):
                basis.partial(X, alpha)


def test_jet_at_other_points_is_the_jet_there(case, X):
    basis, order = case
    Z = data(4, seed=6)
    here, there = basis.jet(X), basis.jet(Z)
    for _ in range(2):
        elsewhere = here.at(Z)
        assert np.array_equal(elsewhere.value.dense(), there.value.dense())
        assert np.array_equal(elsewhere.gradient.dense(), there.gradient.dense())
        for alpha in [(0, 0, 0), (1, 0, 0)] + [(0, 1, 1)] * (order > 1):
            a, b = elsewhere.partial(alpha), there.partial(alpha)
            assert np.array_equal(a.dense(), b.dense())
    other = data(2, seed=7)
    assert np.array_equal(here.at(other).value.dense(), basis(other))
    # The jet itself has not moved.
    assert close(here.value.dense(), basis(X))
    assert np.array_equal(here.at(Z).at(X).gradient.dense(), here.gradient.dense())


def test_jet_does_not_depend_on_what_was_asked_first(case, X):
    basis, _ = case
    first, second = basis.jet(X), basis.jet(X)
    gradient, value = first.gradient.dense(), first.value.dense()
    assert np.array_equal(second.value.dense(), value)
    assert np.array_equal(second.gradient.dense(), gradient)
    assert np.array_equal(second.partial(unit(2)).dense(), first.partial(unit(2)).dense())


def test_probes_know_the_function_one(case, X):
    basis, order = case
    jet = basis.jet(X)
    assert jet.value.constant == 1.0
    assert jet.partial((0, 0, 0)).constant == 1.0
    assert jet.partial((1, 0, 0)).constant == 0.0
    if order > 1:
        assert jet.partial((1, 1, 0)).constant == 0.0
    assert jet.gradient.along(np.ones((9, D, 1))).constant == 0.0


@pytest.mark.parametrize("directions", [1, 2, 5])
def test_gradient_along_directions(basis, X, directions):
    U = np.random.default_rng(8).normal(size=(9, D, directions))
    truth = np.einsum("kdr,kdp->krp", U, basis.gradient(X))
    assert close(basis.jet(X).gradient.along(U).dense(), truth)


@pytest.mark.parametrize("columns", [1, 3, 4])
def test_gradient_mapped(basis, X, columns):
    R = np.random.default_rng(9).normal(size=(D, columns))
    truth = np.einsum("de,kdp->kep", R, basis.gradient(X))
    mapped = basis.jet(X).gradient.map(R)
    assert close(mapped.dense(), truth)
    # A mapped gradient is a gradient again.
    U = np.random.default_rng(10).normal(size=(9, columns, 2))
    assert close(mapped.along(U).dense(), np.einsum("ker,kep->krp", U, truth))
    S = np.random.default_rng(11).normal(size=(columns, 2))
    assert close(mapped.map(S).dense(), np.einsum("ef,kep->kfp", S, truth))


def test_gradient_combined(basis, X):
    A = np.random.default_rng(12).normal(size=(basis.size, 4))
    truth = np.einsum("kdp,pl->kdl", basis.gradient(X), A)
    assert close(basis.jet(X).gradient.combine(A), truth)


def test_gradient_against_vectors(basis, X):
    t = np.random.default_rng(14).normal(size=(9, D, 2))
    factor = np.arange(1.0, 10.0)
    truth = np.einsum("k,kdp,kdo->po", factor, basis.gradient(X), t)
    assert close((factor * basis.jet(X).gradient).against(t), truth, 1e-12)


def test_gram_matrices_are_weighted_sums_over_rows(basis, X):
    weight = np.random.default_rng(15).normal(size=9)
    jet = basis.jet(X)
    for w in (weight, weight**2):
        inner = np.einsum("k,kdi,kdj->ij", w, basis.gradient(X), basis.gradient(X))
        truth = np.pad(inner, ((1, 0), (1, 0)))
        assert close(jet.gradient.gram(jet.gradient, w), truth, 1e-12)
        values = np.column_stack([np.ones(9), basis(X)])
        assert close(jet.value.gram(jet.value, w), values.T @ (w[:, None] * values), 1e-12)


@pytest.mark.parametrize("factor", [2.0, np.arange(1.0, 10.0)])
def test_probes_scale(basis, X, factor):
    jet = basis.jet(X)
    rows = np.broadcast_to(factor, (9,))
    assert close((factor * jet.value).dense(), rows[:, None] * basis(X))
    gradient = factor * jet.gradient
    assert close(gradient.dense(), rows[:, None, None] * basis.gradient(X))
    U = np.random.default_rng(13).normal(size=(9, D, 2))
    truth = rows[:, None, None] * np.einsum("kdr,kdp->krp", U, basis.gradient(X))
    assert close(gradient.along(U).dense(), truth)
    A = np.ones((basis.size, 1))
    assert close(gradient.combine(A), rows[:, None, None] * (basis.gradient(X) @ A))


def test_probes_add(basis, X):
    jet, other = basis.jet(X), basis.jet(X + 0.1)
    difference = 2.0 * jet.value - other.value
    assert close(difference.dense(), 2 * basis(X) - basis(X + 0.1))
    assert np.all(np.asarray(difference.constant * difference.factor) == 1.0)


def test_gram_is_a_squared_norm(basis):
    C = basis.gram_root()
    G = C @ C.T
    assert close(G, G.T)
    assert np.linalg.eigvalsh((G + G.T) / 2).min() >= -1e-12 * np.abs(G).max()


def test_a_basis_is_a_recipe_for_itself(basis, X):
    assert basis.pilot_rows == 0
    assert np.array_equal(basis.fit(X, 0)(X), basis(X))


def test_wrong_columns_are_named(basis):
    if basis.dimension is None:
        assert basis(data()).shape == (40, basis.size)
        return
    for method in (basis, basis.gradient, lambda Z: basis.partial(Z, (1, 0))):
        with pytest.raises(ValueError, match=r"'X' parameter must be .*3 columns"):
            method(np.zeros((2, 2)))


@pytest.mark.parametrize("alpha", [(1, 0), (0, -1, 0), (0.5, 0, 0), 1, "abc"])
def test_bad_multi_indices_are_named(basis, X, alpha):
    with pytest.raises(ValueError, match="'alpha' parameter must be 3 nonnegative integers"):
        basis.partial(X, alpha)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_numbers_are_named(basis, X, value):
    bad = X.copy()
    bad[2, 1] = value
    with pytest.raises(ValueError, match=r"'X' parameter must be finite.*row 2, column 1"):
        basis(bad)
