"""Whether samples fill their space."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons, make_swiss_roll
from sklearn.preprocessing import scale

from ritz.selection.operator import fills_space, intrinsic_dimension
from ritz.selection.rows import WeightedRows


def rows(X):
    return WeightedRows(X, np.ones(len(X)))


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


FULL = {
    "one column": normal(500, 1),
    "normal": normal(1000, 3),
    "normal, ten columns": normal(500, 10),
    "correlated": normal(1000, 4) @ normal(4, 4, 1),
    "box": np.random.default_rng(0).uniform(size=(2000, 3)),
    "heavy tails": np.random.default_rng(0).standard_t(3, size=(2000, 3)),
    "moons": make_moons(1000, noise=0.1, random_state=0)[0],
    "units": normal(1000, 2) * (1e200, 1e190),
    "few rows": normal(30, 3),
    "constant column": np.c_[normal(500, 2), np.ones(500)],
    "many columns": normal(300, 50),
}
SPHERE = normal(1000, 3) / np.linalg.norm(normal(1000, 3), axis=1, keepdims=True)
THIN = {
    "sphere": SPHERE,
    "swiss roll": make_swiss_roll(1000, noise=0.1, random_state=0)[0],
    "digits": load_digits().data,
    "cancer": scale(load_breast_cancer().data),
    "wine": scale(load_wine().data),
    "plane": normal(500, 2) @ normal(2, 4, 1),
    "few rows": normal(30, 4),
    "last digits": 1 + 2.2e-16 * np.c_[np.arange(100), np.arange(100)[::-1]],
}


@pytest.mark.parametrize("name", FULL)
def test_samples_that_fill_their_space(name):
    assert fills_space(rows(FULL[name]))


@pytest.mark.parametrize("name", THIN)
def test_samples_that_lie_near_something_thinner(name):
    assert not fills_space(rows(THIN[name]))


def test_the_dimension_of_known_sets():
    assert intrinsic_dimension(normal(2000, 2)) == pytest.approx(2, abs=0.15)
    assert intrinsic_dimension(SPHERE) == pytest.approx(2, abs=0.15)
    angle = np.random.default_rng(0).uniform(0, 6.28, 1000)
    assert intrinsic_dimension(np.c_[np.cos(angle), np.sin(angle)]) == pytest.approx(1, abs=0.1)


def test_equal_rows_do_not_count():
    X = normal(300, 3)
    assert fills_space(rows(np.concatenate([X, X, X])))
