"""Which penalty is taken where folds left out hardly tell one from another."""

import numpy as np
import pytest

import ritz
from ritz.regression.validation import Choice


def choice(*fold_errors):
    """Return the errors of penalties 1e-12, 1e-8 and 1e-4, each given fold by fold."""
    folds = np.array(fold_errors)
    penalties = np.array([1e-12, 1e-8, 1e-4])
    return Choice(np.ones(3), penalties, folds.sum(axis=1), folds.sum(axis=1), folds)


EVEN = np.linspace(1.0, 1.1, 8)
# Three folds much worse, the others a little better; and as many of the ones as of the others.
THREE = EVEN + np.array([5.0, 5.0, 5.0, -0.1, -0.1, -0.1, -0.1, -0.1])
FOUR = EVEN + np.array([5.0, 5.0, 5.0, 5.0, -0.1, -0.1, -0.1, -0.1])


@pytest.mark.parametrize(
    ("small", "wanted", "bears"),
    [
        (THREE, 1e-12, True),
        (THREE, 1e-20, True),
        (FOUR, 1e-12, False),
        (EVEN + 0.2, 1e-12, False),
    ],
    ids=["most are better", "smaller than any tried", "half are", "none is"],
)
def test_a_smaller_penalty_is_borne_if_most_folds_are_no_worse(small, wanted, bears):
    assert choice(small, small, EVEN).bears(wanted) == bears


def test_a_penalty_that_was_not_tried_is_judged_by_the_next_one_up():
    assert not choice(THREE, EVEN + 0.2, EVEN).bears(1e-10)
    assert choice(EVEN + 0.2, THREE, EVEN).bears(1e-10)


def test_folds_without_what_is_judged_have_no_say():
    there = np.arange(8) < 3
    assert not choice(*(there * errors for errors in (EVEN + 0.2, EVEN + 0.2, EVEN))).bears(1e-12)


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
    assert choice(EVEN + loss, EVEN + 5, EVEN).near_best(1.0, penalty) == near


def test_folds_without_what_is_judged_do_not_make_a_pair_near():
    there = np.arange(8) < 3
    assert not choice(*(there * e for e in (EVEN + 0.1, EVEN + 5, EVEN))).near_best(1.0, 1e-12)
    alone = np.arange(8) < 1
    assert choice(*(alone * e for e in (EVEN + 0.1, EVEN + 5, EVEN))).near_best(1.0, 1e-12)


def test_no_pair_is_near_the_best_that_was_not_told_from_none():
    assert not choice(np.full(8, np.inf), np.full(8, np.inf), EVEN).near_best(1.0, 1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_smoothed_where_the_length_is_given(seed):
    """Without a likelihood to know the noise from, rows left out alone say what the penalty is."""
    rng = np.random.default_rng(seed)
    X, unseen = rng.uniform(-2, 2, size=(60, 2)), rng.uniform(-2, 2, size=(1000, 2))
    y = np.sin(X).sum(axis=1) + 0.3 * rng.normal(size=60)
    model = ritz.HermiteRegressor(length_scale=1.0, random_state=0).fit(X, y)
    assert np.sqrt(((model.predict(unseen) - np.sin(unseen).sum(axis=1)) ** 2).mean()) < 0.4


def test_rows_far_out_do_not_decide_for_the_others():
    """Energies and slopes of two bonds, some of them far out: by least error gamma were 0.01."""
    rng = np.random.default_rng(2)

    def bonds(n):
        X = np.exp(0.08 * rng.standard_t(3, size=(n, 2)))
        return X, (X**-12 - 2 * X**-6).sum(axis=1), 12 * (X**-7 - X**-13)

    X, y, slopes = bonds(60)
    model = ritz.HermiteRegressor(random_state=0).fit(X, y, gradient=slopes)
    assert model.path_.best[1] > 1e-3
    unseen, energies, _ = bonds(500)
    assert np.median(np.abs(model.predict(unseen) - energies)) < 1e-4
