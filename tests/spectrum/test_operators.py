"""Operators whose spectrum is known in closed form, learned from samples."""

import numpy as np
import pytest
from scipy.special import eval_hermitenorm, eval_legendre, roots_hermitenorm

import ritz
from ritz import datasets


def normal(n, d=1, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def correlation(f, g):
    """The size of the cosine between columns of two sets of functions, (k,)."""
    norms = np.sqrt((f**2).mean(axis=0) * (g**2).mean(axis=0))
    return np.abs((f * g).mean(axis=0)) / norms


def hermite(X, k):
    return np.column_stack([eval_hermitenorm(s, X[:, 0]) for s in range(k)])


def rate(sizes, errors):
    """The slope of the mean logarithm of errors (sizes, ...) against log n."""
    logs = np.log(errors).reshape(len(sizes), -1).mean(axis=1)
    return np.polyfit(np.log(sizes), logs, 1)[0]


# Asymmetric operators.


def test_derivative_has_singular_values_sqrt_s():
    form = ritz.differential({((0,), (1,)): 1.0})
    found = ritz.decompose(form, ritz.Monomials(5), normal(200_000), 6)
    assert isinstance(found, ritz.SingularSpectrum)
    assert abs(found.ritz_values[0]) < 1e-12
    np.testing.assert_allclose(found.ritz_values[1:4], np.sqrt([1.0, 2.0, 3.0]), rtol=0.01)
    np.testing.assert_allclose(found.ritz_values[4:], np.sqrt([4.0, 5.0]), rtol=0.1)
    fresh = normal(20_000, seed=1)
    left, right = found(fresh, fresh)
    H = hermite(fresh, 4)
    # d He_s = s He_(s-1): the right function s goes with the left function s - 1.
    assert (correlation(right[:, :4], H) > 0.999).all()
    assert (correlation(left[:, 1:4], H[:, :3]) > 0.999).all()


def test_derivative_along_one_of_two_coordinates():
    form = ritz.differential({((0, 0), (1, 0)): 1.0})
    X = normal(100_000, 2)
    found = ritz.decompose(form, ritz.Monomials(2), X, 6)
    # Of 1, x, y, x^2, xy, y^2 the right functions 1, y, y^2 have no derivative along x; x and
    # xy lead to 1 and y with value 1, x^2 to x with value sqrt(2).
    assert np.abs(found.ritz_values[:3]).max() < 1e-10
    np.testing.assert_allclose(found.ritz_values[3:], [1.0, 1.0, np.sqrt(2)], rtol=0.03)


@pytest.mark.parametrize("r", [0.3, 0.8])
def test_correlated_pair_has_singular_values_powers_of_r(r):
    X, Y = datasets.gaussian_pair(r).sample(200_000, random_state=0)
    found = ritz.decompose(ritz.cross(), ritz.Monomials(4), (X, Y), 4)
    assert found.ritz_values[0] == 1.0
    np.testing.assert_allclose(found.ritz_values, r ** np.arange(4), atol=0.01)
    fresh = normal(20_000, seed=1)
    for side in (found.left, found.right):
        assert (correlation(side(fresh)[:, :3], hermite(fresh, 3)) > 0.995).all()
    # Both sides share their sign: E[f g] = sigma > 0.
    left, right = found(X, Y)
    np.testing.assert_allclose((left * right).mean(axis=0), found.ritz_values, atol=1e-10)


def test_views_of_different_dimension():
    X, Y = datasets.gaussian_pair(0.6).sample(50_000, random_state=0)
    noise = normal(50_000, 2, seed=7)
    found = ritz.decompose(ritz.cross(), ritz.Monomials(2), (X, np.hstack([noise, Y])), 3)
    np.testing.assert_allclose(found.ritz_values, [1.0, 0.6, 0.36], atol=0.02)
    gradients = found[1].right.gradient(normal(10, 3))
    # The second view's noise takes no part: the function's gradient is along the last axis.
    np.testing.assert_allclose(np.abs(gradients[:, :2]), 0.0, atol=0.05)
    np.testing.assert_allclose(np.abs(gradients[:, 2]), 1.0, atol=0.1)


# Indefinite forms.


@pytest.mark.parametrize("c", [-2.5, 1.5])
def test_a_constant_potential_shifts_the_spectrum(c):
    X = normal(20_000)
    free = ritz.decompose(ritz.laplacian(), ritz.Monomials(5), X, 5)
    shifted = ritz.decompose(ritz.laplacian() + ritz.potential(c), ritz.Monomials(5), X, 5)
    np.testing.assert_allclose(shifted.ritz_values, free.ritz_values + c, atol=1e-11)
    np.testing.assert_allclose(shifted(X[:100]), free(X[:100]), atol=1e-9)
    assert abs(shifted.ritz_values[0] - c) < 1e-12
    np.testing.assert_allclose(shifted.ritz_values[1:3], [1 + c, 2 + c], atol=0.1)


def harmonic_values(a, c, k):
    """Eigenvalues of -f'' + x f' + (a x^2 - c) f.

    With f = exp(-b x^2) h and 4 b^2 + 2 b = a, that is b = (w - 1) / 4 for w = sqrt(1 + 4 a), it
    becomes -h'' + w x h' + (2 b - c) h, an Ornstein-Uhlenbeck operator.
    """
    w = np.sqrt(1 + 4 * a)
    return w * np.arange(k) + (w - 1) / 2 - c


def by_quadrature(a, c, k, m=100):
    """The same from a hundred Hermite polynomials integrated exactly."""
    x, weights = roots_hermitenorm(2 * m)
    H = np.ones((2 * m, m))
    H[:, 1] = x
    for s in range(1, m - 1):
        H[:, s + 1] = (x * H[:, s] - np.sqrt(s) * H[:, s - 1]) / np.sqrt(s + 1)
    V = (a * x**2 - c) * weights / weights.sum()
    return np.linalg.eigvalsh(np.diag(np.arange(float(m))) + H.T @ (V[:, None] * H))[:k]


@pytest.mark.parametrize(("a", "c"), [(0.75, 6.0), (2.0, 8.0)])
def test_the_harmonic_formula(a, c):
    np.testing.assert_allclose(harmonic_values(a, c, 6), by_quadrature(a, c, 6), atol=1e-10)


HARMONIC_BASES = {
    "polynomials": ritz.Monomials(10),
    "Gaussian": ritz.Nystrom(ritz.Gaussian(1.0), 30),
    "wide Gaussian": ritz.Nystrom(ritz.Gaussian(3.0), 30),
    "Fourier": ritz.RandomFourier(ritz.Gaussian(1.5), 30),
}


@pytest.mark.parametrize("basis", HARMONIC_BASES.values(), ids=HARMONIC_BASES.keys())
def test_a_harmonic_potential_shifted_down(basis):
    a, c = 0.75, 6.0
    form = ritz.laplacian() + ritz.potential(lambda x: a * x[:, 0] ** 2 - c)
    X = normal(100_000)
    found = ritz.decompose(form, basis, X, 4, random_state=0)
    # -5.5, -3.5, -1.5 and 0.5: three of them negative.
    np.testing.assert_allclose(found.ritz_values, harmonic_values(a, c, 4), atol=0.06)
    np.testing.assert_allclose(found.ritz_values[:2], [-5.5, -3.5], atol=0.02)
    fresh = normal(20_000, seed=1)
    w = np.sqrt(1 + 4 * a)
    truth = np.exp(-(w - 1) / 4 * fresh**2) * hermite(np.sqrt(w) * fresh, 3)
    assert (correlation(found(fresh)[:, :3], truth) > 0.998).all()


def test_the_harmonic_values_converge_at_the_rate_of_averages():
    sizes = [1000, 4000, 16_000, 64_000]
    truth = harmonic_values(0.75, 6.0, 2)
    form = ritz.laplacian() + ritz.potential(lambda x: 0.75 * x[:, 0] ** 2 - 6.0)
    errors = [
        [
            np.abs(
                ritz.decompose(form, ritz.Monomials(8), normal(n, seed=s), 2, n_folds=2).ritz_values
                - truth
            )
            for s in range(20)
        ]
        for n in sizes
    ]
    assert abs(rate(sizes, np.array(errors)) + 0.5) < 0.15


def test_minus_the_laplacian_loses_no_eigenvalue():
    X = normal(20_000)
    plus = ritz.decompose(ritz.laplacian(), ritz.Monomials(5), X, 6)
    minus = ritz.decompose(-1.0 * ritz.laplacian(), ritz.Monomials(5), X, 6)
    np.testing.assert_allclose(minus.ritz_values, -plus.ritz_values[::-1], atol=1e-11)


@pytest.mark.parametrize("c", [-1.0, 2.0])
def test_a_potential_alone(c):
    found = ritz.decompose(ritz.potential(c), ritz.Monomials(4), normal(1000), 5)
    np.testing.assert_allclose(found.ritz_values, c, rtol=1e-12)


# Diffusions and differential operators.


def test_diffusion_of_gaussian_data():
    C = np.array([[2.0, 0.6], [0.6, 0.5]])
    A = np.array([[1.0, -0.3], [-0.3, 0.4]])
    X = normal(200_000, 2) @ np.linalg.cholesky(C).T
    found = ritz.decompose(ritz.diffusion(A), ritz.Monomials(2), X, 6)
    a, b = np.sort(np.linalg.eigvals(A @ np.linalg.inv(C)).real)
    truth = np.sort([0.0, a, b, 2 * a, a + b, 2 * b])
    np.testing.assert_allclose(found.ritz_values, truth, rtol=0.025)
    same = ritz.decompose(
        ritz.diffusion(lambda x: np.broadcast_to(A, (len(x), 2, 2))), ritz.Monomials(2), X, 6
    )
    np.testing.assert_allclose(same.ritz_values, found.ritz_values, atol=1e-11)


def test_diffusion_with_a_diagonal_or_a_number():
    X = normal(100_000, 2)
    found = ritz.decompose(ritz.diffusion([1.0, 3.0]), ritz.Monomials(2), X, 4)
    np.testing.assert_allclose(found.ritz_values, [0.0, 1.0, 2.0, 3.0], rtol=0.03)
    free = ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, 4)
    twice = ritz.decompose(ritz.diffusion(2.0), ritz.Monomials(2), X, 4)
    np.testing.assert_allclose(twice.ritz_values, 2 * free.ritz_values, atol=1e-12)


