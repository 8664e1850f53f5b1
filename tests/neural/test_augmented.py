"""Pairs of random versions of samples, and the spectra learned from them."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import ritz
from ritz.neural import Augmented, SpectralNetwork, mlp


def noisy(x, rng):
    """Return r x + sqrt(1 - r^2) times normals, r = 0.8: versions of normals that are normal."""
    return 0.8 * x + 0.6 * rng.normal(size=x.shape)


X = np.random.default_rng(0).normal(size=(4000, 1))
# Two versions have the correlation r^2, so the eigenvalues are 2 - 2 r^(2 s), s = 0, 1, ...
EXACT = 2 - 2 * 0.64 ** np.arange(3)


def test_pairs_have_the_spectrum_of_their_correlation():
    found = ritz.decompose(ritz.pairs(), ritz.Monomials(2), Augmented(X, noisy, copies=10), k=3)
    np.testing.assert_allclose(found.values, EXACT, atol=0.05)


def test_each_pass_gives_the_same_pairs_and_each_epoch_others():
    pairs = Augmented(X, noisy, seed=3)
    first, again = (next(pairs.blocks()).views[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    others = [next(pairs.fresh(epoch).blocks()).views[0] for epoch in (0, 1, 0)]
    np.testing.assert_array_equal(others[0], others[2])
    assert not np.array_equal(others[0], others[1])
    assert not np.array_equal(others[0], first)


def test_an_augmentation_in_place_does_not_change_the_samples():
    def doubled(x, rng):
        x *= 2
        return x

    first, second = next(Augmented(X, doubled).blocks()).views
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(X, np.random.default_rng(0).normal(size=(4000, 1)))


def test_pairs_of_one_sample_share_a_group():
    groups = np.concatenate([b.groups for b in Augmented(X, noisy, copies=2).blocks()])
    np.testing.assert_array_equal(groups, np.tile(np.arange(4000), 2))


@pytest.mark.parametrize("regularizer", ["contrastive", "whitening"])
def test_a_network_finds_the_spectrum_of_pairs(regularizer):
    model = SpectralNetwork(
        lambda: mlp(1, (32,), 2),
        ritz.pairs(),
        2,
        mu=2.0,
        regularizer=regularizer,
        n_steps=100,
        batch_size=300,
        random_state=0,
    ).fit(Augmented(X, noisy))
    np.testing.assert_allclose(model.eigenvalues_, EXACT[1:], rtol=0.1)


def test_eigenfunctions_change_less_than_pixels_when_digits_are_shifted():
    digits = load_digits().data[:600] / 16

    def shifted(x, rng):
        step = rng.integers(-1, 2, size=len(x))
        images = x.reshape(-1, 8, 8)
        return np.stack([np.roll(i, s, axis=1) for i, s in zip(images, step, strict=True)]).reshape(
            len(x), 64
        )

    model = SpectralNetwork(
        lambda: mlp(64, (64,), 4, first_scale=1.0),
        ritz.pairs(),
        4,
        mu=2.0,
        n_steps=100,
        batch_size=200,
        random_state=0,
    ).fit(Augmented(digits, shifted))
    one, two = (shifted(digits, np.random.default_rng(s)) for s in (10, 11))

    def change(A, B):
        return ((A - B) ** 2).sum() / (((A - A.mean(0)) ** 2).sum() + ((B - B.mean(0)) ** 2).sum())

    assert change(*map(model.transform, (one, two))) < 0.5 * change(one, two)
