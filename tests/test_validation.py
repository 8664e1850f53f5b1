"""Checks of arguments: what is refused is named, and nothing else is refused."""

import numpy as np
import pytest

from ritz.validation import (
    as_choice,
    as_contiguous,
    as_count,
    as_number,
    as_real,
    as_rows,
    parameter_error,
    renamed,
    require_finite,
    require_size,
)


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_the_error_sentence_says_what_must_be_what_came_and_what_to_do():
    text = str(parameter_error("k", "positive", 0, "Pass 1."))
    assert text == "The 'k' parameter must be positive. Got 0 instead. Pass 1."


@pytest.mark.parametrize(
    "same",
    [
        lambda a: a.astype(">f8"),
        np.asfortranarray,
        lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(np.float64).reshape(a.shape),
    ],
    ids=["big endian", "columns first", "not aligned"],
)
def test_rows_become_contiguous_and_native(same):
    X = normal(6, 3)
    found = as_contiguous(same(X))
    np.testing.assert_array_equal(found, X)
    assert found.flags.c_contiguous
    assert found.flags.aligned
    assert found.dtype == np.float64
    assert found.dtype.isnative


def test_rows_that_are_contiguous_are_not_copied():
    X = normal(6, 3)
    assert as_rows(X) is X


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


def test_a_number_that_is_not_finite_is_named():
    with pytest.raises(ValueError, match=r"'c' parameter must be finite\. Got inf \("):
        require_finite(np.asarray(np.inf), "c")


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


def test_errors_have_the_names_that_the_caller_knows():
    for name in ("A", "A (called on rows)"):
        with pytest.raises(TypeError, match=r"^The 'D") as caught, renamed(A="D"):
            raise parameter_error(name, "positive", -1, kind=TypeError)
        assert "must be positive. Got -1" in str(caught.value)
    for error in (parameter_error("AB", "positive", -1), ValueError("'A' is wrong")):
        with pytest.raises(ValueError, match=r"^(The 'AB' parameter|'A' is wrong)"), renamed(A="D"):
            raise error


@pytest.mark.parametrize("value", [11, 1e300, 10**400, 0, 2.5, True, "3", np.timedelta64(3, "s")])
def test_counts_are_integers_up_to_the_highest(value):
    with pytest.raises((ValueError, TypeError), match=r"'p' .* a positive integer up to 10\. Got"):
        as_count(value, "p", highest=10)


@pytest.mark.parametrize("value", [10, 10.0, np.int8(10), np.float32(10)])
def test_integers_of_any_type_are_counts(value):
    assert as_count(value, "p", highest=10) == 10
    assert type(as_count(value, "p")) is int


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_numbers_of_any_type_have_a_size(kind):
    require_size(np.ones((3, 2), dtype=kind), "X")
    require_size(np.zeros((3, 2), dtype=kind), "X")
    require_size(np.zeros((0, 2), dtype=kind), "X")


@pytest.mark.parametrize("value", [1e153, -1e153, 1e-153, -1e-153])
def test_numbers_that_cannot_be_squared_are_named(value):
    X = np.zeros((4, 2))
    X[2, 1] = value
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"'X'.*between 1e-152 and 1e\+152.*up to 1e.153"):
        require_size(X, "X")
    if abs(value) < 1:
        require_size(X, "X", smallest=0.0)


@pytest.mark.parametrize("value", ["c", 3, None, ["a"], np.array(["a", "b"]), {}, int], ids=repr)
def test_a_choice_is_one_of_those_allowed(value):
    assert as_choice(np.str_("b"), "name", ("a", "b")) == "b"
    with pytest.raises(ValueError, match=r"'name'.* 'a', 'b' or a function. Got"):
        as_choice(value, "name", ("a", "b"), "a function")


def test_integers_beyond_all_floats_are_named():
    for check in (as_number, as_real):
        with pytest.raises(ValueError, match="'k'"):
            check(10**400, "k")
