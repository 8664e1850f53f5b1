"""The matrices of klap 0.0.2, the paper's own package, when its centers and scales are copied."""

import numpy as np
import pytest
from klap.kernels import ExponentialKernel, GaussianKernel, PolynomialKernel, SlowGaussianKernel
from klap.kernels.helper import distance, scalar_product

import ritz
from ritz.bases import Centered

N, P = 300, 40


def data(d, seed=0, n=N):
    return np.random.default_rng(seed).normal(size=(n, d))


def klap_matrices(klap, x, p=P):
    """Return L and R as its `fit` computes them, over its centers x[:p]."""
    x_repr = x[:p]
    X = scalar_product(x_repr, x)
    D = np.sum(x**2, axis=1)
    if klap.kernel_type == "dotproduct":
        L = klap.laplacian(None, None, X=X, X_repr=X[:, :p])
        R = klap.nystrom(None, None, X=X)
    elif klap.kernel_type == "distance":
        distances = distance(x_repr, x, scap=X)
        L = klap.laplacian(None, None, N=distances, X=X, X_repr=X[:, :p], D=D)
        R = klap.nystrom(None, None, N=distances)
    else:
        K = klap.kernel(x_repr, x, scap=X)
        L = klap.laplacian(None, None, K=K, X=X, X_repr=X[:, :p], D=D)
        R = klap.nystrom(None, None, K=K)
    return L / len(x), R / len(x)


def our_matrices(kernel, x, centers):
    """Return L and Phi over the same functions, whose means are not subtracted."""
    basis = ritz.KernelSections(kernel, centers)
    matrices = ritz.assemble(ritz.laplacian(), Centered(basis, np.zeros(len(centers))), x).mean()
    return matrices.L[1:, 1:], matrices.Phi[1:, 1:]


def gap(ours, theirs):
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


@pytest.mark.parametrize("d", [1, 2, 10])
@pytest.mark.parametrize("sigma", [1.0, 3.0])
@pytest.mark.parametrize("klap", [SlowGaussianKernel, GaussianKernel])
def test_gaussian(klap, sigma, d):
    # Its exp(-|x - y|^2 / sigma^2) has the length scale sigma / sqrt 2.
    x = data(d)
    theirs = klap_matrices(klap(sigma=sigma), x)
    ours = our_matrices(ritz.Gaussian(sigma / 2**0.5), x, x[:P])
    assert gap(ours[0], theirs[0]) <= 1e-12
    assert gap(ours[1], theirs[1]) <= 1e-12


@pytest.mark.parametrize("d", [1, 2, 10])
@pytest.mark.parametrize("degree", [1, 3, 5])
def test_polynomial(degree, d):
    x = data(d)
    theirs = klap_matrices(PolynomialKernel(d=degree), x)
    ours = our_matrices(ritz.Polynomial(degree), x, x[:P])
    assert gap(ours[0], theirs[0]) <= 1e-12
    assert gap(ours[1], theirs[1]) <= 1e-12


@pytest.mark.parametrize("d", [1, 2, 10])
def test_exponential_where_its_distances_are_exact(d):
    # On small integers klap's expanded distances are exact, so that its own centers are at
    # distance zero and get a zero gradient, as ours do by definition.
    x = np.random.default_rng(d).permutation(np.unique(np.round(20 * data(d)), axis=0))
    theirs = klap_matrices(ExponentialKernel(sigma=15.0), x, 20)
    ours = our_matrices(ritz.Exponential(15.0), x, x[:20])
    assert gap(ours[0], theirs[0]) <= 1e-12
    assert gap(ours[1], theirs[1]) <= 1e-12


@pytest.mark.parametrize("d", [2, 10])
def test_exponential_away_from_its_centers(d):
    x, centers = data(d), data(d, seed=1, n=P)
    klap = ExponentialKernel(sigma=2.0)
    L = klap.laplacian(centers, x) / N
    R = klap.nystrom(centers, x) / N
    ours = our_matrices(ritz.Exponential(2.0), x, centers)
    # The nearest pairs are 1e-2 apart: their expanded distances lose four digits, and weigh 1/N.
    assert gap(ours[0], L) <= 1e-12
    assert gap(ours[1], R) <= 1e-12


@pytest.mark.parametrize("d", [2, 10])
def test_exponential_at_its_own_centers(d):
    # klap meets each center at an expanded distance that is zero, or rounding of about 1e-8 of
    # either sign of square. Zero is treated as we do; otherwise the row adds +-1 / sigma^2 to the
    # diagonal, where there is no gradient, and 1e-7 or so elsewhere.
    sigma, x = 2.0, data(d)
    L, R = klap_matrices(ExponentialKernel(sigma=sigma), x)
    ours = our_matrices(ritz.Exponential(sigma), x, x[:P])
    difference = N * sigma**2 * (L - ours[0])
    diagonal = np.diag(difference)
    off = difference - np.diag(diagonal)
    # In units of one row's largest term: nothing off the diagonal, -1, 0 or 1 on it.
    assert np.abs(off).max() <= 1e-5
    assert np.abs(diagonal - np.round(diagonal)).max() <= 1e-6
    assert set(np.round(diagonal)) <= {-1.0, 0.0, 1.0}
    # exp(-r / sigma) at r = 1e-7 in place of 0, in one row of N.
    assert gap(ours[1], R) <= 1e-7
