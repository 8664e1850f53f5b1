"""Errors about streams: batches that are not arrays of rows, or cannot be read twice."""

import pickle
from functools import partial
from itertools import repeat

import numpy as np
import pytest

import ritz
from tests.bad_input import (
    LAPLACIAN,
    QUADRATIC,
    SECTIONS,
    X_WITH_NAN,
    D,
    N,
    X,
    Y,
    decompose,
    raises,
)

STREAMS = {
    "iterator of nothing": (lambda: ritz.Batches(iter([])), ("'source'", "nonempty")),
    "number": (lambda: ritz.Batches(3), ("'source'", "list", "3")),
    "views": (lambda: ritz.Batches([X], views=3), ("'views'", "1 or 2", "3")),
    "one array": (lambda: ritz.Batches(X), ("batch 0", "(n, d)", "(2,)")),
    "not finite": (
        lambda: ritz.Batches([X, X_WITH_NAN]),
        ("batch 1", "finite", "nan in row 18, column 1", "SimpleImputer"),
    ),
    "columns": (lambda: ritz.Batches([X, X[:, :1]]), ("batch 1", "2 columns", "1 columns")),
    "columns later": (
        lambda: ritz.Batches([X[:0], X, X[:0], X, np.ones((4, 3))]),
        ("batch 4", "2 columns", "3 columns"),
    ),
    "nothing": (lambda: ritz.Batches([]), ("'source'", "nonempty")),
    "empty": (lambda: ritz.Batches([X[:0], X[:0]]), ("'source'", "nonempty")),
    "one row": (lambda: ritz.Batches([X[:1]]), ("at least 2 rows", "1")),
    "no weights": (lambda: ritz.Batches([X], weighted=True), ("batch 0", "2 arrays", "ndarray")),
    "pairs not asked for": (lambda: ritz.Batches([(X, Y)]), ("batch 0", "(n, d)")),
    "an iterator in a function": (
        lambda: ritz.Batches(partial(next, iter([iter([X, X])] * 9))),
        ("'source'", "fresh iterator"),
    ),
    "the same iterator again": (
        lambda: ritz.Batches(partial(next, repeat(iter([X, X])))),
        ("'source'", "fresh iterator at each call", "the same iterator again"),
    ),
    "a function of nothing": (lambda: ritz.Batches(lambda: None), ("'source'", "iterator", "None")),
}


@pytest.mark.parametrize("case", STREAMS)
def test_a_stream_must_yield_arrays_of_rows_each_time_it_is_read(case):
    make, words = STREAMS[case]
    with raises(*words):
        decompose(LAPLACIAN, QUADRATIC, make())


def test_an_iterator_that_comes_again_loses_no_rows():
    left = ritz.assemble(LAPLACIAN, QUADRATIC, X).left
    again = iter([X[:100], X[100:]])
    with raises("'source'", "fresh iterator at each call"):
        ritz.assemble(LAPLACIAN, left, ritz.Batches(lambda: again))
    # A list may come again.
    parts = [X[:100], X[100:]]
    assert ritz.assemble(LAPLACIAN, left, ritz.Batches(lambda: parts)).n_rows == N


def test_a_function_of_batches_that_was_read_is_pickled_without_its_iterator():
    stream = ritz.Batches(partial(map, np.asarray, [X]))
    assert stream.dimensions == (D,)
    assert pickle.loads(pickle.dumps(stream)).head(N).tolist() == X.tolist()


def test_batches_of_pairs_must_be_aligned():
    with raises("batch 1", "aligned", "300 and 5"):
        decompose(ritz.cross(), QUADRATIC, ritz.Batches([(X, Y), (X, Y[:5])], views=2))


def test_weights_and_groups_of_a_stream_come_with_its_batches():
    for labels in ({"sample_weight": np.ones(N)}, {"groups": np.ones(N)}):
        with raises(*labels, "ritz.Batches", "weighted=True"):
            decompose(LAPLACIAN, QUADRATIC, ritz.Batches([X]), **labels)


def test_an_operator_on_all_rows_refuses_a_stream():
    with raises("graph(weights)", "X must be an array", "Batches", "one NumPy array"):
        decompose(ritz.graph(ritz.Gaussian()), QUADRATIC, ritz.Batches([X]))


def test_neighbors_of_a_stream_are_those_of_its_rows():
    form = ritz.neighbors(3)
    found = decompose(form, QUADRATIC, ritz.Batches([X[:100], X[100:]]))
    expected = decompose(form, QUADRATIC, X)
    np.testing.assert_allclose(found.ritz_values, expected.ritz_values, rtol=1e-9, atol=1e-12)


def test_empty_batches_change_nothing():
    whole = decompose(LAPLACIAN, SECTIONS, X)
    empty = np.empty((0, D))
    for batches in ([empty, X, empty], [X[:7], empty, empty, X[7:]], [np.empty((0, 5)), X]):
        found = decompose(LAPLACIAN, SECTIONS, ritz.Batches(batches))
        np.testing.assert_allclose(found.ritz_values, whole.ritz_values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("length", [3, N + 1])
def test_a_field_given_as_an_array_must_have_the_rows_of_the_stream(length):
    stream = ritz.Batches([X[:100], X[100:]])
    with raises("'V'", "rows", str(length)):
        decompose(LAPLACIAN + ritz.potential(np.ones(length)), QUADRATIC, stream)


def test_an_error_inside_a_stream_reaches_the_caller():
    def failing():
        yield X
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        decompose(LAPLACIAN, QUADRATIC, ritz.Batches(failing))
