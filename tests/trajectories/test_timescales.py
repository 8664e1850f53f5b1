"""Timescales that are known: a relaxing process, two states, and three wells on a fine grid."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from scipy.signal import lfilter
from scipy.sparse.linalg import eigsh
from scipy.stats import t as student

import ritz


def relaxing(n, time, seed=0):
    """An Ornstein-Uhlenbeck process of unit variance: timescales are time / j."""
    a = np.exp(-1 / time)
    noise = np.random.default_rng(seed).normal(size=n + 1000)
    return lfilter([np.sqrt(1 - a**2)], [1, -a], noise)[1000:]


def test_timescales_of_an_ornstein_uhlenbeck_process_at_all_lags():
    found = ritz.implied_timescales(relaxing(40_000, 20.0), [1, 5, 20], 2, dt=0.1, random_state=0)
    exact = 2.0 / np.arange(1, 3)
    assert found.timescales.shape == found.errors.shape == (3, 2)
    np.testing.assert_allclose(found.timescales, np.tile(exact, (3, 1)), rtol=0.15)
    assert (np.abs(found.timescales - exact) < 4 * found.errors).all()
    np.testing.assert_allclose(found.times, [0.1, 0.5, 2.0])
    # Over n frames the decay exp(-1 / T) has the standard error sqrt((1 - exp(-2 / T)) / n).
    decay = np.exp(-1 / 20.0)
    known = np.sqrt((1 - decay**2) / 40_000) * 2.0 / decay / -np.log(decay)
    assert 0.4 < found.errors[0, 0] / known < 2.0


def test_intervals_hold_the_truth():
    hits = []
    for seed in range(10):
        x = relaxing(10_000, 10.0, seed)
        options = {"length_scale": 1.5, "n_centers": 40, "regularization": 1e-4, "random_state": 0}
        low, high = ritz.implied_timescales(x, [3], 1, **options).intervals[0, 0]
        hits.append(low < 10.0 < high)
    assert sum(hits) >= 8


def test_two_states_on_the_line():
    """Two states with noise: the decay over one frame is 1 - p - q."""
    rng, n, p, q = np.random.default_rng(0), 30_000, 0.02, 0.05
    state, draws = np.zeros(n), rng.random(n)
    for t in range(1, n):
        leaves = draws[t] < (q if state[t - 1] else p)
        state[t] = 1 - state[t - 1] if leaves else state[t - 1]
    x = state + 0.1 * rng.normal(size=n)
    found = ritz.implied_timescales(x, [1, 3, 6], 1, random_state=0)
    exact = -1 / np.log(1 - p - q)
    np.testing.assert_allclose(found.timescales[:, 0], exact, rtol=0.12)
    assert (np.abs(found.timescales[:, 0] - exact) < 3.5 * found.errors[:, 0]).all()
    f = found.models[0].transform(x[:, None])[:, 0]
    assert abs(np.corrcoef(f, state)[0, 1]) > 0.99


def wells(x, y):
    """The triple well of Schuette and Sarich (2013)."""
    bumps = [(3, 0, 1 / 3), (-3, 0, 5 / 3), (-5, 1, 0), (-5, -1, 0)]
    terms = [c * np.exp(-((x - a) ** 2) - (y - b) ** 2) for c, a, b in bumps]
    return sum(terms) + 0.2 * x**4 + 0.2 * (y - 1 / 3) ** 4


def force(z):
    h = 1e-4
    steps = [(h, 0), (0, h)]
    x, y = z.T
    slopes = [(wells(x - a, y - b) - wells(x + a, y + b)) / (2 * h) for a, b in steps]
    return np.stack(slopes, axis=1)


def grid_truth(D, m=120):
    """Timescales of the diffusion on a grid, by rates in detailed balance, and its equilibrium."""
    axes = np.linspace(-2.5, 2.5, m), np.linspace(-2.2, 2.8, m)
    x, y = np.meshgrid(*axes, indexing="ij")
    energy, number = wells(x, y) / D, np.arange(m * m).reshape(m, m)
    rows, columns, rates = [], [], []
    for axis in (0, 1):
        i, j = (np.take(number, part, axis).ravel() for part in (range(m - 1), range(1, m)))
        width = axes[axis][1] - axes[axis][0]
        u = energy.ravel()
        off = D / width**2 * np.ones(len(i))
        rows += [i, j, i, j]
        columns += [j, i, i, j]
        out, back = np.exp((u[i] - u[j]) / 2), np.exp((u[j] - u[i]) / 2)
        rates += [-off, -off, off * out, off * back]
    parts = np.concatenate(rates), (np.concatenate(rows), np.concatenate(columns))
    generator = scipy.sparse.csc_matrix(parts, shape=(m * m, m * m))
    values = np.sort(eigsh(generator, 4, sigma=-1e-3, return_eigenvectors=False))
    law = np.exp(-(energy - energy.min())).ravel()
    return 1 / values[1:], np.stack([x.ravel(), y.ravel()], axis=1), law / law.sum()


def test_three_wells_with_defaults():
    """deeptime's triple well in the plane, sigma 1.09, and its timescales on a fine grid."""
    D, step, rng = 1.09**2 / 2, 5e-3, np.random.default_rng(0)
    exact, points, law = grid_truth(D)
    z = points[rng.choice(len(law), size=100, p=law)]
    frames = []
    for number in range(200 * 20):
        z = z + step * force(z) + np.sqrt(2 * D * step) * rng.normal(size=z.shape)
        if number % 20 == 0:
            frames.append(z)
    trajectories = list(np.stack(frames, axis=1))
    found = ritz.implied_timescales(trajectories, [2], 3, dt=0.1, random_state=0)
    errors = np.abs(found.timescales[0] / exact - 1)
    assert errors.mean() < 0.15
    low, high = found.intervals[0].T
    assert ((low < exact) & (exact < high)).sum() >= 2
    # Each frame's left and right functions are those of one reversible process.
    model = found.models[0]
    X = np.concatenate(trajectories)
    left, right = model.transform(X, X)
    for j in range(2):
        assert abs(np.corrcoef(left[:, j], right[:, j])[0, 1]) > 0.98


