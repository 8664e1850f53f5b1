"""Components that are lost: whether mu was too small for them, or training too short."""

import warnings

import numpy as np
import pytest
import torch

import ritz
from ritz.neural import SpectralNetwork, mlp
from ritz.neural.verdict import still_falling, verdict

CIRCLE = ritz.datasets.circle()
X = CIRCLE.sample(2000, random_state=0)
LAPLACIAN = ritz.laplacian(tangent=CIRCLE.tangent)


def fit(module=lambda: mlp(2, (32, 32), 4), n_components=4, **options):
    """Fit a network on the circle, where eigenvalues are 1, 1, 4, 4; return it and what it says."""
    settings = {"n_steps": 100, "batch_size": 250, "learning_rate": 2e-2, "random_state": 0}
    model = SpectralNetwork(module, LAPLACIAN, n_components, **{**settings, **options})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RuntimeWarning)
        model.fit(X)
    return model, " ".join(str(w.message) for w in told if w.category is RuntimeWarning)


def test_components_above_mu_die_and_the_remedy_lets_them_live():
    model, told = fit(mu=3.0)
    np.testing.assert_array_equal(model.alive_, [True, True, False, False])
    assert told.startswith("Components 2, 3 of 4 died: eigenvalues")
    assert "not below mu = 3, " in told
    assert "or n_components=2 and a module" in told
    # Three times the eigenvalue 4 that kernel sections find.
    remedy = float(told.split("Pass mu=")[1].split(",")[0])
    assert remedy == pytest.approx(12, rel=0.1)
    assert fit(mu=remedy)[0].alive_.all()


def test_where_all_die_fewer_are_no_remedy():
    model, told = fit(mu=0.5)
    assert not model.alive_.any()
    assert told.startswith("Components 0, 1, 2, 3 of 4 died")
    assert "n_components" not in told


@pytest.mark.parametrize("mu", ["auto", 12.0])
def test_what_was_not_learned_did_not_die(mu):
    # A first layer that large makes functions of high energy, which a few steps do not mend.
    model, told = fit(lambda: mlp(2, (32, 32), 4, first_scale=60.0), mu=mu, n_steps=2)
    lost = np.flatnonzero(~model.alive_)
    assert len(lost)
    assert f"Components {', '.join(map(str, lost))} of 4 were not learned" in told
    assert "though kernel sections reach" in told
    assert "Train longer" in told
    assert "died" not in told
    assert "Pass mu" not in told


class Repeated(torch.nn.Module):
    """A perceptron whose third output is the second."""

    def __init__(self):
        super().__init__()
        self.inner = mlp(2, (32, 32), 2)

    def forward(self, x):
        return self.inner(x)[:, [0, 1, 1]]


def test_outputs_that_depend_on_each_other_are_told_as_such():
    model, told = fit(Repeated, 3, mu=12.0)
    assert told.startswith("Only 2 of 3 functions were found")
    assert "n_components=2" in told
    assert "died" not in told
    assert model.alive_.shape == model.eigenvalues_.shape == (2,)
    assert len(model.get_feature_names_out()) == model.transform(X[:3]).shape[1] == 2


def test_the_hinge_lets_every_component_live():
    model, told = fit(mu=0.5, regularizer="variance_covariance", n_steps=20)
    assert model.alive_.all()
    assert not told


def test_both_causes_are_told_apart():
    values = np.array([1.0, 9.0, 12.0])
    alive = np.array([True, False, False])
    text = verdict(values, alive, np.array([1.0, 2.0, 8.0]), 5.0, falling=True)
    assert "Components 2 of 3 died: eigenvalues 12 are not below mu = 5" in text
    assert "Pass mu=24." in text
    assert "Components 1 of 3 were not learned: eigenvalues 9" in text
    assert "reach 2." in text
    assert "still falling" in text
    # A vector has its own number for each, and what kernels do not reach the network says.
    text = verdict(values, alive, np.array([1.0]), np.array([5.0, 6.0, 7.0]), falling=False)
    assert "Components 1, 2 of 3 died: eigenvalues 9, 12 are not below mu = 6, 7" in text
    assert "Pass mu=36, or n_components=1" in text
    assert "falling" not in text


@pytest.mark.parametrize(
    ("losses", "falling"),
    [
        ([(0, 4.0), (10, 3.0), (20, 2.0)], True),
        ([(0, 4.0), (10, 2.0), (20, 1.999)], False),
        ([(0, 4.0), (10, 2.0), (20, 2.5)], False),
        ([(0, 4.0), (10, 3.0)], False),
        ([], False),
    ],
)
def test_a_loss_that_falls_at_the_end_is_seen(losses, falling):
    assert still_falling(losses, 20) is falling
    assert not still_falling(losses, 30)
