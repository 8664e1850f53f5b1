"""Mixing functions anew helps where products lose them, and does no harm elsewhere."""

import numpy as np
import pytest

import ritz
from ritz.bases import conditioned

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("length", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("p", [50, 100, 200])
def test_kernels_of_the_size_of_the_data_are_left_alone(length, p):
    X = RNG.normal(size=(5000, 2))
    basis = ritz.KernelSections(ritz.Gaussian(length), X[:p])
    assert conditioned(basis, X[:2048]).basis is basis


@pytest.mark.parametrize("length", [30.0, 100.0])
def test_wide_kernels_are_mixed_and_keep_polynomials(length):
    X = RNG.normal(size=(5000, 1))
    basis = ritz.KernelSections(ritz.Gaussian(length), X[:50])
    mixed = conditioned(basis, X[:2048])
    assert mixed.basis is not basis
    assert mixed.size <= 16
    values = mixed(X)
    assert values.std(axis=0).min() > 0.3
    assert values.std(axis=0).max() < 3


def test_a_rare_far_cluster_is_not_lost():
    # Fifty rows of fifty thousand, which a pilot sample hardly sees.
    X = np.concatenate([0.1 * RNG.normal(size=(50_000, 2)), 8 + 0.1 * RNG.normal(size=(50, 2))])
    centers = np.concatenate([X[:60], X[-40:]])
    basis = ritz.KernelSections(ritz.Gaussian(1.0), centers)
    found = ritz.decompose(ritz.laplacian(), basis, X, 4, random_state=0)
    # Two clusters, then the linear functions of the large one: N(0, 0.01 I).
    assert found.ritz_values[1] < 0.1
    np.testing.assert_allclose(found.ritz_values[2:], 100, rtol=0.05)


def test_functions_dead_on_the_pilot_stay_in_the_span():
    pilot = RNG.normal(size=(1000, 1)) * 1e-3
    basis = ritz.Stack(
        ritz.KernelSections(ritz.Gaussian(1.0), pilot[:40]),
        ritz.KernelSections(ritz.Gaussian(0.01), np.array([[5.0]])),
    ).fit(pilot)
    mixed = conditioned(basis, pilot)
    assert np.ptp(mixed(np.array([[0.0], [5.0]])), axis=0).max() > 0.5


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e10])
def test_one_noisy_function_does_not_cut_the_others(offset):
    X = RNG.normal(size=(2000, 1))
    sections = ritz.KernelSections(ritz.Matern(2.5), X[:60])
    noisy = ritz.Functions([lambda x: offset + x[:, 0] ** 2], [lambda x: 2 * x])
    found = ritz.decompose(ritz.laplacian(), ritz.Stack(sections, noisy), X, 4, random_state=0)
    alone = ritz.decompose(ritz.laplacian(), sections, X, 4, random_state=0)
    assert found.rank >= alone.rank - 1
    np.testing.assert_allclose(found.ritz_values, alone.ritz_values, rtol=0.05, atol=1e-9)


def test_one_stiff_function_does_not_move_the_others():
    L, Phi = np.diag([1.0, 2, 3, 4, 5, 6, 7, 1e18]), np.eye(8)
    np.testing.assert_allclose(ritz.gevd(L, Phi, 3).values, [1, 2, 3], rtol=1e-9)


@pytest.mark.parametrize("basis", [ritz.Monomials(3), ritz.Nystrom(ritz.Polynomial(3), 20)])
def test_functions_that_vanish_on_the_samples_still_lower_the_energy_of_others(basis):
    # On the sphere |x|^2 - 1 is zero and its slope is not. Fifteen polynomials differ there.
    X = ritz.datasets.sphere(3).sample(20_000, random_state=0)
    found = ritz.decompose(ritz.laplacian(), basis, X, 16, random_state=0).ritz_values
    # A cubic h of kind 1 may have no slope across the sphere; sections at centers on the sphere
    # leave no choice, (3 + 3/5 r^2) h. Kinds 2 and 3 are homogeneous: s(s+1) + s^2.
    first = 2 if isinstance(basis, ritz.Monomials) else 2 + (4 / 3) ** 2
    for kind, value in ((1, first), (2, 10), (3, 21)):
        np.testing.assert_allclose(found[kind**2 : (kind + 1) ** 2], value, rtol=0.06)


@pytest.mark.parametrize(
    ("kernel", "seed"), [(ritz.Gaussian(600.0), 1), (ritz.Matern(2.5, 1200.0), 1)], ids=str
)
def test_mixing_that_keeps_no_more_than_products_know_is_not_done(kernel, seed):
    # Wide sections are linear to first order: x_i has the energy 3 x_i^2 in space, thrice.
    X = ritz.datasets.sphere(3).sample(4000, random_state=seed)
    found = ritz.decompose(ritz.laplacian(), ritz.Nystrom(kernel, 60), X, 4, random_state=0)
    np.testing.assert_allclose(found.ritz_values[1:], 3, rtol=0.06)
