"""Every problem: its functions are orthonormal, solve the weak equation, and fit its samples.

Expectations are quadratures that are exact for the functions tested, so the tolerances are those
of rounding (orthonormality) and of central differences (energy).
"""

import pickle
from functools import partial
from itertools import product
from math import comb, pi

import numpy as np
import pytest
from scipy.special import gammaln, jvp, roots_gegenbauer, roots_hermitenorm, roots_legendre

from ritz import datasets


def tensor(axes):
    """Product of one-dimensional rules, each a pair (points (m, d_i), weights (m,))."""
    X, w = axes[0]
    for Y, v in axes[1:]:
        X = np.hstack([np.repeat(X, len(Y), axis=0), np.tile(Y, (len(X), 1))])
        w = np.outer(w, v).ravel()
    return X, w / w.sum()


def gauss_hermite(scale=1.0, m=20):
    x, w = roots_hermitenorm(m)
    return scale * x[:, None], w


def gauss_legendre(m=40):
    x, w = roots_legendre(m)
    return (x[:, None] + 1) / 2, w


def equispaced(length=2 * pi, m=32):
    t = 2 * pi * (np.arange(m) + 0.5) / m
    return length / (2 * pi) * np.column_stack([np.cos(t), np.sin(t)]), np.ones(m)


def on_sphere(d, m=16):
    X, w = equispaced(m=m)
    for j in range(3, d + 1):
        t, v = roots_legendre(m) if j == 3 else roots_gegenbauer(m, (j - 2) / 2)
        inner = np.sqrt(1 - t**2)[:, None, None] * X
        last = np.broadcast_to(t[:, None, None], (m, len(X), 1))
        X = np.concatenate([inner, last], axis=2).reshape(-1, j)
        w = np.outer(v, w).ravel()
    return X, w


def on_disk(m=32):
    r, w = gauss_legendre(m)
    X, v = equispaced(m=m)
    return (r[:, :, None] * X).reshape(-1, 2), np.outer(w * r[:, 0], v).ravel()


PROBLEMS = {
    "gaussian": (datasets.gaussian(), [gauss_hermite()], 10),
    "gaussian-scaled": (datasets.gaussian(2, scale=0.7), [gauss_hermite(0.7)] * 2, 15),
    "gaussian-3": (datasets.gaussian(3), [gauss_hermite(m=8)] * 3, 20),
    "cube": (datasets.cube(), [gauss_legendre()], 10),
    "cube-2": (datasets.cube(2), [gauss_legendre()] * 2, 20),
    "circle": (datasets.circle(), [equispaced()], 11),
    "torus": (datasets.torus(), [equispaced(1.0)] * 2, 21),
    "torus-3": (datasets.torus((1.0, 2.5, 4.0)), [equispaced(x, 12) for x in (1.0, 2.5, 4.0)], 15),
    "sphere-2": (datasets.sphere(2), [on_sphere(2)], 9),
    "sphere-3": (datasets.sphere(3), [on_sphere(3)], 25),
    "sphere-4": (datasets.sphere(4), [on_sphere(4)], 30),
    "sphere-5": (datasets.sphere(5), [on_sphere(5, 10)], 22),
    "disk": (datasets.disk(), [on_disk()], 25),
}


@pytest.fixture(params=PROBLEMS.values(), ids=PROBLEMS.keys())
def case(request):
    problem, axes, k = request.param
    X, w = tensor(axes)
    return problem, X, w, k


def gradients(function, X, step=1e-4):
    """Fourth-order central differences, (n, d, k)."""
    columns = []
    for e in step * np.eye(X.shape[1]):
        near, far = function(X + e) - function(X - e), function(X + 2 * e) - function(X - 2 * e)
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=1)


def test_eigenfunctions_are_orthonormal(case):
    problem, X, w, k = case
    F = problem.eigenfunctions(X, k)
    np.testing.assert_allclose(F.T @ (w[:, None] * F), np.eye(k), atol=1e-12)
    np.testing.assert_allclose(F[:, 0], 1.0, rtol=1e-14)


def test_energy_is_the_diagonal_of_eigenvalues(case):
    problem, X, w, k = case
    G = gradients(lambda Z: problem.eigenfunctions(Z, k), X)
    if problem.tangent is not None:
        G = np.einsum("ndr,ndk->nrk", problem.tangent(X), G)
    L = np.einsum("n,nri,nrj->ij", w, G, G, optimize=True)
    eigenvalues = problem.eigenvalues(k)
    np.testing.assert_allclose(L, np.diag(eigenvalues), atol=1e-9 * eigenvalues[-1])


def test_eigenvalues_ascend_from_zero(case):
    problem, _, _, k = case
    eigenvalues = problem.eigenvalues(k)
    assert eigenvalues.shape == (k,)
    assert eigenvalues[0] == 0 < eigenvalues[1]
    assert (np.diff(eigenvalues) >= 0).all()


