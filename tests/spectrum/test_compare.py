"""Two spectra compared: rates of errors of both kinds, against SciPy, and what is left out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats

import ritz
from ritz.spectrum.compare import holm


def normal_spectrum(rng, n, scale=1.0, d=1, k=4):
    X = scale * rng.normal(size=(n, d))
    return ritz.decompose(ritz.laplacian(), ritz.Monomials(3), X, k, random_state=0)


def paired_spectrum(seed, k=3):
    X = np.random.default_rng(seed).normal(size=(2_000, 2))
    Y = X[:, :1] + np.random.default_rng(seed + 100).normal(size=(2_000, 1))
    bases = (ritz.Monomials(2), ritz.Monomials(2))
    return ritz.decompose(ritz.cross(), bases, (X, Y), k, random_state=0)


def plain(spectrum):
    """Return a spectrum of four single modes, with numbers that are easy to check."""
    changes = dict(
        values=np.array([0.0, 1.0, 2.0, 3.0]),
        errors=np.array([0.0, 0.1, 0.1, 0.1]),
        groups=np.arange(4),
        basis_errors=None,
        flags=("",) * 4,
    )
    return replace(spectrum, **changes)


FIRST = normal_spectrum(np.random.default_rng(0), 2_000)
SECOND = normal_spectrum(np.random.default_rng(1), 3_000)
PLAIN = plain(FIRST)
POINTS = np.linspace(-2, 2, 50)[:, None]


# Values


@pytest.mark.parametrize("d", [1, 2])
def test_samples_of_one_law_are_called_different_about_as_often_as_the_level_says(d):
    # Measured over 200 pairs of two seeds: 5 and 6% in one dimension, 3 and 4% in two, where values
    # repeat.
    rng = np.random.default_rng(1)
    pairs = 200
    found = [
        ritz.compare(normal_spectrum(rng, 500, d=d), normal_spectrum(rng, 500, d=d))
        for _ in range(pairs)
    ]
    assert sum(not each.same for each in found) <= 0.1 * pairs


def test_a_variance_larger_by_30_percent_is_found():
    rng = np.random.default_rng(1)
    pairs = 40
    found = [
        ritz.compare(normal_spectrum(rng, 5_000), normal_spectrum(rng, 5_000, np.sqrt(1.3)))
        for _ in range(pairs)
    ]
    assert sum(1 in each.differ for each in found) >= 0.95 * pairs


@pytest.mark.parametrize("spectrum", [FIRST, paired_spectrum(0)], ids=["eigen", "singular"])
def test_a_spectrum_equals_itself(spectrum):
    found = ritz.compare(spectrum, spectrum)
    assert found.same
    assert found.p_value == 1.0
    assert not len(found.differ)
    assert found.left_out[0] == "exact"
    np.testing.assert_array_equal(found.differences, 0)


def test_p_values_are_those_of_welchs_test():
    found = ritz.compare(FIRST, SECOND, n_folds=5)
    assert len(found.modes) == 3
    for j, mode in enumerate(found.modes):
        a, b = ((s.values[mode], s.errors[mode] * np.sqrt(5), 5) for s in (FIRST, SECOND))
        exact = ttest_ind_from_stats(*a, *b, equal_var=False).pvalue
        assert found.p_values[j] == pytest.approx(exact, rel=1e-10)
    np.testing.assert_allclose(found.errors**2, found.errors_a**2 + found.errors_b**2)
    np.testing.assert_array_equal(found.differences, (FIRST.values - SECOND.values)[1:])


def test_holms_adjustment_is_the_textbooks():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])
    np.testing.assert_allclose(holm(np.array([0.5, 0.9])), [1, 1])


def test_the_order_of_the_spectra_changes_only_the_sign():
    there, back = ritz.compare(FIRST, SECOND), ritz.compare(SECOND, FIRST)
    np.testing.assert_array_equal(there.differences, -back.differences)
    np.testing.assert_allclose(there.adjusted, back.adjusted, rtol=1e-12)


def test_units_do_not_matter():
    def scaled(s, c):
        names = ("values", "errors")
        return replace(s, **{name: c * getattr(s, name) for name in names})

    plain_p = ritz.compare(FIRST, SECOND).p_values
    for factor in (1e-200, 1e200):
        found = ritz.compare(scaled(FIRST, factor), scaled(SECOND, factor))
        np.testing.assert_allclose(found.p_values, plain_p, rtol=1e-10)


# Which modes


def test_flagged_modes_are_left_out_and_named():
    flagged = replace(PLAIN, flags=("", "", "few rows", ""))
    found = ritz.compare(PLAIN, flagged)
    assert found.left_out == {0: "exact", 2: "few rows"}
    assert found.modes.tolist() == [1, 3]
    assert "Left out: 0 (exact), 2 (few rows)." in str(found)


def test_an_exact_value_that_differs_is_not_left_out():
    other = replace(PLAIN, values=np.array([0.5, 1, 2, 3]))
    found = ritz.compare(PLAIN, other)
    assert found.differ.tolist() == [0]
    assert found.p_value == 0.0


def test_of_different_numbers_of_values_the_first_are_compared():
    found = ritz.compare(PLAIN, PLAIN[:3])
    assert found.modes.tolist() == [1, 2]
    assert "Only the first 3 of 4 and 3 values." in str(found)


def repeated(spectrum, value, error):
    """Return a spectrum whose modes 1 and 2 are a group."""
    return replace(
        spectrum,
        values=np.array([0.0, value, value, 3.0]),
        errors=np.array([0.0, error, error, 0.1]),
        groups=np.array([0, 1, 1, 2]),
    )


def test_repeated_values_are_compared_by_their_mean():
    a, b = repeated(PLAIN, 1.0, 0.01), repeated(PLAIN, 1.01, 0.02)
    found = ritz.compare(a, b)
    assert found.same
    assert found.groups.tolist() == [0, 0, 1]
    np.testing.assert_allclose(found.values_a, [1, 1, 3])
    np.testing.assert_allclose(found.errors_b, [0.02, 0.02, 0.1])
    # A group counts as one test.
    shifted = ritz.compare(a, repeated(PLAIN, 1.05, 0.02))
    np.testing.assert_allclose(shifted.adjusted[:2], 2 * shifted.p_values[:2])


def test_where_one_spectrum_tells_values_apart_their_means_are_compared():
    a, b = repeated(PLAIN, 1.5, 0.01), PLAIN
    found = ritz.compare(a, b)
    assert found.groups.tolist() == [0, 0, 1]
    # The values 1 and 2 of the second spectrum have the mean of the first's group.
    np.testing.assert_allclose(found.differences, 0, atol=1e-12)
    np.testing.assert_allclose(found.errors_b, 0.1)


def test_a_member_of_a_group_that_is_flagged_is_left_out_alone():
    a = repeated(PLAIN, 1.0, 0.01)
    found = ritz.compare(a, replace(a, flags=("", "few rows", "", "")))
    assert found.modes.tolist() == [2, 3]
    assert found.groups.tolist() == [0, 1]


def test_a_difference_that_the_basis_explains_is_marked():
    lower = replace(PLAIN, values=PLAIN.values - [0, 0.9, 0.9, 0])
    coarse = replace(PLAIN, basis_errors=np.array([0.0, 0.8, 0.1, 5.0]))
    found = ritz.compare(coarse, lower)
    assert found.differ.tolist() == [1, 2]
    assert found.may_be_basis.tolist() == [True, False, False]
    assert str(found).count("differs, may be the basis") == 1
    np.testing.assert_array_equal(found.p_values, ritz.compare(PLAIN, lower).p_values)
    # A basis error of the lower spectrum makes it lower still.
    other = ritz.compare(PLAIN, replace(lower, basis_errors=coarse.basis_errors))
    assert not other.may_be_basis.any()


def test_correlations_may_be_higher_with_more_functions():
    high = paired_spectrum(0, 2)
    low = replace(high, values=high.values - [0, 0.4], errors=high.errors)
    explained = np.array([0.0, 0.4])
    assert ritz.compare(high, replace(low, basis_errors=explained)).may_be_basis.all()
    assert not ritz.compare(replace(high, basis_errors=explained), low).may_be_basis.any()


# Functions


def test_functions_of_one_law_overlap_and_those_of_others_do_not():
    assert ritz.compare(FIRST, SECOND).overlaps is None
    own = ritz.compare(FIRST, FIRST, POINTS)
    np.testing.assert_allclose(own.overlaps, 1, rtol=1e-12)
    swapped = FIRST[[0, 2, 1, 3]]
    f = FIRST(POINTS)
    cosine = abs(f[:, 1] @ f[:, 2]) / np.linalg.norm(f[:, 1]) / np.linalg.norm(f[:, 2])
    found = ritz.compare(FIRST, swapped, POINTS).overlaps
    np.testing.assert_allclose(found, [cosine, cosine, 1], rtol=1e-10)
    assert cosine < 0.5


def test_a_rotation_inside_a_group_changes_no_overlap():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2_000, 2))
    a = ritz.decompose(ritz.laplacian(), ritz.Monomials(1), X, 3, random_state=0)
    value = a.values[1]
    a = replace(
        a,
        groups=np.array([0, 1, 1]),
        values=np.array([0.0, value, value]),
        flags=None,
    )
    turn = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])
    b = replace(a, coefficients=a.coefficients @ turn, constants=a.constants @ turn)
    np.testing.assert_allclose(ritz.compare(a, b, X[:100]).overlaps, 1, rtol=1e-12)


def test_singular_functions_are_compared_on_both_sides():
    a, b = paired_spectrum(0), paired_spectrum(1)
    X, Y = np.random.default_rng(5).normal(size=(2, 200, 2))
    found = ritz.compare(a, b, (X, Y[:, :1]))
    assert ((found.overlaps > 0) & (found.overlaps <= 1)).all()
    assert found.overlaps[0] > 0.95


# Text and errors


def test_the_table_has_a_line_a_mode_and_a_verdict():
    lower = replace(PLAIN, values=PLAIN.values - [0, 0.9, 0, 0])
    found = ritz.compare(PLAIN, lower, POINTS)
    lines = str(found).splitlines()
    assert lines[0] == "Two spectra of laplacian(): 2,000 and 2,000 rows"
    assert lines[1].split()[0] == "mode"
    assert lines[1].split()[-1] == "overlap"
    assert [line.split()[-1] for line in lines[2:5]] == ["differs", "agrees", "agrees"]
    assert lines[-1].startswith("Different in 1: p = ")
    assert repr(found) == "<Comparison of 3 modes of laplacian(): 1 differ>"
    assert str(ritz.compare(PLAIN, PLAIN)).endswith("The same within errors: p = 1, level 0.05.")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((POINTS, FIRST), {}, "'spectrum_a' parameter must be a Spectrum or"),
        ((FIRST, None), {}, "'spectrum_b' parameter must be a Spectrum or"),
        ((SimpleNamespace(spectrum_=FIRST), FIRST), {}, "'spectrum_a' .* Pass its `spectrum_`"),
        ((FIRST, paired_spectrum(0)), {}, "'spectrum_b' .* a Spectrum, as spectrum_a"),
        ((FIRST, replace(FIRST, operator="graph")), {}, "'spectrum_b' .* of laplacian"),
        ((replace(FIRST, errors=None), FIRST), {}, "'spectrum_a' .* with errors.*folds"),
        ((FIRST, FIRST[:1]), {}, "'spectrum_b' .* neither exact nor flagged"),
        ((FIRST, FIRST), {"alpha": 0.0}, "'alpha' .* between 0 and 1"),
        ((FIRST, FIRST), {"alpha": 1.0}, "'alpha' .* between 0 and 1"),
        ((FIRST, FIRST), {"alpha": "words"}, "'alpha' .* between 0 and 1"),
        ((FIRST, FIRST), {"n_folds": 2}, "'n_folds' .* at least 3"),
        ((FIRST, FIRST, np.ones((50, 2))), {}, "'X'"),
        ((FIRST, FIRST, POINTS[:1]), {}, "'X' parameter must be more than 1 rows"),
        ((paired_spectrum(0),) * 2 + (POINTS,), {}, "'X' .* a pair of arrays"),
    ],
)
def test_wrong_arguments_are_named(arguments, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ritz.compare(*arguments, **options)


def test_a_group_that_goes_on_beyond_the_last_value_is_left_out():
    """Its mean counts members that are not there, and the other spectrum has no such group."""

    def spectra(k):
        rng = np.random.default_rng(15)
        widths = np.array([1.0, 1.6])
        return [
            ritz.decompose(
                ritz.laplacian(),
                ritz.Monomials(2),
                rng.normal(size=(2000, 2)) * widths,
                k=k,
                random_state=0,
            )
            for _ in range(2)
        ]

    found = ritz.compare(*spectra(3))
    assert found.left_out == {0: "exact", 2: "more of its group follow"}
    assert found.same
    assert found.modes.tolist() == [1]
    # Slices know of what they leave out, too.
    first, second = spectra(4)
    assert ritz.compare(first[:3], second[:3]).left_out == found.left_out
    assert 2 in ritz.compare(first, second).modes
