"""Assembled sums equal naive dense ones: every form, over every kind of basis."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import ritz
from ritz.bases import Centered, Combination, FourierFeatures

N, D = 50, 4
ARD = (0.9, 1.4, 2.0, 1.1)


def cloud(n=N, seed=0):
    return np.random.default_rng(seed).normal(size=(n, D))


X, Y = cloud(), cloud(seed=1)
WEIGHT = np.random.default_rng(2).uniform(0.2, 3.0, N)
WEIGHT[[3, 17, 40]] = 0.0


def functions():
    return ritz.Functions(
        [lambda x: np.sin(x[:, 0]) * x[:, 1], lambda x: np.exp(-(x**2).sum(axis=1) / 4)],
        gradients=[
            lambda x: np.stack(
                [np.cos(x[:, 0]) * x[:, 1], np.sin(x[:, 0]), 0 * x[:, 0], 0 * x[:, 0]], axis=1
            ),
            lambda x: -x / 2 * np.exp(-(x**2).sum(axis=1) / 4)[:, None],
        ],
    )


def sections(kernel):
    # Centers among the rows and off them.
    return ritz.KernelSections(kernel, np.concatenate([X[:4], cloud(2, seed=3)]))


def combination(basis):
    rng = np.random.default_rng(4)
    return Combination(basis, rng.normal(size=(basis.size, 4)), rng.normal(size=4))


BASES = {
    "gaussian": sections(ritz.Gaussian(1.3)),
    "gaussian ard": sections(ritz.Gaussian(ARD)),
    "exponential": sections(ritz.Exponential(1.5)),
    "exponential ard": sections(ritz.Exponential(ARD)),
    "matern 1.5 ard": sections(ritz.Matern(1.5, ARD)),
    "sum": sections(ritz.Gaussian(1.0) + 2 * ritz.Matern(2.5, 2.0)),
    "polynomial": sections(ritz.Polynomial(3, 0.5, 1.5)),
    "dot exponential ard": sections(ritz.DotExponential(tuple(2 * np.array(ARD)))),
    "random fourier": ritz.RandomFourier(ritz.Gaussian(ARD), 7).fit(X, 0),
    "monomials": ritz.Monomials(2).fit(X, 0),
    "functions": functions(),
    "stack": ritz.Stack(
        sections(ritz.Gaussian(2.0)), sections(ritz.Polynomial(2)), ritz.Monomials(1)
    ).fit(X, 0),
    "combination": combination(sections(ritz.Matern(2.5, 1.5))),
}
FIRST_ORDER_ONLY = {"exponential", "exponential ard", "functions"}


def centered(basis, seed=5):
    """Return functions minus arbitrary constants, which `assemble` takes as they are."""
    return Centered(basis, 0.3 * np.random.default_rng(seed).normal(size=basis.size))


@dataclass
class Dense:
    """Functions with the function 1 first, as dense arrays from their public methods."""

    basis: ritz.Basis

    def __call__(self, Z):
        return np.column_stack([np.ones(len(Z)), self.basis(Z)])

    def gradient(self, Z):
        G = np.zeros((len(Z), D, 1 + self.basis.size))
        G[:, :, 1:] = self.basis.gradient(Z)
        return G

    def partial(self, Z, alpha):
        one = np.full(len(Z), 0.0 if any(alpha) else 1.0)
        return np.column_stack([one, self.basis.partial(Z, alpha)])


def mean(w, F, G):
    """Return the weighted mean of f_i g_j, row by row."""
    total = np.zeros((F.shape[-1], G.shape[-1]))
    for k in range(len(w)):
        total += w[k] * np.atleast_2d(F[k]).T @ np.atleast_2d(G[k])
    return total / w.sum()


# Fields on the data


def frames(r):
    """Return a field of orthonormal frames (b, D, r)."""
    A = np.random.default_rng(6).normal(size=(D, D, r))
    B = np.random.default_rng(7).normal(size=(D, r))
    return lambda Z: np.linalg.qr(B + 0.4 * np.tanh(np.einsum("kd,der->ker", Z, A)))[0]


def directions(r):
    A = np.random.default_rng(8).normal(size=(D, D, r))
    return lambda Z: np.cos(np.einsum("kd,der->ker", Z, A))


def positive_matrices(Z):
    A = directions(D)(Z)
    return A @ A.transpose(0, 2, 1)


def bump(Z):
    return 1 + np.cos(Z[:, 0]) * Z[:, 1]


def alternating(Z):
    return np.sin(3 * Z[:, 0]) - 0.5


MATRIX = positive_matrices(np.ones((1, D)))[0]
DIAGONAL = np.array([0.5, 2.0, 0.0, 1.5])


def local_frames(Z, r=2):
    """Return principal directions of the 10 + 3r nearest rows, computed one by one."""
    result = []
    for z in Z:
        near = Z[np.argsort(((Z - z) ** 2).sum(axis=1))[: 10 + 3 * r]]
        result.append(np.linalg.svd(near - near.mean(axis=0))[2][:r].T)
    return np.array(result)


def density(Z, rows, weight):
    """Return the kernel estimate of the density over some rows; each of Z counts once."""
    r = cdist(rows, rows)
    bandwidth = np.median(np.sort(r, axis=1)[:, min(32, len(rows) - 1)])
    distances = cdist(Z, rows)
    near = np.exp(-(distances**2) / (2 * bandwidth**2)) @ (weight / weight.mean())
    other = (distances > 0).all(axis=1)
    return (other + near) / (other + len(rows))


# Naive forms of f and g at rows Z with weights w


def gradients(A=None):
    def naive(f, g, Z, w):
        F, G = f.gradient(Z), g.gradient(Z)
        if A is None:
            return mean(w, F, G)
        return mean(w, np.einsum("kde,kep->kdp", A(Z), F), G)

    return naive


def weighted_by(A):
    return gradients(lambda Z: A(Z)[:, None, None] * np.eye(D))


def along(U, factor=1.0):
    def naive(f, g, Z, w):
        F, G = (np.einsum("kdr,kdp->krp", U(Z), h.gradient(Z)) for h in (f, g))
        return factor * mean(w, F, G)

    return naive


def partials(table):
    def naive(f, g, Z, w):
        total = 0.0
        for (alpha, beta), c in table.items():
            values = c(Z) if callable(c) else np.full(len(Z), c)
            total = total + mean(w, values[:, None] * f.partial(Z, alpha), g.partial(Z, beta))
        return total

    return naive


def values_times(V):
    return lambda f, g, Z, w: mean(w, V(Z)[:, None] * f(Z), g(Z))


def graph_matrix(weights, normalized):
    def naive(f, g, Z, w):
        W = weights(Z, Z)
        if normalized:
            degree = W @ w
            W = W / np.sqrt(degree[:, None] * degree)
        F, G = f(Z), g(Z)
        total = np.zeros((F.shape[1], G.shape[1]))
        for i in range(len(Z)):
            for j in range(len(Z)):
                total += w[i] * w[j] * W[i, j] * np.outer(F[i] - F[j], G[i] - G[j])
        return total / w.sum()

    return naive


def neighbor_energy(k, kind):
    def naive(f, g, Z, w):
        r = cdist(Z, Z)
        np.fill_diagonal(r, np.inf)
        r[:, w == 0] = np.inf  # Rows of no weight are nobody's neighbors.
        near = np.argsort(r, axis=1)[:, :k]
        total = 0.0
        for j in range(k):
            other = Z[near[:, j]]
            if kind == "pairs":
                total = total + mean(w, f(Z) - f(other), g(Z) - g(other))
            else:
                total = total + along(lambda _, o=other: (o - Z)[:, :, None])(f, g, Z, w)
        return total / k

    return naive


E = np.eye(D, dtype=int)
ZERO, D1, D2 = (0,) * D, tuple(E[0]), tuple(E[1])
D11, D12 = (2, 0, 0, 0), (1, 1, 0, 0)
SYMMETRIC_1 = {(ZERO, ZERO): 0.7, (D1, D1): 2.0, (D1, D2): bump, (D2, D1): bump}
SYMMETRIC_2 = {(D11, D11): bump, (D12, D12): 0.3, (D11, D12): -0.2, (D12, D11): -0.2}
TRANSPORT = {(ZERO, D1): 1.0, (ZERO, D2): alternating}
ASYMMETRIC_2 = {(ZERO, D11): 1.0, (D1, D12): bump, (D12, D1): -0.5, (ZERO, ZERO): 2.0}


def heat(Z1, Z2):
    return np.exp(-(cdist(Z1, Z2) ** 2) / 4)


def own_form(f, g, x):
    return f.gradient @ g.gradient + bump(x) * (f.value * g.value)


def own_transport(f, g, x):
    u = directions(1)(x)
    return f.value * g.gradient.along(u) - 0.5 * (f.gradient.along(u) * g.value)


def own_mixture(f, g, x):
    # A factor on each probe, a shifted point, a difference quotient, a quotient by a number.
    c, there = alternating(x), x + 0.25
    left = (c * f.value - f.at(there).value) / 0.25
    right = (c * g.value - g.at(there).value) / 0.25
    return left * right + (c * f.gradient) @ (bump(x) * g.gradient) / 2.0 - f.value * g.value


def own_mixture_dense(f, g, Z, w):
    c = alternating(Z)[:, None]
    F, G = ((c * h(Z) - h(Z + 0.25)) / 0.25 for h in (f, g))
    both = c[:, :, None] * bump(Z)[:, None, None] / 2 * f.gradient(Z)
    return mean(w, F, G) + mean(w, both, g.gradient(Z)) - mean(w, f(Z), g(Z))


def own_sum_of_probes(f, g, x):
    u = directions(1)(x)
    return (f.value + f.gradient.along(u)) * (g.value + g.gradient.along(u))


def own_sum_of_probes_dense(f, g, Z, w):
    u = directions(1)(Z)[:, :, 0]
    F, G = (h(Z) + np.einsum("kd,kdp->kp", u, h.gradient(Z)) for h in (f, g))
    return mean(w, F, G)


# For each form: how to make it for rows Z, its naive sum, the derivatives it takes.
FORMS = {
    "laplacian": (lambda Z: ritz.laplacian(), gradients(), 1),
    "tangent, one": (lambda Z: ritz.laplacian(frames(1)(Z)), along(frames(1)), 1),
    "tangent, half": (lambda Z: ritz.laplacian(frames(2)), along(frames(2)), 1),
    "tangent, all but one": (lambda Z: ritz.laplacian(frames(3)(Z)), along(frames(3)), 1),
    "tangent, all": (lambda Z: ritz.laplacian(frames(4)), gradients(), 1),
    "tangent, pca": (lambda Z: ritz.laplacian("pca", dimension=2), None, 1),
    "diffusion, number": (
        lambda Z: ritz.diffusion(2.5),
        gradients(lambda Z: np.tile(2.5 * np.eye(D), (len(Z), 1, 1))),
        1,
    ),
    "diffusion, diagonal": (
        lambda Z: ritz.diffusion(DIAGONAL),
        gradients(lambda Z: np.tile(np.diag(DIAGONAL), (len(Z), 1, 1))),
        1,
    ),
    "diffusion, matrix": (
        lambda Z: ritz.diffusion(MATRIX),
        gradients(lambda Z: np.tile(MATRIX, (len(Z), 1, 1))),
        1,
    ),
    "diffusion, scalar field": (
        lambda Z: ritz.diffusion(lambda z: bump(z) ** 2),
        weighted_by(lambda Z: bump(Z) ** 2),
        1,
    ),
    "diffusion, diagonal field": (
        lambda Z: ritz.diffusion(lambda z: z**2),
        gradients(lambda Z: (Z**2)[:, :, None] * np.eye(D)),
        1,
    ),
    "diffusion, matrix field": (
        lambda Z: ritz.diffusion(positive_matrices),
        gradients(positive_matrices),
        1,
    ),
    "diffusion, array of matrices": (
        lambda Z: ritz.diffusion(positive_matrices(Z)),
        gradients(positive_matrices),
        1,
    ),
    "potential, number": (
        lambda Z: ritz.potential(-1.5),
        values_times(lambda Z: np.full(len(Z), -1.5)),
        0,
    ),
    "potential, field": (lambda Z: ritz.potential(alternating), values_times(alternating), 0),
    "potential, array": (lambda Z: ritz.potential(alternating(Z)), values_times(alternating), 0),
    "differential, symmetric": (lambda Z: ritz.differential(SYMMETRIC_1), partials(SYMMETRIC_1), 1),
    "differential, symmetric second order": (
        lambda Z: ritz.differential(SYMMETRIC_2),
        partials(SYMMETRIC_2),
        2,
    ),
    "differential, transport": (lambda Z: ritz.differential(TRANSPORT), partials(TRANSPORT), 1),
    "differential, transport by an array": (
        lambda Z: ritz.differential({(ZERO, D1): 1.0, (ZERO, D2): alternating(Z)}),
        partials(TRANSPORT),
        1,
    ),
    "differential, asymmetric second order": (
        lambda Z: ritz.differential(ASYMMETRIC_2),
        partials(ASYMMETRIC_2),
        2,
    ),
    "directional, one": (
        lambda Z: ritz.directional(directions(1)(Z)[:, :, 0]),
        along(directions(1)),
        1,
    ),
    "directional, several": (
        lambda Z: ritz.directional(directions(3)),
        along(directions(3), 1 / 3),
        1,
    ),
    "directional, many": (
        lambda Z: ritz.directional(directions(6)(Z)),
        along(directions(6), 1 / 6),
        1,
    ),
    "graph": (lambda Z: ritz.graph(heat), graph_matrix(heat, True), 0),
    "graph of a kernel": (
        lambda Z: ritz.graph(ritz.Gaussian(2**0.5), normalized=False),
        graph_matrix(heat, False),
        0,
    ),
    "own": (
        lambda Z: ritz.form(own_form, symmetric=True),
        lambda f, g, Z, w: gradients()(f, g, Z, w) + values_times(bump)(f, g, Z, w),
        1,
    ),
    "own transport": (
        lambda Z: ritz.form(own_transport, symmetric=False),
        lambda f, g, Z, w: (
            mean(w, f(Z), np.einsum("kdr,kdp->kp", directions(1)(Z), g.gradient(Z)))
            - 0.5 * mean(w, np.einsum("kdr,kdp->kp", directions(1)(Z), f.gradient(Z)), g(Z))
        ),
        1,
    ),
    "own mixture": (lambda Z: ritz.form(own_mixture, symmetric=True), own_mixture_dense, 1),
    "own sum of probes": (
        lambda Z: ritz.form(own_sum_of_probes, symmetric=True),
        own_sum_of_probes_dense,
        1,
    ),
    "sum": (
        lambda Z: ritz.laplacian() + 3 * ritz.potential(bump) - ritz.directional(directions(2)),
        lambda f, g, Z, w: (
            gradients()(f, g, Z, w)
            + 3 * values_times(bump)(f, g, Z, w)
            - along(directions(2), 0.5)(f, g, Z, w)
        ),
        1,
    ),
    "sum, asymmetric": (
        lambda Z: 0.5 * (ritz.differential(TRANSPORT) + ritz.laplacian()) * 4,
        lambda f, g, Z, w: 2 * (partials(TRANSPORT)(f, g, Z, w) + gradients()(f, g, Z, w)),
        1,
    ),
    "negative": (
        lambda Z: -ritz.laplacian(),
        lambda f, g, Z, w: -gradients()(f, g, Z, w),
        1,
    ),
    "graph and laplacian": (
        lambda Z: ritz.graph(heat) + ritz.laplacian(),
        lambda f, g, Z, w: graph_matrix(heat, True)(f, g, Z, w) + gradients()(f, g, Z, w),
        1,
    ),
}
FORMS["tangent, pca"] = (
    FORMS["tangent, pca"][0],
    lambda f, g, Z, w: along(lambda _: local_frames(Z))(f, g, Z, w),
    1,
)
NEIGHBORS = {
    "neighbors, pairs": (
        lambda Z: ritz.neighbors(5, weights="uniform"),
        neighbor_energy(5, "pairs"),
        0,
    ),
    "neighbors, directional": (
        lambda Z: ritz.neighbors(5, kind="directional", weights="uniform"),
        neighbor_energy(5, "directional"),
        1,
    ),
}
ALL = FORMS | NEIGHBORS


def assembled(form, basis, data, weight=None):
    """Return the averages of a pass in two folds."""
    return ritz.assemble(form, basis, data, sample_weight=weight, n_folds=2, n_jobs=1).mean()


def assert_equal(matrix, truth, relative=1e-12):
    assert matrix.shape == truth.shape
    assert np.abs(matrix - truth).max() <= relative * np.abs(truth).max()


def check(form, naive, basis, weight):
    functions = centered(basis)
    w = np.ones(N) if weight is None else weight
    matrices = assembled(form, functions, X, weight)
    f = Dense(functions)
    assert_equal(matrices.L, naive(f, f, X, w))
    assert_equal(matrices.Phi, mean(w, f(X), f(X)))
    assert matrices.Psi is matrices.Phi
    if form.symmetric:
        assert np.array_equal(matrices.L, matrices.L.T)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("name", [n for n in ALL if n != "tangent, pca"])
def test_sums_equal_dense_ones(name, basis):
    make, naive, order = ALL[name]
    if order > 1 and basis in FIRST_ORDER_ONLY:
        with pytest.raises(ValueError, match="derivatives"):
            ritz.assemble(make(X), BASES[basis], X)
        return
    check(make(X), naive, BASES[basis], None)


@pytest.mark.parametrize("basis", ["exponential", "stack"])
@pytest.mark.parametrize("name", [n for n in ALL if n != "tangent, pca"])
def test_weighted_sums_equal_dense_ones(name, basis):
    make, naive, order = ALL[name]
    if order > 1 and basis in FIRST_ORDER_ONLY:
        basis = "matern 1.5 ard"
    check(make(X), naive, BASES[basis], WEIGHT)


@pytest.mark.parametrize("basis", ["exponential", "gaussian ard", "polynomial", "monomials"])
def test_local_frames_equal_principal_components(basis):
    make, naive, _ = FORMS["tangent, pca"]
    check(make(X), naive, BASES[basis], None)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("basis", ["exponential", "gaussian", "dot exponential ard", "combination"])
@pytest.mark.parametrize("alpha", [1.0, 0.5, -1.0])
def test_density_correction_weights_both_sides(alpha, basis, weight):
    functions = centered(BASES[basis])
    w = np.ones(N) if weight is None else weight
    form = ritz.laplacian(density_correction=alpha) + 2 * ritz.potential(bump)
    matrices = assembled(form, functions, X, weight)
    f = Dense(functions)
    # Rows of weight zero are no samples.
    w = w * density(X, X[w > 0], w[w > 0]) ** -alpha
    truth = gradients()(f, f, X, w) + 2 * values_times(bump)(f, f, X, w)
    assert_equal(matrices.L, truth)
    assert_equal(matrices.Phi, mean(w, f(X), f(X)))


# Two sides


@pytest.mark.parametrize("right", ["gaussian", "polynomial", "random fourier", "stack"])
@pytest.mark.parametrize(
    "left", ["exponential ard", "monomials", "dot exponential ard", "gaussian"]
)
@pytest.mark.parametrize("name", ["differential, transport", "sum, asymmetric", "own transport"])
def test_two_bases_equal_dense_sums(name, left, right):
    make, naive, _ = FORMS[name]
    functions = centered(BASES[left]), centered(BASES[right], seed=9)
    matrices = assembled(make(X), functions, X, WEIGHT)
    f, g = map(Dense, functions)
    assert_equal(matrices.L, naive(f, g, X, WEIGHT))
    assert_equal(matrices.Phi, mean(WEIGHT, f(X), f(X)))
    assert_equal(matrices.Psi, mean(WEIGHT, g(X), g(X)))


def own_views(f, g, x, y):
    return f.value * g.value + 0.5 * (f.gradient @ g.gradient)


def own_views_dense(f, g, w):
    return mean(w, f(X), g(Y)) + 0.5 * mean(w, f.gradient(X), g.gradient(Y))


CROSSES = {
    "cross": (ritz.cross(), lambda f, g, w: mean(w, f(X), g(Y))),
    "scaled cross": (2 * ritz.cross(), lambda f, g, w: 2 * mean(w, f(X), g(Y))),
    "own": (ritz.form(own_views, symmetric=False, views=2), own_views_dense),
}


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("sides", [("gaussian", "polynomial"), ("exponential", "exponential ard")])
@pytest.mark.parametrize("name", CROSSES)
def test_two_views_equal_dense_sums(name, sides, weight):
    form, naive = CROSSES[name]
    functions = tuple(centered(BASES[side], seed) for side, seed in zip(sides, (5, 9), strict=True))
    w = np.ones(N) if weight is None else weight
    matrices = assembled(form, functions, (X, Y), weight)
    f, g = map(Dense, functions)
    assert_equal(matrices.L, naive(f, g, w))
    assert_equal(matrices.Phi, mean(w, f(X), f(X)))
    assert_equal(matrices.Psi, mean(w, g(Y), g(Y)))


@pytest.mark.parametrize("name", CROSSES)
def test_one_basis_on_two_views_keeps_two_scalar_products(name):
    form, naive = CROSSES[name]
    functions = centered(BASES["gaussian"])
    f, w = Dense(functions), np.ones(N)
    for basis in (functions, (functions, functions)):
        matrices = ritz.assemble(form, basis, (X, 2 * Y)).mean()
        assert_equal(matrices.Phi, mean(w, f(X), f(X)))
        assert_equal(matrices.Psi, mean(w, f(2 * Y), f(2 * Y)))
    matrices = ritz.assemble(form, functions, (X, Y)).mean()
    assert_equal(matrices.L, naive(f, f, w))


def test_views_may_differ_in_dimension():
    Z = Y[:, :2]
    left, right = centered(BASES["gaussian"]), ritz.KernelSections(ritz.Gaussian(1.0), Z[:5])
    matrices = ritz.assemble(ritz.cross(), (left, centered(right)), (X, Z)).mean()
    g = np.column_stack([np.ones(N), centered(right)(Z)])
    assert_equal(matrices.L, mean(np.ones(N), Dense(left)(X), g))
    assert_equal(matrices.Psi, mean(np.ones(N), g, g))


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("basis", BASES)
def test_pairs_equal_dense_sums(basis, weight):
    functions = centered(BASES[basis])
    w = np.ones(N) if weight is None else weight
    f = Dense(functions)
    for form, factor in ((ritz.pairs(), 1.0), (3 * ritz.pairs() + ritz.pairs(), 4.0)):
        matrices = assembled(form, functions, (X, Y), weight)
        assert_equal(matrices.L, factor * mean(w, f(X) - f(Y), f(X) - f(Y)))
        assert_equal(matrices.Phi, (mean(w, f(X), f(X)) + mean(w, f(Y), f(Y))) / 2)


def test_own_symmetric_form_of_two_views():
    def H(f, g, x, y):
        return f.value * g.at(y).value + f.at(y).value * g.value

    functions = centered(BASES["polynomial"])
    matrices = ritz.assemble(ritz.form(H, symmetric=True, views=2), functions, (X, Y)).mean()
    f, w = Dense(functions), np.ones(N)
    assert_equal(matrices.L, mean(w, f(X), f(Y)) + mean(w, f(Y), f(X)))


# Neighbors by other searches


@pytest.mark.parametrize("kind", ["pairs", "directional"])
def test_approximate_neighbors_equal_exact_ones_on_easy_data(kind):
    # A graph search among few points in the plane visits all that matter.
    Z = np.random.default_rng(0).uniform(size=(400, D)) * [1.0, 1.0, 0.0, 0.0]
    functions = centered(BASES["gaussian"])
    exact, fast = (
        ritz.assemble(
            ritz.neighbors(6, kind, search=search, weights="uniform"), functions, Z
        ).mean()
        for search in ("exact", "faiss")
    )
    np.testing.assert_allclose(fast.L, exact.L, rtol=0, atol=1e-14)


@pytest.mark.parametrize("search", ["exact", "faiss"])
def test_a_repeated_row_is_a_weight_and_no_neighbor(search):
    Z = cloud(40)
    times = np.arange(40) % 3 + 1
    functions = centered(BASES["gaussian"])
    form = ritz.neighbors(2, search=search, weights="uniform")
    repeated = ritz.assemble(form, functions, np.repeat(Z, times, axis=0)).mean()
    weighted = ritz.assemble(form, functions, Z, sample_weight=times).mean()
    assert_equal(repeated.L, weighted.L)
    assert np.abs(weighted.L).max() > 0


def test_own_search_is_used():
    functions = centered(BASES["gaussian"])

    def following(Z, k):
        """Return the next rows in the order of the first coordinate, after the last the first."""
        order = np.argsort(Z[:, 0])
        place = np.argsort(order)
        return order[(place[:, None] + np.arange(1, k + 1)) % len(Z)]

    matrices = ritz.assemble(
        ritz.neighbors(2, search=following, weights="uniform"), functions, X
    ).mean()
    f, w, Z = Dense(functions), np.ones(N), X[np.argsort(X[:, 0])]
    steps = [f(Z) - f(np.roll(Z, -j, axis=0)) for j in (1, 2)]
    assert_equal(matrices.L, (mean(w, steps[0], steps[0]) + mean(w, steps[1], steps[1])) / 2)


# Weights, shifts, and what the pass must not change


@pytest.mark.parametrize("name", [*FORMS, "density"])
def test_integer_weights_equal_repeated_rows(name):
    if name == "density":
        make = lambda Z: ritz.laplacian(density_correction=1.0)  # noqa: E731
    else:
        make = FORMS[name][0]
    counts = np.random.default_rng(0).integers(0, 4, N)
    rows = np.repeat(X, counts, axis=0)
    for basis in ("matern 1.5 ard", "polynomial"):
        functions = centered(BASES[basis])
        weighted = ritz.assemble(make(X), functions, X, sample_weight=counts).mean()
        repeated = ritz.assemble(make(rows), functions, rows).mean()
        assert_equal(weighted.L, repeated.L)
        assert_equal(weighted.Phi, repeated.Phi)


@pytest.mark.parametrize("form", [ritz.pairs(), ritz.cross()])
def test_integer_weights_equal_repeated_pairs(form):
    counts = np.random.default_rng(0).integers(0, 4, N)
    pairs = tuple(np.repeat(Z, counts, axis=0) for Z in (X, Y))
    sides = centered(BASES["gaussian"]), centered(BASES["polynomial"], seed=9)
    basis = sides[0] if form.symmetric else sides
    weighted = ritz.assemble(form, basis, (X, Y), sample_weight=counts).mean()
    repeated = ritz.assemble(form, basis, pairs).mean()
    for name in ("L", "Phi", "Psi"):
        assert_equal(getattr(weighted, name), getattr(repeated, name))


@pytest.mark.parametrize("name", ["laplacian", "graph", "diffusion, array of matrices"])
def test_scaling_all_weights_changes_nothing(name):
    make, _, _ = FORMS[name]
    functions = centered(BASES["gaussian ard"])
    once = ritz.assemble(make(X), functions, X, sample_weight=WEIGHT).mean()
    again = ritz.assemble(make(X), functions, X, sample_weight=1e6 * WEIGHT).mean()
    assert_equal(again.Phi, once.Phi)
    # An unnormalized graph has two weights a pair; a normalized one has none too many.
    assert_equal(again.L, once.L)


DISTANCE = {
    "gaussian": ritz.Gaussian(1.3),
    "gaussian ard": ritz.Gaussian(ARD),
    "exponential": ritz.Exponential(1.5),
    "exponential ard": ritz.Exponential(ARD),
    "matern 1.5": ritz.Matern(1.5, 1.2),
    "rational quadratic": ritz.RationalQuadratic(0.7, ARD),
}
INVARIANT = {
    "laplacian": ritz.laplacian(),
    "tangent": ritz.laplacian(frames(3)(X)),
    "tangent, pca": ritz.laplacian("pca", dimension=2),
    "density": ritz.laplacian(density_correction=1.0),
    "diffusion": ritz.diffusion(MATRIX),
    "diffusion field": ritz.diffusion(positive_matrices(X)),
    "differential": ritz.differential({(ZERO, D1): 1.0, (D1, D2): 0.5}),
    "directional": ritz.directional(directions(2)(X)),
    "neighbors": ritz.neighbors(5, weights="uniform"),
    "neighbors, directional": ritz.neighbors(5, "directional", weights="uniform"),
    "neighbors, faiss": ritz.neighbors(5, search="faiss", weights="uniform"),
    "graph": ritz.graph(ritz.Gaussian(1.0)),
}


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        *(("laplacian", kernel) for kernel in DISTANCE),
        *((name, "exponential ard") for name in INVARIANT if name != "laplacian"),
    ],
)
def test_distance_kernels_do_not_see_a_common_shift(name, kernel):
    # Coordinates on a grid of 2^-20 stay exact under the shift.
    rows, centers = (np.round(Z * 2**20) / 2**20 for Z in (X, np.concatenate([X[:4], cloud(2, 3)])))
    offset = np.random.default_rng(5).normal(size=6)

    def shifted(shift):
        basis = ritz.KernelSections(DISTANCE[kernel], centers + shift)
        return assembled(INVARIANT[name], Centered(basis, offset), rows + shift)

    here, there = shifted(0.0), shifted(1e4)
    assert_equal(there.L, here.L, 1e-9)
    assert_equal(there.Phi, here.Phi, 1e-9)


@pytest.mark.parametrize("name", ["density", "neighbors", "tangent, pca"])
def test_searches_in_many_dimensions_do_not_see_a_common_shift(name):
    # With many columns neighbors are searched by expanded distances.
    rows = np.round(np.random.default_rng(0).normal(size=(200, 20)) * 2**20) / 2**20

    def shifted(shift):
        basis = ritz.KernelSections(ritz.Gaussian(4.0), rows[:6] + shift)
        return assembled(INVARIANT[name], Centered(basis, np.zeros(6)), rows + shift)

    here, there = shifted(0.0), shifted(1e4)
    assert_equal(there.L, here.L, 1e-9)
    assert_equal(there.Phi, here.Phi, 1e-9)


def test_order_of_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(N)
    functions = centered(BASES["exponential"])
    for name in ("laplacian", "graph", "potential, field", "tangent, half", "tangent, pca"):
        make, _, _ = FORMS[name]
        here = ritz.assemble(make(X), functions, X, sample_weight=WEIGHT).mean()
        there = ritz.assemble(
            make(X[order]), functions, X[order], sample_weight=WEIGHT[order]
        ).mean()
        assert_equal(there.L, here.L)


def test_mixed_gradients_fall_back_to_dense_ones():
    # A distance kernel's gradients on the left, cosines' on the right.
    left = centered(BASES["gaussian"])
    right = Centered(FourierFeatures(cloud(3, 7), np.arange(3.0), 1.0), np.zeros(3))
    form = ritz.form(lambda f, g, x: f.gradient @ g.gradient, symmetric=False)
    matrices = ritz.assemble(form, (left, right), X, sample_weight=WEIGHT).mean()
    f, g = Dense(left), Dense(right)
    assert_equal(matrices.L, mean(WEIGHT, f.gradient(X), g.gradient(X)))


@pytest.mark.parametrize("right", ["matern 1.5 ard", "gaussian", "gaussian ard", "sum"])
@pytest.mark.parametrize("left", ["exponential ard", "exponential", "gaussian"])
def test_one_distance_kernel_against_another(left, right):
    functions = centered(BASES[left]), centered(BASES[right], 9)
    form = ritz.form(lambda f, g, x: bump(x) * (f.gradient @ g.gradient), symmetric=False)
    matrices = assembled(form, functions, X, WEIGHT)
    f, g = map(Dense, functions)
    assert_equal(matrices.L, weighted_by(bump)(f, g, X, WEIGHT))


def test_one_distance_kernel_with_other_centers():
    left, right = (
        Centered(ritz.KernelSections(ritz.Gaussian(1.5), X[some]), np.zeros(5))
        for some in (slice(5), slice(5, 10))
    )
    form = ritz.form(lambda f, g, x: f.gradient @ g.gradient, symmetric=False)
    f, g = Dense(left), Dense(right)
    assert_equal(assembled(form, (left, right), X).L, gradients()(f, g, X, np.ones(N)))


@pytest.mark.parametrize("basis", ["gaussian", "exponential ard", "polynomial", "random fourier"])
def test_gradients_here_and_there(basis):
    def H(f, g, x):
        return f.gradient @ g.at(x + 0.25).gradient + f.at(x + 0.25).gradient @ g.gradient

    functions = centered(BASES[basis])
    f, w = Dense(functions), np.ones(N)
    cross = mean(w, f.gradient(X), f.gradient(X + 0.25))
    assert_equal(assembled(ritz.form(H, symmetric=True), functions, X).L, cross + cross.T)