def test_a_shorter_answer_is_the_start_of_a_longer_one(case):
    problem, X, _, k = case
    np.testing.assert_array_equal(problem.eigenvalues(k - 2), problem.eigenvalues(k)[:-2])
    F = problem.eigenfunctions(X[:5], k)
    np.testing.assert_array_equal(problem.eigenfunctions(X[:5], k - 2), F[:, :-2])


def test_samples_have_the_law_of_the_functions(case):
    # Each function but the constant has mean 0 and variance 1 under rho: five standard errors.
    problem, _, _, k = case
    n = 20_000
    X = problem.sample(n, random_state=0)
    assert X.shape == (n, problem.dimension)
    assert X.dtype == np.float64
    means = problem.eigenfunctions(X, k)[:, 1:].mean(axis=0)
    assert np.abs(means).max() < 5 / np.sqrt(n)


def test_samples_lie_on_the_support():
    U, C, S, D, T = (
        problem.sample(500, random_state=0)
        for problem in (
            datasets.cube(2),
            datasets.circle(),
            datasets.sphere(4),
            datasets.disk(),
            datasets.torus((1.0, 2.0)),
        )
    )
    assert (U >= 0).all()
    assert (U <= 1).all()
    assert (np.linalg.norm(D, axis=1) <= 1).all()
    np.testing.assert_allclose(np.linalg.norm(C, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(S, axis=1), 1.0, rtol=1e-14)
    radii = np.linalg.norm(T.reshape(-1, 2, 2), axis=2)
    np.testing.assert_allclose(radii, np.tile([0.5 / pi, 1 / pi], (500, 1)), rtol=1e-14)


def test_samples_are_reproducible(case):
    problem = case[0]
    X = problem.sample(7, random_state=3)
    np.testing.assert_array_equal(X, problem.sample(7, random_state=3))
    np.testing.assert_array_equal(X, problem.sample(7, random_state=np.random.default_rng(3)))
    assert not np.array_equal(X, problem.sample(7, random_state=4))
    assert not np.array_equal(problem.sample(7), problem.sample(7))


def test_a_pickled_problem_is_the_same_problem(case):
    problem, X, _, k = case
    copy = pickle.loads(pickle.dumps(problem))
    assert copy.name == problem.name
    F = problem.eigenfunctions(X[:5], k)
    np.testing.assert_array_equal(copy.eigenfunctions(X[:5], k), F)


def test_frames_are_orthonormal_and_make_the_energy_tangential(case):
    problem, X, _, _ = case
    if problem.tangent is None:
        assert problem.energy == "ambient"
        return
    assert problem.energy == "tangential"
    frames = problem.tangent(X)
    r = frames.shape[2]
    assert frames.shape == (*X.shape, r)
    products = np.einsum("ndr,nds->nrs", frames, frames)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(r), products.shape), atol=1e-14)
    np.testing.assert_allclose(np.einsum("ndr,nd->nr", frames, X), 0.0, atol=1e-14)


def brute_force(levels, weights, k):
    sums = [sum(w * v for w, v in zip(weights, c, strict=True)) for c in product(*levels)]
    return np.sort(np.array(sums))[:k]


@pytest.mark.parametrize(
    ("problem", "levels", "weights"),
    [
        (datasets.gaussian(3, 2.0), [range(8)] * 3, [0.25] * 3),
        (datasets.cube(3), [[a**2 for a in range(8)]] * 3, [pi**2] * 3),
        (datasets.circle(), [[m**2 for m in range(-60, 61)]], [1.0]),
        (datasets.torus((1.0, 1.0)), [[m**2 for m in range(-9, 10)]] * 2, [4 * pi**2] * 2),
        (
            datasets.torus((1.0, 3.0)),
            [[m**2 for m in range(-20, 21)]] * 2,
            [4 * pi**2, 4 * pi**2 / 9],
        ),
    ],
    ids=["gaussian", "cube", "circle", "torus", "torus-oblong"],
)
def test_separable_spectrum_is_complete(problem, levels, weights):
    expected = brute_force(levels, weights, 100)
    np.testing.assert_allclose(problem.eigenvalues(100), expected, rtol=1e-14)


def test_hermite_polynomials_of_high_degree():
    (F,) = datasets.gaussian().eigenfunctions([[0.0]], 500)
    # He_2m(0) = (-1)^m (2m)! / (2^m m!), and odd degrees vanish at zero.
    m = np.arange(250)
    size = np.exp(gammaln(2 * m + 1) / 2 - gammaln(m + 1) - m * np.log(2))
    np.testing.assert_allclose(F[::2], (-1.0) ** m * size, rtol=1e-12)
    np.testing.assert_array_equal(F[1::2], 0.0)


