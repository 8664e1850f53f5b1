"""Pairs of frames, their blocks, and diffusion from displacements."""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import ritz


def test_pairs_are_a_lag_apart_and_within_one_trajectory():
    first, second = np.arange(10.0)[:, None], 100 + np.arange(6.0)[:, None]
    X, Y, groups = ritz.lagged([first, second, 1e6 + first[:3]], 3)
    np.testing.assert_array_equal(Y - X, np.full((10, 1), 3.0))
    np.testing.assert_array_equal(X[:, 0], [*range(7), 100, 101, 102])
    # Blocks of two trajectories differ, though all are too short to be cut.
    assert not set(groups[:7]) & set(groups[7:])


def test_one_array_may_come_in_any_form():
    x = np.random.default_rng(0).normal(size=500)
    expected = ritz.lagged(x[:, None], 2)
    for same in (x, x.tolist(), [x], (x,), pd.DataFrame(x), [pd.Series(x)], x[:, None].tolist()):
        for part, known in zip(ritz.lagged(same, 2), expected, strict=True):
            np.testing.assert_array_equal(part, known)


@pytest.mark.parametrize(("lag", "blocks"), [(1, 64), (100, 64), (400, 24), (9000, 1)])
def test_blocks_are_longer_than_the_lag(lag, blocks):
    x = np.random.default_rng(0).normal(size=10_000)
    groups = ritz.lagged(x, lag).groups
    # The last lag frames begin no pair.
    lengths = np.bincount(groups)
    assert lengths[:-1].min(initial=10_000) > lag
    assert blocks - lag * blocks // 10_000 - 1 <= len(lengths) <= blocks
    assert (np.diff(groups) >= 0).all()


def test_a_long_memory_makes_blocks_longer_until_they_are_few():
    noise = np.random.default_rng(0).normal(size=20_000)
    for decay, blocks in ((0.0, 64), (0.975, 50), (0.999, 32)):
        x = lfilter([1.0], [1.0, -decay], noise)
        assert len(np.unique(ritz.lagged(x, 1).groups)) == pytest.approx(blocks, abs=8)
    many = [noise[i : i + 100] for i in range(0, 20_000, 100)]
    assert len(np.unique(ritz.lagged(many, 1).groups)) == 200


@pytest.mark.parametrize(
    ("trajectories", "lag", "message"),
    [
        (np.zeros(5), 5, "'lag' parameter must be smaller than the number of frames.*5 frames"),
        ([np.zeros(5), np.zeros(9)], 9, "longest trajectory has 9 frames"),
        (np.zeros(5), 0, "'lag' parameter must be a positive integer"),
        (np.zeros(5), -2, "'lag' parameter must be a positive integer"),
        (np.zeros(5), 1.5, "'lag' parameter must be a positive integer"),
        ([np.zeros((5, 2)), np.zeros((5, 3))], 1, "'trajectories'.*2 columns. Got 3 columns"),
        (np.zeros((5, 2, 2)), 1, r"'trajectories' parameter.*Pass list\(trajectories\)"),
        (np.array([1.0, np.nan, 2.0]), 1, "'trajectories'"),
        ([], 1, "'trajectories'|'lag'"),
    ],
)
def test_bad_trajectories_and_lags_are_refused(trajectories, lag, message):
    with pytest.raises(ValueError, match=message):
        ritz.lagged(trajectories, lag)


def walk(n, D, dt, seed=0):
    steps = np.random.default_rng(seed).normal(size=(n, len(D))) * np.sqrt(2 * np.array(D) * dt)
    return np.cumsum(steps, axis=0)


def test_displacements_of_a_walk_give_its_diffusion_at_every_lag():
    D = [1.0, 0.25]
    found = ritz.displacements([walk(20_000, D, 0.1, seed) for seed in range(2)], [4, 1, 2], dt=0.1)
    assert found.lags.tolist() == [1, 2, 4]
    np.testing.assert_allclose(found.times, [0.1, 0.2, 0.4])
    np.testing.assert_allclose(found.D, np.tile(D, (3, 1)), rtol=0.05)
    assert (np.abs(found.D - D) < 3.5 * found.errors).all()
    # Squares of normal steps have twice their mean square as variance.
    np.testing.assert_allclose(found.errors[0], np.sqrt(2 / 40_000) * np.array(D), rtol=0.3)
    lines = str(found).splitlines()
    assert len(lines) == 4
    assert lines[1].split()[0] == "1"