def test_legendre():
    """Uniform on [-1, 1] with A = 1 - x^2: eigenvalues s (s + 1), Legendre polynomials."""
    X = np.random.default_rng(0).uniform(-1, 1, (100_000, 1))
    found = ritz.decompose(ritz.diffusion(lambda x: 1 - x[:, 0] ** 2), ritz.Monomials(5), X, 5)
    np.testing.assert_allclose(found.ritz_values, [0.0, 2.0, 6.0, 12.0, 20.0], rtol=0.01)
    truth = np.column_stack([eval_legendre(s, X[:, 0]) for s in range(5)])
    assert (correlation(found(X), truth) > 0.998).all()


def test_laguerre():
    """Exponential law with A = x: eigenvalues s."""
    X = np.random.default_rng(0).exponential(size=(200_000, 1))
    found = ritz.decompose(ritz.diffusion(lambda x: x[:, 0]), ritz.Monomials(3), X, 3)
    np.testing.assert_allclose(found.ritz_values, [0.0, 1.0, 2.0], rtol=0.02)


def test_second_derivatives():
    """E[f'' g''] on N(0, 1): He_s'' = s (s - 1) He_(s-2), eigenvalues s (s - 1)."""
    found = ritz.decompose(
        ritz.differential({((2,), (2,)): 1.0}), ritz.Monomials(5), normal(400_000), 4
    )
    assert np.abs(found.ritz_values[:2]).max() < 1e-12
    np.testing.assert_allclose(found.ritz_values[2:], [2.0, 6.0], rtol=0.05)


