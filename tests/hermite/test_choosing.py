"""Which penalty is taken where folds left out hardly distinguish them."""

import numpy as np
import pytest

import ritz
from ritz.hermite.choosing import PenaltyPath


def path(*fold_errors):
    """Return the errors of penalties 1e-12, 1e-8 and 1e-4, each given fold by fold."""
    folds = np.array(fold_errors)
    penalties = np.array([1e-12, 1e-8, 1e-4])
    return PenaltyPath(np.ones(3), penalties, folds.sum(axis=1), folds.sum(axis=1), folds)


EVEN = np.linspace(1.0, 1.1, 8)
# Three, or four, of eight folds are much worse, the others a little better.
THREE = EVEN + np.array([5.0, 5.0, 5.0, -0.1, -0.1, -0.1, -0.1, -0.1])
FOUR = EVEN + np.array([5.0, 5.0, 5.0, 5.0, -0.1, -0.1, -0.1, -0.1])


@pytest.mark.parametrize(
    ("small", "wanted", "accepted"),
    [
        (THREE, 1e-12, True),
        (THREE, 1e-20, True),
        (FOUR, 1e-12, False),
        (EVEN + 0.2, 1e-12, False),
    ],
    ids=["most are better", "smaller than any tried", "half are", "none is"],
)
def test_a_smaller_penalty_is_accepted_if_most_folds_are_no_worse(small, wanted, accepted):
    assert path(small, small, EVEN).most_folds_accept(wanted) == accepted


def test_a_penalty_that_was_not_tried_is_rounded_up():
    assert not path(THREE, EVEN + 0.2, EVEN).most_folds_accept(1e-10)
    assert path(EVEN + 0.2, THREE, EVEN).most_folds_accept(1e-10)


def test_folds_without_values_do_not_accept():
    there = np.arange(8) < 3
    assert not path(
        *(there * errors for errors in (EVEN + 0.2, EVEN + 0.2, EVEN))
    ).most_folds_accept(1e-12)


@pytest.mark.parametrize(
    ("loss", "near"),
    [
        (np.array([1.0, -0.9, 1.0, -0.9, 1.0, -0.9, 1.0, -0.9]), True),
        (np.array([1.0, -0.2, 1.0, -0.2, 1.0, -0.2, 1.0, -0.2]), True),
        (np.array([1.0, 0.2, 1.0, 0.2, 1.0, 0.2, 1.0, 0.2]), False),
        (np.full(8, 0.1), False),
        (np.zeros(8), True),
    ],
    ids=["lost in the differences", "nearly so", "beyond them", "small but sure", "none"],
)
@pytest.mark.parametrize("penalty", [1e-12, 1e-20])
def test_a_pair_is_near_the_best_unless_folds_show_it_to_be_worse(loss, near, penalty):
    """By hand: mean 0.05 with standard error 0.36, 0.4 with 0.23, 0.6 with 0.15; t is 2.36."""
    assert near == (loss.mean() <= 2.3646 * loss.std(ddof=1) / np.sqrt(8))
    assert path(EVEN + loss, EVEN + 5, EVEN).is_near_best(1.0, penalty) == near


def test_folds_without_values_do_not_make_a_pair_near():
    there = np.arange(8) < 3
    assert not path(*(there * e for e in (EVEN + 0.1, EVEN + 5, EVEN))).is_near_best(1.0, 1e-12)
    alone = np.arange(8) < 1
    assert path(*(alone * e for e in (EVEN + 0.1, EVEN + 5, EVEN))).is_near_best(1.0, 1e-12)


def test_a_pair_without_a_finite_error_is_not_near_the_best():
    assert not path(np.full(8, np.inf), np.full(8, np.inf), EVEN).is_near_best(1.0, 1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_smoothed_where_the_length_is_given(seed):
    """Without a likelihood the penalty is chosen by rows left out alone."""
    rng = np.random.default_rng(seed)
    X, unseen = rng.uniform(-2, 2, size=(60, 2)), rng.uniform(-2, 2, size=(1000, 2))
    y = np.sin(X).sum(axis=1) + 0.3 * rng.normal(size=60)
    model = ritz.HermiteRegressor(length_scale=1.0, random_state=0).fit(X, y)
    assert np.sqrt(((model.predict(unseen) - np.sin(unseen).sum(axis=1)) ** 2).mean()) < 0.4


def test_outliers_do_not_choose_the_penalty():
    """Energies and slopes of two bonds; the smallest error, due to outliers, has gamma 0.01."""
    rng = np.random.default_rng(2)

    def bonds(n):
        X = np.exp(0.08 * rng.standard_t(3, size=(n, 2)))
        return X, (X**-12 - 2 * X**-6).sum(axis=1), 12 * (X**-7 - X**-13)

    X, y, slopes = bonds(60)
    model = ritz.HermiteRegressor(random_state=0).fit(X, y, gradient=slopes)
    assert model.path_.best[1] > 1e-3
    unseen, energies, _ = bonds(500)
    assert np.median(np.abs(model.predict(unseen) - energies)) < 1e-4


@pytest.mark.parametrize("noise", [(0.1, 0.0), (0.01, 0.0), (0.0, 0.1)])
@pytest.mark.parametrize("solver", ["qr", "sums"])
def test_exact_numbers_of_one_kind_beside_noisy_ones_of_the_other(noise, solver):
    """The ratio of the two noises has no bound; the error is far below the noise."""
    n, rng = 120, np.random.default_rng(1)
    X, Z = rng.uniform(-2, 2, size=(n, 2)), rng.uniform(-2, 2, size=(500, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + noise[0] * rng.normal(size=n)
    t = np.column_stack([np.cos(X[:, 0]) * X[:, 1], np.sin(X[:, 0])])
    t += noise[1] * rng.normal(size=t.shape)
    model = ritz.HermiteRegressor(solver=solver, random_state=0).fit(X, y, t)
    missed = model.predict(Z) - np.sin(Z[:, 0]) * Z[:, 1]
    # The mean of n values has the noise divided by the root of n.
    assert np.sqrt(np.mean(missed**2)) < 3 * max(noise) / np.sqrt(n)


def test_a_huge_gradient_weight_has_penalties_that_rounding_does_not_hide():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(60, 2))
    t = np.column_stack([np.cos(X[:, 0]), np.zeros(60)])
    model = ritz.HermiteRegressor(gradient_weight=1e16, random_state=0)
    assert np.abs(model.fit(X, np.sin(X[:, 0]), t).predict(X) - np.sin(X[:, 0])).max() < 1e-3
