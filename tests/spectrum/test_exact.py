"""Every exact problem: values and functions converge at the rate that sampling allows.

Errors over several seeds are averaged in the logarithm, which tames the heavy tails of high
moments, and the slope of that average against log n is fitted.

Averages over n samples fluctuate by n^(-1/2), and so do eigenvalues and eigenfunctions. The mean
of a repeated eigenvalue does better where the samples' law is homogeneous: to first order it
moves by the samples' average of sum_i |grad f_i|^2 - lambda f_i^2 over an eigenspace, which on
circles, spheres and tori is zero at each point, so that its error is the next order, n^(-1).
"""

from dataclasses import dataclass

import numpy as np
import pytest

import ritz
from ritz import datasets

SIZES = np.array([500, 2000, 8000, 32000])


@dataclass(frozen=True)
class Case:
    """A problem, functions to solve it with, and how well that must go.

    `accuracy` bounds the root mean squares of the relative errors of values, of their means over
    eigenspaces, and of the sines of angles, at the largest size.
    """

    problem: object
    basis: object
    k: int
    seeds: int
    mean_rate: float
    accuracy: tuple[float, float, float]


CASES = {
    "gaussian, polynomials": Case(
        datasets.gaussian(), ritz.Monomials(3), 3, 60, -0.5, (0.015, 0.015, 0.04)
    ),
    "gaussian-2, polynomials": Case(
        datasets.gaussian(2, scale=0.7), ritz.Monomials(3), 6, 30, -0.5, (0.025, 0.01, 0.08)
    ),
    "interval, Gaussian": Case(
        datasets.cube(), ritz.Nystrom(ritz.Gaussian(0.3), 20), 5, 20, -0.5, (0.01, 0.01, 0.025)
    ),
    "interval, Matern": Case(
        datasets.cube(), ritz.Nystrom(ritz.Matern(2.5, 1.0), 20), 5, 20, -0.5, (0.01, 0.01, 0.025)
    ),
    "circle, polynomials": Case(
        datasets.circle(), ritz.Monomials(3), 7, 20, -1.0, (0.014, 4e-4, 0.025)
    ),
    "circle, Gaussian": Case(
        datasets.circle(), ritz.Nystrom(ritz.Gaussian(1.0), 20), 7, 20, -1.0, (0.014, 1e-3, 0.03)
    ),
    "sphere-3, polynomials": Case(
        datasets.sphere(3), ritz.Monomials(3), 16, 12, -1.0, (0.026, 6e-4, 0.04)
    ),
    "sphere-3, DotExponential": Case(
        datasets.sphere(3),
        ritz.Nystrom(ritz.DotExponential(1.0), 40),
        9,
        10,
        -1.0,
        (0.023, 1e-3, 0.036),
    ),
    "sphere-5, polynomials": Case(
        datasets.sphere(5), ritz.Monomials(2), 20, 8, -1.0, (0.038, 8e-4, 0.048)
    ),
    "torus, polynomials": Case(
        datasets.torus((1.0, 1.3)), ritz.Monomials(2), 9, 20, -1.0, (0.018, 5e-4, 0.046)
    ),
    "disk, Gaussian": Case(
        datasets.disk(), ritz.Nystrom(ritz.Gaussian(0.8), 30), 6, 20, -0.5, (0.014, 7e-3, 0.035)
    ),
}


def eigenspaces(values):
    """Index arrays of equal values."""
    apart = np.diff(values) > 1e-9 * np.abs(values).max()
    return np.split(np.arange(len(values)), np.flatnonzero(apart) + 1)


def sine(F, G):
    """The sine of the largest angle between the spans of two sets of columns."""
    P, Q = np.linalg.qr(F)[0], np.linalg.qr(G)[0]
    return np.linalg.norm(P - Q @ (Q.T @ P), 2)


def errors(case):
    """Relative errors (sizes, seeds, eigenspaces): of values, of their means, of functions."""
    problem, k = case.problem, case.k
    truth = problem.eigenvalues(k)
    spaces = eigenspaces(truth)[1:]
    fresh = problem.sample(4000, random_state=10**6)
    F = problem.eigenfunctions(fresh, k)
    form = ritz.laplacian(tangent=problem.tangent)
    result = np.empty((3, len(SIZES), case.seeds, len(spaces)))
    for i, n in enumerate(SIZES):
        for seed in range(case.seeds):
            X = problem.sample(int(n), random_state=1000 * i + seed)
            found = ritz.decompose(form, case.basis, X, k, random_state=seed, n_folds=2, n_jobs=1)
            G = found(fresh)
            for j, space in enumerate(spaces):
                off = found.ritz_values[space] / truth[space] - 1
                result[:, i, seed, j] = (
                    np.abs(off).max(),
                    abs(off.mean()),
                    sine(F[:, space], G[:, space]),
                )
    return result


def slope(errors):
    return np.polyfit(np.log(SIZES), np.log(errors).mean(axis=(1, 2)), 1)[0]


@pytest.mark.parametrize("name", CASES)
def test_convergence(name):
    case, found = CASES[name], errors(CASES[name])
    values, means, angles = (slope(part) for part in found)
    assert abs(values + 0.5) < 0.1
    assert abs(means - case.mean_rate) < 0.15
    assert abs(angles + 0.5) < 0.1
    last = np.sqrt((found[:, -1] ** 2).mean(axis=(1, 2)))
    assert (last < case.accuracy).all(), last


SINGULAR = {
    "pair": (datasets.gaussian_pair(0.6), ritz.cross(), ritz.Monomials(3), 3, 60),
    "derivative": (
        datasets.derivative(),
        ritz.differential({((0,), (1,)): 1.0}),
        ritz.Monomials(3),
        3,
        60,
    ),
}


def singular_errors(name):
    """Errors (sizes, seeds, values but the first): of values, of left and right functions."""
    problem, form, basis, k, seeds = SINGULAR[name]
    truth = problem.singular_values(k)
    fresh = np.random.default_rng(10**6).standard_normal((4000, 1))
    F, G = problem.left_functions(fresh, k), problem.right_functions(fresh, k)
    result = np.empty((3, len(SIZES), seeds, k - 1))
    for i, n in enumerate(SIZES):
        for seed in range(seeds):
            X = problem.sample(int(n), random_state=1000 * i + seed)
            found = ritz.decompose(form, basis, X, k, random_state=seed, n_folds=2, n_jobs=1)
            left, right = found(fresh, fresh)
            assert abs(found.ritz_values[0] - truth[0]) < 1e-12
            np.testing.assert_allclose(np.abs(right[:, 0]), 1.0, atol=1e-12)
            for j in range(1, k):
                result[:, i, seed, j - 1] = (
                    abs(found.ritz_values[j] / truth[j] - 1),
                    sine(F[:, [j]], left[:, [j]]),
                    sine(G[:, [j]], right[:, [j]]),
                )
    return result


@pytest.mark.parametrize(
    ("name", "accuracy"), [("pair", (0.025, 0.065, 0.065)), ("derivative", (0.01, 0.05, 0.045))]
)
def test_singular_convergence(name, accuracy):
    found = singular_errors(name)
    np.testing.assert_allclose([slope(part) for part in found], -0.5, atol=0.1)
    last = np.sqrt((found[:, -1] ** 2).mean(axis=(1, 2)))
    assert (last < accuracy).all(), last