def test_first_derivatives_make_the_laplacian():
    X = normal(5000, 2)
    form = ritz.differential({((1, 0), (1, 0)): 1.0, ((0, 1), (0, 1)): 1.0})
    basis = ritz.Nystrom(ritz.Matern(2.5, 1.5), 30)
    one = ritz.decompose(form, basis, X, 6, random_state=0)
    two = ritz.decompose(ritz.laplacian(), basis, X, 6, random_state=0)
    np.testing.assert_allclose(one.ritz_values, two.ritz_values, rtol=1e-9)


def test_scaled_forms_have_scaled_values():
    X = normal(5000, 2)
    one = ritz.decompose(ritz.laplacian(), ritz.Monomials(3), X, 6, random_state=0)
    two = ritz.decompose(4.0 * ritz.laplacian(), ritz.Monomials(3), X, 6, random_state=0)
    np.testing.assert_array_equal(two.ritz_values, 4 * one.ritz_values)


def test_weights_change_the_law():
    """N(0, 1) weighted into N(0, s^2): eigenvalues over s^2."""
    X, s2 = normal(100_000), 0.36
    weight = np.exp(-0.5 * X[:, 0] ** 2 * (1 / s2 - 1))
    found = ritz.decompose(ritz.laplacian(), ritz.Monomials(3), X, 4, sample_weight=weight)
    np.testing.assert_allclose(found.ritz_values, np.arange(4) / s2, rtol=0.02)