def result(correlations, errors, lags=(1, 2)):
    c, e = np.array(correlations, dtype=float), np.array(errors, dtype=float)
    return ritz.ImpliedTimescales(np.array(lags), 0.5 * np.array(lags), c, e, 8, ())


def test_timescales_errors_and_intervals_follow_from_correlations():
    found = result([[0.9], [0.8]], [[0.01], [0.02]])
    exact = -np.array([0.5, 1.0]) / np.log([0.9, 0.8])
    np.testing.assert_allclose(found.timescales[:, 0], exact)
    h = 1e-6
    slope = -np.array([0.5, 1.0]) * (1 / np.log([0.9 + h, 0.8 + h]) - 1 / np.log([0.9, 0.8])) / h
    np.testing.assert_allclose(found.errors[:, 0], slope * [0.01, 0.02], rtol=1e-4)
    width = student.ppf(0.975, 7) * 0.01
    ends = -0.5 / np.log([0.9 - width, 0.9 + width])
    np.testing.assert_allclose(found.intervals[0, 0], ends)


def test_correlations_beyond_the_range_have_timescales_too():
    found = result([[1.0, 0.5, -0.1]], [[0.1, 0.4, 0.1]], lags=(1,))
    np.testing.assert_array_equal(found.timescales[0, [0, 2]], [np.inf, 0.0])
    assert found.errors[0].tolist()[::2] == [np.inf, 0.0]
    np.testing.assert_array_equal(found.intervals[0, :, 1] == np.inf, [True, True, False])
    assert not np.isnan(found.intervals).any()
    assert "inf" in str(found)


