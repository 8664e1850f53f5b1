"""Each figure at a small size: its numbers against exact ones, and its picture complete."""

from dataclasses import replace

import numpy as np
import pytest

from paper.figures import (
    complexity,
    harmonics,
    hermite_2d,
    hermite_constant,
    jacobian_variance,
    load,
    moons,
)
from paper.records import without_timings
from paper.runner import Runner

TINY = {
    "moons": moons.Config(n=5000, p=150, k=8, resolution=20),
    "harmonics": harmonics.Config(n=3000, p=40, resolution=9),
    "hermite-constant": hermite_constant.Config(n=100, p=30, lengths=(0.2, 0.5), trials=2),
    "hermite-2d": hermite_2d.Config(n=30_000, p=20, resolution=9),
    "complexity": complexity.Config(
        graph=(200, 20, 3),
        kernel=(400, 20, 3),
        graph_n=(100, 200, 400),
        kernel_n=(300_000, 600_000, 1_200_000),
        p=(20, 30, 40),
        d=(2, 4, 8),
        repeats=1,
    ),
    "jacobian-variance": jacobian_variance.Config(dimensions=(2, 5), n=300, trials=2),
}
# All results of complexity are measurements, so they cannot be repeated.
REPEATABLE = [name for name in TINY if name != "complexity"]


@pytest.fixture(scope="module")
def found():
    return {name: load(name).run(config, Runner()) for name, config in TINY.items()}


@pytest.mark.parametrize("name", TINY)
def test_every_panel_is_labeled_and_not_empty(name, found, complete):
    complete(load(name).plot(found[name]))


@pytest.mark.parametrize("name", TINY)
def test_the_rows_of_the_table_have_equal_names(name, found):
    rows = load(name).numbers(found[name])
    assert rows
    assert all(row.keys() == rows[0].keys() for row in rows)


@pytest.mark.parametrize("name", REPEATABLE)
def test_a_seed_determines_everything_but_times(name, found):
    again = load(name).run(TINY[name], Runner())
    assert without_timings(again) == without_timings(found[name])


@pytest.mark.parametrize("name", REPEATABLE)
def test_another_seed_gives_other_records(name, found):
    other = load(name).run(replace(TINY[name], seed=1), Runner())
    assert without_timings(other) != without_timings(found[name])


def test_directional_derivatives_have_the_variance_of_the_formula():
    config = jacobian_variance.Config(dimensions=(2, 3, 7, 30), batches=100, n=100, trials=1)
    for record in jacobian_variance.run(config):
        d = record["d"]
        # The variance of a mean over 200,000 directions is 2 (d - 1) / (d + 2) / 200,000.
        assert record["factor"] == pytest.approx(d, rel=4 * np.sqrt(2 / 200_000))
        exact = 2 * (d - 1) / (d + 2)
        assert abs(record["relative_variance"] - exact) < 4 * record["standard_error"]
        assert record["standard_error"] < 0.02


def test_one_direction_per_row_costs_at_most_the_square_root_of_two():
    config = jacobian_variance.Config(dimensions=(10, 30), directions=10, n=5000)
    for record in jacobian_variance.run(config):
        d, n = record["d"], record["n"]
        assert record["full_gradients"] == pytest.approx(np.sqrt((d + 1) / n), rel=0.1)
        assert record["one_direction"] == pytest.approx(np.sqrt(2 * d / n), rel=0.1)


def test_degree_three_learns_three_kinds_and_nothing_of_the_fourth(found):
    for record in found["harmonics"]:
        if record["kind"] > record["degree"]:
            assert record["values"] == []
            assert record["sine"] == pytest.approx(1, abs=1e-12)
            continue
        expected = record["ambient" if record["energy"] == "ambient" else "true"]
        assert np.mean(record["values"]) == pytest.approx(expected, rel=0.03)
        assert record["sine"] < 0.35


def test_ambient_eigenvalues_against_hand_calculation():
    # (1 + t)^3 is 3 t + 3/5 r^2 t in kind 1 and 3 t^2 in kind 2: normal slopes 4/3 and 2.
    assert harmonics.ambient(1, 3) == pytest.approx(2 + 16 / 9)
    assert harmonics.ambient(2, 3) == pytest.approx(10)
    assert harmonics.ambient(3, 3) == pytest.approx(21)
    assert harmonics.ambient(4, 3) is None


def test_angles_fall_with_more_rows():
    few, many = (harmonics.harmonics(3, "tangential", n, 40, 9, seed=0) for n in (1000, 100_000))
    for a, b in zip(few[:3], many[:3], strict=True):
        # The rate n^(-1/2) gives a tenth, up to a factor of two.
        assert 0.05 < b["sine"] / a["sine"] < 0.2


def test_eigenfunctions_of_moons_are_cosines_on_each(found):
    coarse, fine = found["moons"]
    # Over five seeds, values deviate by up to 8%, and the gap is 0.016 to 0.025.
    assert fine["values"][0] == 0 < fine["values"][1] < 0.03
    np.testing.assert_allclose(fine["values"][2:8], [1, 1, 4, 4, 9, 9], rtol=0.1)
    assert min(fine["shares"][:8]) > 0.97
    # The constant and the second function are on both moons.
    np.testing.assert_allclose(fine["sides"][:2], 0.5, atol=0.03)
    # Exponential sections of length 1 connect the moons, so their second value is larger.
    assert coarse["values"][1] > 10 * fine["values"][1]


def test_hermite_polynomials_are_learned_up_to_a_rotation(found):
    for record in found["hermite-2d"]:
        assert np.mean(record["values"]) == pytest.approx(record["degree"], rel=0.03)
        assert record["distance"] < 0.06 * record["degree"] + 1e-12


def test_gradients_improve_a_constant_and_a_constant_in_the_span_is_exact(found):
    rows = {
        (row["length"], row["way"]): row
        for row in hermite_constant.numbers(found["hermite-constant"])
    }
    for length in (0.2, 0.5):
        assert rows[length, "constant in the span"]["largest, most"] == 0
        plain = rows[length, "values"]["largest, median"]
        assert rows[length, "values and gradients"]["largest, median"] < plain / 10


def test_memory_is_quadratic_in_n_for_graphs_and_constant_for_sections(found):
    rows = {(row["method"], row["against"]): row for row in complexity.numbers(found["complexity"])}
    assert rows["graph", "n"]["memory"] == pytest.approx(2, abs=0.15)
    assert rows["kernel", "n"]["memory"] == pytest.approx(0, abs=0.15)
    assert rows["kernel", "n"]["memory, counted"] == 1


def test_exponents_are_slopes():
    sizes = [1, 2, 4, 8]
    assert complexity.exponent(sizes, [9, 2, 8, 32]) == pytest.approx(2)
