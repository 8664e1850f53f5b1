"""Errors and groups are computed when they are asked for, and not before."""

import copy
import pickle
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import ritz
from ritz.threads import TINY

X = np.random.default_rng(0).normal(size=(500, 2))
NAMES = ("errors", "groups", "group_values", "group_errors")


def spectrum():
    return ritz.decompose(ritz.laplacian(), ritz.Monomials(3), X, k=5, random_state=0)


def singular():
    return ritz.decompose(
        ritz.cross(), ritz.Monomials(2), (X, X + 0.1 * X[::-1]), k=3, random_state=0
    )


@pytest.mark.parametrize("make", [spectrum, singular])
def test_they_are_not_there_until_one_is_asked_for(make):
    found = make()
    assert not set(NAMES) & set(vars(found))
    assert found.groups[0] == 0
    assert set(NAMES) <= set(vars(found))
    assert "_accuracy" not in vars(found)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = found.nothing


@pytest.mark.parametrize("make", [spectrum, singular])
@pytest.mark.parametrize(
    "way",
    [
        lambda s: pickle.loads(pickle.dumps(s)),
        copy.copy,
        copy.deepcopy,
        lambda s: replace(s, operator="other"),
        lambda s: s[:],
    ],
    ids=["pickle", "copy", "deepcopy", "replace", "slice"],
)
def test_they_travel(make, way):
    expected, found = make(), way(make())
    for name in NAMES:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_values_changed_meanwhile_do_not_change_them():
    expected, found = spectrum().groups, spectrum()
    found.values[:] *= 100
    np.testing.assert_array_equal(found.groups, expected)


def test_several_threads_may_ask_at_once():
    expected = spectrum()
    for _ in range(20):
        found = spectrum()
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda name, s=found: getattr(s, name), NAMES * 2))
        for name, result in zip(NAMES * 2, results, strict=True):
            np.testing.assert_array_equal(result, getattr(expected, name))


def test_form_and_sums_are_not_held_on_to():
    class Potential:
        def __call__(self, x):
            return x[:, 0] ** 2

    held = Potential()
    gone = weakref.ref(held)
    found = ritz.decompose(
        ritz.laplacian() + ritz.potential(held), ritz.Monomials(2), X, k=3, random_state=0
    )
    del held
    assert gone() is None
    assert found.errors is not None


def test_they_are_what_is_computed_at_once(monkeypatch):
    later = spectrum()
    monkeypatch.setattr(sys.modules["ritz.spectrum.decompose"], "MANY", 0)
    now = spectrum()
    assert set(NAMES) <= set(vars(now))
    for name in NAMES:
        np.testing.assert_array_equal(getattr(later, name), getattr(now, name))


@pytest.mark.parametrize(("functions", "folds"), [(TINY, 8), (TINY, 200), (TINY + 1, 8)])
def test_sums_are_kept_only_where_they_are_tiny(functions, folds, monkeypatch):
    """Of more functions, or many folds, the matrices of the span are computed at once."""
    calls = []
    module = sys.modules["ritz.spectrum.decompose"]
    count = module.leave_one_out
    monkeypatch.setattr(module, "leave_one_out", lambda *a: (calls.append(1), count(*a))[1])
    basis = ritz.Nystrom(ritz.Gaussian(0.5), functions)
    found = ritz.decompose(ritz.laplacian(), basis, X, k=5, n_folds=folds, random_state=0)
    assert len(calls) == (not (functions <= TINY and folds == 8))
    assert (found.errors[1:] > 0).all()
    assert len(calls) == 1


@pytest.mark.parametrize("functions", [TINY, TINY + 1])
def test_sums_changed_meanwhile_do_not_change_them(functions):
    basis = ritz.Nystrom(ritz.Gaussian(0.5), functions)
    sums = ritz.assemble(ritz.laplacian(), basis, X, random_state=0)
    expected, found = ritz.decompose_sums(sums, 5).errors, ritz.decompose_sums(sums, 5)
    for array in (*sums.L, *sums.Phi, sums.weight):
        array *= 3
    sums.L[0][...] *= 3
    np.testing.assert_array_equal(found.errors, expected)


def test_large_ones_are_computed_at_once():
    basis = ritz.Nystrom(ritz.Gaussian(0.5), 150)
    found = ritz.decompose(ritz.laplacian(), basis, X, k=120, random_state=0)
    assert set(NAMES) <= set(vars(found))
