"""The parts of the theorems' errors, and the rates that the theorems state."""

from dataclasses import replace

import numpy as np
import pytest

import ritz
from paper.figures.theorems import (
    QUICK,
    envelope,
    harmonics_up_to,
    inverse_matrix,
    means,
    numbers,
    plot,
    projection,
    quadrature,
    run,
    smallest_error,
)

SMALL = replace(
    QUICK,
    dimensions=(3,),
    rows=(316, 1000, 3162),
    degrees=(1, 2, 3, 4, 6),
    sizes=(10, 32, 100),
    heights=24,
    highest=11,
    trials=6,
)


@pytest.fixture(scope="module")
def records():
    return run(SMALL)


@pytest.mark.parametrize("d", [3, 4, 7])
def test_count_of_harmonics(d):
    for degree in (1, 2, 3):
        p = harmonics_up_to(d, degree)
        values = ritz.datasets.sphere(d).eigenvalues(p + 1)
        assert values[p - 1] == degree * (degree + d - 2) < values[p]


def test_inverse_of_many_samples_is_the_truth():
    problem = ritz.datasets.sphere(3)
    X, p = problem.sample(200_000, 0), harmonics_up_to(3, 2)
    form = ritz.laplacian(problem.tangent)
    spectrum = ritz.decompose(form, ritz.Monomials(2), X, p)
    points = problem.sample(50, 1)
    inverse = inverse_matrix(spectrum, points, problem.eigenfunctions(points, p))
    truth = np.diag(1 / problem.eigenvalues(p)[1:])
    # Five standard errors of a norm of 1/2, times the square root of eight functions.
    assert np.linalg.norm(inverse - truth, 2) < 5 * 0.5 * (8 / 200_000) ** 0.5


def test_projection_on_enough_sections_is_exact_for_polynomials(monkeypatch):
    monkeypatch.setitem(projection.__globals__["KERNELS"], "quartic", ritz.Polynomial(4))
    rows = projection("quartic", 0, 0, heights=20, highest=4, sizes=(8, 40))
    assert rows[0]["within"] > 0.01
    assert rows[1]["within"] < 1e-9


def test_quadrature_is_exact():
    X, root = quadrature(12)
    H = root * ritz.datasets.sphere(3).eigenfunctions(X, harmonics_up_to(3, 11))
    np.testing.assert_allclose(H.T @ H, np.eye(144), atol=1e-12)


def test_errors_of_projection_are_above_the_next_inverse_eigenvalue(records):
    rows = [row for row in records if row["part"] == "projection"]
    assert len(rows) == 2 * 3 * SMALL.trials
    for row in rows:
        assert row["within"] >= smallest_error(row["p"]) * (1 - 1e-12)
        assert row["beyond"] == pytest.approx(1 / (12 * 13))
    # Degrees 0 to 2 have nine harmonics, and degree 3 seven with the eigenvalue 12.
    assert smallest_error(10) == pytest.approx(1 / 12)
    assert smallest_error(15) == pytest.approx(1 / 20)


def test_more_sections_than_harmonics_are_refused():
    with pytest.raises(ValueError, match=r"\(highest \+ 1\)\^2 > 317 functions\. Got 16 instead"):
        replace(QUICK, highest=16)


def test_rates(records):
    for row in numbers(records):
        if row["theorem"] == 1 and row["functions"] in ("degree 1", "degree 2"):
            assert row["measured"] == pytest.approx(row["stated"], abs=0.1)
        elif row["theorem"] == 1:
            # Few samples for many functions have a larger error, which then falls faster.
            assert row["measured"] <= row["stated"] + 0.1
        elif row["theorem"] == 2:
            # The smallest possible error falls as 1/p, and sections are somewhat worse.
            assert row["stated"].startswith("no rate")
            assert -1.1 < row["measured"] < -0.7
        else:
            assert row["measured"] <= row["stated"]


def test_error_is_the_larger_part(records):
    rows = means(records, "estimation", "d", "degree", "n")
    for row in rows:
        floor = 1 / ((row["degree"] + 1) * (row["degree"] + 2))
        assert row["whole"] == pytest.approx(max(floor, row["within"]))
    degrees = [row["degree"] for row in envelope(rows)]
    assert degrees == sorted(degrees)


def test_figure_is_drawn(records, complete):
    complete(plot(records))
