"""Values that differ have different fingerprints."""

import math
import operator

import numpy as np
import pytest
import torch

from ritz.fingerprint import fingerprint


class Scale:
    """A number by which a method multiplies."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x

    def times(self, x):
        return self.factor * x


@pytest.mark.parametrize(
    "make",
    [
        lambda a: {a, "b"},
        lambda a: frozenset({a}),
        lambda a: Scale(a).times,
        lambda a: Scale(a),
        lambda a: lambda x: x in {a},
    ],
    ids=["set", "frozenset", "method", "object", "function"],
)
def test_what_a_value_holds_is_in_its_fingerprint(make):
    assert fingerprint(make(1)) == fingerprint(make(1))
    assert fingerprint(make(1)) != fingerprint(make(2))


FACTOR, GRID, PAIR, SEEN, COUNT = 1.0, np.ones(2), (1.0, "a"), [], 0


def inner(x):
    return FACTOR * x


def outer(x):
    return inner(x)


def of_itself(x):
    return of_itself(x) if FACTOR else x


def counting(x):
    global COUNT
    COUNT += 1
    SEEN.append(x)
    return x


@pytest.mark.parametrize(
    ("function", "name", "value"),
    [
        (lambda x: FACTOR * x, "FACTOR", 2.0),
        (lambda x: [FACTOR * y for y in x], "FACTOR", 2.0),
        (lambda x: (lambda y: FACTOR * y)(x), "FACTOR", 2.0),
        (lambda x: x @ GRID, "GRID", np.arange(2)),
        (lambda x: PAIR[0] * x, "PAIR", (2.0, "a")),
        (outer, "FACTOR", 2.0),
        (outer, "inner", lambda x: x),
        (of_itself, "FACTOR", 2.0),
    ],
    ids=["number", "loop", "nested", "array", "tuple", "call", "function", "recursion"],
)
def test_the_global_values_that_a_function_reads_are_in_its_fingerprint(
    function, name, value, monkeypatch
):
    before = fingerprint(function)
    assert fingerprint(function) == before
    monkeypatch.setitem(globals(), name, value)
    assert fingerprint(function) != before


def test_what_a_function_keeps_for_itself_is_not():
    before = fingerprint(counting)
    counting(1)
    assert fingerprint(counting) == before


def test_functions_that_many_others_call_are_looked_at_once():
    names = {"f0": lambda x: x}
    for number in range(1, 60):
        exec(f"def f{number}(x): return f{number - 1}(x) + f{number - 1}(-x)", names)
    assert fingerprint(names["f59"]) != fingerprint(names["f58"])


def test_chains_of_functions_may_be_long():
    names = {"f0": lambda x: x}
    for number in range(1, 2000):
        exec(f"def f{number}(x): return f{number - 1}(x)", names)
    assert fingerprint(names["f1999"]) != fingerprint(names["f1998"])


def enclosing(value):
    return lambda x: value.sin(x)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (operator.itemgetter(0), operator.itemgetter(1)),
        (operator.attrgetter("T"), operator.attrgetter("real")),
        (np.sin, np.cos),
        (range(3), range(4)),
        (torch.ones(2), torch.zeros(2)),
        (enclosing(math), enclosing(np)),
    ],
    ids=["items", "attributes", "ufuncs", "ranges", "tensors", "modules"],
)
def test_compiled_values_have_different_fingerprints(one, other):
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)


def test_the_constants_of_a_function_are_in_its_fingerprint():
    def one(x):
        return x in {1, 2}

    def other(x):
        return x in {1, 3}

    other.__qualname__ = one.__qualname__
    assert fingerprint(one) != fingerprint(other)
