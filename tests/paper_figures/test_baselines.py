"""Baselines against explicit sums and known spectra."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

import ritz
from paper.baselines import (
    Representer,
    Weights,
    galerkin_inverses,
    graph_inverses,
    neighbor_inverses,
    pencil_inverses,
    rescaled,
)
from paper.baselines.representer import gram
from ritz.bases import Centered


def sphere(n, d=3, seed=0):
    return ritz.datasets.sphere(d).sample(n, seed)


def test_pencil_inverts_eigenvalues():
    rng = np.random.default_rng(0)
    A = np.eye(30) + 0.1 * rng.normal(size=(30, 30))
    values = np.arange(1.0, 31.0)
    # The pencil has the eigenvalues 1, 2, ... in a basis that is not orthonormal.
    L, Phi = A.T @ (values[:, None] * A), A.T @ A
    np.testing.assert_allclose(pencil_inverses(L, Phi, 8), 1 / values[1:8], rtol=1e-9)
    assert len(pencil_inverses(L, Phi, 40)) == 29
    assert len(pencil_inverses(0 * L, Phi, 8)) == 0


def test_galerkin_is_algorithm_3_of_the_paper():
    X, sigma, p = sphere(60), 0.7, 12
    K = np.exp(-((X[:, None] - X[None, :p]) ** 2).sum(axis=2) / (2 * sigma**2))
    slopes = -(X[:, None] - X[None, :p]) * K[:, :, None] / sigma**2
    L = np.einsum("kia,kja->ij", slopes, slopes) / len(X)
    found = galerkin_inverses(ritz.KernelSections(ritz.Gaussian(sigma), X[:p]), X, 6)
    np.testing.assert_allclose(found, pencil_inverses(L, K.T @ K / len(X), 6), rtol=1e-7)


@pytest.mark.parametrize("weight", [ritz.Gaussian(0.5), ritz.Polynomial(2)])
def test_graph_energy_is_a_sum_over_pairs(weight):
    X, p = sphere(40), 7
    sections = ritz.KernelSections(ritz.Exponential(1.0), X[:p])
    W, F = weight(X, X), sections(X)
    D = W.sum(axis=1)
    L = np.zeros((p, p))
    for i in range(len(X)):
        for j in range(len(X)):
            difference = F[i] - F[j]
            L += W[i, j] / np.sqrt(D[i] * D[j]) * np.outer(difference, difference)
    found = list(graph_inverses(Weights.of(weight, X), sections, X, [4, p], 10))
    assert [size for size, _, _ in found] == [4, p]
    for size, inverses, seconds in found:
        truth = pencil_inverses(L[:size, :size], F[:, :size].T @ F[:, :size], 10)
        np.testing.assert_allclose(inverses, truth, rtol=1e-8)
        assert seconds > 0
    # The library's own form is the same energy per sample.
    form = ritz.assemble(ritz.graph(weight), Centered(sections, np.zeros(p)), X).mean()
    np.testing.assert_allclose(form.L[1:, 1:], L / len(X), rtol=1e-9, atol=1e-12)


def test_rescaled_has_the_true_sum():
    truth = np.array([2.0, 2.0, 6.0])
    np.testing.assert_allclose(rescaled(1 / (7 * truth), truth), 1 / truth)
    # Missing eigenvalues do not enter.
    np.testing.assert_allclose(rescaled(np.array([0.5, 0.25, 0.0]), truth), [0.75, 0.375])
    assert len(rescaled(np.zeros(0), truth)) == 0
    assert not np.isfinite(rescaled(np.full(3, np.inf), truth)).any()


def test_neighbor_graph_of_two_components_has_two_zeros():
    X = np.concatenate([sphere(40), sphere(40, seed=1) + 10.0])
    assert neighbor_inverses(X, 8, 4)[0] > 1e6


def test_neighbor_graph_is_symmetric_normalized():
    X, m = sphere(80), 7
    A = NearestNeighbors(n_neighbors=m).fit(X).kneighbors_graph().toarray()
    A = (A + A.T) / 2
    D = A.sum(axis=1)
    values = np.linalg.eigvalsh(np.eye(80) - A / np.sqrt(np.outer(D, D)))
    np.testing.assert_allclose(neighbor_inverses(X, m, 10), 1 / values[1:10], rtol=1e-6)


def test_gram_by_finite_differences():
    X, kernel, h = sphere(4), ritz.Gaussian(0.8), 1e-4
    n, d = X.shape
    K = gram(kernel, X)
    np.testing.assert_allclose(K[:n, :n], kernel(X, X), rtol=1e-12)

    def value(i, a, j, b, s, t):
        x, y = X[i] + s * h * np.eye(d)[a], X[j] + t * h * np.eye(d)[b]
        return kernel(x[None], y[None])[0, 0]

    for i, a, j, b in np.ndindex(n, d, n, d):
        mixed = sum(s * t * value(i, a, j, b, s, t) for s in (-1, 1) for t in (-1, 1)) / (4 * h**2)
        assert K[n + a * n + i, n + b * n + j] == pytest.approx(mixed, abs=1e-6)
        slope = sum(s * value(i, a, j, b, s, 0) for s in (-1, 1)) / (2 * h)
        assert K[n + a * n + i, j] == pytest.approx(slope, abs=1e-7)
    assert np.linalg.eigvalsh(K)[0] > 0


def test_representer_is_the_minimum_over_the_whole_space():
    # By the representer theorem, many more sections at other points do not improve it.
    X, kernel = sphere(40), ritz.Gaussian(1.0)
    found = Representer.of(kernel, X).inverses(1.0, 6)
    rng = np.random.default_rng(0)
    centers = np.concatenate([X, X[rng.integers(40, size=500)] + 0.3 * rng.normal(size=(500, 3))])
    G = kernel(centers, centers)
    sizes, vectors = np.linalg.eigh(G)
    keep = sizes > 1e-11 * sizes[-1]
    A = vectors[:, keep] / np.sqrt(sizes[keep])
    sections = ritz.KernelSections(kernel, centers)
    values = sections(X) @ A
    values -= values.mean(axis=0)
    slopes = np.concatenate([sections.partial(X, axis) @ A for axis in np.eye(3, dtype=int)])
    L, Phi = slopes.T @ slopes / 40, values.T @ values / 40
    space = Representer.of(kernel, X)
    gamma = np.trace(space.L) / len(space.L)
    other = ritz.gevd(L, Phi, 5, penalty=gamma * np.eye(len(L)))
    np.testing.assert_allclose(found, 1 / other.values, rtol=1e-4)
