"""Two views: moments pooled over folds, and what is chosen by them."""

from dataclasses import replace

import numpy as np
import pytest

import ritz
from ritz.selection.choice import Wanted
from ritz.selection.pairs import PAIR_PENALTIES, choose_kernels, choose_regularization
from ritz.selection.rows import WeightedRows
from ritz.spectrum.held_out import hold_out
from ritz.spectrum.solve_sums import solve_sums

SECTIONS = ritz.Nystrom(ritz.Gaussian(1.0), 50)


def gaussian_sums(n, basis, **options):
    pair = ritz.datasets.gaussian_pair(0.8).sample(n, random_state=0)
    return ritz.assemble(ritz.cross(), basis, pair, random_state=0, **options)


def test_correlations_on_held_out_folds_are_those_of_the_law():
    sums = gaussian_sums(5000, ritz.Monomials(3))
    value, held_out, path = choose_regularization(sums, 2, 1e-6, 0.1)
    assert value == 1e-6
    assert path is None
    np.testing.assert_allclose(held_out, [0.8, 0.64], atol=0.03)


def test_moments_are_added_up_over_folds_before_they_are_divided():
    sums = gaussian_sums(300, SECTIONS, n_folds=4)
    k, penalty = 1, 1e-3
    products = np.zeros(3)
    for fold in range(4):
        found = solve_sums(sums, 1 + k, penalty, without=fold)
        f, g = found.left[:, 1], found.right[:, 1]
        L, Phi, Psi = sums.L[fold], sums.Phi[fold], sums.Psi[fold]
        products += f @ L @ g, f @ Phi @ f, g @ Psi @ g
    expected = products[0] / np.sqrt(products[1] * products[2])
    held_out = choose_regularization(sums, k, penalty, 0.1)[1]
    np.testing.assert_allclose(held_out, [expected], rtol=1e-9)


def test_gaps_are_one_less_the_correlations():
    sums = gaussian_sums(300, SECTIONS)
    held = hold_out(sums, solve_sums(sums, 4, 1e-3), 1e-3)
    np.testing.assert_allclose(held.gaps.values, 1 - held.values, atol=1e-12)
    # The same view twice has correlation 1, and the gap is not below zero.
    X = np.random.default_rng(0).normal(size=(200, 1))
    same = ritz.assemble(ritz.cross(), ritz.Monomials(2), (X, X), random_state=0)
    gaps = hold_out(same, solve_sums(same, 3, 0.0), 0.0).gaps.values
    assert (gaps > 0).all()
    assert gaps.max() < 1e-12


def test_the_regularization_correlates_most_on_held_out_rows():
    sums = gaussian_sums(300, SECTIONS)
    value, held_out, path = choose_regularization(sums, 2, "auto", 0.1)
    assert tuple(path) == PAIR_PENALTIES
    assert path[value] == min(path.values())
    assert value > 1e-6
    given, same, none = choose_regularization(sums, 2, value, 0.1)
    assert given == value
    assert none is None
    np.testing.assert_array_equal(same, held_out)
    one = gaussian_sums(300, SECTIONS, n_folds=1)
    assert choose_regularization(one, 2, "auto", 0.1) == (0.1, None, None)


def test_one_multiple_of_each_view_s_distances_is_the_length_scale():
    X, Y = ritz.datasets.gaussian_pair(0.8).sample(3000, random_state=0)
    data = WeightedRows(X, np.ones(3000), 10 * Y)
    wanted = Wanted(None, "gaussian", "auto", "auto", "auto")
    defaults = ritz.estimators.singular.PAIR_DEFAULTS
    recipes = SECTIONS, SECTIONS
    kernels, selection = choose_kernels(data, 2, wanted, recipes, defaults)
    first, second = (kernel.length_scale for kernel in kernels)
    assert second / first == pytest.approx(10, rel=0.1)
    assert selection.setting.kernel.length_scale == first
    assert selection.chosen.ritz_values[0] == pytest.approx(0.2, abs=0.03)
    # Few groups cannot be compared, and a length scale that is given need not be.
    grouped = replace(data, groups=np.arange(3000) // 300)
    few = choose_kernels(grouped, 2, wanted, recipes, defaults)
    fixed = Wanted(None, "gaussian", 1.5, "auto", "auto")
    for result in (few, choose_kernels(data, 2, fixed, recipes, defaults)):
        assert result == ((SECTIONS.kernel, SECTIONS.kernel), None)


def test_kernels_are_compared_where_the_length_scale_is_given():
    X, Y = ritz.datasets.gaussian_pair(0.8).sample(1000, random_state=0)
    model = ritz.SingularEmbedding(1, kernel="auto", length_scale=1.5, random_state=0).fit(X, Y)
    names = {type(c.setting.kernel).__name__ for c in model.selection_.candidates}
    assert names == {"Gaussian", "Matern", "Exponential"}
    assert model.length_scale_ == 1.5
