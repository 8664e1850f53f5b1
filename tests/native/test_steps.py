"""Compiled steps against their formulas."""

import numpy as np
import pytest

from ritz import native

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("folds", [1, 2, 7, 8, 100])
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_rows_by_remainder_are_in_order(folds, n):
    keys = RNG.integers(2**64, size=n, dtype=np.uint64)
    order, ends = np.empty(n, dtype=np.int64), np.empty(folds + 1, dtype=np.int64)
    native.by_remainder(keys, order, ends)
    which = (keys % np.uint64(folds)).astype(np.int64)
    np.testing.assert_array_equal(order, which.argsort(kind="stable"))
    np.testing.assert_array_equal(np.diff(ends), np.bincount(which, minlength=folds))
    assert ends[0] == 0


def lowest(priority, m):
    places = np.empty(min(m, len(priority)), dtype=np.int64)
    return places[: native.lowest(priority, m, places)]


@pytest.mark.parametrize("n", [0, 1, 5, 1000, 100_000])
@pytest.mark.parametrize("m", [0, 1, 5, 64, 5000])
@pytest.mark.parametrize("high", [2**64 - 1, 2**40, 300, 1])
def test_the_lowest_different_ones_are_found(n, m, high):
    """Priorities spread over all numbers, as hashes are, and others."""
    priority = RNG.integers(high, size=n, dtype=np.uint64, endpoint=True)
    _, first = np.unique(priority, return_index=True)
    np.testing.assert_array_equal(lowest(priority, m), first[:m])


def test_the_highest_hash_of_all_is_one_like_others():
    priority = np.array([2**64 - 1, 3, 2**64 - 1, 3], dtype=np.uint64)
    np.testing.assert_array_equal(lowest(priority, 4), [1, 0])


def test_squares_by_products_and_by_differences():
    X, Y = RNG.normal(size=(7, 40)), RNG.normal(size=(5, 40))
    X[2] = Y[1]
    X[3] = Y[1] + 1e-9
    exact = ((X[:, None] - Y) ** 2).sum(axis=2)
    S = -2 * X @ Y.T
    native.squares(S, X, Y, (X**2).sum(axis=1), (Y**2).sum(axis=1))
    np.testing.assert_allclose(S, exact, rtol=1e-13, atol=0)
    S = np.empty((7, 5))
    native.differences(7, 5, X, np.ascontiguousarray(Y.T), S)
    np.testing.assert_allclose(S, exact, rtol=1e-13, atol=0)


def test_lengths_that_overflow_are_far_apart():
    X, Y = np.array([[1e200], [1.0]]), np.array([[-1e200], [1.0]])
    with np.errstate(over="ignore"):
        x2, y2, S = (X**2).ravel(), (Y**2).ravel(), -2 * X @ Y.T
    native.squares(S, X, Y, x2, y2)
    np.testing.assert_array_equal(S, [[np.inf, np.inf], [np.inf, 0.0]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lower", [False, True])
def test_what_is_emptied_is_added_to_the_total(dtype, lower):
    some, total = RNG.normal(size=(4, 4)).astype(dtype), RNG.normal(size=(4, 4))
    part = np.tril(some) if lower else some
    rest, expected = some - part, total + part
    native.empty_into(4, int(lower), some, total)
    np.testing.assert_array_equal(total, expected)
    np.testing.assert_array_equal(some, rest)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_added(dtype):
    A, B = RNG.normal(size=(9, 3)).astype(dtype), RNG.normal(size=(9, 5)).astype(dtype)
    start = RNG.normal(size=(3, 5)).astype(dtype)
    C = start.copy()
    native.add_product(3, 5, 0.5, C, A, B)
    np.testing.assert_allclose(
        C, start + 0.5 * A.T @ B, rtol=1e-5 if dtype == np.float32 else 1e-13
    )
    C = np.zeros((3, 3), dtype)
    native.add_product(3, 3, 2.0, C, A, None)
    np.testing.assert_allclose(np.tril(C), np.tril(2 * A.T @ A), rtol=1e-5, atol=1e-12)
    assert not np.triu(C, 1).any()


def test_matrices_are_joined_by_the_formula():
    folds, p = 3, 37
    V, E, M = (
        RNG.normal(size=(folds, p, p)),
        RNG.normal(size=(p, p)),
        RNG.normal(size=(folds, p, p)),
    )
    V, E = V + V.transpose(0, 2, 1), E + E.T
    h, s, c, unit = (
        RNG.normal(size=(folds, p)),
        RNG.normal(size=(folds, p)),
        RNG.normal(size=p),
        0.3,
    )

    def with_transposed(outer):
        return outer + outer.transpose(0, 2, 1)

    T = V + with_transposed(h[:, :, None] * c)
    expected = (unit * with_transposed(M + s[:, :, None] * c) - E * T) / 2
    native.join_distances(unit, V, h, M, s, E, c)
    np.testing.assert_allclose(M, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(M, M.transpose(0, 2, 1))
