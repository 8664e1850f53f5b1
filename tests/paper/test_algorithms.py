"""The paper's Algorithms 1, 2 and 3, written as it states them, against the structured code.

Sums in the paper run over k in [n] without a factor; `Sums.L` does the same in each fold. Its
functions do not include the constant, so they are compared with the matrices without row and
column 0, over functions whose means are not subtracted.
"""

import numpy as np
import pytest
from scipy.linalg import eigh

import ritz
from ritz.bases import Centered

N, P = 120, 12


def data(d=3, seed=0, n=N):
    return np.random.default_rng(seed).normal(size=(n, d))


def uncentered(basis):
    return Centered(basis, np.zeros(basis.size))


def structured(form, basis, X):
    """Return L, Phi and Psi summed over rows, for the functions alone."""
    basis = tuple(map(uncentered, basis)) if isinstance(basis, tuple) else uncentered(basis)
    sums = ritz.assemble(form, basis, X)
    return tuple(sum(matrix)[1:, 1:] for matrix in (sums.L, sums.Phi, sums.Psi))


def assert_equal(matrix, truth):
    assert np.abs(matrix - truth).max() <= 1e-12 * np.abs(truth).max()


# Algorithm 1: the Galerkin method


def algorithm_1(X, H, phi, psi):
    """Return the sums of H(phi_i, psi_j, x_k), phi_i phi_j and psi_i psi_j, one by one."""
    L = np.zeros((len(phi), len(psi)))
    Phi, Psi = np.zeros((len(phi), len(phi))), np.zeros((len(psi), len(psi)))
    for x in X:
        for i in range(len(phi)):
            for j in range(len(psi)):
                L[i, j] += H(phi[i], psi[j], x)
            for j in range(len(phi)):
                Phi[i, j] += phi[i](x) * phi[j](x)
        for i in range(len(psi)):
            for j in range(len(psi)):
                Psi[i, j] += psi[i](x) * psi[j](x)
    return L, Phi, Psi


def naive_gsvd(L, Phi, Psi):
    """Return singular values and A, B with A L B' = Lambda and A Phi A' = B Psi B' = I."""
    left, right = np.linalg.cholesky(Phi), np.linalg.cholesky(Psi)
    U, values, V = np.linalg.svd(np.linalg.solve(left, np.linalg.solve(right, L.T).T))
    return values, np.linalg.solve(left.T, U).T, np.linalg.solve(right.T, V.T).T


class Cosine:
    """The function cos(w.x + b)."""

    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return np.cos(self.w @ x + self.b)

    def gradient(self, x):
        return -np.sin(self.w @ x + self.b) * self.w


class One:
    """The function 1."""

    def __call__(self, x):
        return 1.0

    def gradient(self, x):
        return np.zeros_like(x)


def cosines(p, seed):
    rng = np.random.default_rng(seed)
    return [
        Cosine(w, b) for w, b in zip(rng.normal(size=(p, 3)), rng.uniform(0, 6, p), strict=True)
    ]


def as_basis(functions):
    """Return the same functions as a user would give them."""
    return ritz.Functions(
        [lambda X, f=f: np.array([f(x) for x in X]) for f in functions],
        gradients=[
            lambda X, f=f: np.array([f.gradient(x) for x in X]).reshape(X.shape) for f in functions
        ],
    )


def V(x):
    return x[..., 0] ** 2 + np.sin(x[..., 1])