def test_picture_and_table():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    found = result([[0.99, 0.8, -0.1], [0.98, 0.6, 0.0]], [[0.01] * 3] * 2)
    ax = found.plot()
    np.testing.assert_allclose(ax.lines[0].get_ydata(), found.timescales[:, 0])
    lags, shortest = ax.lines[-1].get_data()
    np.testing.assert_array_equal(lags, shortest)
    assert ax.get_yscale() == "log"
    assert found.plot(ax) is ax
    pyplot.close("all")
    lines = str(found).splitlines()
    assert len(lines) == 3
    assert float(lines[1].split()[2]) == pytest.approx(found.timescales[0, 0], rel=1e-3)
    assert repr(found) == "<ImpliedTimescales: 3 processes, 2 lags>"


def test_too_short_trajectories_are_refused():
    x = relaxing(300, 5.0)
    with pytest.raises(ValueError, match="'lags' parameter must be such that blocks"):
        ritz.implied_timescales(x, [200], 1, regularization=0.1, length_scale=1.0)
    for lags, message in (([], "at least one"), ([0], "positive integer"), ([300], "smaller than")):
        with pytest.raises(ValueError, match=f"'lags' parameter must be .*{message}"):
            ritz.implied_timescales(x, lags)
    with pytest.raises(TypeError, match="no_such"):
        ritz.implied_timescales(x, [1], no_such=3)


def test_intervals_count_the_folds_that_have_rows():
    """Six blocks leave some of eight folds empty."""
    found = ritz.implied_timescales(
        relaxing(640, 2.0), [100], 1, regularization=0.1, length_scale=1.0, random_state=0
    )
    assert found.n_folds == len(found.models[0].spectrum_.folds.weight) < 8


def test_intervals_of_noise_hold_zero():
    """Without memory every timescale is zero, and what was fitted to noise is not seen again."""
    hits = []
    for seed in range(10):
        noise = np.random.default_rng(seed).normal(size=2000)
        found = ritz.implied_timescales(noise, [1, 2], 2, random_state=0)
        hits.append((found.intervals[..., 0] == 0).mean())
    assert np.mean(hits) >= 0.8
    spectra = [model.spectrum_ for model in found.models]
    np.testing.assert_array_equal(found.held_out, [levels.heldout_values[1:] for levels in spectra])
    assert found.flags == tuple(levels.flags[1:] for levels in spectra)


def test_an_interval_holds_zero_where_that_of_the_held_out_correlation_does():
    width = student.ppf(0.975, 7) * 0.01
    held = np.array([[0.99 * width, 1.01 * width, np.nan]])
    found = replace(result([[0.5, 0.5, 0.5]], [[0.01] * 3], lags=(1,)), held_out=held)
    np.testing.assert_array_equal(found.intervals[0, :, 0] > 0, [False, True, True])
    plain = result([[0.5]], [[0.01]], lags=(1,)).intervals[0, 0]
    np.testing.assert_array_equal(found.intervals[0, :, 1], plain[1])


def test_processes_with_a_flag_are_marked():
    found = result([[0.9, 0.5]], [[0.01, 0.01]], lags=(1,))
    assert not found.flagged.any()
    found = replace(found, flags=(("", "does not generalize"),))
    np.testing.assert_array_equal(found.flagged, [[False, True]])
    _, row, note = str(found).splitlines()
    assert row.count("*") == 1
    assert f"{found.timescales[0, 1]:.4g}*" in row
    assert note == "* does not generalize: the timescale says nothing"
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    crosses = [line for line in found.plot().lines if line.get_marker() == "x"]
    assert [len(line.get_xdata()) for line in crosses] == [0, 1]
    pyplot.close("all")


def test_blocks_shorter_than_a_process_are_told_of():
    rng, x = np.random.default_rng(0), np.zeros(600)
    for t in range(1, len(x)):
        x[t] = 0.99 * x[t - 1] + rng.normal()
    with pytest.warns(UserWarning, match="blocks of .* frames, which are shorter"):
        ritz.implied_timescales(x, [1], 1, random_state=0, n_centers=20, kernel="gaussian")