@pytest.mark.parametrize("d", [2, 3, 4, 7])
def test_sphere_multiplicities(d):
    def multiplicity(s):
        # Homogeneous polynomials of degree s, less |x|^2 times those of degree s - 2.
        return comb(s + d - 1, d - 1) - (comb(s + d - 3, d - 1) if s >= 2 else 0)

    sizes = [multiplicity(s) for s in range(5)]
    for s in range(1, 5):
        assert sizes[s] == (2 * s + d - 2) / s * comb(s + d - 3, s - 1)
    values, counts = np.unique(datasets.sphere(d).eigenvalues(sum(sizes)), return_counts=True)
    assert values.tolist() == [s * (s + d - 2) for s in range(5)]
    assert counts.tolist() == sizes


def test_sphere_harmonics_stay_orthonormal_at_high_degree():
    X, w = tensor([on_sphere(3, m=64)])
    F = datasets.sphere(3).eigenfunctions(X, 31**2)[:, 30**2 :]
    np.testing.assert_allclose(F.T @ (w[:, None] * F), np.eye(61), atol=1e-11)


def test_sphere_has_functions_and_frames_at_the_poles():
    X = np.vstack([np.eye(4), -np.eye(4)])
    problem = datasets.sphere(4)
    # The sum of squares over a full degree is its multiplicity at every point.
    F = problem.eigenfunctions(X, 30)
    np.testing.assert_allclose((F[:, 5:14] ** 2).sum(axis=1), 9.0, rtol=1e-13)
    frames = problem.tangent(X)
    np.testing.assert_allclose(np.einsum("ndr,nd->nr", frames, X), 0.0, atol=1e-15)


def test_disk_spectrum_is_complete():
    # Sign changes of J_m' on a fine grid count its zeros independently of SciPy's table.
    grid = np.linspace(0.01, 25.0, 20_000)
    zeros = []
    for m in range(26):
        slope = jvp(m, grid)
        n_zeros = int((slope[1:] * slope[:-1] < 0).sum())
        zeros.append(n_zeros if m == 0 else 2 * n_zeros)
    n_below = 1 + sum(zeros)
    eigenvalues = datasets.disk().eigenvalues(n_below + 1)
    assert eigenvalues[n_below - 1] < 625 < eigenvalues[n_below]
    # First zeros of J_1', J_2', J_0' to the digits of Abramowitz and Stegun, table 9.5.
    expected = np.array([0.0, 1.84118, 1.84118, 3.05424, 3.05424, 3.83171]) ** 2
    np.testing.assert_allclose(eigenvalues[:6], expected, atol=5e-5)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_few_eigenvalues(k):
    for problem, _, _ in PROBLEMS.values():
        assert problem.eigenvalues(k).shape == (k,)
        X = problem.sample(4, random_state=0)
        assert problem.eigenfunctions(X, k).shape == (4, k)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(datasets.gaussian, 0), "'dimension' parameter must be a positive integer. Got 0"),
        (partial(datasets.gaussian, 1.5), "must be a positive integer. Got 1.5"),
        (partial(datasets.gaussian, 1, 0.0), "'scale' .* a positive number. Got 0.0"),
        (partial(datasets.gaussian, 1, np.nan), "'scale' .* Got nan"),
        (partial(datasets.gaussian, 1, 1e300), "'scale' .* Got 1e\\+300"),
        (partial(datasets.gaussian, 1, 1e-300), "'scale' .* Got 1e-300"),
        (partial(datasets.torus, (1e-300, 1e300)), "'lengths' .* between"),
        (partial(datasets.cube, True), "'dimension' parameter .* Got True"),
        (
            partial(datasets.sphere, 1),
            "'dimension' parameter must be an integer, at least 2. Got 1",
        ),
        (partial(datasets.torus, ()), r"'lengths' .* nonempty .* Got \(\) .* one length per"),
        (partial(datasets.torus, 1.0), "'lengths' .* sequence .* Got 1.0"),
        (partial(datasets.torus, None), "'lengths' .* sequence .* Got None"),
        (partial(datasets.torus, (1.0, -1.0)), "'lengths' .* Got -1.0"),
        (partial(datasets.disk().sample, 0), "'n' parameter .* Got 0"),
        (partial(datasets.disk().eigenvalues, 0), "'k' parameter .* Got 0"),
        (
            partial(datasets.disk().eigenfunctions, np.zeros((3, 3)), 2),
            "'X' parameter must be an array with 2 columns. Got 3 columns",
        ),
        (partial(datasets.cube().eigenfunctions, np.zeros(3), 2), r"'X' .*reshape\(-1, 1\)"),
        (partial(datasets.cube().eigenfunctions, [[np.nan]], 2), "'X' .* must be finite"),
        (partial(datasets.sphere().tangent, np.zeros((1, 3))), "Got the origin"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()
