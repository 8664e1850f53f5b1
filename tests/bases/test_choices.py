"""How recipes choose their functions from data: centers, frequencies, polynomials."""

from math import comb

import numpy as np
import pytest
from scipy.stats import chi2, kstest

import ritz
from ritz.bases.nystrom import KernelSections
from ritz.rows import random_integers
from ritz.streams import as_stream


def cloud(n=300, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def clusters(seed=0):
    """Return 2,000 rows, nearly all of them in one of ten tight clusters."""
    rng = np.random.default_rng(seed)
    means = 4 * rng.normal(size=(10, 2))
    sizes = [1900, *[12] * 8, 4]
    return np.concatenate(
        [m + 0.05 * rng.normal(size=(s, 2)) for m, s in zip(means, sizes, strict=True)]
    )


def as_set(rows):
    return {tuple(row) for row in rows}


def residual_trace(kernel, X, Y):
    """Return the trace of K(X, X) - K(X, Y) K(Y, Y)^-1 K(Y, X)."""
    K = kernel(X, Y)
    left = np.linalg.lstsq(kernel(Y, Y), K.T, rcond=1e-12)[0]
    u = np.zeros(len(X)) if kernel.family == "distance" else (X**2).sum(axis=1)
    return kernel.profile(u, 0)[0].sum() - np.einsum("ij,ji->", K, left)


# Uniform centers


@pytest.mark.parametrize("seed", range(3))
def test_uniform_centers_do_not_depend_on_order_or_repetition(seed):
    X = cloud()
    rng = np.random.default_rng(10 + seed)
    recipe = ritz.Nystrom(ritz.Gaussian(), 20)
    centers = recipe.fit(X, seed).centers
    shuffled = rng.permutation(X)
    repeated = rng.permutation(np.repeat(X, rng.integers(1, 9, len(X)), axis=0))
    mostly_one = np.concatenate([np.repeat(X[:1], 5000, axis=0), X])
    for rows in (shuffled, repeated, X[np.argsort(X[:, 0])], mostly_one):
        assert np.array_equal(recipe.fit(rows, seed).centers, centers)


def test_uniform_centers_do_not_tell_minus_zero_from_zero():
    X = np.round(cloud(50), 1)
    X[::7] = 0.0
    recipe = ritz.Nystrom(ritz.Gaussian(), 10)
    other = np.where(X == 0, -0.0, X)
    assert np.array_equal(recipe.fit(other, 0).centers, recipe.fit(X, 0).centers)


def test_uniform_centers_are_distinct_rows():
    X = np.repeat(cloud(60), 5, axis=0)
    centers = ritz.Nystrom(ritz.Gaussian(), 50).fit(X, 0).centers
    assert len(as_set(centers)) == 50
    assert as_set(centers) <= as_set(X)


def test_uniform_centers_are_nested():
    X = cloud(1000)
    largest = ritz.Nystrom(ritz.Gaussian(), 600).fit(X, 3).centers
    for m in (1, 10, 100, 599):
        assert np.array_equal(ritz.Nystrom(ritz.Gaussian(), m).fit(X, 3).centers, largest[:m])


@pytest.mark.parametrize("choice", ["uniform", "kmeans++", "rpcholesky"])
def test_a_pilot_sample_gives_the_centers_that_all_rows_give(choice):
    rows = np.random.default_rng(0).normal(size=(400, 3))
    rows = np.concatenate([rows, rows[:50]])
    recipe = ritz.Nystrom(ritz.Gaussian(1.0), 20, centers=choice)
    expected = recipe.fit(rows, 7).centers
    pilot = as_stream(rows, 1).sample(2048, *random_integers(7, 1))
    np.testing.assert_array_equal(recipe.fit(pilot, 7).centers, expected)
    sums = ritz.assemble(ritz.laplacian(), recipe, rows, random_state=5)
    # The seed of a basis is the second number that is drawn.
    found = recipe.fit(rows, random_integers(5, 3)[1]).centers
    np.testing.assert_array_equal(sums.left.basis.centers, found)


def test_seeds_give_different_centers():
    X = cloud(1000)
    recipe = ritz.Nystrom(ritz.Gaussian(), 10)
    assert np.array_equal(recipe.fit(X, 1).centers, recipe.fit(X, 1).centers)
    assert not as_set(recipe.fit(X, 1).centers) & as_set(recipe.fit(X, 2).centers)


def test_uniform_centers_are_uniform():
    # Each of 50 rows is a center with chance 1/5; over 2,000 seeds the counts are binomial.
    X = np.sort(cloud(50, 1), axis=0)
    recipe, seeds = ritz.Nystrom(ritz.Gaussian(), 10), 2000
    counts = np.zeros(50)
    first = np.zeros(50)
    for seed in range(seeds):
        rows = np.searchsorted(X[:, 0], recipe.fit(X, seed).centers[:, 0])
        counts[rows] += 1
        first[rows[0]] += 1
    # Without replacement the variance of a count is seeds 1/5 4/5 49/50 and sums are fixed.
    statistic = ((counts - seeds / 5) ** 2).sum() / (seeds * 0.2 * 0.8) * 49 / 50
    assert chi2.ppf(1e-4, 49) < statistic < chi2.ppf(1 - 1e-4, 49)
    statistic = ((first - seeds / 50) ** 2).sum() / (seeds / 50)
    assert chi2.ppf(1e-4, 49) < statistic < chi2.ppf(1 - 1e-4, 49)


def test_uniform_centers_follow_the_law_of_the_rows():
    X = np.random.default_rng(0).uniform(size=(20_000, 1))
    centers = ritz.Nystrom(ritz.Gaussian(), 2000).fit(X, 0).centers
    assert kstest(centers[:, 0], "uniform").pvalue > 1e-3


# Other choices


@pytest.mark.parametrize("choice", ["kmeans++", "rpcholesky"])
@pytest.mark.parametrize("seed", range(4))
def test_chosen_centers_are_distinct_rows(choice, seed):
    X = np.repeat(clusters()[::4], 3, axis=0)
    centers = ritz.Nystrom(ritz.Gaussian(1.0), 30, choice).fit(X, seed).centers
    assert centers.shape == (30, 2)
    assert len(as_set(centers)) == 30
    assert as_set(centers) <= as_set(X)
    again = ritz.Nystrom(ritz.Gaussian(1.0), 30, choice).fit(X, seed).centers
    assert np.array_equal(again, centers)


@pytest.mark.parametrize("choice", ["kmeans++", "rpcholesky"])
def test_chosen_centers_do_not_depend_on_order_or_repetition(choice):
    X = clusters()[::4]
    rng = np.random.default_rng(1)
    recipe = ritz.Nystrom(ritz.Gaussian(1.0), 15, choice)
    rows = rng.permutation(np.repeat(X, rng.integers(1, 4, len(X)), axis=0))
    assert np.array_equal(recipe.fit(rows, 0).centers, recipe.fit(X, 0).centers)


@pytest.mark.parametrize(
    ("kernel", "share"), [(ritz.Gaussian(1.0), 0.5), (ritz.Exponential((1.0, 2.0)), 0.9)]
)
def test_pivoted_cholesky_explains_more_than_uniform_centers(kernel, share):
    X = clusters()
    traces = {
        choice: np.mean(
            [
                residual_trace(kernel, X, ritz.Nystrom(kernel, 12, choice).fit(X, seed).centers)
                for seed in range(5)
            ]
        )
        for choice in ("uniform", "rpcholesky", "kmeans++")
    }
    assert traces["rpcholesky"] < share * traces["uniform"]
    assert traces["kmeans++"] < traces["uniform"]


def test_pivots_are_drawn_in_proportion_to_the_residual():
    # k(x, x) of the kernel (x.y)^2 is x^4: the first pivot is row i with chance x_i^4 / sum.
    X = np.array([[1.0], [2.0], [3.0]])
    draws = np.array(
        [
            ritz.Nystrom(ritz.Polynomial(2, 0.0), 1, "rpcholesky").fit(X, seed).centers[0, 0]
            for seed in range(1000)
        ]
    )
    chances = np.array([1.0, 16.0, 81.0]) / 98
    counts = np.array([(draws == x).sum() for x in X[:, 0]])
    assert ((counts - 1000 * chances) ** 2 / (1000 * chances)).sum() < chi2.ppf(1 - 1e-4, 2)


def test_pivots_span_what_the_kernel_spans():
    # (1 + x.y)^2 in the plane has rank 6, so six pivots leave nothing and a seventh is no use.
    X, kernel = cloud(200), ritz.Polynomial(2)
    centers = ritz.Nystrom(kernel, 6, "rpcholesky").fit(X, 0).centers
    assert residual_trace(kernel, X, centers) <= 1e-10 * np.trace(kernel(X, X))
    with pytest.warns(UserWarning, match="n_centers=7 exceeds the 6 rows the kernel can tell"):
        fitted = ritz.Nystrom(kernel, 7, "rpcholesky").fit(X, 0)
    assert fitted.size == 6


# Given centers, and too few rows


def test_given_centers_may_lie_off_the_data_and_be_more_than_rows():
    X = cloud(10)
    Y = 5 + cloud(40, seed=1)
    fitted = ritz.Nystrom(ritz.Gaussian(), centers=Y).fit(X, 0)
    assert np.array_equal(fitted.centers, Y)
    sums = ritz.assemble(ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(3.0), centers=Y), X)
    assert sums.n_rows == 10


