"""Selection with constant columns, few groups, scaled kernels, two views, and wrong candidates."""

import warnings

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 2))


def test_a_constant_column_changes_nothing():
    plain = ritz.SpectralEmbedding(2, random_state=0).fit(X)
    with_constant = ritz.SpectralEmbedding(2, random_state=0).fit(np.c_[X, np.ones(500)])
    np.testing.assert_allclose(with_constant.eigenvalues_, plain.eigenvalues_, rtol=0.1)


def test_a_scaled_kernel_gets_a_length_scale():
    basis = ritz.Nystrom(2.0 * ritz.Gaussian("auto"), 50)
    found = ritz.decompose(ritz.laplacian(), basis, X, 2, random_state=0)
    assert found.values[1] == pytest.approx(1.0, abs=0.2)


def test_recipes_without_a_number_of_centers_work_in_estimators_and_stacks():
    model = ritz.SpectralEmbedding(2, basis=ritz.Nystrom(ritz.Gaussian("auto")), random_state=0)
    assert model.fit(X).eigenvalues_[0] == pytest.approx(1.0, abs=0.2)
    stack = ritz.Stack(ritz.Nystrom(ritz.Gaussian("auto")), ritz.Monomials(1))
    found = ritz.decompose(ritz.laplacian(), stack, X, 2, random_state=0)
    assert found.values[1] == pytest.approx(1.0, abs=0.2)


def test_each_view_has_a_length_scale_of_its_own():
    Y = 1000 * (X + 0.3 * RNG.normal(size=X.shape))
    found = ritz.decompose(
        ritz.cross(), ritz.Nystrom(ritz.Gaussian("auto"), 60), (X, Y), 2, regularization=1e-3
    )
    scales = [side.basis.basis.kernel.length_scale for side in (found.left, found.right)]
    assert 300 < scales[1] / scales[0] < 3000


def test_the_slow_mode_of_a_series_in_few_groups_is_kept():
    # Two wells, of which one holds 3% of the rows, in few visits.
    rng = np.random.default_rng(1)
    state = np.zeros(4000, dtype=bool)
    for start in rng.choice(np.arange(0, 4000, 50), 6, replace=False):
        state[start : start + 20] = True
    S = rng.normal(size=(4000, 1)) + 6.0 * state[:, None]
    model = ritz.DiffusionModes(2, random_state=0).fit(S, groups=np.arange(4000) // 125)
    assert model.rates_[0] < 0.3


def test_few_groups_are_not_blamed_on_the_rows():
    model = ritz.SpectralEmbedding(2, random_state=0).fit(X, groups=np.arange(500) % 2)
    assert model.selection_ is None


@pytest.mark.parametrize(
    "candidates",
    [
        3,
        [(ritz.Nystrom(ritz.Gaussian(1.0), 9), 0.1, 3)],
        [(ritz.Nystrom(ritz.Gaussian(1.0), 9), -1)],
        [ritz.Nystrom(ritz.Gaussian(1.0), 9, "kmeans++")],
        [ritz.Nystrom(ritz.Gaussian(1.0), 9, X[:9])],
    ],
    ids=["a number", "a triple", "a negative penalty", "centers spread out", "centers given"],
)
def test_wrong_candidates_are_named(candidates):
    with pytest.raises((ValueError, TypeError), match="'candidates' parameter"):
        ritz.select(ritz.laplacian(), X, 1, candidates)


def test_one_basis_may_stand_for_a_list():
    found = ritz.select(ritz.laplacian(), X, 1, ritz.Nystrom(ritz.Gaussian(2.0), 30))
    assert len(found.candidates) == 1


def test_a_candidate_that_failed_is_not_chosen_for_its_few_centers():
    # Sections this wide have fewer than nine independent functions.
    wide, right = ritz.Nystrom(ritz.Gaussian(300.0), 20), ritz.Nystrom(ritz.Gaussian(2.0), 60)
    found = ritz.select(ritz.laplacian(), X, 8, [wide, right], random_state=0)
    assert found.setting.kernel == right.kernel
    assert found.chosen.valid


def test_more_centers_than_rows_may_be_given():
    centers = np.random.default_rng(0).normal(size=(120, 2))
    basis = ritz.Nystrom(ritz.Gaussian("auto"), centers=centers)
    sections = ritz.decompose(ritz.laplacian(), basis, X[:100], 3, random_state=0).basis
    while not isinstance(sections, ritz.KernelSections):
        sections = sections.basis
    np.testing.assert_array_equal(sections.centers, centers)


def test_few_centers_are_compared_with_no_more():
    model = ritz.SpectralEmbedding(20, n_centers=25, random_state=0).fit(X)
    assert max(c.setting.n_centers for c in model.selection_.candidates) == 25


def test_given_centers_that_are_no_rows_stay_in_held_out_fits():
    grid = np.linspace(-3, 3, 13)[:, None]
    Z = RNG.normal(size=(2000, 1))
    basis = ritz.Nystrom(ritz.Gaussian(0.2), centers=grid)
    sums = ritz.assemble(ritz.laplacian(), basis, Z, random_state=0)
    assert (sums.homes[0] == -1).all()
    rows = ritz.assemble(ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(0.2), 9), Z, random_state=0)
    assert (rows.homes[0] >= 0).all()