def test_displacements_of_a_bound_process_fall_with_the_lag():
    """For dx = -x dt + sqrt(2) dW the expected value is (1 - exp(-t)) / t."""
    a = np.exp(-0.05)
    noise = np.random.default_rng(0).normal(size=(50_000,))
    x = lfilter([np.sqrt(1 - a**2)], [1, -a], noise)[500:]
    found = ritz.displacements(x, [1, 10, 40], dt=0.05)
    exact = (1 - np.exp(-found.times)) / found.times
    assert (np.abs(found.D[:, 0] - exact) < 3.5 * found.errors[:, 0]).all()
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    (line,) = found.plot().lines[:1]
    np.testing.assert_allclose(line.get_ydata(), found.D[:, 0])
    pyplot.close("all")
    with pytest.raises(ValueError, match="'lags' parameter must be at least one"):
        ritz.displacements(x, [])
    with pytest.raises(ValueError, match="'dt' parameter must be a positive number"):
        ritz.displacements(x, [1], dt=0)


def test_modes_with_the_diffusion_of_displacements():
    """An Ornstein-Uhlenbeck process with relaxation times 2 and 0.5, in columns of unequal D."""
    rng, dt = np.random.default_rng(0), 0.01
    columns = []
    for time, scale in ((2.0, 1.0), (0.5, 3.0)):
        a = np.exp(-dt / time)
        columns.append(lfilter([scale * np.sqrt(1 - a**2)], [1, -a], rng.normal(size=100_000)))
    X = np.stack(columns, axis=1)
    X, dt, groups = X[::5], 5 * dt, np.arange(20_000) // 500
    options = {"D": "displacements", "dt": dt, "n_centers": 60, "random_state": 0}
    model = ritz.DiffusionModes(1, **options).fit(X, groups=groups)
    # Over a lag of a tenth of the second time, D is too small by 5%.
    np.testing.assert_allclose(model.D_, [0.5, 18.0], rtol=0.06)
    np.testing.assert_allclose(model.timescales_, [2.0], rtol=0.1)
    with pytest.warns(UserWarning, match="over 4 frames and over 8 differs by a factor of 1"):
        coarse = ritz.DiffusionModes(1, lag=4, **options).fit(X, groups=groups)
    known = ritz.displacements(X, [4], dt=dt).D[0]
    np.testing.assert_allclose(coarse.D_, known, rtol=0.02)


def test_displacements_never_join_two_groups():
    parts = [walk(200, [1.0], 1.0, seed) + 1000 * seed for seed in range(20)]
    X, groups = np.concatenate(parts), np.repeat(np.arange(20), 200)
    options = {"length_scale": 50.0, "n_centers": 20, "random_state": 0}
    model = ritz.DiffusionModes(1, D="displacements", kernel="gaussian", **options).fit(
        X, groups=groups
    )
    np.testing.assert_allclose(model.D_, ritz.displacements(parts, [1]).D[0])


def test_blocks_for_errors_do_not_cut_displacements():
    x = lfilter([1.0], [1, -0.5], np.random.default_rng(0).normal(size=640))[:, None]
    # The lag is longer than a block.
    model = ritz.DiffusionModes(1, D="displacements", lag=40, n_centers=20, random_state=0)
    with pytest.warns(UserWarning, match="over 40 frames and over 80 differs"):
        model.fit(x, groups="auto")
    np.testing.assert_allclose(model.D_, ritz.displacements(x, [40]).D[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"D": "steps"}, "'D' parameter must be 'displacements', numbers or a function"),
        ({"lag": 3}, "'lag' parameter must be left out unless D='displacements'"),
        ({"D": "displacements", "lag": 300}, "'lag' parameter must be smaller"),
        ({"D": "displacements", "lag": 299, "groups": np.arange(300) // 9}, "'lag' parameter"),
        ({"D": "displacements", "lag": 0}, "'lag' parameter must be a positive integer"),
        ({"D": "displacements", "dt": -1.0}, "'dt' parameter must be a positive number"),
        ({"D": "displacements", "kT": 2.0}, "'kT' parameter must be left out"),
        ({"D": "displacements", "mobility": 2.0}, "'mobility' parameter must be None"),
    ],
)
def test_bad_displacements_are_refused(options, message):
    X, options = np.random.default_rng(0).normal(size=(300, 1)), dict(options)
    groups = options.pop("groups", None)
    with pytest.raises(ValueError, match=message):
        ritz.DiffusionModes(1, **options).fit(X, groups=groups)


@pytest.mark.parametrize("numbers", [list(range(9)), list(np.arange(9.0)), list(np.arange(9))])
def test_a_list_of_numbers_is_one_trajectory(numbers):
    X, Y, _ = ritz.lagged(numbers, 2)
    np.testing.assert_array_equal(X[:, 0], np.arange(7.0))
    np.testing.assert_array_equal(Y, X + 2)
