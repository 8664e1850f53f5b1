"""Slow modes of diffusions whose rates are known."""

import numpy as np
import pytest
from scipy.linalg import eigh_tridiagonal

import ritz

NORMAL = np.random.default_rng(0).normal(size=(20_000, 2))


def double_well_rates(barrier, D, k):
    """Return the rates of dx = -D U' dt + sqrt(2 D) dW, U = barrier (x^2 - 1)^2, on a grid."""
    x = np.linspace(-2.2, 2.2, 3001)
    h = x[1] - x[0]
    density = np.exp(-barrier * (x**2 - 1) ** 2)
    between = D * (density[1:] + density[:-1]) / 2 / h**2
    diagonal = (np.r_[between, 0] + np.r_[0, between]) / density
    off = -between / np.sqrt(density[1:] * density[:-1])
    return eigh_tridiagonal(diagonal, off, select="i", select_range=(0, k))[0][1:]


def double_well_samples(barrier, n):
    rng = np.random.default_rng(1)
    x = rng.uniform(-2.2, 2.2, size=40 * n)
    return x[rng.random(40 * n) < np.exp(-barrier * (x**2 - 1) ** 2)][:n, None]


@pytest.mark.parametrize("D", [1.0, 0.2])
def test_rates_of_a_double_well(D):
    X = double_well_samples(3.0, 20_000)
    model = ritz.DiffusionModes(3, D=D, random_state=0).fit(X)
    exact = double_well_rates(3.0, D, 3)
    np.testing.assert_allclose(model.rates_, exact, rtol=0.06)
    np.testing.assert_allclose(model.timescales_ * model.rates_, 1)
    # The slowest mode tells the wells apart.
    slow = model.transform(np.array([[-1.0], [1.0]]))[:, 0]
    assert slow[0] * slow[1] < -0.5


def test_weights_undo_a_bias():
    # Uniform samples, weighted by the density.
    X = np.random.default_rng(2).uniform(-2.2, 2.2, size=(40_000, 1))
    weight = np.exp(-3.0 * (X[:, 0] ** 2 - 1) ** 2)
    model = ritz.DiffusionModes(2, random_state=0).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.rates_, double_well_rates(3.0, 1.0, 2), rtol=0.06)


def test_mobility_and_temperature_are_a_diffusion():
    one = ritz.DiffusionModes(2, D=[1.5, 3.0], random_state=0).fit(NORMAL)
    two = ritz.DiffusionModes(2, mobility=[0.5, 1.0], kT=3.0, random_state=0).fit(NORMAL)
    np.testing.assert_allclose(one.rates_, two.rates_, rtol=1e-6)
    # N(0, I) with D = diag(1.5, 3): rates 1.5, 3.
    np.testing.assert_allclose(one.rates_, [1.5, 3.0], rtol=0.06)
    with pytest.raises(ValueError, match=r"'mobility'.*D = kT mobility"):
        ritz.DiffusionModes(D=1.0, mobility=1.0).fit(NORMAL)
    with pytest.raises(ValueError, match="'kT'"):
        ritz.DiffusionModes(mobility=1.0, kT=0.0).fit(NORMAL)


def test_a_diffusion_that_depends_on_the_place():
    # H = E[D(x) f' g'] with D = 1 + x^2 on N(0, 1) by quadrature, against the learned rates.
    x, w = np.polynomial.hermite_e.hermegauss(60)
    w = w / w.sum()
    k = 8
    basis = np.stack([np.polynomial.hermite_e.hermeval(x, np.eye(k)[j]) for j in range(k)])
    slopes = np.stack(
        [
            np.polynomial.hermite_e.hermeval(x, np.polynomial.hermite_e.hermeder(np.eye(k)[j]))
            for j in range(k)
        ]
    )
    norms = np.sqrt((basis**2) @ w)
    L = (slopes * w * (1 + x**2)) @ slopes.T / np.outer(norms, norms)
    X = np.random.default_rng(3).normal(size=(200_000, 1))
    model = ritz.DiffusionModes(2, D=lambda x: 1 + x[:, 0] ** 2, basis=ritz.Monomials(7))
    np.testing.assert_allclose(model.fit(X).rates_, np.linalg.eigvalsh(L)[1:3], rtol=0.05)


def test_the_length_scale_spans_the_barrier():
    """Two wells of U = 5 (x^2 - 1)^2: the slow rate is 0.0555 by finite differences."""
    grid = np.linspace(-2.5, 2.5, 20_001)
    mass = np.cumsum(np.exp(-5 * (grid**2 - 1) ** 2))
    X = np.interp(np.random.default_rng(0).random(20_000) * mass[-1], mass, grid)[:, None]
    model = ritz.DiffusionModes(2, random_state=0).fit(X)
    assert model.rates_[0] == pytest.approx(0.0555, rel=0.25)


def test_kT_scales_the_rates_or_is_refused():
    X = np.random.default_rng(0).normal(size=(2000, 1))
    one = ritz.DiffusionModes(2, random_state=0).fit(X).rates_
    half = ritz.DiffusionModes(2, kT=0.5, random_state=0).fit(X).rates_
    np.testing.assert_allclose(half, 0.5 * one, rtol=1e-5)
    with pytest.raises(ValueError, match="kT"):
        ritz.DiffusionModes(2, D=1.0, kT=0.5).fit(X)
    with pytest.raises(ValueError, match="kT"):
        ritz.DiffusionModes(2, kT=-1.0).fit(X)


def test_groups_give_a_time_series_its_errors():
    rng = np.random.default_rng(0)
    series = np.zeros((20_000, 1))
    for i in range(1, len(series)):
        series[i] = 0.99 * series[i - 1] + np.sqrt(1 - 0.99**2) * rng.normal()
    alone = ritz.DiffusionModes(1, length_scale=2.0, n_centers=50, random_state=0)
    with pytest.warns(UserWarning, match="depend on each other"):
        alone.fit(series)
    pieces = ritz.DiffusionModes(1, length_scale=2.0, n_centers=50, random_state=0)
    pieces.fit(series, groups=np.arange(len(series)) // 1000)
    np.testing.assert_allclose(pieces.rates_, alone.rates_, rtol=0.05)
    assert pieces.rate_errors_[0] > 2 * alone.rate_errors_[0]


def test_a_diffusion_that_is_given_replaces_that_of_displacements():
    X = np.random.default_rng(0).normal(size=(300, 1))
    model = ritz.DiffusionModes(1, D="displacements", random_state=0)
    with pytest.warns(UserWarning, match="differs by a factor"):
        model.fit(X)
    assert hasattr(model, "D_")
    assert not hasattr(model.set_params(D=1.0).fit(X), "D_")