def test_given_centers_keep_their_number():
    Y = cloud(4)
    assert ritz.Nystrom(ritz.Gaussian(), 4, Y).fit(cloud(), 0).size == 4
    with pytest.raises(ValueError, match="'n_centers' parameter must be None or 4"):
        ritz.Nystrom(ritz.Gaussian(), 5, Y)


@pytest.mark.parametrize("choice", ["uniform", "kmeans++", "rpcholesky"])
def test_too_few_distinct_rows_warn_and_are_all_used(choice):
    X = np.repeat(3 * cloud(7), 10, axis=0)
    with pytest.warns(UserWarning, match="n_centers=20 exceeds the 7 distinct rows"):
        fitted = ritz.Nystrom(ritz.Gaussian(1.0), 20, choice).fit(X, 0)
    assert as_set(fitted.centers) == as_set(X)
    assert fitted.size == 7


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ritz.Nystrom(ritz.Gaussian(), 0), ValueError, "'n_centers' parameter must be"),
        (lambda: ritz.Nystrom(ritz.Gaussian(), 2.5), ValueError, "'n_centers' parameter must be"),
        (lambda: ritz.Nystrom(ritz.Gaussian(), 5, "grid"), ValueError, "'centers' parameter"),
        (lambda: ritz.Nystrom("rbf", 5), TypeError, "'kernel' parameter must be a kernel"),
        (lambda: ritz.Nystrom(ritz.Gaussian(), centers=[1.0]), ValueError, "'centers' parameter"),
        (lambda: ritz.Nystrom(ritz.Gaussian(), centers=[[np.nan]]), ValueError, "'centers' param"),
        (lambda: ritz.RandomFourier(ritz.Gaussian(), 0), ValueError, "'n_features' parameter"),
        (lambda: ritz.RandomFourier(ritz.Polynomial(2), 5), ValueError, "'kernel' parameter"),
        (lambda: ritz.Monomials(0), ValueError, "'degree' parameter must be a positive integer"),
        (lambda: ritz.Stack(), TypeError, "'recipes' parameter"),
        (lambda: ritz.Functions([]), ValueError, "'callables' parameter"),
        (lambda: ritz.Functions([np.sum], gradients=[]), ValueError, "'gradients' parameter"),
    ],
)
def test_bad_arguments_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_the_number_of_centers_may_be_left_open_until_rows_are_seen():
    recipe = ritz.Nystrom(ritz.Gaussian())
    with pytest.raises(ValueError, match=r"'n_centers' parameter must be .*None.*ritz.decompose"):
        recipe.fit(cloud(20), 0)


