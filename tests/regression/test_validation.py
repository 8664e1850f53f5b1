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
ONE_FOLD = EVEN + np.eye(8)[3]


@pytest.mark.parametrize(
    ("small", "wanted", "taken"),
    [
        (ONE_FOLD, 1e-12, 1e-12),
        (ONE_FOLD, 1e-20, 1e-20),
        (EVEN + 0.2, 1e-12, 1e-4),
        (ONE_FOLD, 1.0, 1e-4),
    ],
    ids=["one fold differs", "smaller than any tried", "all folds differ", "a larger one"],
)
def test_the_likely_penalty_is_taken_unless_the_folds_agree_on_another(small, wanted, taken):
    assert choice(small, small, EVEN).smallest(wanted) == taken


def test_a_penalty_that_was_not_tried_is_judged_by_the_next_one_up():
    assert choice(EVEN + 0.2, EVEN + 1e-3 * ONE_FOLD, EVEN).smallest(1e-10) == 1e-4
    assert choice(EVEN + 0.2, ONE_FOLD, EVEN).smallest(1e-10) == 1e-10


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
