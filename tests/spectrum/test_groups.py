"""Groups of repeated values: the likelihood of a run, probabilities of partitions, simulations."""

from itertools import pairwise

import numpy as np
import pytest

from ritz.spectrum.groups import (
    averaged_runs,
    certain,
    group,
    run_likelihoods,
    run_probabilities,
)

NONE = np.zeros(40, dtype=bool)
MANY_FOLDS = 10**6


def noise_of_size(s, k):
    """Return the noise of a symmetric matrix of independent entries, 2 s^2 on the diagonal."""
    variances = s**2 * (np.ones((k, k)) + np.eye(k))
    return variances, np.diag(variances.diagonal())


def orthogonal_ensemble(rng, m, s):
    """Return a symmetric matrix whose entries have variance s^2, and 2 s^2 on the diagonal."""
    A = rng.normal(size=(m, m)) * s
    return (A + A.T) / np.sqrt(2)


@pytest.mark.parametrize("gap", [0.01, 0.1, 0.4])
def test_two_values_have_wigners_density(gap):
    # The gap of a 2 by 2 matrix has the density g / (4 s^2) exp(-g^2 / 8 s^2), and the mean, which
    # is normal, may lie anywhere between 0 and twice itself.
    s, values = 0.05, np.array([1.0 - gap / 2, 1.0 + gap / 2])
    found = run_likelihoods(values, noise_of_size(s, 2), NONE[:2], MANY_FOLDS)
    expected = gap / (4 * s**2) * np.exp(-(gap**2) / (8 * s**2)) / 2
    assert np.exp(found[0, 1]) == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(np.exp(found.diagonal()), 1 / (2 * values), rtol=1e-9)


def test_three_values_have_the_density_of_simulated_matrices():
    rng = np.random.default_rng(0)
    s, point, width = 0.1, np.array([-0.2, 0.02, 0.21]), 0.03
    draws = np.linalg.eigvalsh(np.stack([orthogonal_ensemble(rng, 3, s) for _ in range(400_000)]))
    # Without their means, which the likelihood integrates over all places between 0 and 2.
    off = draws - draws.mean(axis=1, keepdims=True)
    point = point - point.mean()
    near = (np.abs(off - point)[:, :2] < width / 2).all(axis=1).mean() / width**2
    values = 1 + point
    found = run_likelihoods(values, noise_of_size(s, 3), NONE[:3], MANY_FOLDS)
    # Coordinates (first, second, mean) have the Jacobian 1 / 3.
    assert np.exp(found[0, 2]) == pytest.approx(near / 3 / 2, rel=0.05)


def test_probabilities_are_those_of_all_partitions():
    rng = np.random.default_rng(0)
    likelihoods = np.triu(rng.normal(size=(4, 4))) + np.where(np.tri(4, k=-1) > 0, -np.inf, 0.0)
    expected, total = np.zeros((4, 4)), 0.0
    for cuts in range(8):
        edges = [0, *(i + 1 for i in range(3) if cuts >> i & 1), 4]
        runs = [(a, b - 1) for a, b in pairwise(edges)]
        weight = np.exp(sum(likelihoods[run] for run in runs))
        total += weight
        for run in runs:
            expected[run] += weight
    np.testing.assert_allclose(run_probabilities(likelihoods), expected / total, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(1, 2, 2), (3, 5), (7, 1)])
def test_simulated_multiplicities_are_found(sizes):
    rng = np.random.default_rng(1)
    s, right = 0.03, 0
    truth = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(50):
        values = np.concatenate(
            [
                1 + i + np.linalg.eigvalsh(orthogonal_ensemble(rng, size, s))
                for i, size in enumerate(sizes)
            ]
        )
        found = group(values, noise_of_size(s, len(values)), truth < 0, truth < 0, 8)
        right += np.array_equal(found.number, truth)
        assert ((found.confidence >= 0) & (found.confidence <= 1)).all()
    assert right >= 40


def test_values_that_lie_too_close_to_say_stand_alone():
    # A gap of 6 s: one in a hundred pairs is so far apart, and so are few other values.
    values = np.array([1.0, 1.3])
    found = group(values, noise_of_size(0.05, 2), NONE[:2], NONE[:2], 8)
    assert found.number.tolist() == [0, 1]
    assert found.confidence.max() < 0.7


