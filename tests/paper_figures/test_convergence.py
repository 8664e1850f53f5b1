"""Errors, choices and slopes of `convergence`, and the figures drawn from its records."""

from dataclasses import replace
from importlib import import_module
from itertools import product

import numpy as np
import pytest

import ritz
from paper.curves import best, by_dimension, slope
from paper.estimates import KERNELS, spectral_inverses
from paper.figures.convergence import QUICK, error, run
from paper.figures.dimension import equal_values_error
from paper.records import without_timings

SMALL = replace(
    QUICK,
    rows=(100, 200),
    dimensions=(3, 7),
    trials=1,
    sizes=(31, 74),
    kernels=(("polynomial", 4), ("gaussian", 10.0)),
    weights=(0.1,),
    neighbors=(10,),
    penalties=(0.01,),
    sections=400,
)
TANGENTIAL = (("polynomial", 4), ("gaussian", 1.0), ("gaussian", 10.0))
FIGURES = ["convergence", "best_p", "best_hyper", "dimension", "kernels", "beyond"]


@pytest.fixture(scope="module")
def records():
    return run(replace(SMALL, kernels=(*SMALL.kernels, ("polynomial", 3), ("exponential", 1.0))))


def test_error():
    truth = ritz.datasets.sphere(3).eigenvalues(25)[1:]
    assert error(1 / truth, truth) == 0
    assert error(np.zeros(24), truth) == pytest.approx(1)
    assert error(2 / truth, truth) == pytest.approx(1)
    # The inverses of degrees 1 to 4 sum to 3/2, 5/6, 7/12 and 9/20.
    assert error(1 / truth[:3], truth) == pytest.approx(1 - 1.5 / (1.5 + 5 / 6 + 7 / 12 + 9 / 20))
    assert error(np.zeros(0), truth) is None
    assert error(np.full(24, np.inf), truth) is None


def test_equal_values_have_the_true_sum():
    # On S^18 the first 24 eigenvalues are 18, 19 times, and 38, 5 times.
    mean = (19 * 18 + 5 * 38) / 24
    total = 19 * (1 / 18 - 1 / mean) + 5 * (1 / mean - 1 / 38)
    assert equal_values_error(19) == pytest.approx(total / (19 / 18 + 5 / 38))


def test_best_is_chosen_by_the_mean_over_trials():
    place = {"n": 100, "d": 3, "method": "galerkin", "kernel": "gaussian", "p": 31, "option": None}
    rows = [
        {**place, "parameter": parameter, "trial": trial, "error": value, "seconds": 1.0}
        for parameter, errors in ((1.0, (0.1, 0.5)), (2.0, (0.2, 0.3)), (3.0, (0.1, None)))
        for trial, value in enumerate(errors)
    ]
    (row,) = best(rows, method="galerkin")
    assert row["parameter"] == 2.0
    assert row["error"] == pytest.approx(0.25)
    assert row["spread"] == pytest.approx(0.05)
    assert best(rows, method="graph") == []


def test_slope():
    assert slope([{"n": n, "error": 3 * n**-0.4} for n in (10, 100, 500)]) == pytest.approx(-0.4)


def test_one_seed_one_set_of_records():
    small = replace(SMALL, rows=(100,), dimensions=(3,))
    first = without_timings(run(small))
    assert first == without_timings(run(small))
    assert first != without_timings(run(replace(small, seed=1)))
    # More trials do not change the first ones.
    more = without_timings(run(replace(small, trials=2)))
    assert [record for record in more if record["trial"] == 0] == first


def test_every_method_has_its_grid(records):
    def count(**where):
        return sum(all(r[name] == value for name, value in where.items()) for r in records)

    # n, d, trials, sizes and kernels; a graph has one given weight and the sections' own.
    for method in ("galerkin", "constant", "tangential", "k-means++", "pivoted Cholesky"):
        assert count(method=method) == 2 * 2 * 1 * 2 * 4
    assert count(method="regularized") == 32
    assert count(method="graph") == 32 * 2
    assert count(method="neighbors") == 4
    assert all(set(record) == set(records[0]) for record in records)
    assert "inverses" not in records[0]
    # Only the smallest problem is within the limit of sections.
    assert count(method="representer") == count(method="representer", n=100, d=3) == 1


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_drawn(records, name, complete):
    module = import_module(f"paper.figures.{name}")
    figure = module.plot(records)
    complete(figure)
    expected = "linear" if name == "dimension" else "log"
    assert {panel.get_xscale() for panel in figure.axes} == {expected}
    assert all(set(row) == set(module.numbers(records)[0]) for row in module.numbers(records))


@pytest.mark.parametrize("d", [3, 7, 11, 19])
def test_tangential_error_falls_as_the_root_of_n(d):
    problem = ritz.datasets.sphere(d)
    truth = problem.eigenvalues(25)[1:]
    form = ritz.laplacian(problem.tangent)
    records = []
    for n, trial in product((100, 316, 1000, 3162), range(4)):
        X = problem.sample(n, 100 * trial + d)
        for name, parameter in TANGENTIAL:
            sections = ritz.KernelSections(KERNELS[name](parameter), X[:31])
            sums = ritz.assemble(form, sections, X, random_state=0, n_jobs=1)
            place = {"n": n, "d": d, "kernel": name, "parameter": parameter, "p": 31}
            found = {"method": "tangential", "error": error(spectral_inverses(sums, 25), truth)}
            records.append({**place, **found, "option": None, "trial": trial, "seconds": 0.0})
    (curve,) = by_dimension(records, "tangential").values()
    assert slope(curve) == pytest.approx(-0.5, abs=0.1)