# Pairs, directions, neighbors.


def test_pairs_of_a_stationary_process():
    """AR(1) with correlation r: eigenvalues 2 - 2 r^s."""
    r, X = 0.7, normal(200_000)
    Y = r * X + np.sqrt(1 - r**2) * normal(200_000, seed=1)
    found = ritz.decompose(ritz.pairs(), ritz.Monomials(3), (X, Y), 4)
    np.testing.assert_allclose(found.ritz_values, 2 - 2 * r ** np.arange(4), atol=0.02)
    F = np.vstack([found(X), found(Y)])
    np.testing.assert_allclose(F.T @ F / len(F), np.eye(4), atol=1e-10)


@pytest.mark.parametrize("r", [1, 3])
def test_random_directions_make_the_laplacian(r):
    d, n = 3, 50_000
    X = normal(n, d)
    U = np.random.default_rng(1).standard_normal((n, d, r))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    U = U[:, :, 0] if r == 1 else U
    free = ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, 10)
    found = ritz.decompose(d * ritz.directional(U), ritz.Monomials(2), X, 10)
    np.testing.assert_allclose(found.ritz_values, free.ritz_values, rtol=0.04)
    np.testing.assert_allclose(found.ritz_values[1:4].mean(), 1.0, rtol=0.01)


def test_directions_that_are_a_frame_make_the_laplacian_exactly():
    X = normal(2000, 3)
    frames = np.broadcast_to(np.eye(3), (2000, 3, 3))
    free = ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, 10)
    # The form is averaged over the directions, so that three of them need a factor 3.
    found = ritz.decompose(3 * ritz.directional(frames), ritz.Monomials(2), X, 10)
    np.testing.assert_allclose(found.ritz_values, free.ritz_values, atol=1e-12)


@pytest.mark.parametrize("kind", ["pairs", "directional"])
def test_neighbors_on_the_circle(kind):
    X = datasets.circle().sample(10_000, random_state=0)
    basis = ritz.Nystrom(ritz.Gaussian(1.0), 15)
    values = ritz.decompose(ritz.neighbors(10, kind), basis, X, 7, random_state=0).ritz_values
    assert values[0] == 0.0
    np.testing.assert_allclose(values / values[1:3].mean(), [0, 1, 1, 4, 4, 9, 9], rtol=0.02)