def test_exact_values_stand_alone_for_certain():
    values, exact = np.array([0.0, 1e-9, 1.0]), np.array([True, False, False])
    found = group(values, noise_of_size(0.1, 3), exact, NONE[:3], 8)
    assert found.number[0] not in found.number[1:]
    assert found.confidence[0] == 1.0


def test_zero_noise_and_equal_values_give_finite_probabilities():
    values = np.array([0.0, 0.0, 1.0, 1.0, 2.0])
    nothing = np.zeros((5, 5)), np.zeros((5, 5))
    found = group(values, nothing, NONE[:5], NONE[:5], 8)
    assert np.isfinite(found.confidence).all()
    assert found.number[2] == found.number[3] != found.number[4]


def test_without_noise_only_equal_values_make_a_group():
    values = np.array([0.0, 1.0, 1.0 + 1e-10, 1.1])
    found = group(values, None, np.array([True, False, False, False]), NONE[:4], 1)
    assert found.number.tolist() == [0, 1, 1, 2]
    assert found.confidence is None


def test_means_of_groups():
    groups = certain(np.array([0, 1, 1, 2]), None)
    values = np.array([[0.0, 1.0, 3.0, 5.0], [1.0, 2.0, 2.0, 4.0]])
    np.testing.assert_array_equal(groups.means(values), [[0, 2, 2, 5], [1, 2, 2, 4]])
    np.testing.assert_array_equal(groups.doubt(values[0]), 0.0)


def many_copies(seed):
    """Return 19 copies of 1 and 12 of 2.1, spread as on a sphere that a thousand rows show."""
    rng, s = np.random.default_rng(seed), 0.045
    copies = [
        value + np.linalg.eigvalsh(orthogonal_ensemble(rng, m, s))
        for value, m in ((1.0, 19), (2.1, 12))
    ]
    return np.sort(np.concatenate(copies)), noise_of_size(s, 31)


def test_means_and_doubt_are_those_over_all_runs():
    values, noise = many_copies(0)
    found = group(values, noise, NONE[:31], NONE[:31], 8)
    for a in range(31):
        runs = [(i, j) for i in range(a + 1) for j in range(a, 31)]
        weights = np.array([found.probability[run] for run in runs])
        means = np.array([values[i : j + 1].mean() for i, j in runs])
        assert weights.sum() == pytest.approx(1.0)
        assert found.means(values)[a] == pytest.approx(weights @ means)
        variance = weights @ (means - weights @ means) ** 2
        assert found.doubt(values)[a] == pytest.approx(np.sqrt(variance), abs=1e-6)


def test_many_copies_are_averaged_though_it_is_not_sure_where_they_end():
    truth = np.repeat([1.0, 2.1], [19, 12])
    alone, mean, unsure = [], [], 0
    for seed in range(20):
        values, noise = many_copies(seed)
        found = group(values, noise, NONE[:31], NONE[:31], 8)
        unsure += found.confidence.min() < 0.7
        alone.append(np.abs(values - truth).mean())
        mean.append(np.abs(found.means(values) - truth).mean())
        rough = group(values, noise, NONE[:31], ~NONE[:31], 8)
        kept = rough.confidence < 0.7
        np.testing.assert_allclose(rough.means(values)[kept], values[kept])
    assert unsure >= 2
    assert np.mean(mean) < np.mean(alone) / 4


def test_a_few_values_that_may_be_one_keep_their_own():
    # Four values that lie close, and none of their runs has 70%.
    likelihoods = np.where(np.tri(4, k=-1) > 0, -np.inf, 0.0)
    number, unsettled = np.arange(4), NONE[:4]
    np.testing.assert_allclose(averaged_runs(likelihoods, number, unsettled), np.eye(4))


def test_a_settled_group_is_averaged_for_certain():
    rng = np.random.default_rng(0)
    likelihoods = np.triu(rng.normal(size=(9, 9))) + np.where(np.tri(9, k=-1) > 0, -np.inf, 0.0)
    number = np.array([0, 1, 1, 2, 3, 4, 5, 6, 7])
    found = averaged_runs(likelihoods, number, number == 1)
    assert found[1, 2] == pytest.approx(1.0)
    np.testing.assert_allclose(found[:3, 1:].sum(), 1.0)
