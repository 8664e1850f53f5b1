"""Error bars by the jackknife: they cover the truth as often as they say, group by group."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import t as student

import ritz
from ritz import datasets

RUNS = 100
FOLDS = 8
CENTERS = np.linspace(-2, 2, 5)[:, None]

CASES = {
    "gaussian": (datasets.gaussian(), ritz.Monomials(3), 3),
    "interval": (datasets.cube(), ritz.Nystrom(ritz.Gaussian(0.5), 15), 4),
    "circle": (datasets.circle(), ritz.Monomials(3), 7),
    "circle, kernel": (datasets.circle(), ritz.Nystrom(ritz.Gaussian(1.0), 20), 7),
}


@cache
def runs(name, n=2000):
    problem, basis, k = CASES[name]
    form = ritz.laplacian(problem.tangent)
    return [
        ritz.decompose(
            form, basis, problem.sample(n, seed), k, random_state=seed, n_folds=FOLDS, n_jobs=1
        )
        for seed in range(RUNS)
    ]


@pytest.mark.parametrize("name", CASES)
def test_intervals_of_group_means_cover_the_truth(name):
    """Each group's 95% interval holds the mean of its members' true values 90% of the time."""
    problem, _, k = CASES[name]
    truth = problem.eigenvalues(k)
    quantile = student.ppf(0.975, FOLDS - 1)
    hits = []
    for found in runs(name):
        # The constant is a group by itself, without error.
        assert (found.groups == 0).sum() == 1
        assert found.errors[0] == 0.0
        for number in range(1, found.groups[-1] + 1):
            members = found.groups == number
            mean, error = found.values[members][0], found.errors[members][0]
            assert (found.values[members] == mean).all()
            assert (found.errors[members] == error).all()
            hits.append(abs(mean - truth[members].mean()) <= quantile * error)
    assert 0.9 <= np.mean(hits) <= 1.0, np.mean(hits)


@pytest.mark.parametrize("name", ["gaussian", "interval"])
def test_errors_have_the_size_of_the_scatter(name):
    """Over runs, the root mean square of simple values' errors is their standard deviation."""
    found = runs(name)
    scatter = np.std([f.values[1:3] for f in found], axis=0, ddof=1)
    stated = np.sqrt(np.mean([f.errors[1:3] ** 2 for f in found], axis=0))
    np.testing.assert_allclose(stated, scatter, rtol=0.25)


def rounded(rng):
    return np.round(2 * rng.normal(size=(4000, 1))) / 2


def counts(rng):
    return rng.poisson([3.0, 8.0], size=(4000, 2)).astype(float)


def paired_counts(rng):
    shared, own = rng.poisson([5.0, 3.0], size=(4000, 2)).astype(float).T
    return shared[:, None], (shared + own)[:, None]


@pytest.mark.parametrize(
    ("draw", "form", "basis"),
    [
        (rounded, ritz.laplacian(), ritz.Monomials(3)),
        (rounded, ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(2.0), centers=CENTERS)),
        (counts, ritz.laplacian(), ritz.Monomials(2)),
        (paired_counts, ritz.cross(), ritz.Monomials(2)),
    ],
    ids=["rounded", "rounded, kernel", "counts", "pairs of counts"],
)
def test_errors_of_rounded_and_count_data_have_the_size_of_the_scatter(draw, form, basis):
    """Equal rows do not share a fold, where the data have few different rows."""
    found = [
        ritz.decompose(form, basis, draw(np.random.default_rng(seed)), 3, random_state=seed)
        for seed in range(60)
    ]
    scatter = np.std([f.values[1:] for f in found], axis=0, ddof=1)
    stated = np.sqrt(np.mean([f.errors[1:] ** 2 for f in found], axis=0))
    assert (stated / scatter).min() > 0.6
    assert (stated / scatter).max() < 1.7


def test_values_of_repeated_rows_do_not_depend_on_the_order_of_rows():
    X = counts(np.random.default_rng(0))
    found = [
        ritz.decompose(ritz.laplacian(), ritz.Monomials(2), Z, 5, random_state=0)
        for Z in (X, X[::-1], X[np.argsort(X[:, 0])])
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other.ritz_values, found[0].ritz_values, rtol=1e-9, atol=1e-12)
        assert (other.errors[1:] / found[0].errors[1:]).min() > 0.2
        assert (other.errors[1:] / found[0].errors[1:]).max() < 5