def test_correlations_that_differ_are_no_group():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4000, 2))
    r = np.array([0.95, 0.93])
    B = r * A + np.sqrt(1 - r**2) * rng.normal(size=A.shape)
    found = ritz.decompose(ritz.cross(), ritz.Monomials(1), (A, B), 3, random_state=0)
    assert len(np.unique(found.groups)) == 3


def test_auto_components_need_four_folds():
    with pytest.raises(ValueError, match="'n_folds' parameter"):
        ritz.SpectralEmbedding("auto", n_folds=3).fit(X)


@pytest.mark.parametrize(
    ("operator", "options", "message"),
    [
        ("laplacian", {}, "'operator' parameter must be an operator"),
        (ritz.laplacian() - 2 * ritz.laplacian(), {}, "'operator' .* a symmetric, positive form"),
        (ritz.laplacian(), {"groups": np.arange(500) // 100}, "'groups' .* at least 16 .* Got 5"),
        (
            ritz.laplacian(),
            {"candidates": [ritz.Nystrom(ritz.Gaussian("auto"), 50)]},
            "'candidates' .* have a length scale",
        ),
    ],
)
def test_what_cannot_be_selected_from_is_named(operator, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ritz.select(operator, X, 2, **options)


def test_the_table_rounds_length_scales():
    kernel = ritz.Gaussian((8.0 / 3.0, 8e-7 / 3.0))
    found = ritz.select(ritz.laplacian(), X * [1, 1e-7], 1, [ritz.Nystrom(kernel, 50)])
    assert "Gaussian(length_scale=(2.667, 2.667e-07))" in str(found)


def test_a_warning_of_too_few_rows_points_at_the_caller():
    rows = np.random.default_rng(0).normal(size=(200, 50))
    fits = [
        lambda: ritz.SpectralEmbedding(3, random_state=0).fit(rows),
        lambda: ritz.decompose(
            ritz.laplacian(), ritz.Nystrom(ritz.Gaussian("auto")), rows, 4, random_state=0
        ),
    ]
    for fit in fits:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            fit()
        places = [w.filename for w in warned if "eigenvalues say little" in str(w.message)]
        assert places == [__file__]


def test_an_operator_that_the_sample_is_too_small_for_is_named():
    with pytest.raises(ValueError, match="'n_neighbors' parameter must be at most 499") as error:
        ritz.select(ritz.neighbors(500), X, 2, random_state=0)
    assert error.value.__notes__ == ["Candidates are compared on 500 rows."]


def test_more_centers_than_the_sample_has_are_not_reported():
    near = np.random.default_rng(0).uniform(size=(500, 2))
    given = [ritz.Nystrom(ritz.Gaussian(0.5), n) for n in (30, 600, 700)]
    with pytest.warns(UserWarning, match="with 700 centers are compared with 500"):
        found = ritz.select(ritz.laplacian(), near, 1, given, random_state=0)
    assert sorted(c.setting.n_centers for c in found.candidates) == [30, 500]