def test_graph_on_the_circle():
    X = datasets.circle().sample(3000, random_state=0)
    form = ritz.graph(ritz.Gaussian(0.1))
    found = ritz.decompose(form, ritz.Monomials(2), X, 5)
    values = found.ritz_values
    np.testing.assert_allclose(values / values[1:3].mean(), [0, 1, 1, 4, 4], rtol=0.06, atol=1e-12)
    assert found.errors is None


# Manifolds and densities.


@pytest.mark.parametrize("n_centers", [15, 30, 60])
def test_functions_that_vanish_on_a_manifold_do_no_harm(n_centers):
    """Samples exactly on the circle, and functions that only rounding tells from zero there.

    Their gradients are across the circle, and huge once they are scaled to unit size. As
    |grad f|^2 is at least its part along the circle, ambient eigenvalues are at least the
    tangential ones of the same functions; tangents and neighbors see no other part.
    """
    problem = datasets.circle()
    X = problem.sample(2000, random_state=0)
    basis = ritz.Nystrom(ritz.Gaussian(1.0), n_centers)
    truth = np.array([0.0, 1, 1, 4, 4])
    for seed in range(4):
        ambient, along, estimated, towards = (
            ritz.decompose(form, basis, X, 5, random_state=seed, n_folds=1).ritz_values
            for form in (
                ritz.laplacian(),
                ritz.laplacian(problem.tangent),
                ritz.laplacian("pca", dimension=1),
                ritz.neighbors(8, "directional"),
            )
        )
        assert ambient[0] == 0.0
        assert (ambient >= along * (1 - 1e-3)).all()
        assert (ambient <= 5 * truth).all()
        np.testing.assert_allclose(along, truth, rtol=0.1)
        np.testing.assert_allclose(estimated, along, rtol=5e-3)
        np.testing.assert_allclose(towards / towards[1:3].mean(), truth, rtol=0.1)


def test_estimated_tangents_are_as_good_as_exact_ones():
    X = datasets.circle().sample(20_000, random_state=0)
    truth = [0, 1, 1, 4, 4, 9, 9]
    exact = ritz.decompose(ritz.laplacian(datasets.circle().tangent), ritz.Monomials(3), X, 7)
    form = ritz.laplacian("pca", dimension=1)
    found = ritz.decompose(form, ritz.Monomials(3), X, 7, random_state=0)
    np.testing.assert_allclose(found.ritz_values, exact.ritz_values, rtol=1e-4)
    np.testing.assert_allclose(found.ritz_values, truth, rtol=0.03)
    np.testing.assert_allclose(
        found.ritz_values[1:].reshape(3, 2).mean(axis=1), [1, 4, 9], rtol=2e-3
    )


def test_estimated_tangents_on_the_sphere():
    X = datasets.sphere(3).sample(20_000, random_state=0)
    form = ritz.laplacian("pca", dimension=2)
    found = ritz.decompose(form, ritz.Monomials(2), X, 9, random_state=0)
    np.testing.assert_allclose(found.ritz_values[1:4].mean(), 2.0, rtol=5e-3)
    np.testing.assert_allclose(found.ritz_values[4:].mean(), 6.0, rtol=5e-3)


def test_frames_as_array_or_function_agree():
    problem = datasets.sphere(3)
    X = problem.sample(3000, random_state=0)
    one = ritz.decompose(ritz.laplacian(problem.tangent), ritz.Monomials(2), X, 9, random_state=0)
    two = ritz.decompose(
        ritz.laplacian(problem.tangent(X)), ritz.Monomials(2), X, 9, random_state=0
    )
    np.testing.assert_array_equal(one.ritz_values, two.ritz_values)


def test_density_correction_on_the_circle():
    angles = np.random.default_rng(0).vonmises(0.0, 1.0, 6000)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    tangent = datasets.circle().tangent
    plain, corrected = (
        ritz.decompose(ritz.laplacian(tangent, alpha), ritz.Monomials(3), X, 5, random_state=0)
        for alpha in (0.0, 1.0)
    )
    means = [found.ritz_values[1:].reshape(2, 2).mean(axis=1) for found in (plain, corrected)]
    np.testing.assert_allclose(means[1], [1.0, 4.0], rtol=0.02)
    np.testing.assert_allclose(corrected.ritz_values, [0, 1, 1, 4, 4], rtol=0.1)
    # Without it the spectrum is that of another operator.
    assert means[0][0] > 1.1


