"""Diffusion geometry against what is known exactly."""

import numpy as np
import pytest
from scipy.stats import norm

import ritz

X = np.random.default_rng(0).normal(size=(100_000, 1))
LINE = ritz.decompose(ritz.laplacian(), ritz.Monomials(12), X, 9, random_state=0)
CIRCLE = ritz.datasets.circle()
ROUND = ritz.decompose(
    ritz.laplacian(tangent=CIRCLE.tangent), ritz.Monomials(5), CIRCLE.sample(50_000, 0), 9
)
POINTS = np.array([[-1.0], [0.0], [0.7]])


def test_the_heat_kernel_of_the_line_is_mehlers():
    # From x the Ornstein-Uhlenbeck process has law N(x exp(-t), 1 - exp(-2 t)) at time t.
    t = 1.0
    mean, scale = POINTS * np.exp(-t), np.sqrt(1 - np.exp(-2 * t))
    exact = norm.pdf(POINTS.T, mean, scale) / norm.pdf(POINTS.T)
    np.testing.assert_allclose(ritz.heat_kernel(LINE, POINTS, POINTS, t), exact, atol=0.02)


def test_heat_is_conserved_and_kernels_compose():
    Y = X[:20_000]
    once = ritz.heat_kernel(LINE, POINTS, Y, 0.8)
    np.testing.assert_allclose(once.mean(axis=1), 1, atol=0.03)
    twice = once @ once.T / len(Y)
    np.testing.assert_allclose(twice, ritz.heat_kernel(LINE, POINTS, POINTS, 1.6), atol=0.05)


def test_distances_are_those_of_kernels_and_depend_on_the_angle_alone():
    t = 0.3
    x, y = (CIRCLE.sample(50, seed) for seed in (1, 2))
    squared = ritz.diffusion_distance(ROUND, x, y, t) ** 2
    same, cross = (
        np.array([ritz.heat_kernel(ROUND, a[None], b[None], 2 * t)[0, 0] for a, b in pairs])
        for pairs in (list(zip(x, x, strict=True)), list(zip(x, y, strict=True)))
    )
    back = np.array([ritz.heat_kernel(ROUND, b[None], b[None], 2 * t)[0, 0] for b in y])
    np.testing.assert_allclose(squared, same + back - 2 * cross, atol=1e-10)
    angle = np.arccos(np.clip((x * y).sum(axis=1), -1, 1))
    exact = sum(4 * np.exp(-2 * t * m * m) * (1 - np.cos(m * angle)) for m in range(1, 5))
    np.testing.assert_allclose(squared, exact, rtol=0.1, atol=0.02)
    one = ritz.diffusion_distance(ROUND, x[:1], y, t)
    np.testing.assert_allclose(one[0] ** 2, squared[0])


def test_the_metric_is_that_of_small_steps():
    t, steps = 0.5, 10.0 ** -np.arange(1, 5)
    metric = ritz.pullback_metric(LINE, POINTS, t)[:, 0, 0]
    ratios = [ritz.diffusion_distance(LINE, POINTS, POINTS + h, t) / h for h in steps]
    errors = np.abs(np.array(ratios) - np.sqrt(metric)).max(axis=1)
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(1, abs=0.1)


def test_neighbors_on_the_circle_are_neighbors_in_angle():
    x, y = CIRCLE.sample(400, 3), CIRCLE.sample(20, 4)
    distances, index = ritz.diffusion_neighbors(ROUND, x, y, 0.2, n_neighbors=3)
    expected = np.argsort(-(y @ x.T), axis=1)[:, :3]
    assert np.mean(index == expected) > 0.9
    own = ritz.diffusion_distance(ROUND, x[index[:, 0]], y, 0.2)
    np.testing.assert_allclose(distances[:, 0], own, atol=1e-10)


def test_bad_input():
    with pytest.raises(ValueError, match=r"'t' parameter must be a nonnegative number"):
        ritz.diffusion_distance(LINE, POINTS, POINTS, -1.0)
    with pytest.raises(ValueError, match=r"'Y' parameter must be of 3 rows.*2 rows"):
        ritz.diffusion_distance(LINE, POINTS, POINTS[:2], 1.0)
    with pytest.raises(TypeError, match="'spectrum'"):
        ritz.diffusion_map(POINTS, POINTS, 1.0)
    with pytest.raises(TypeError, match="'spectrum'"):
        ritz.pullback_metric(POINTS, POINTS, 1.0)
    with pytest.raises(ValueError, match=r"'Y'.* finite"):
        ritz.heat_kernel(LINE, POINTS, POINTS * np.nan, 1.0)