@pytest.mark.parametrize("name", ["circle", "circle, kernel"])
def test_pairs_are_seldom_split(name):
    """Two equal values are separated no more often than their level allows."""
    right = [np.bincount(found.groups).tolist() == [1, 2, 2, 2] for found in runs(name)]
    assert np.mean(right) >= 0.9, np.mean(right)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("problem", "basis", "multiplicities"),
    [
        (datasets.circle(), ritz.Monomials(3), [1, 2, 2, 2]),
        (datasets.circle(), ritz.Nystrom(ritz.Gaussian(1.0), 50), [1, 2, 2, 2]),
        (datasets.sphere(3), ritz.Monomials(3), [1, 3, 5, 7]),
        (datasets.sphere(3), ritz.Nystrom(ritz.Gaussian(1.0), 100), [1, 3, 5, 7]),
    ],
    ids=["circle", "circle, kernel", "sphere", "sphere, kernel"],
)
def test_groups_are_the_multiplicities(problem, basis, multiplicities, seed):
    X = problem.sample(20_000, random_state=seed)
    k = sum(multiplicities)
    found = ritz.decompose(ritz.laplacian(problem.tangent), basis, X, k, random_state=0)
    assert np.bincount(found.groups).tolist() == multiplicities
    truth = problem.eigenvalues(k)
    # Means over eigenspaces are far better than their members.
    np.testing.assert_allclose(found.values, truth, rtol=5e-3)
    off, single = np.abs(found.values - truth), np.abs(found.ritz_values - truth)
    assert single[1:].max() > 2 * off.max()


def test_errors_shrink_as_samples_grow():
    problem, basis, k = CASES["interval"]
    sizes = [1000, 4000, 16_000]
    errors = [
        np.mean(
            [
                np.log(
                    ritz.decompose(
                        ritz.laplacian(), basis, problem.sample(n, s), k, random_state=s
                    ).errors[1:]
                )
                for s in range(15)
            ]
        )
        for n in sizes
    ]
    assert abs(np.polyfit(np.log(sizes), errors, 1)[0] + 0.5) < 0.1


@pytest.mark.parametrize("n_folds", [1, 2])
def test_too_few_folds_have_no_errors(n_folds):
    X = datasets.circle().sample(2000, random_state=0)
    form = ritz.laplacian(datasets.circle().tangent)
    found = ritz.decompose(form, ritz.Monomials(3), X, 5, n_folds=n_folds, random_state=0)
    assert found.errors is None
    assert found.group_confidence is None
    # Without errors only equal values make a group.
    assert found.groups.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(found.ritz_values, found.values)
    assert "error" in str(found)


def test_folds_do_not_change_the_functions():
    X = datasets.circle().sample(3000, random_state=0)
    form = ritz.laplacian(datasets.circle().tangent)
    many, one = (
        ritz.decompose(form, ritz.Monomials(3), X, 5, n_folds=m, random_state=0) for m in (8, 1)
    )
    np.testing.assert_allclose(many.ritz_values, one.ritz_values, rtol=1e-11)
    np.testing.assert_array_equal(one.values, one.ritz_values)
    assert one.heldout_values is None


def test_errors_do_not_depend_on_the_order_of_rows():
    X = datasets.gaussian(2).sample(3000, random_state=0)
    found = [
        ritz.decompose(ritz.laplacian(), ritz.Monomials(2), Z, 5, random_state=0)
        for Z in (X, X[::-1], X[np.argsort(X[:, 0])])
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other.errors, found[0].errors, rtol=1e-8)


def test_groups_of_rows_share_a_fold():
    """Rows repeated m times under one label make errors sqrt(m) larger than their number says."""
    X = datasets.cube().sample(4000, random_state=0)
    basis = ritz.Nystrom(ritz.Gaussian(0.5), 15)
    rng = np.random.default_rng(0)
    nearly = np.repeat(X, 4, axis=0) + 1e-9 * rng.standard_normal((16_000, 1))
    labels = np.repeat(np.arange(4000), 4)
    honest, alone, grouped = (
        ritz.decompose(ritz.laplacian(), basis, Z, 4, groups=g, random_state=0, n_folds=20).errors[
            1:
        ]
        for Z, g in ((X, None), (nearly, None), (nearly, labels))
    )
    assert 0.6 < np.exp(np.log(grouped / honest).mean()) < 1.6
    assert 0.3 < np.exp(np.log(alone / honest).mean()) < 0.75


def test_singular_values_have_errors():
    problem = datasets.gaussian_pair(0.6)
    quantile = student.ppf(0.975, FOLDS - 1)
    hits = []
    for seed in range(50):
        found = ritz.decompose(
            ritz.cross(), ritz.Monomials(2), problem.sample(2000, seed), 3, random_state=seed
        )
        assert found.errors[0] == 0.0
        hits.append(abs(found.values[1] - 0.6) <= quantile * found.errors[1])
    assert np.mean(hits) >= 0.9


@pytest.mark.parametrize("seed", [63, 68, 76, 98, 258, 270])
def test_a_few_pairs_have_errors_or_none(seed):
    """Functions that differ on the rows of one fold alone are rounding without it."""
    rng = np.random.default_rng(seed)
    n, p, d = int(rng.integers(6, 40)), int(rng.integers(2, 60)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d))
    Y = X + 0.3 * rng.normal(size=(n, d))
    kernel = [ritz.Gaussian(1.0), ritz.Exponential(1.0), ritz.Gaussian(5.0), ritz.Polynomial(3)]
    basis = ritz.Nystrom(kernel[seed % 4], min(n, p))
    found = ritz.decompose(ritz.cross(), basis, (X, Y), int(rng.integers(1, n)), random_state=0)
    assert found.errors is None or np.isfinite(found.errors).all()
