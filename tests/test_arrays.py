"""Rows: hashes that follow the numbers alone, choices by hash, distances, finiteness."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import chi2

from ritz import arrays
from ritz.arrays import (
    as_rows,
    drawn,
    hash_rows,
    lowest_hashed,
    require_finite,
    squared_distances,
)

EPS = np.finfo(np.float64).eps


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def assert_even(labels, parts):
    """Labels are as even over the parts as chance allows: chi-squared, one in a million."""
    counts = np.bincount(labels, minlength=parts)
    expected = len(labels) / parts
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-6, parts - 1)


# Hashes


def test_equal_rows_have_equal_hashes_wherever_they_stand():
    X = normal(50, 3)
    hashes = hash_rows(X)
    assert len(np.unique(hashes)) == 50
    order = np.random.default_rng(1).permutation(50)
    np.testing.assert_array_equal(hash_rows(np.concatenate([X, X[order]]))[50:], hashes[order])
    np.testing.assert_array_equal([hash_rows(row[None])[0] for row in X], hashes)


def test_the_hash_does_not_see_layout_or_type():
    X = np.round(normal(40, 3), 2).astype(np.float32)
    hashes = hash_rows(X.astype(np.float64))
    wide = np.zeros((40, 6), dtype=np.float32)
    wide[:, ::2] = X
    for same in (X, np.asfortranarray(X), wide[:, ::2], X.astype(np.longdouble)):
        np.testing.assert_array_equal(hash_rows(same), hashes)
    whole = np.arange(12).reshape(6, 2)
    np.testing.assert_array_equal(hash_rows(whole), hash_rows(whole.astype(np.float64)))


def test_negative_zero_is_zero():
    np.testing.assert_array_equal(hash_rows(np.array([[-0.0, 1.0]])), hash_rows([[0.0, 1.0]]))


def test_the_order_of_columns_and_of_views_matters():
    X, Y = normal(50, 2), normal(50, 2, seed=1)
    assert (hash_rows(X) != hash_rows(X[:, ::-1])).all()
    assert (hash_rows(X, Y) != hash_rows(Y, X)).all()
    assert (hash_rows(X, Y) != hash_rows(X)).all()


def test_the_smallest_change_changes_the_hash():
    X = normal(200, 3)
    for column in range(3):
        Z = X.copy()
        Z[:, column] = np.nextafter(Z[:, column], np.inf)
        assert (hash_rows(X) != hash_rows(Z)).all()


def test_no_rows_have_no_hashes():
    assert hash_rows(np.empty((0, 3))).shape == (0,)
    assert hash_rows(np.empty(0)).shape == (0,)


STRUCTURED = {
    "normal": normal(20_000, 3),
    "sorted": np.sort(normal(20_000, 1), axis=0),
    "integers": np.arange(20_000.0)[:, None],
    "grid": np.stack(np.meshgrid(np.arange(200.0), np.arange(100.0)), axis=-1).reshape(-1, 2),
    "grid of halves": np.stack(np.meshgrid(np.arange(200) / 2, np.arange(100) / 2), -1).reshape(
        -1, 2
    ),
    "constant columns": np.column_stack(
        [np.zeros(20_000), np.linspace(0, 1, 20_000), np.ones(20_000)]
    ),
    "bits": (np.arange(16_384)[:, None] >> np.arange(14) & 1).astype(float),
    "powers of two": 2.0 ** np.arange(-1000, 1000)[:, None],
    "far away": 1e9 + np.arange(20_000.0)[:, None],
}


@pytest.mark.parametrize("parts", [2, 3, 5, 8, 16, 100])
@pytest.mark.parametrize("data", STRUCTURED)
def test_hashes_spread_structured_rows_evenly_over_folds(data, parts):
    hashes = hash_rows(STRUCTURED[data])
    assert len(np.unique(hashes)) == len(hashes)
    assert_even((hashes % np.uint64(parts)).astype(int), parts)


def test_neighbors_on_a_grid_fall_in_independent_folds():
    folds = (hash_rows(np.arange(40_000.0)[:, None]) % np.uint64(8)).astype(int)
    assert_even(8 * folds[0::2] + folds[1::2], 64)


# Choosing rows by their hash


def test_the_choice_depends_on_the_set_of_rows_alone():
    rng = np.random.default_rng(0)
    X = np.round(normal(1000, 2), 3)
    chosen = X[lowest_hashed(X, 100, seed=5)]
    for other in (
        X[rng.permutation(1000)],
        np.sort(X.view("f8,f8"), axis=0).view(np.float64),
        np.concatenate([X, X, X]),
        X[np.concatenate([np.arange(1000), rng.integers(1000, size=5000)])],
    ):
        np.testing.assert_array_equal(other[lowest_hashed(other, 100, seed=5)], chosen)


def test_a_smaller_choice_is_a_prefix():
    X = normal(500, 3)
    whole = lowest_hashed(X, 500, seed=0)
    np.testing.assert_array_equal(np.sort(whole), np.arange(500))
    for m in (1, 2, 63, 64, 65, 200, 499):
        np.testing.assert_array_equal(lowest_hashed(X, m, seed=0), whole[:m])


@pytest.mark.parametrize("copies", [1, 3, 1000])
def test_the_rows_chosen_are_distinct(copies):
    X = np.repeat(normal(30, 2), copies, axis=0)
    for m in (5, 30, 10_000):
        chosen = X[lowest_hashed(X, m, seed=1)]
        assert len(np.unique(chosen, axis=0)) == len(chosen) == min(m, 30)


def test_few_distinct_rows_among_many_copies_are_all_found():
    heavy, rare = np.zeros((50_000, 2)), normal(20, 2)
    X = np.concatenate([heavy[:25_000], rare, heavy[25_000:]])
    chosen = X[lowest_hashed(X, 21, seed=3)]
    assert {tuple(row) for row in chosen} == {(0.0, 0.0), *map(tuple, rare)}


def test_zeros_of_either_sign_are_one_row():
    assert len(lowest_hashed(np.array([[0.0], [-0.0], [1.0]]), 3, seed=0)) == 2


@pytest.mark.parametrize("data", ["normal", "integers", "constant columns"])
def test_every_row_is_as_likely_and_seeds_differ(data):
    X = STRUCTURED[data][:50]
    draws = [lowest_hashed(X, 10, seed) for seed in range(2000)]
    assert len({tuple(draw) for draw in draws}) == 2000
    share = np.bincount(np.concatenate(draws), minlength=50) / 2000
    assert np.abs(share - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 2000)
    # The first row chosen is uniform by itself.
    assert_even(np.array([draw[0] for draw in draws]), 50)


@pytest.mark.parametrize("data", ["normal", "integers"])
def test_the_choice_is_independent_of_the_folds(data):
    X = STRUCTURED[data]
    chosen = lowest_hashed(X, 4000, seed=0)
    assert_even((hash_rows(X[chosen]) % np.uint64(8)).astype(int), 8)


# Distances


@pytest.mark.parametrize("exact_near", [False, True])
@pytest.mark.parametrize("d", [1, 2, 10])
def test_distances_are_those_of_scipy(d, exact_near):
    X, Y = normal(60, d), normal(40, d, seed=1)
    found = squared_distances(X, Y, exact_near=exact_near)
    assert found.shape == (60, 40)
    size = (X**2).sum(axis=1).max() + (Y**2).sum(axis=1).max()
    np.testing.assert_allclose(found, cdist(X, Y, "sqeuclidean"), rtol=0, atol=8 * EPS * size)


@pytest.mark.parametrize("offset", [2.0**10, 2.0**20, 2.0**30])
def test_nothing_is_lost_far_from_the_origin(offset):
    # Multiples of 1/1024, so that adding the offset rounds nothing.
    X, Y = np.round(normal(60, 3) * 1024) / 1024, np.round(normal(40, 3, seed=1) * 1024) / 1024
    size = (X**2).sum(axis=1).max() + (Y**2).sum(axis=1).max()
    truth = cdist(X, Y, "sqeuclidean")
    for exact_near in (False, True):
        found = squared_distances(X + offset, Y + offset, exact_near=exact_near)
        np.testing.assert_allclose(found, truth, rtol=0, atol=16 * EPS * size)


@pytest.mark.parametrize("offset", [0.0, 100.0, 1e6])
def test_own_centers_are_at_distance_zero_exactly(offset):
    X = normal(300, 4) + offset
    own = squared_distances(X, X[:100], exact_near=True)
    np.testing.assert_array_equal(np.diag(own), 0.0)
    assert (own[np.nonzero(~np.eye(300, 100, dtype=bool))] > 0).all()


def test_distances_are_never_negative():
    X = normal(200, 3) + 1e3
    assert squared_distances(X, X + 1e-13).min() >= 0


@pytest.mark.parametrize("offset", [0.0, 3.0, 1e4])
@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6, 1e-9])
def test_near_pairs_keep_their_digits(gap, offset):
    Y = normal(50, 3) + offset
    X = Y + gap * normal(50, 3, seed=1)
    found = squared_distances(X, Y, exact_near=True)
    np.testing.assert_allclose(found, cdist(X, Y, "sqeuclidean"), rtol=1e-12)


# Checks


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_bad_entry_is_named(value):
    X = normal(30, 4)
    X[17, 2] = X[20, 0] = value
    with pytest.raises(ValueError, match=rf"'X'.* {value} in row 17, column 2 \(2 such entries\)"):
        require_finite(X, "X")
    with pytest.raises(ValueError, match=r"row 1017, column 2"):
        require_finite(X, "X", first_row=1000)
    with pytest.raises(ValueError, match=r"'w'.* in row 17 \("):
        require_finite(X[:, 2], "w")


def test_infinities_that_cancel_are_found():
    with pytest.raises(ValueError, match="row 1, column 0"):
        require_finite(np.array([[0.0], [np.inf], [-np.inf]]), "X")


def test_finite_entries_whose_sum_overflows_are_finite():
    X = np.full((10, 10), 1.7e308)
    require_finite(X, "X")
    require_finite(X * np.sign(normal(10, 10)), "X")
    np.testing.assert_array_equal(as_rows(X), X)
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match=r"nan in row 3, column 4 \(1 such"):
        require_finite(X, "X")


def test_nothing_is_finite():
    require_finite(np.empty((0, 3)), "X")


def test_the_hash_is_splitmix64_of_the_bits_one_number_after_the_other():
    X = np.random.default_rng(0).normal(size=(1000, 5)) ** 9
    X[::3, 1], X[::4, 2], X[::5, 3], X[7, 4] = -0.0, 0.0, 5e-324, -1e308
    keys = np.zeros(len(X), dtype=np.uint64)
    # Adding zero turns -0.0 into 0.0.
    for column in (X + 0.0).view(np.uint64).T:
        keys = arrays.mix((keys ^ column) + np.uint64(0x9E3779B97F4A7C15))
    np.testing.assert_array_equal(hash_rows(X), keys)


@pytest.mark.parametrize("copies", [1, 3, 40])
def test_the_first_of_equal_priorities_stands_for_all(copies):
    rng = np.random.default_rng(0)
    pool = rng.integers(2**64, size=40_000 // copies, dtype=np.uint64)
    priority = pool[rng.integers(len(pool), size=40_000)]
    priority[rng.integers(40_000, size=20_000)] = pool.min()
    values, first = np.unique(priority, return_index=True)
    for m in (1, 100, 3000, 12_000, 50_000):
        np.testing.assert_array_equal(arrays.lowest(priority, m), first[:m])
        assert len(arrays.lowest(priority, m)) == min(m, len(values))


def test_views_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="as many rows"):
        hash_rows(normal(5, 2), normal(4, 2))


@pytest.mark.parametrize("seed", [0, 7, True, np.int64(3), 2**70])
def test_numbers_drawn_are_those_of_a_generator(seed):
    for count in (1, 3, 3):
        expected = np.random.default_rng(seed).integers(2**63, size=count).tolist()
        assert drawn(seed, count) == tuple(expected)
        assert drawn(np.random.default_rng(seed), count) == tuple(expected)


def test_a_generator_goes_on_and_no_seed_is_a_new_one():
    rng = np.random.default_rng(0)
    assert drawn(rng, 2) + drawn(rng, 1) == drawn(0, 3)
    assert drawn(None, 1) != drawn(None, 1)