# Random Fourier features

STATIONARY = {
    "gaussian": ritz.Gaussian(0.8),
    "gaussian ard": ritz.Gaussian((0.5, 1.5)),
    "exponential": ritz.Exponential(1.3),
    "exponential ard": ritz.Exponential((0.5, 1.5)),
    "matern 1.5": ritz.Matern(1.5, 0.7),
    "matern 2.5 ard": ritz.Matern(2.5, (0.5, 1.5)),
    "rational quadratic": ritz.RationalQuadratic(0.6, 1.1),
    "scaled": 3 * ritz.Gaussian(0.8),
    "sum": ritz.Gaussian(0.4) + 0.5 * ritz.Exponential(2.0),
    "product": ritz.Matern(1.5, 1.0) * ritz.Gaussian(1.5),
    "algebra": (ritz.Gaussian(0.5) + 2 * ritz.Matern(1.5, 1.0)) * ritz.RationalQuadratic(1.0, 2.0),
}


@pytest.mark.parametrize("name", STATIONARY)
def test_random_fourier_products_average_to_the_kernel(name):
    kernel, X = STATIONARY[name], cloud(12, seed=4)
    K = kernel(X, X)
    size = K[0, 0]

    def root_mean_square(p, seeds):
        gaps = [
            np.mean((F @ F.T - K) ** 2)
            for F in (ritz.RandomFourier(kernel, p).fit(X, seed)(X) for seed in seeds)
        ]
        return np.sqrt(np.mean(gaps))

    # A product 2 k(0) cos cos has variance at most 3/2 k(0)^2 (its square averages 3/2 at x = y).
    few, many = root_mean_square(100, range(100)), root_mean_square(1600, range(100, 130))
    assert few <= np.sqrt(1.5 / 100) * size
    assert few / many == pytest.approx(4.0, rel=0.15)
    # The mean over all draws, 48,000 frequencies, has no bias left above its own error.
    mean = np.mean(
        [
            F @ F.T
            for F in (ritz.RandomFourier(kernel, 1600).fit(X, seed)(X) for seed in range(100, 130))
        ],
        axis=0,
    )
    assert np.abs(mean - K).max() <= 5 * np.sqrt(1.5 / 48_000) * size


