"""The audit of gradients speaks where they are wrong, and only there."""

import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest

import ritz
from benchmarks.surfaces import HARTMANN, SURFACES, WING_WEIGHT
from ritz.hermite.audit import (
    GradientAudit,
    audit_gradients,
    resembling_columns,
    warn_of_errors,
)
from ritz.hermite.choosing import PenaltyPath
from ritz.hermite.observations import subsample

AIRFOIL = np.load(Path(__file__).parents[1] / "fixtures" / "airfoil.npz")


def airfoil(rows):
    return tuple(AIRFOIL[name][rows].astype(float) for name in ("X", "y", "gradient"))


def audit(X, y, t):
    observations = ritz.HermiteRegressor()._observations(X, y, t, None, None, None, reset=True)
    some = subsample(observations, 300 * (1 + X.shape[1]), 0, True)
    return audit_gradients(ritz.Gaussian(), some)


def quick(length_scale):
    """Return a regressor that chooses nothing, so that most of its fit is the audit."""
    return ritz.HermiteRegressor(
        length_scale=length_scale,
        n_centers=50,
        gradient_weight=1.0,
        regularization=1e-6,
        random_state=0,
    )


def drawn(surface, n, seed):
    X = surface.latin_hypercube(n, seed)
    return X, surface.value(X), surface.gradient(X)


def shock(n, seed):
    """A front in six dimensions, which no Gaussian process expects."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 6))
    s = 20 * (X[:, 0] + X[:, 1] * X[:, 2] / 2)
    g = 20 / np.cosh(s) ** 2
    t = np.column_stack([g, g * X[:, 2] / 2, g * X[:, 1] / 2, np.ones(n), np.zeros((n, 2))])
    return X, np.tanh(s) + X[:, 3], t


@pytest.mark.parametrize("rows", [slice(None), slice(0, 200), slice(200, 400), slice(400, 600)])
def test_gradients_of_a_flow_solver_raise_no_alarm(rows):
    assert not audit(*airfoil(rows)).suspicious.any()


def test_no_warning_from_a_fit_to_the_airfoil():
    X, y, t = airfoil(slice(0, 200))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        quick(3.0).fit(X, y, t)


def test_the_trapezoid_rule_holds_on_the_airfoil():
    """So its gradients are right: differences of neighbors, in the units of their effects."""
    X, y, t = airfoil(slice(None))
    Z = X * np.abs(t).mean(axis=0)
    distances = np.sqrt(((Z[:, None] - Z) ** 2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    j = distances.argmin(axis=1)
    found, rule = y[j] - y, ((t + t[j]) / 2 * (X[j] - X)).sum(axis=1)
    assert 1 - ((found - rule) ** 2).sum() / (found**2).sum() > 0.8


@pytest.mark.parametrize("n", [30, 120])
@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_right_gradients_raise_no_alarm_on_test_functions(surface, n):
    rng = np.random.default_rng(n)
    for noise in (0.0, 0.2):
        X, y, t = drawn(surface, n, n)
        y = y + noise * y.std() * rng.normal(size=n)
        t = t + noise * t.std(axis=0) * rng.normal(size=t.shape)
        assert not audit(X, y, t).suspicious.any()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [30, 40, 150])
def test_a_front_raises_no_alarm(n, seed):
    assert not audit(*shock(n, seed)).suspicious.any()


WRONG = {"sign": -1.0, "doubled": 2.0, "halved": 0.5, "thousandfold": 1000.0}
DATA = {
    "Branin": lambda: drawn(SURFACES[0], 100, 0),
    "Hartmann-6": lambda: drawn(HARTMANN, 300, 2),
    "wing weight": lambda: drawn(WING_WEIGHT, 100, 0),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("data", DATA)
def test_wrong_signs_and_scales_are_found(data, wrong):
    X, y, t = DATA[data]()
    assert audit(X, y, WRONG[wrong] * t).suspicious.any()


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("data", DATA)
def test_one_wrong_column_is_found(data, wrong):
    X, y, t = DATA[data]()
    column = np.argmax(t.std(axis=0) * X.std(axis=0))
    t[:, column] *= WRONG[wrong]
    assert np.flatnonzero(audit(X, y, t).suspicious).tolist() == [column]


@pytest.mark.parametrize("factor", [-1.0, 2.0, 1000.0])
def test_wrong_gradients_of_a_flow_solver_are_found(factor):
    X, y, t = airfoil(slice(None))
    assert audit(X, y, factor * t).suspicious.any()


def test_units_of_gradients_other_than_those_of_inputs_are_found():
    """Inputs in millimeters, gradients a meter."""
    X, y, t = drawn(SURFACES[0], 100, 0)
    found = audit(1000 * X, y, t)
    assert found.suspicious.all()
    np.testing.assert_allclose(found.factors, 1000, rtol=0.2)


def test_columns_in_another_order_are_found():
    X, y, t = drawn(HARTMANN, 300, 0)
    order = np.array([1, 0, 2, 3, 5, 4])
    found = audit(X, y, t[:, order])
    bad = np.flatnonzero(found.suspicious)
    assert len(bad) >= 2
    np.testing.assert_array_equal(found.sources[bad], order[bad])
    assert np.isnan(found.factors[bad]).all()
    moved = f"the gradients of column {bad[0]} are in column {order[bad[0]]}"
    assert moved in str(found)
    with pytest.warns(UserWarning, match=f"suggest, {moved}; .*order of columns"):
        quick(0.5).fit(X, y, t[:, order])


def test_a_column_resembles_itself_unless_another_one_does_better():
    rng = np.random.default_rng(0)
    expected = rng.normal(size=(200, 3, 1))
    known = np.ones((200, 3), dtype=bool)
    swapped = 5 * expected[:, [1, 0, 2]]
    assert resembling_columns(expected, expected, known).tolist() == [0, 1, 2]
    assert resembling_columns(expected, swapped, known).tolist() == [1, 0, 2]
    noise = rng.normal(size=(200, 3, 1))
    assert resembling_columns(expected, noise, known).tolist() == [0, 1, 2]
    known[:, 0] = False
    assert resembling_columns(expected, swapped, known).tolist() == [1, 1, 2]


def test_an_audit_reads_as_a_table():
    found = GradientAudit(
        np.array([-1.0, np.nan]), np.array([-1.2, np.nan]), np.array([-0.8, np.nan]), np.arange(2)
    )
    assert str(found).splitlines() == [
        "column 0 has the factor -1 (-1.2 to -0.8) !",
        "column 1 has the factor nan (nan to nan)",
    ]


def test_memory_does_not_grow_with_the_square_of_the_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 400))
    t = rng.normal(size=X.shape)
    tracemalloc.start()
    try:
        audit(X, (X * t).sum(axis=1), t)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The points and directions of 400 sets of functionals would take 100 MB.
    assert peak < 50e6


def test_a_fit_that_predicts_worse_than_the_mean_is_told_of():
    def path(*errors):
        n = len(errors)
        return PenaltyPath(np.ones(n), np.ones(n), np.array(errors), np.ones(n), np.ones((n, 4)))

    with pytest.warns(UserWarning, match=r"missed by 1\.9 .* their mean would predict them better"):
        warn_of_errors(path(np.inf, 1.9**2, 4.0))
    for fine in (None, path(np.inf), path(9.0, 1.2**2)):
        warn_of_errors(fine)
