"""The automatic choice of mu, and warnings of components that are not below it."""

import warnings

import numpy as np
import pytest
import torch

import ritz
from ritz.neural import Augmented, SpectralNetwork, auto_mu, mlp
from ritz.neural.mu import lost_components, still_falling
from ritz.streams import as_stream

CIRCLE = ritz.datasets.circle()
X = CIRCLE.sample(2000, random_state=0)
LAPLACIAN = ritz.laplacian(tangent=CIRCLE.tangent)


def fit(module=lambda: mlp(2, (32, 32), 4), n_components=4, **options):
    """Fit a network on the circle, with eigenvalues 1, 1, 4, 4; return it and its warnings."""
    settings = {"n_steps": 100, "batch_size": 250, "learning_rate": 2e-2, "random_state": 0}
    model = SpectralNetwork(module, LAPLACIAN, n_components, **{**settings, **options})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        model.fit(X)
    return model, " ".join(str(w.message) for w in caught if w.category is RuntimeWarning)


def noisy(x, rng):
    """Return versions of normals whose pairs have the correlation 0.64."""
    return 0.8 * x + 0.6 * rng.normal(size=x.shape)


def test_auto_mu_is_three_times_the_last_eigenvalue():
    assert fit(mu="auto", n_steps=2)[0].mu_ == pytest.approx(12.0, rel=0.1)


@pytest.mark.parametrize("n", [400, 1000, 4000])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_auto_mu_is_close_to_that_for_few_rows(n, seed):
    rows = np.random.default_rng(seed).normal(size=(n, 2))
    for stream in (as_stream(rows), ritz.Batches([rows])):
        # The eigenvalues are 0, 1, 1, 2.
        assert 4 < auto_mu(ritz.laplacian(), stream, 4) < 9


@pytest.mark.parametrize("n", [60, 200, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_auto_mu_is_usable_in_difficult_cases(n, seed):
    rng = np.random.default_rng(seed)
    sphere = ritz.datasets.sphere(10)
    cases = [
        (ritz.laplacian(), as_stream(rng.normal(size=(n, 1))), 3, 2.0),
        (ritz.laplacian(), as_stream(rng.normal(size=(n, 2)) * [1.0, 1000.0]), 3, 2e-6),
        (ritz.pairs(), Augmented(rng.normal(size=(n, 1)), noisy), 3, 2 - 2 * 0.64**2),
        (ritz.laplacian(tangent=sphere.tangent), as_stream(sphere.sample(n, seed)), 11, 9.0),
    ]
    for form, stream, m, last in cases:
        # Enough above the last eigenvalue to learn it, and less than ten times as large.
        assert 1.4 * last < auto_mu(form, stream, m) < 10 * last


def test_components_above_mu_die_and_the_remedy_lets_them_live():
    model, text = fit(mu=3.0)
    np.testing.assert_array_equal(model.alive_, [True, True, False, False])
    assert text.startswith("Components 2, 3 of 4 died: eigenvalues")
    assert "not below mu = 3, " in text
    assert "or n_components=2 and a module" in text
    # Three times the eigenvalue 4, which kernel sections find.
    remedy = float(text.split("Pass mu=")[1].split(",")[0])
    assert remedy == pytest.approx(12, rel=0.1)
    assert fit(mu=remedy)[0].alive_.all()


def test_if_all_components_die_fewer_are_no_remedy():
    model, text = fit(mu=0.5)
    assert not model.alive_.any()
    assert text.startswith("Components 0, 1, 2, 3 of 4 died")
    assert "n_components" not in text


@pytest.mark.parametrize("mu", ["auto", 12.0])
def test_components_that_were_not_learned_did_not_die(mu):
    # Such a large first layer makes functions of high energy, which a few steps do not change.
    model, text = fit(lambda: mlp(2, (32, 32), 4, first_scale=60.0), mu=mu, n_steps=2)
    lost = np.flatnonzero(~model.alive_)
    assert len(lost)
    assert f"Components {', '.join(map(str, lost))} of 4 were not learned" in text
    assert "though kernel sections reach" in text
    assert "Train longer" in text
    assert "died" not in text
    assert "Pass mu" not in text


class Repeated(torch.nn.Module):
    """A perceptron whose third output is the second."""

    def __init__(self):
        super().__init__()
        self.inner = mlp(2, (32, 32), 2)

    def forward(self, x):
        return self.inner(x)[:, [0, 1, 1]]


def test_outputs_that_depend_on_each_other_give_a_warning():
    model, text = fit(Repeated, 3, mu=12.0)
    assert text.startswith("Only 2 of 3 functions were found")
    assert "n_components=2" in text
    assert "died" not in text
    assert model.alive_.shape == model.eigenvalues_.shape == (2,)
    assert len(model.get_feature_names_out()) == model.transform(X[:3]).shape[1] == 2


def test_the_hinge_of_vicreg_lets_no_component_die():
    model, text = fit(mu=0.5, regularizer="variance_covariance", n_steps=20)
    assert model.alive_.all()
    assert not text


def test_the_message_tells_both_causes_apart():
    values = np.array([1.0, 9.0, 12.0])
    alive = np.array([True, False, False])
    text = lost_components(values, alive, np.array([1.0, 2.0, 8.0]), 5.0, falling=True)
    assert "Components 2 of 3 died: eigenvalues 12 are not below mu = 5" in text
    assert "Pass mu=24." in text
    assert "Components 1 of 3 were not learned: eigenvalues 9" in text
    assert "reach 2." in text
    assert "still falling" in text
    # A vector mu has a number for each. Without kernel sections, the network gives the bound.
    text = lost_components(values, alive, np.array([1.0]), np.array([5.0, 6.0, 7.0]), falling=False)
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
def test_a_loss_that_still_falls_at_the_end_is_recognized(losses, falling):
    assert still_falling(losses, 20) is falling
    assert not still_falling(losses, 30)
