"""The closed formula of Laplacians equals the general assembler, and both equal the definition."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import ritz
from ritz.assembly.laplacian import LaplacianAssembler
from ritz.bases import Centered

N, D, P = 300, 3, 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
# Centers among the rows and off them.
CENTERS = np.concatenate([X[: P // 2], RNG.normal(size=(P - P // 2, D))])
OFFSET = 0.3 * RNG.normal(size=P)
WEIGHT = RNG.uniform(0.2, 3.0, N)
WEIGHT[:5] = 0.0

KERNELS = {
    "gaussian": ritz.Gaussian,
    "exponential": ritz.Exponential,
    "matern 3/2": lambda scale: ritz.Matern(1.5, scale),
    "matern 5/2": lambda scale: ritz.Matern(2.5, scale),
    "matern 7/2": lambda scale: ritz.Matern(3.5, scale),
    "rational quadratic": lambda scale: ritz.RationalQuadratic(0.7, scale),
    "scaled gaussian": lambda scale: 2.5 * ritz.Gaussian(scale),
    "sum": lambda scale: ritz.Gaussian(scale) + 2 * ritz.Matern(1.5, scale),
    "product": lambda scale: ritz.Gaussian(scale) * ritz.Matern(2.5, scale),
    "custom": lambda scale: ritz.CustomKernel(
        "distance", [lambda u: 1 / (1 + u), lambda u: -1 / (1 + u) ** 2], scale
    ),
    "polynomial": lambda scale: ritz.Polynomial(3, 0.5, scale),
    "dot exponential": ritz.DotExponential,
    "custom dot": lambda scale: ritz.CustomKernel(
        "dot", [np.sin, np.cos, lambda u: -np.sin(u)], scale
    ),
}
SCALES = {
    "moderate": 1.3,
    "narrow": 0.4,
    "wide": 20.0,
    "one a column": (0.9, 1.4, 2.0),
    "one a column, far apart": (0.5, 1.0, 20.0),
}
FORMS = {
    "plain": ritz.laplacian(),
    "density correction": ritz.laplacian(density_correction=1.0),
}


def functions(kernel, scale):
    kernel = KERNELS[kernel](SCALES[scale])
    return Centered(ritz.KernelSections(kernel, CENTERS), OFFSET)


def density(Z, weight):
    """Return the kernel estimate of the density of the samples Z, up to a factor."""
    bandwidth = np.median(np.sort(cdist(Z, Z), axis=1)[:, 32])
    return np.exp(-(cdist(X, Z) ** 2) / (2 * bandwidth**2)) @ weight


def naive(basis, weight):
    """Return the averages of gradients and of values, the function 1 first."""
    w = weight / weight.sum()
    f = np.column_stack([np.ones(N), basis(X)])
    g = np.zeros((N, D, 1 + P))
    g[:, :, 1:] = basis.gradient(X)
    return np.einsum("k,kdi,kdj->ij", w, g, g), np.einsum("k,ki,kj->ij", w, f, f)


def averages(form, basis, weight, data=X):
    """Return L and Phi by a pass in blocks of many sizes."""
    stream = ritz.Batches(
        [
            (part, weights)
            for part, weights in zip(
                np.split(data, [1, 20, 90]), np.split(weight, [1, 20, 90]), strict=True
            )
        ],
        weighted=True,
    )
    matrices = ritz.assemble(form, basis, stream, n_folds=3).mean()
    return matrices.L, matrices.Phi


def assert_equal(found, truth, relative=1e-12):
    for matrix, expected in zip(found, truth, strict=True):
        atol = relative * np.abs(expected).max()
        np.testing.assert_allclose(matrix, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weights"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_formula_the_general_way_and_the_definition_agree(kernel, scale, weighted, form):
    basis, closed = functions(kernel, scale), FORMS[form]
    # A multiple of a form is no longer a plain Laplacian.
    general = 1.0 * closed
    assert LaplacianAssembler.applies(closed, basis, basis)
    assert not LaplacianAssembler.applies(general, basis, basis)
    weight = WEIGHT if weighted else np.ones(N)
    found = averages(closed, basis, weight)
    if form == "density correction":
        weight = weight / density(X[weight > 0], weight[weight > 0])
    assert_equal(found, naive(basis, weight))
    assert_equal(found, averages(general, basis, WEIGHT if weighted else np.ones(N)))
    for matrix in found:
        np.testing.assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "polynomial"])
def test_frames_and_two_bases_take_the_general_way(kernel):
    basis = functions(kernel, "moderate")
    other = functions(kernel, "wide")
    frames = np.tile(np.eye(D)[:, :2], (N, 1, 1))
    assert not LaplacianAssembler.applies(ritz.laplacian(frames), basis, basis)
    assert not LaplacianAssembler.applies(ritz.laplacian(), basis, other)
    monomials = Centered(ritz.Monomials(2).fit(X, 0), np.zeros(9))
    assert not LaplacianAssembler.applies(ritz.laplacian(), monomials, monomials)


@pytest.mark.parametrize("scale", ["moderate", "one a column"])
@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "matern 5/2", "rational quadratic"])
def test_nothing_is_lost_far_from_the_origin(kernel, scale):
    """Distances do not depend on the origin; coordinates on a grid stay exact under the shift."""
    rows, centers = (np.round(Z * 2**20) / 2**20 for Z in (X, CENTERS))

    def shifted(shift):
        sections = ritz.KernelSections(KERNELS[kernel](SCALES[scale]), centers + shift)
        return averages(ritz.laplacian(), Centered(sections, OFFSET), WEIGHT, rows + shift)

    assert_equal(shifted(2.0**16), shifted(0.0), 1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
def test_more_than_thirty_two_columns(kernel):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(200, 40)) / 4
    basis = Centered(ritz.KernelSections(KERNELS[kernel](1.5), Z[:P] + 0.01), OFFSET)
    matrices = ritz.assemble(ritz.laplacian(), basis, Z).mean()
    g = basis.gradient(Z)
    L = np.einsum("kdi,kdj->ij", g, g) / len(Z)
    np.testing.assert_allclose(matrices.L[1:, 1:], L, rtol=0, atol=1e-12 * np.abs(L).max())


def test_a_kernel_without_a_gradient_is_refused():
    kernel = ritz.CustomKernel("distance", [lambda u: np.exp(-u)])
    with pytest.raises(ValueError, match="derivatives up to order 0; order 1 was asked for"):
        ritz.assemble(ritz.laplacian(), ritz.Nystrom(kernel, 10), X)
