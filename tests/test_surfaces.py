"""Test functions of the benchmarks: known minima, and gradients that are limits of differences."""

import numpy as np
import pytest

from benchmarks.surfaces import BRANIN, HARTMANN, SURFACES, WING_WEIGHT

each_surface = pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
NAMED = {surface.name: surface for surface in SURFACES}


@each_surface
def test_gradient_is_the_limit_of_differences(surface):
    X = surface.sobol(32, seed=0)
    G = surface.gradient(X)
    assert surface.value(X).shape == (32,)
    assert G.shape == X.shape == (32, surface.dimension)
    widths = np.diff(surface.bounds, axis=1)[:, 0]
    for j, side in enumerate(np.diag(widths)):
        # In units of the box, so that each coordinate's slope is judged by its own size.
        size = np.abs(G[:, j] * widths[j]).max()
        errors = [
            np.abs(
                (surface.value(X + h * side) - surface.value(X - h * side)) / (2 * h)
                - G[:, j] * widths[j]
            ).max()
            for h in (1e-3, 1e-5)
        ]
        assert errors[1] < 1e-6 * size + 1e-10 * np.abs(surface.value(X)).max()
        # Central differences have an error of second order, until rounding.
        assert errors[1] < 1e-3 * errors[0] + 1e-9 * size + 1e-10 * np.abs(surface.value(X)).max()


@pytest.mark.parametrize(
    ("surface", "minimum", "value"),
    [
        (BRANIN, [np.pi, 2.275], 0.397887),
        (BRANIN, [-np.pi, 12.275], 0.397887),
        (NAMED["Rosenbrock, d = 2"], [1.0] * 2, 0.0),
        (NAMED["Rosenbrock, d = 10"], [1.0] * 10, 0.0),
        (HARTMANN, [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573], -3.32237),
        (NAMED["Ackley, d = 2"], [0.0] * 2, 0.0),
        (NAMED["Ackley, d = 10"], [0.0] * 10, 0.0),
    ],
)
def test_minimum_is_the_known_one(surface, minimum, value):
    x = np.array([minimum])
    assert surface.value(x)[0] == pytest.approx(value, abs=1e-5)
    assert np.abs(surface.gradient(x)).max() < 2e-4


def test_wing_weight_is_the_published_formula():
    """A Cessna C172 in the formula of Forrester, Sobester and Keane (2008), written out."""
    baseline = area, fuel, aspect, sweep, pressure, taper, thickness, load, gross, paint = (
        174,
        252,
        7.52,
        8.0,
        34,
        0.672,
        0.12,
        3.8,
        2000,
        0.064,
    )
    cosine = np.cos(np.pi * sweep / 180)
    weight = 0.036 * area**0.758 * fuel**0.0035 * (aspect / cosine**2) ** 0.6 * pressure**0.006
    weight *= taper**0.04 * (100 * thickness / cosine) ** -0.3 * (load * gross) ** 0.49
    weight += area * paint
    assert WING_WEIGHT.value(np.array([baseline]))[0] == pytest.approx(weight, rel=1e-13)


@each_surface
def test_designs_fill_the_box_and_repeat(surface):
    low, high = surface.bounds.T
    for design in (surface.sobol, surface.latin_hypercube):
        X = design(50, seed=1)
        assert X.shape == (50, surface.dimension)
        assert ((low <= X) & (high >= X)).all()
        np.testing.assert_array_equal(X, design(50, seed=1))
        assert not np.array_equal(X, design(50, seed=2))
    # One point of a Latin hypercube in each of its fifty slices.
    slices = np.floor(50 * (X - low) / (high - low)).astype(int)
    np.testing.assert_array_equal(np.sort(slices, axis=0)[:, 0], np.arange(50))
    # A longer Sobol design begins with the shorter one.
    np.testing.assert_array_equal(surface.sobol(100, seed=1)[:50], surface.sobol(50, seed=1))