def test_density_correction_on_the_interval():
    rng = np.random.default_rng(0)
    X = rng.random((10_000, 1))
    X = X[rng.random(10_000) < 0.3 + 0.7 * X[:, 0]]
    values = [
        ritz.decompose(
            ritz.laplacian(density_correction=alpha), ritz.Monomials(6), X, 4, random_state=0
        ).ritz_values
        for alpha in (0.0, 1.0)
    ]
    truth = np.pi**2 * np.arange(4) ** 2
    np.testing.assert_allclose(values[1], truth, rtol=0.05)
    assert values[0][1] > 1.06 * truth[1]


def test_density_correction_undoes_weights_and_repetitions_too():
    """The law of weighted samples is that of the weights, and so is its density."""
    rng = np.random.default_rng(0)
    X = rng.random((10_000, 1))
    weight = rng.poisson(1 + 4 * X[:, 0])
    corrected = ritz.laplacian(density_correction=1.0)
    weighted, repeated = (
        ritz.decompose(
            corrected, ritz.Monomials(6), Z, 4, sample_weight=w, random_state=0
        ).ritz_values
        for Z, w in ((X, weight), (np.repeat(X, weight, axis=0), None))
    )
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-9)
    truth = np.pi**2 * np.arange(4) ** 2
    np.testing.assert_allclose(weighted, truth, rtol=0.05)
    plain = ritz.decompose(
        ritz.laplacian(), ritz.Monomials(6), X, 4, sample_weight=weight, random_state=0
    )
    assert plain.ritz_values[1] > 1.06 * truth[1]


@pytest.mark.parametrize(
    ("alpha", "n", "tolerance"), [(0.5, 4000, 0.3), (0.5, 8000, 0.3), (-1.0, 6000, 0.05)]
)
def test_density_correction_of_part(alpha, n, tolerance):
    """N(0, 1) weighted by its density to the -alpha is N(0, 1 / (1 - alpha)).

    Few samples lie in the tails, where densities are hard to know; no row there may outweigh
    all the others.
    """
    found = ritz.decompose(
        ritz.laplacian(density_correction=alpha), ritz.Monomials(2), normal(n), 2, random_state=0
    )
    np.testing.assert_allclose(found.ritz_values[1], 1 - alpha, rtol=tolerance)


def test_constants_come_before_functions_that_fit_few_samples_exactly():
    X = normal(15, 3)
    for seed in range(5):
        Y = np.random.default_rng(seed).normal(size=(15, 2))
        found = ritz.decompose(ritz.cross(), ritz.Nystrom(ritz.Exponential(1.0), 15), (X, Y), 3)
        assert found.ritz_values[0] == 1.0
        np.testing.assert_array_equal(found.left(X)[:, 0], 1.0)
        assert found.left(X)[:, 1].std() > 0.5


@pytest.mark.parametrize("k", [2, 4, 6])
def test_the_constant_has_its_place_among_the_others(k):
    """Upside down, the spectrum 0, 1, 2, ... of the Laplacian ends with it."""
    X = normal(5000)
    up = ritz.decompose(ritz.laplacian(), ritz.Monomials(5), X, 6)
    down = ritz.decompose(-1.0 * ritz.laplacian(), ritz.Monomials(5), X, k)
    np.testing.assert_allclose(down.ritz_values, -up.ritz_values[::-1][:k], rtol=1e-8, atol=1e-8)
    grid = np.linspace(-2, 2, 9)[:, None]
    size = np.abs(up(grid)[:, ::-1][:, :k])
    np.testing.assert_allclose(np.abs(down(grid)), size, rtol=1e-6, atol=1e-6)
    assert (down.ritz_values[-1] == 0.0) == (k == 6)