def test_random_fourier_needs_a_known_spectral_law():
    kernel = ritz.CustomKernel("distance", [lambda u: np.exp(-u)])
    with pytest.raises(ValueError, match=r"spectral law.*Use ritz\.Nystrom"):
        ritz.RandomFourier(kernel, 10)


def test_random_fourier_checks_the_number_of_length_scales():
    with pytest.raises(ValueError, match=r"'length_scale' parameter must be a number or 3"):
        ritz.RandomFourier(ritz.Gaussian((1.0, 2.0)), 10).fit(np.zeros((5, 3)))


# Polynomials


@pytest.mark.parametrize(("dimension", "degree"), [(1, 1), (1, 8), (2, 5), (3, 4), (5, 2)])
def test_monomials_have_the_dimension_of_polynomials(dimension, degree):
    X = cloud(400, dimension)
    basis = ritz.Monomials(degree).fit(X, 0)
    # All monomials but the constant.
    assert basis.size == comb(dimension + degree, degree) - 1
    values = np.column_stack([np.ones(400), basis(X)])
    assert np.linalg.matrix_rank(values) == basis.size + 1


def test_monomials_span_the_monomials():
    X = cloud(400) * [1.0, 30.0] + [0.0, 200.0]
    values = np.column_stack([np.ones(400), ritz.Monomials(3).fit(X, 0)(X)])
    x, y = X.T
    for target in (x**2 * y, x * y**2, y**3, x, x * y, np.ones(400)):
        solution = np.linalg.lstsq(values, target, rcond=None)[0]
        assert np.abs(values @ solution - target).max() <= 1e-10 * np.abs(target).max()
    outside = x**2 * y**2
    solution = np.linalg.lstsq(values, outside, rcond=None)[0]
    assert np.abs(values @ solution - outside).max() > 1e-3 * np.abs(outside).max()


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_monomials_are_well_conditioned(offset):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=4000), rng.uniform(size=4000)]) * [1.0, 5.0] + offset
    values = np.column_stack([np.ones(4000), ritz.Monomials(10).fit(X, 0)(X)])
    assert values.shape[1] == comb(12, 2)
    # Plain monomials have condition above 1e30 here.
    assert np.linalg.cond(values) < 1e3
    assert ((values**2).mean(axis=0) < 20).all()


def test_monomials_of_one_coordinate_are_orthonormal_even_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(3000, 1)) + 1e3
    values = np.column_stack([np.ones(3000), ritz.Monomials(10).fit(X, 0)(X)])
    assert np.abs(values.T @ values / 3000 - np.eye(11)).max() <= 1e-8


