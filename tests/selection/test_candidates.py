"""Values that "auto" starts from: quantiles of distances, numbers of centers, distinct rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import ritz
from ritz.selection.candidates import auto_length_scale, auto_n_centers, complete_basis
from ritz.selection.rows import WeightedRows

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [30, 500])
def test_equal_weights_of_any_size_give_the_same_quantile(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    equal = auto_length_scale(X, np.ones(n), 0)
    # Weights that differ by rounding take the other way, by sorting.
    nearly = np.ones(n)
    nearly[0] += 1e-12
    assert auto_length_scale(X, nearly, 0) == pytest.approx(equal, rel=1e-3)
    assert auto_length_scale(X, np.full(n, 3.0), 0) == equal


@pytest.mark.parametrize("quantile", [0.1, 0.5])
def test_a_weight_is_a_repetition_of_distances(quantile):
    X, weight = RNG.normal(size=(60, 2)), RNG.integers(1, 4, size=60)
    repeated = np.repeat(X, weight, axis=0)
    distances = cdist(repeated, repeated)
    expected = np.quantile(distances[distances > 0], quantile, method="inverted_cdf")
    found = auto_length_scale(X, weight.astype(float), 0, quantile)
    assert found == pytest.approx(expected, rel=1e-12)
    assert auto_length_scale(1e3 * X, weight.astype(float), 0, quantile) == pytest.approx(
        1e3 * expected, rel=1e-9
    )


def test_rows_that_are_all_equal_have_some_length_scale():
    assert auto_length_scale(np.zeros((1, 2)), np.ones(1), 0) == 1.0


def test_number_of_centers():
    assert [auto_n_centers(n) for n in (10, 400, 10_000, 10**6)] == [100, 100, 500, 173]
    assert auto_n_centers(10_000, per_root=15.0, most=500) == 500
    assert auto_n_centers(10_000, per_root=2.0) == 200
    assert auto_n_centers(10**9) == 50


def test_a_recipe_without_a_number_of_centers_gets_one():
    given, whole = ritz.Nystrom(ritz.Gaussian(1.0), 7), ritz.Monomials(2)
    recipe = replace(given)
    stack = ritz.Stack(given, recipe)
    object.__setattr__(recipe, "n_centers", None)

    def complete(lacking):
        return replace(lacking, n_centers=500)

    assert complete_basis(recipe, complete).n_centers == 500
    assert complete_basis(given, complete) is given
    assert complete_basis(whole, complete) is whole
    left, right = complete_basis((recipe, whole), complete)
    assert left.n_centers == 500
    assert right is whole
    parts = complete_basis(stack, complete).recipes
    assert [part.n_centers for part in parts] == [7, 500]
    at_points = ritz.Nystrom(ritz.Gaussian(1.0), centers=np.zeros((1, 2)))
    assert complete_basis(at_points, complete) is at_points
    auto = ritz.Nystrom(ritz.Gaussian("auto"), 7)
    assert complete_basis(auto, complete).n_centers == 500


def test_distinct_rows_do_not_depend_on_order_and_weights_are_repetitions():
    X, weight = RNG.normal(size=(50, 2)), RNG.integers(0, 4, size=50)
    repeated = np.random.default_rng(1).permutation(np.repeat(X, weight, axis=0))
    one = WeightedRows(X, weight.astype(float)).distinct
    two = WeightedRows(repeated, np.ones(len(repeated))).distinct
    np.testing.assert_array_equal(one[:].X, two[:].X)
    np.testing.assert_array_equal(one.weight, two.weight)
    assert len(one.place) == (weight > 0).sum()
    both = WeightedRows(X[:20], weight[:20]) + WeightedRows(X[20:], weight[20:])
    np.testing.assert_array_equal(both.distinct[:].X, one[:].X)
