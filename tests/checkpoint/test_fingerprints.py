"""Values that differ have different fingerprints."""

import pytest

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


def test_the_constants_of_a_function_are_in_its_fingerprint():
    def one(x):
        return x in {1, 2}

    def other(x):
        return x in {1, 3}

    other.__qualname__ = one.__qualname__
    assert fingerprint(one) != fingerprint(other)