OPERATORS = {
    "laplacian": (lambda f, g, x: f.gradient(x) @ g.gradient(x), ritz.laplacian()),
    "laplacian and potential": (
        lambda f, g, x: f.gradient(x) @ g.gradient(x) + V(x) * f(x) * g(x),
        ritz.laplacian() + ritz.potential(V),
    ),
    "f d_i g": (
        lambda f, g, x: f(x) * g.gradient(x)[1],
        ritz.differential({((0, 0, 0), (0, 1, 0)): 1.0}),
    ),
    "own": (
        lambda f, g, x: V(x) * f.gradient(x) @ g.gradient(x) - 0.5 * f(x) * g(x),
        ritz.form(
            lambda f, g, x: V(x) * (f.gradient @ g.gradient) - 0.5 * (f.value * g.value),
            symmetric=True,
        ),
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_algorithm_1(name):
    H, form = OPERATORS[name]
    X, phi = data(n=60), cosines(5, 1)
    for ours, truth in zip(
        structured(form, as_basis(phi), X), algorithm_1(X, H, phi, phi), strict=True
    ):
        assert_equal(ours, truth)


def test_algorithm_1_with_two_families():
    H, form = OPERATORS["f d_i g"]
    X, phi, psi = data(n=60), cosines(5, 1), cosines(4, 2)
    both = as_basis(phi), as_basis(psi)
    for ours, truth in zip(structured(form, both, X), algorithm_1(X, H, phi, psi), strict=True):
        assert_equal(ours, truth)


@pytest.mark.parametrize("name", ["laplacian", "laplacian and potential", "own"])
def test_algorithm_1_has_our_eigenvalues(name):
    # The constant is always in our span: the paper's functions are 1 and the cosines.
    H, form = OPERATORS[name]
    X, phi = data(n=60), [One(), *cosines(5, 1)]
    L, Phi, _ = algorithm_1(X, H, phi, phi)
    values = eigh(L, Phi, eigvals_only=True)
    spectrum = ritz.decompose(form, as_basis(phi[1:]), X, k=6)
    assert np.abs(spectrum.ritz_values - values).max() <= 1e-12 * np.abs(values).max()


def test_algorithm_1_has_our_singular_values():
    H, form = OPERATORS["f d_i g"]
    X, phi, psi = data(n=60), [One(), *cosines(5, 1)], [One(), *cosines(5, 2)]
    L, Phi, Psi = algorithm_1(X, H, phi, psi)
    values, A, B = naive_gsvd(L, Phi, Psi)
    assert np.abs(A @ L @ B.T - np.diag(values)).max() <= 1e-12 * values.max()
    assert np.abs(A @ Phi @ A.T - np.eye(6)).max() <= 1e-12
    assert np.abs(B @ Psi @ B.T - np.eye(6)).max() <= 1e-12
    spectrum = ritz.decompose(form, (as_basis(phi[1:]), as_basis(psi[1:])), X, k=6)
    # The smallest come first, as those of an unbounded operator are the ones to trust.
    assert np.abs(spectrum.ritz_values - values[::-1]).max() <= 1e-12 * values.max()


# Algorithm 2: dot-product kernels


def algorithm_2(x, p, q, q_prime):
    X = np.array([[x[i] @ x[k] for k in range(len(x))] for i in range(p)])
    Psi = q(X) @ q(X).T
    L = q_prime(X) @ q_prime(X).T
    for i in range(p):
        for j in range(p):
            L[i, j] = X[i, j] * L[i, j]
    return L, Psi


DOT = {
    "polynomial": (
        ritz.Polynomial(4),
        lambda t: (1 + t) ** 4,
        lambda t: 4 * (1 + t) ** 3,
    ),
    "homogeneous": (ritz.Polynomial(3, offset=0.0), lambda t: t**3, lambda t: 3 * t**2),
    "exponential": (ritz.DotExponential(), np.exp, np.exp),
    "scaled": (
        2 * ritz.Polynomial(2) + ritz.DotExponential(),
        lambda t: 2 * (1 + t) ** 2 + np.exp(t),
        lambda t: 4 * (1 + t) + np.exp(t),
    ),
}


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("name", DOT)
def test_algorithm_2(name, d):
    kernel, q, q_prime = DOT[name]
    x = data(d, seed=d) / 2
    L, Psi = algorithm_2(x, P, q, q_prime)
    ours = structured(ritz.laplacian(), ritz.KernelSections(kernel, x[:P]), x)
    assert_equal(ours[0], L)
    assert_equal(ours[1], Psi)


# Algorithm 3: distance kernels


def algorithm_3(x, p, q, q_prime):
    n = len(x)
    X = np.array([[x[i] @ x[k] for k in range(n)] for i in range(p)])
    D = np.array([x[k] @ x[k] for k in range(n)])
    # |x_i - x_k| from coordinates, so that a center's distance from itself is zero.
    N = np.array([[np.sqrt(((x[i] - x[k]) ** 2).sum()) for k in range(n)] for i in range(p)])
    T = np.zeros_like(N)
    # At its own center gamma is zero and so is the gradient: T may be any finite number there.
    T[N > 0] = q_prime(N[N > 0]) / N[N > 0]
    Psi = q(N) @ q(N).T
    L = np.zeros((p, p))
    for k in range(n):
        gamma = np.array([[D[k] - X[i, k] - X[j, k] + X[i, j] for j in range(p)] for i in range(p)])
        for i in range(p):
            for j in range(p):
                L[i, j] += gamma[i, j] * T[i, k] * T[j, k]
    return L, Psi


DISTANCE = {
    "gaussian": (
        ritz.Gaussian(1.5),
        lambda r: np.exp(-(r**2) / 4.5),
        lambda r: -r / 2.25 * np.exp(-(r**2) / 4.5),
    ),
    "exponential": (
        ritz.Exponential(2.0),
        lambda r: np.exp(-r / 2),
        lambda r: -np.exp(-r / 2) / 2,
    ),
    "matern 1.5": (
        ritz.Matern(1.5),
        lambda r: (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r),
        lambda r: -3 * r * np.exp(-(3**0.5) * r),
    ),
    "rational quadratic": (
        ritz.RationalQuadratic(2.0),
        lambda r: (1 + r**2 / 4) ** -2,
        lambda r: -r * (1 + r**2 / 4) ** -3,
    ),
    "sum": (
        ritz.Gaussian() + ritz.Exponential(),
        lambda r: np.exp(-(r**2) / 2) + np.exp(-r),
        lambda r: -r * np.exp(-(r**2) / 2) - np.exp(-r),
    ),
}


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("name", DISTANCE)
def test_algorithm_3(name, d):
    kernel, q, q_prime = DISTANCE[name]
    x = data(d, seed=d)
    L, Psi = algorithm_3(x, P, q, q_prime)
    ours = structured(ritz.laplacian(), ritz.KernelSections(kernel, x[:P]), x)
    assert_equal(ours[0], L)
    assert_equal(ours[1], Psi)


@pytest.mark.parametrize("name", DISTANCE)
def test_algorithm_3_has_our_eigenvalues(name):
    # Appending the function 1 to the paper's functions gives our span.
    kernel, q, q_prime = DISTANCE[name]
    x = data(2, seed=5, n=400)
    p = 8
    L, Phi = algorithm_3(x, p, q, q_prime)
    N = np.sqrt(((x[:p, None] - x[None]) ** 2).sum(axis=2))
    with_one_L, with_one_Phi = np.zeros((p + 1, p + 1)), np.zeros((p + 1, p + 1))
    with_one_L[1:, 1:], with_one_Phi[1:, 1:] = L, Phi
    with_one_Phi[0, 0] = len(x)
    with_one_Phi[0, 1:] = with_one_Phi[1:, 0] = q(N).sum(axis=1)
    values = eigh(with_one_L, with_one_Phi, eigvals_only=True)
    basis = ritz.Nystrom(kernel, centers=x[:p])
    spectrum = ritz.decompose(ritz.laplacian(), basis, x, k=p + 1)
    assert spectrum.ritz_values[0] == 0.0
    # The naive pencil loses the condition number of Phi.
    rounding = np.finfo(float).eps * np.linalg.cond(with_one_Phi)
    assert np.abs(spectrum.ritz_values - values).max() <= (1e-13 + rounding) * values.max()
