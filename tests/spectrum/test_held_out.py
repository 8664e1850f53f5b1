"""Values on unseen rows by their formula, effective rows, and agreement of two halves."""

import numpy as np
import pytest

import ritz
from ritz.rows import hash_rows
from ritz.spectrum.held_out import effective_rows
from ritz.spectrum.solve_sums import solve_sums
from ritz.spectrum.stability import cosine, half_overlaps, stability


def test_held_out_values_are_those_of_functions_found_without_the_fold():
    X = np.random.default_rng(0).gamma(2.0, size=(300, 1))
    found = ritz.decompose(ritz.laplacian(), ritz.Monomials(1), X, 2, n_folds=4, random_state=0)
    fold = hash_rows(X) % np.uint64(4)
    energy = square = 0.0
    for number in range(4):
        seen, unseen = X[fold != number], X[fold == number]
        # The one function is x, with mean 0 and variance 1 on the rows seen, and slope 1 / s.
        energy += len(unseen) / seen.var()
        square += (((unseen - seen.mean()) / seen.std()) ** 2).sum()
    assert found.heldout_values[1] == pytest.approx(energy / square, rel=1e-10)
    assert found.ritz_values[1] == pytest.approx(1 / X.var(), rel=1e-10)
    mixed = (4 * found.ritz_values[1] + 3 * found.heldout_values[1]) / 7
    assert found.values[1] == pytest.approx(mixed, rel=1e-10)


def test_functions_centered_in_the_fold_are_left_out():
    # With a section at each row, a narrow function could sit on the rows that are held out.
    X = np.random.default_rng(0).normal(size=(80, 5))
    basis = ritz.KernelSections(ritz.Gaussian(0.1), X)
    found = ritz.decompose(ritz.laplacian(), basis, X, 3, random_state=0)
    assert all(flag == "does not generalize" for flag in found.flags[1:])


@pytest.mark.parametrize("m", [1, 5, 20, 200])
def test_effective_rows_are_the_rows_that_hold_the_squares(m):
    rng = np.random.default_rng(m)
    squares = np.zeros((8, 2000))
    for _ in range(m):
        np.add.at(squares, (rng.integers(8, size=2000), np.arange(2000)), 1.0)
    found = effective_rows(squares, np.ones(8))
    # The mean of its inverse is 1 / m.
    assert np.mean(1 / found) == pytest.approx(1 / m, rel=0.1)
    assert effective_rows(np.eye(8)[:, :1], np.ones(8))[0] == pytest.approx(1.0)


def test_the_function_of_a_few_far_rows_is_flagged():
    X = np.random.default_rng(0).normal(size=(1000, 1))
    X[:3] += 30
    found = ritz.decompose(ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(1.0), 60), X, 4)
    assert found.flags[1] in ("few rows", "does not generalize")


def test_two_halves_agree_on_functions_that_samples_determine():
    X = np.random.default_rng(0).uniform(size=(4000, 1))
    found = ritz.decompose(ritz.laplacian(), ritz.Monomials(6), X, 4, random_state=0)
    assert found.stability.min() > 0.95
    noise = np.random.default_rng(0).normal(size=(100, 20))
    found = ritz.decompose(ritz.laplacian(), ritz.Monomials(1), noise, 3, random_state=0)
    assert found.stability[1:].max() < 0.9
    assert found.stability[0] == pytest.approx(1.0)


def test_a_group_is_as_stable_as_its_space():
    circle = ritz.datasets.circle()
    X, form = circle.sample(4000, 0), ritz.laplacian(circle.tangent)
    sums = ritz.assemble(form, ritz.Monomials(2), X, random_state=0)
    found = solve_sums(sums, 5, 0.0)
    overlaps = half_overlaps(sums, found, 0.0)
    together = stability(overlaps, np.array([0, 1, 1, 2, 2]))
    assert together[1] == together[2] == pytest.approx(cosine(overlaps, np.array([1, 2])))
    assert together.min() > 0.98


def test_too_few_folds_have_no_halves():
    X = np.random.default_rng(0).normal(size=(200, 1))
    found = ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, 2, n_folds=3, random_state=0)
    assert found.stability is None
    assert found.heldout_values is not None


def test_the_basis_raises_no_correlation_above_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    Y = X + 0.05 * rng.normal(size=X.shape)
    basis = ritz.Nystrom(ritz.Gaussian(0.5), 64)
    found = ritz.decompose(ritz.cross(), basis, (X, Y), 8, regularization=1e-3, random_state=0)
    assert found.basis_errors.max() > 0
    assert (found.values + found.basis_errors <= 1 + 1e-12).all()


@pytest.mark.parametrize("seed", [4, 10, 12, 15])
def test_no_singular_value_of_noise_is_below_zero(seed):
    """Their mean with held-out values is, in these samples."""
    X, Y = np.random.default_rng(seed).normal(size=(2, 1000, 1))
    basis = ritz.Monomials(2)
    spectrum = ritz.decompose(ritz.cross(), (basis, basis), (X, Y), k=2, random_state=0)
    assert spectrum.flags == ("", "")
    assert 8 * spectrum.ritz_values[1] + 7 * spectrum.heldout_values[1] < 0
    assert spectrum.values[1] == 0
