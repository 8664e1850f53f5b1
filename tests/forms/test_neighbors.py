"""The energy along neighbors against a loop over rows, for all weights."""

import numpy as np
import pytest

import ritz
from ritz.forms.neighbors import shared_weights

rng = np.random.default_rng(0)
REFERENCE, OTHERS, K = rng.normal(size=(150, 3)), rng.normal(size=(40, 3)), 6
ROWS = np.concatenate([REFERENCE, OTHERS])
BASIS = ritz.Nystrom(ritz.Gaussian(1.0), 20).fit(REFERENCE, 0)
WEIGHTS = {"uniform": "uniform", "shared": "shared", "function": lambda distances: 1 / distances}


def pairs_and_weights(weights, mutual):
    """Yield rows, their neighbors and weights by comparing sets."""
    D = np.sqrt(((ROWS[:, None] - REFERENCE) ** 2).sum(axis=2))
    D[np.arange(150), np.arange(150)] = np.inf
    near = np.argsort(D, axis=1)[:, :K]
    reach = np.sort(D[:150], axis=1)[:, K - 1]
    for i, neighbors in enumerate(near):
        mine = {i, *neighbors}
        for j in neighbors:
            theirs = {j, *near[j]}
            if D[i, j] <= reach[j]:
                # Of the reference's own rows this holds already.
                theirs.add(i)
            elif mutual:
                continue
            share = len(mine & theirs) / (2 * (K + 1) - len(mine & theirs))
            yield i, j, {"uniform": 1.0, "shared": share**2, "function": 1 / D[i, j]}[weights]


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_pairs_are_weighted_differences(weights, mutual):
    form = ritz.neighbors(K, weights=WEIGHTS[weights], mutual=mutual).prepare(REFERENCE)
    sums = ritz.assemble(form, BASIS, ROWS, n_folds=3)
    F, G = sums.left(ROWS), sums.left(REFERENCE)
    L = np.zeros((20, 20))
    for i, j, weight in pairs_and_weights(weights, mutual):
        L += weight / K * np.outer(F[i] - G[j], F[i] - G[j])
    found = sum(sums.L)
    np.testing.assert_allclose(found[1:, 1:], L, rtol=0, atol=1e-12 * np.abs(L).max())
    assert not found[0].any()
    assert not found[:, 0].any()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_directional_steps_are_weighted(weights):
    options = {"weights": WEIGHTS[weights], "mutual": True}
    form = ritz.neighbors(K, "directional", **options).prepare(REFERENCE)
    sums = ritz.assemble(form, BASIS, ROWS, n_folds=1)
    gradients = sums.left.gradient(ROWS)
    L = np.zeros((20, 20))
    for i, j, weight in pairs_and_weights(weights, True):
        step = (REFERENCE[j] - ROWS[i]) @ gradients[i]
        L += weight / K * np.outer(step, step)
    np.testing.assert_allclose(sums.L[0][1:, 1:], L, rtol=0, atol=1e-12 * np.abs(L).max())


def test_shared_weights_of_many_neighbors_need_little_memory():
    found = np.stack([rng.permutation(300)[:120] for _ in range(300)])
    weights = shared_weights(found, found, np.zeros(found.shape, dtype=bool))
    common = len(set(found[7]) & set(found[found[7, 3]])) + 1
    assert weights[7, 3] == (common / (242 - common)) ** 2


def test_a_form_says_what_is_not_the_default():
    assert str(ritz.neighbors(5)) == "neighbors(5, kind='pairs')"
    text = str(ritz.neighbors(5, weights="uniform", mutual=True))
    assert text == "neighbors(5, weights='uniform', mutual=True, kind='pairs')"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": "heat"}, "'weights' parameter must be 'shared', 'uniform' or a function"),
        ({"mutual": "yes"}, "'mutual' parameter must be True or False"),
    ],
)
def test_bad_parameters_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        ritz.neighbors(5, **options)


@pytest.mark.parametrize("weights", [lambda d: d[:, 0], lambda d: -d, lambda d: d * np.nan])
def test_bad_weights_of_the_user_are_refused(weights):
    with pytest.raises(ValueError, match="'weights' parameter must be a function that returns"):
        ritz.neighbors(5, weights=weights).prepare(REFERENCE)
