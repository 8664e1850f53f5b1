"""Sums over arrays of torch and of the array API standard are those over NumPy's."""

import numpy as np
import pytest

import ritz
from tests.devices.namespaces import NAMESPACES, gap_of_sums

RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 3))
Y = X + 0.3 * RNG.normal(size=X.shape)
WEIGHT, V = RNG.random(len(X)), RNG.normal(size=len(X))
A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
FRAMES = np.linalg.qr(RNG.normal(size=(len(X), 3, 3)))[0]

BASES = {
    "gaussian": ritz.Nystrom(ritz.Gaussian(1.5), 20),
    "narrow": ritz.Nystrom(ritz.Gaussian(0.1), 20),
    "anisotropic": ritz.Nystrom(ritz.Gaussian((1.0, 2.0, 1.5)), 20),
    "matern": ritz.Nystrom(ritz.Matern(2.5, 1.2), 20),
    "exponential": ritz.Nystrom(ritz.Exponential(1.3), 20),
    "rational quadratic": ritz.Nystrom(ritz.RationalQuadratic(np.float64(1.0), 1.3), 20),
    "polynomial": ritz.Nystrom(ritz.Polynomial(3), 15),
    "dot exponential": ritz.Nystrom(ritz.DotExponential(2.0), 20),
    "sum": ritz.Nystrom(ritz.Gaussian(1.0) + ritz.Matern(1.5), 20),
    "product": ritz.Nystrom(2.0 * ritz.Gaussian(1.0) * ritz.Matern(3.5), 20),
    "custom": ritz.Nystrom(
        ritz.CustomKernel(
            "distance", [lambda u: (1 + u) ** -0.5, lambda u: -0.5 * (1 + u) ** -1.5]
        ),
        20,
    ),
    "fourier": ritz.RandomFourier(ritz.Gaussian(1.0), 20),
    "monomials": ritz.Monomials(3),
    "stack": ritz.Stack(ritz.Monomials(2), ritz.Nystrom(ritz.Gaussian(1.0), 10)),
}
FORMS = {
    "laplacian": ritz.laplacian(),
    "few tangents": ritz.laplacian(tangent=FRAMES[:, :, :1]),
    "many tangents": ritz.laplacian(tangent=FRAMES[:, :, :2]),
    "diffusion": ritz.diffusion(A),
    "scalar field": ritz.diffusion(lambda x: 1 + x[:, 0] ** 2),
    "matrix field": ritz.diffusion(np.broadcast_to(A, (len(X), 3, 3)).copy()),
    "potential": ritz.laplacian() + ritz.potential(V),
    "differential": ritz.differential(
        {((1, 0, 0), (0, 1, 0)): 2.0, ((0, 1, 0), (0, 0, 1)): lambda x: x[:, 0]}
    ),
    "directional": 3 * ritz.directional(X),
    "neighbors": ritz.neighbors(5),
    "towards neighbors": ritz.neighbors(5, kind="directional", mutual=True),
    "custom": ritz.form(
        lambda f, g, x: (f.gradient @ g.gradient) + (f.value * g.value) * (x[:, 0] ** 2),
        symmetric=True,
    ),
}


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("basis", BASES)
def test_sums_over_one_view(basis, form, namespace):
    def sums(rows):
        return ritz.assemble(
            FORMS[form], BASES[basis], rows, sample_weight=WEIGHT, n_folds=3, random_state=0
        )

    assert gap_of_sums(sums(NAMESPACES[namespace](X)), sums(X)) < 1e-10


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("form", [ritz.cross(), ritz.pairs()], ids=str)
@pytest.mark.parametrize("basis", ["gaussian", "fourier", "monomials"])
def test_sums_over_two_views(basis, form, namespace):
    def sums(*views):
        groups = np.arange(len(X)) // 7
        return ritz.assemble(form, BASES[basis], views, groups=groups, random_state=0)

    assert gap_of_sums(sums(*map(NAMESPACES[namespace], (X, Y))), sums(X, Y)) < 1e-10


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("kernel", [ritz.Gaussian(5.0), ritz.Exponential(5.0)], ids=str)
def test_many_columns_whose_squared_distances_cancel(kernel, offset, namespace):
    rows = RNG.normal(size=(400, 40)) + offset
    found, expected = (
        ritz.assemble(ritz.laplacian(), ritz.Nystrom(kernel, 30), given, random_state=0)
        for given in (NAMESPACES[namespace](rows), rows)
    )
    assert gap_of_sums(found, expected) < 1e-10


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_weights_and_groups_may_be_arrays_of_the_device(namespace):
    there = NAMESPACES[namespace]
    groups = np.arange(len(X)) // 10
    basis = BASES["gaussian"]
    found = ritz.assemble(
        ritz.laplacian(),
        basis,
        there(X),
        sample_weight=there(WEIGHT),
        groups=there(groups),
        random_state=0,
    )
    expected = ritz.assemble(
        ritz.laplacian(), basis, X, sample_weight=WEIGHT, groups=groups, random_state=0
    )
    assert gap_of_sums(found, expected) < 1e-10


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_rows_of_other_types_are_summed_in_float64(dtype, namespace):
    rows = (10 * X).astype(dtype)
    basis = ritz.Nystrom(ritz.Gaussian(15.0), 20)
    found, expected = (
        ritz.assemble(ritz.laplacian(), basis, given, random_state=0)
        for given in (NAMESPACES[namespace](rows), rows)
    )
    assert gap_of_sums(found, expected) < 1e-10


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_sums_of_parts_in_different_places_add_up(namespace):
    first = ritz.assemble(ritz.neighbors(5), BASES["gaussian"], X[:400], random_state=0)
    rest = NAMESPACES[namespace](X[400:])
    found = first + ritz.assemble(ritz.neighbors(5), first.left, rest, first_row=first.n_rows)
    expected = first + ritz.assemble(ritz.neighbors(5), first.left, X[400:], first_row=first.n_rows)
    assert gap_of_sums(found, expected) < 1e-10
