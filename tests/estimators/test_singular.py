"""Two views and two times: correlations that are known, and their functions."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cross_decomposition import CCA
from sklearn.model_selection import GridSearchCV

import ritz


def pair(n, r, seed=0, d=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, r * X + np.sqrt(1 - r**2) * rng.normal(size=(n, d))


@pytest.mark.parametrize("r", [0.6, 0.9])
def test_correlations_of_a_gaussian_pair_with_defaults(r):
    X, Y = pair(20_000, r)
    model = ritz.SingularEmbedding(3, random_state=0).fit(X, Y)
    exact = r ** np.arange(1, 4)
    np.testing.assert_allclose(model.singular_values_, exact, atol=0.04)
    assert (np.abs(model.singular_values_ - exact) < 4 * model.singular_value_errors_).all()
    # The functions are Hermite polynomials: the first is the coordinate itself.
    fresh = pair(5000, r, seed=1)
    left, right = model.transform(*fresh)
    for values, view in zip((left, right), fresh, strict=True):
        assert abs(np.corrcoef(values[:, 0], view[:, 0])[0, 1]) > 0.995
    assert np.mean(left[:, 0] * right[:, 0]) == pytest.approx(r, abs=0.05)


def test_linear_functions_are_canonical_correlation_analysis():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(3000, 2))
    X = np.hstack([shared, rng.normal(size=(3000, 2))]) @ rng.normal(size=(4, 4))
    Y = np.hstack([shared * [1.0, 0.5] + rng.normal(size=(3000, 2))]) @ rng.normal(size=(2, 2))
    model = ritz.SingularEmbedding(2, basis=ritz.Monomials(1), regularization=0).fit(X, Y)
    left, right = CCA(2, scale=False, max_iter=5000, tol=1e-12).fit(X, Y).transform(X, Y)
    expected = [np.corrcoef(a, b)[0, 1] for a, b in zip(left.T, right.T, strict=True)]
    np.testing.assert_allclose(model.spectrum_.ritz_values[1:], expected, rtol=1e-6)
    overlap = np.abs(np.corrcoef(model.transform(X).T, left.T)[:2, 2:])
    np.testing.assert_allclose(overlap, np.eye(2), atol=1e-3)


def test_transfer_operator_of_a_noisy_map():
    """Values of the transfer operator on a grid, for an angle that drifts with noise."""

    def step(angle, rng):
        return angle + 0.3 * np.sin(angle) + 0.4 * rng.normal(size=angle.shape)

    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, size=20_000)
    later = step(angle, rng)
    X, Y = (np.column_stack([np.cos(a), np.sin(a)]) for a in (angle, later))
    model = ritz.SingularEmbedding(4, random_state=0).fit(X, Y)
    m = 400
    grid = 2 * np.pi * np.arange(m) / m
    gap = grid[None, :] - (grid + 0.3 * np.sin(grid))[:, None]
    turns = 2 * np.pi * np.arange(-3, 4)
    law = np.exp(-((gap[..., None] + turns) ** 2) / (2 * 0.4**2)).sum(axis=-1)
    joint = law / law.sum()
    first, second = joint.sum(axis=1), joint.sum(axis=0)
    exact = np.linalg.svd(joint / np.sqrt(np.outer(first, second)), compute_uv=False)
    assert exact[0] == pytest.approx(1)
    np.testing.assert_allclose(model.singular_values_, exact[1:5], atol=0.02)


def test_score_is_largest_for_the_truth_and_bounded_by_it():
    X, Y = pair(20_000, 0.8)
    model = ritz.SingularEmbedding(2, random_state=0).fit(*pair(20_000, 0.8, seed=1))
    exact = 0.8**2 + 0.8**4
    assert model.score(X, Y) == pytest.approx(exact, abs=0.04)
    rough = clone(model).set_params(length_scale=0.01, regularization=1e-8)
    assert rough.fit(*pair(2000, 0.8, seed=1)).score(X, Y) < model.score(X, Y)
    search = GridSearchCV(model, {"length_scale": [0.02, 1.0]}, cv=3).fit(*pair(3000, 0.8))
    assert search.best_params_ == {"length_scale": 1.0}


def test_regularization_is_chosen_on_held_out_rows():
    X, Y = pair(300, 0.0)
    model = ritz.SingularEmbedding(1, random_state=0).fit(X, Y)
    assert model.regularization_ == min(model.path_, key=model.path_.get)
    # Nothing is shared; little regularization finds something all the same, and says so.
    with pytest.warns(UserWarning, match="say nothing about others"):
        eager = clone(model).set_params(regularization=1e-8, length_scale=0.1).fit(X, Y)
    assert eager.spectrum_.flags[1]
    assert eager.spectrum_.ritz_values[1] > 0.3 + model.spectrum_.ritz_values[1]


def test_held_out_values_know_noise():
    rng = np.random.default_rng(0)
    noise = ritz.SingularEmbedding(2, random_state=0).fit(
        rng.normal(size=(200, 10)), rng.normal(size=(200, 10))
    )
    assert noise.spectrum_.ritz_values[1] > 0.3
    assert noise.held_out_values_.max() < 0.1
    X, Y = pair(5000, 0.8)
    real = ritz.SingularEmbedding(1, random_state=0).fit(X, Y)
    assert real.held_out_values_[0] == pytest.approx(0.8, abs=0.03)
    # Without folds to hold out there is no path, and some regularization all the same.
    few = ritz.SingularEmbedding(1, n_folds=1, random_state=0).fit(X, Y)
    assert few.path_ is None
    assert few.regularization_ == 0.1


def test_many_rows_have_two_centers_for_each_square_root():
    X, Y = pair(23_000, 0.8)
    model = ritz.SingularEmbedding(1, regularization=0.1, n_folds=1, random_state=0).fit(X, Y)
    assert model.n_centers_ == 303
    assert model.singular_values_[0] == pytest.approx(0.8, abs=0.02)


def test_weights_are_repetitions():
    X, Y = pair(400, 0.8, d=2)
    weight = np.random.default_rng(0).integers(0, 3, size=400)
    model = ritz.SingularEmbedding(2, random_state=0)
    weighted = clone(model).fit(X, Y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-6, atol=1e-7)


def test_repeated_pairs_are_held_out_together_and_their_errors_are_those_of_samples():
    rng = np.random.default_rng(0)
    X = rng.poisson(5.0, size=(2000, 1)).astype(float)
    Y = X + rng.poisson(3.0, size=(2000, 1))
    model = ritz.SingularEmbedding(1, random_state=0)
    found = clone(model).fit(X, Y)
    backwards = clone(model).fit(X[::-1], Y[::-1])
    assert found.path_ == pytest.approx(backwards.path_, rel=1e-6)
    np.testing.assert_allclose(found.held_out_values_, backwards.held_out_values_, rtol=1e-6)
    seen, again = found.spectrum_.ritz_values, backwards.spectrum_.ritz_values
    np.testing.assert_allclose(seen, again, rtol=1e-6)
    # Folds of repeated rows depend on their order, and best estimates on the folds.
    off = abs(found.singular_values_ - backwards.singular_values_)
    assert (off < 0.5 * found.singular_value_errors_).all()
    # The correlation of a binormal sample has the standard error (1 - r^2) / sqrt(n).
    typical = (1 - found.singular_values_[0] ** 2) / np.sqrt(2000)
    assert 0.4 < found.singular_value_errors_[0] / typical < 2.5


def test_one_column_may_come_flat_and_frames_come_out():
    pytest.importorskip("pandas")
    X, Y = pair(300, 0.8, d=2)
    model = ritz.SingularEmbedding(1, random_state=0).set_output(transform="pandas").fit(X, Y[:, 0])
    assert list(model.transform(X).columns) == ["singularembedding0"]
    left, right = model.transform(X, Y[:, 0])
    assert left.shape == right.shape == (300, 1)