def test_monomials_do_not_depend_on_order_or_repetition():
    X = cloud(100)
    rng = np.random.default_rng(1)
    rows = rng.permutation(np.repeat(X, rng.integers(1, 5, 100), axis=0))
    assert np.array_equal(ritz.Monomials(3).fit(rows, 0)(X), ritz.Monomials(3).fit(X, 0)(X))


def test_a_constant_column_adds_no_function():
    X = np.column_stack([cloud(200, 1), np.full(200, 7.0)])
    basis = ritz.Monomials(4).fit(X, 0)
    assert basis.size == 4
    assert np.abs(basis(X) - ritz.Monomials(4).fit(X[:, :1], 0)(X[:, :1])).max() <= 1e-12
    # Off the constant, the functions do not move.
    moved = X + np.array([0.0, 3.0])
    assert np.array_equal(basis(moved), basis(X))
    assert (basis.gradient(moved)[:, 1] == 0.0).all()


def test_a_column_constant_up_to_rounding_adds_no_function():
    column = np.full(200, 0.1)
    column[::2] = np.nextafter(0.1, 1.0)
    X = np.column_stack([cloud(200, 1), column])
    basis = ritz.Monomials(3).fit(X, 0)
    assert np.abs(basis.gradient(X)).max() < 1e6
    values = ritz.decompose(ritz.laplacian(), ritz.Monomials(3), X, k=4, random_state=0).ritz_values
    alone = ritz.decompose(ritz.laplacian(), ritz.Monomials(3), X[:, :1], k=4, random_state=0)
    assert np.abs(values - alone.ritz_values).max() <= 1e-9 * alone.ritz_values.max()


def test_a_column_with_two_values_is_at_most_linear():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(2, size=200) * 3.0])
    basis = ritz.Monomials(3).fit(X, 0)
    # x, x^2, x^3 and their products with s of total degree up to three: s, x s, x^2 s.
    assert basis.size == 6
    values = np.column_stack([np.ones(200), basis(X)])
    assert np.linalg.matrix_rank(values) == 7
    x, s = X.T
    for target in (s, x * s, x**2 * s, s**2, x * s**2):
        solution = np.linalg.lstsq(values, target, rcond=None)[0]
        assert np.abs(values @ solution - target).max() <= 1e-10 * np.abs(target).max()


def test_constant_data_leave_no_polynomials_but_the_constant():
    X = np.full((50, 2), 3.0)
    basis = ritz.Monomials(2).fit(X, 0)
    assert basis.size == 0
    assert basis(X).shape == (50, 0)


# Stacks


def test_a_stack_holds_the_functions_of_its_parts():
    X = cloud()
    Y = cloud(5, seed=1)
    sections = ritz.KernelSections(ritz.Gaussian(), Y)
    stack = ritz.Stack(sections, ritz.Monomials(2), ritz.Nystrom(ritz.Exponential(), 4)).fit(X, 0)
    assert stack.size == 5 + 5 + 4
    assert np.array_equal(stack(X)[:, :5], sections(X))
    first, second, third = (part.gram_root() for part in stack.parts)
    assert np.array_equal(stack.gram_root()[:5, :5], first)
    assert np.array_equal(stack.gram_root()[5:10, 5:10], second)
    assert np.array_equal(stack.gram_root()[10:, 10:], third)
    assert not stack.gram_root()[:5, 5:].any()


def test_a_stack_of_other_dimensions_is_refused():
    parts = [ritz.KernelSections(ritz.Gaussian(), np.zeros((2, d))) for d in (1, 2)]
    with pytest.raises(ValueError, match="one dimension"):
        ritz.Stack(*parts).fit(cloud(), 0)


def test_some_sections_take_their_gram_matrix_from_all():
    X = np.random.default_rng(0).normal(size=(60, 2))
    basis = KernelSections(ritz.Gaussian(1.0), X[:20])
    which = np.arange(0, 20, 3)
    fresh = basis.pick(which)
    assert "gram" not in vars(fresh)
    _ = basis.gram
    some = basis.pick(which)
    assert "gram" in vars(some)
    np.testing.assert_allclose(some.gram, fresh.gram, rtol=0, atol=1e-15)
    L = np.diag(np.arange(1.0, 8.0))
    expected = 28.0 / np.trace(fresh.gram) * fresh.gram
    np.testing.assert_allclose(some.penalty(L), expected, rtol=1e-14)
