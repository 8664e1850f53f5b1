"""Rows: hashes that follow from the numbers alone, and random choices that follow from them."""

import numpy as np
import pytest
from scipy.stats import chi2

from ritz.rows import Block, hash_rows, lowest_distinct, random_integers, row_slices, sample_rows


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
    below, above = np.array([[-0.0, 1.0]]), np.array([[0.0, 1.0]])
    np.testing.assert_array_equal(hash_rows(below), hash_rows(above))


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
    chosen = X[sample_rows(X, 100, seed=5)]
    for other in (
        X[rng.permutation(1000)],
        np.sort(X.view("f8,f8"), axis=0).view(np.float64),
        np.concatenate([X, X, X]),
        X[np.concatenate([np.arange(1000), rng.integers(1000, size=5000)])],
    ):
        np.testing.assert_array_equal(other[sample_rows(other, 100, seed=5)], chosen)


def test_a_smaller_choice_is_a_prefix():
    X = normal(500, 3)
    whole = sample_rows(X, 500, seed=0)
    np.testing.assert_array_equal(np.sort(whole), np.arange(500))
    for m in (1, 2, 63, 64, 65, 200, 499):
        np.testing.assert_array_equal(sample_rows(X, m, seed=0), whole[:m])


@pytest.mark.parametrize("copies", [1, 3, 1000])
def test_the_rows_chosen_are_distinct(copies):
    X = np.repeat(normal(30, 2), copies, axis=0)
    for m in (5, 30, 10_000):
        chosen = X[sample_rows(X, m, seed=1)]
        assert len(np.unique(chosen, axis=0)) == len(chosen) == min(m, 30)


def test_few_distinct_rows_among_many_copies_are_all_found():
    heavy, rare = np.zeros((50_000, 2)), normal(20, 2)
    X = np.concatenate([heavy[:25_000], rare, heavy[25_000:]])
    chosen = X[sample_rows(X, 21, seed=3)]
    assert {tuple(row) for row in chosen} == {(0.0, 0.0), *map(tuple, rare)}


def test_zeros_of_either_sign_are_one_row():
    assert len(sample_rows(np.array([[0.0], [-0.0], [1.0]]), 3, seed=0)) == 2


@pytest.mark.parametrize("data", ["normal", "integers", "constant columns"])
def test_every_row_is_as_likely_and_seeds_differ(data):
    X = STRUCTURED[data][:50]
    draws = [sample_rows(X, 10, seed) for seed in range(2000)]
    assert len({tuple(draw) for draw in draws}) == 2000
    share = np.bincount(np.concatenate(draws), minlength=50) / 2000
    assert np.abs(share - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 2000)
    # The first row chosen is uniform by itself.
    assert_even(np.array([draw[0] for draw in draws]), 50)


@pytest.mark.parametrize("data", ["normal", "integers"])
def test_the_choice_is_independent_of_the_folds(data):
    X = STRUCTURED[data]
    chosen = sample_rows(X, 4000, seed=0)
    assert_even((hash_rows(X[chosen]) % np.uint64(8)).astype(int), 8)


@pytest.mark.parametrize("copies", [1, 3, 40])
def test_the_first_of_equal_priorities_stands_for_all(copies):
    rng = np.random.default_rng(0)
    pool = rng.integers(2**64, size=40_000 // copies, dtype=np.uint64)
    priority = pool[rng.integers(len(pool), size=40_000)]
    priority[rng.integers(40_000, size=20_000)] = pool.min()
    values, first = np.unique(priority, return_index=True)
    for m in (1, 100, 3000, 12_000, 50_000):
        np.testing.assert_array_equal(lowest_distinct(priority, m), first[:m])
        assert len(lowest_distinct(priority, m)) == min(m, len(values))


def test_views_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="as many rows"):
        hash_rows(normal(5, 2), normal(4, 2))


@pytest.mark.parametrize("seed", [0, 7, True, np.int64(3), 2**70])
def test_numbers_drawn_are_those_of_a_generator(seed):
    for count in (1, 3, 3):
        expected = np.random.default_rng(seed).integers(2**63, size=count).tolist()
        assert random_integers(seed, count) == tuple(expected)
        assert random_integers(np.random.default_rng(seed), count) == tuple(expected)


def test_a_generator_goes_on_and_no_seed_is_a_new_one():
    rng = np.random.default_rng(0)
    assert random_integers(rng, 2) + random_integers(rng, 1) == random_integers(0, 3)
    assert random_integers(None, 1) != random_integers(None, 1)


# Blocks


def test_a_block_of_some_rows_keeps_all_that_belongs_to_them():
    X, Y = normal(10, 2), normal(10, 3, seed=1)
    block = Block((X, Y), np.arange(10.0), np.arange(100, 110), np.arange(10) // 2)
    mask = np.arange(10) % 3 == 0
    for rows in (mask, np.flatnonzero(mask)):
        some = block.take(rows)
        assert len(some) == 4
        np.testing.assert_array_equal(some.views[0], X[mask])
        np.testing.assert_array_equal(some.views[1], Y[mask])
        np.testing.assert_array_equal(some.weight, [0.0, 3.0, 6.0, 9.0])
        np.testing.assert_array_equal(some.index, [100, 103, 106, 109])
        np.testing.assert_array_equal(some.groups, [0, 1, 3, 4])


@pytest.mark.parametrize(("n", "rows"), [(0, 5), (4, 5), (5, 5), (11, 5)])
def test_slices_hold_every_row_once(n, rows):
    slices = row_slices(n, rows)
    numbers = np.arange(n)
    assert [i for some in slices for i in numbers[some]] == list(numbers)
    assert all(0 < len(numbers[some]) <= rows for some in slices)
