"""What "auto" chooses, and what it looks at."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import ritz
from benchmarks.selection.problems import double_well
from ritz.forms import Form
from ritz.selection import steps
from ritz.selection.choice import Defaults, Wanted, choose_basis
from ritz.selection.rows import WeightedRows, far_rows

NORMAL = np.random.default_rng(0).normal(size=(4000, 3))
AUTO = Wanted(None, "auto", "auto", "auto", "auto")


def auto(X, form=None, k=2, weight=None, **wanted):
    rows = WeightedRows(X, np.ones(len(X)) if weight is None else weight)
    return choose_basis(form or ritz.laplacian(), rows, k, replace(AUTO, **wanted), Defaults())


@dataclass(frozen=True, eq=False)
class Prepared(Form):
    """The Laplacian, which counts the reference samples that it is prepared for."""

    positive = True
    inner: Form = field(default_factory=ritz.laplacian)
    seen: list = field(default_factory=list)
    ready: bool = False

    def prepare(self, reference, weight=None, n_jobs=None):
        if self.ready:
            return self
        self.seen.append(reference)
        return replace(self, ready=True)

    def terms(self, f, g, block):
        return self.inner.terms(f, g, block)


def test_a_form_is_prepared_once_for_all_candidates():
    form = Prepared()
    selected = auto(NORMAL, form, kernel="matern52")
    assert len(selected.selection.candidates) > 10
    assert [reference.shape for reference in form.seen] == [(2000, 3)]


def test_candidates_are_ranked_by_what_they_do_on_unseen_rows():
    X = np.random.default_rng(0).uniform(size=(800, 1))
    found = ritz.select(ritz.laplacian(), X, 2, random_state=0)
    assert (np.diff(found.scores) >= 0).all()
    # Eigenvalues pi^2 and 4 pi^2.
    held = found.chosen.held.values
    np.testing.assert_allclose(held, np.pi**2 * np.array([1, 4]), rtol=0.15)
    assert found.chosen.valid
    assert "(chosen)" in str(found)
    assert found.recipe.n_centers == found.setting.n_centers


def test_a_list_of_candidates():
    narrow, wide = (ritz.Nystrom(ritz.Gaussian(length), 60) for length in (0.03, 1.5))
    found = ritz.select(ritz.laplacian(), NORMAL[:800, :1], 2, [narrow, (wide, 1e-4)])
    assert len(found.candidates) == 2
    assert found.setting.kernel == wide.kernel
    assert found.regularization == 1e-4
    for bad in ([], [ritz.Monomials(2)], "best"):
        with pytest.raises((ValueError, TypeError), match="'candidates'"):
            ritz.select(ritz.laplacian(), NORMAL[:800], 2, bad)
    with pytest.raises(ValueError, match=r"'X' .* at least 60 distinct rows\. Got 50"):
        ritz.select(ritz.laplacian(), NORMAL[:50], 2)


def test_a_choice_at_the_edge_says_so(monkeypatch):
    X = np.random.default_rng(0).uniform(size=(400, 1))
    free = ritz.select(ritz.laplacian(), X, 2, random_state=0)
    assert "length_scale" not in free.at_edge
    # Only short length scales are tried, and the grid is not extended.
    monkeypatch.setattr(steps, "LENGTH_FACTORS", (0.5,))
    monkeypatch.setattr(steps, "MOST_EXTENSIONS", 0)
    short = ritz.select(ritz.laplacian(), X, 2, random_state=0)
    assert short.setting.length < free.setting.length
    assert "length_scale" in short.at_edge
    assert "at the edge of what was tried: length_scale" in str(short)


def test_each_column_has_its_own_length_scale_where_that_helps():
    """A double well of rate 0.119 beside four harmonic columns."""
    X = double_well(4).sample(20_000, 0)
    for k in (1, 3):
        model = ritz.DiffusionModes(k, random_state=0).fit(X)
        first, *others = model.length_scale_
        assert min(others) > 2 * first
        assert model.rates_[0] == pytest.approx(0.1191, rel=0.15)


def test_weights_are_repetitions():
    weight = np.random.default_rng(1).integers(0, 3, size=500)
    weighted = auto(NORMAL[:500], weight=weight.astype(float))
    repeated = auto(np.repeat(NORMAL[:500], weight, axis=0))
    np.testing.assert_array_equal(weighted.selection.scores, repeated.selection.scores)
    assert weighted.recipe.kernel == repeated.recipe.kernel
    assert weighted.recipe.n_centers == repeated.recipe.n_centers


@pytest.mark.parametrize(
    ("n", "form"),
    [
        (59, ritz.laplacian()),
        (100, ritz.cross()),
        (100, ritz.laplacian() - 2 * ritz.laplacian()),
        (100, ritz.laplacian(tangent=np.tile(np.eye(3)[:, :2], (100, 1, 1)))),
        (60, ritz.neighbors(70)),
    ],
    ids=["few rows", "pairs", "not positive", "an array of rows", "too few for the operator"],
)
def test_without_a_comparison_a_quantile_of_distances_is_used(n, form):
    selected = auto(NORMAL[:n], form)
    assert selected.selection is None
    distances = np.linalg.norm(NORMAL[:n, None] - NORMAL[:n], axis=2)
    length = selected.recipe.kernel.length_scale
    assert np.mean(distances[distances > 0] < length) == pytest.approx(0.1, abs=0.05)


def test_what_is_given_is_kept():
    selected = auto(NORMAL[:80], kernel=ritz.Matern(1.5, 3.0), n_centers=1000)
    assert selected.recipe.kernel.length_scale == 3.0
    assert selected.recipe.n_centers == 80
    basis = ritz.Monomials(2)
    assert auto(NORMAL[:80], basis=basis).recipe is basis
    assert auto(NORMAL[:80], regularization=0.3).regularization == 0.3
    with pytest.raises(ValueError, match="length_scale"):
        auto(NORMAL[:80], kernel=ritz.Gaussian(1.0), length_scale=2.0)


def test_a_length_scale_of_a_kernel_may_be_left_to_decompose():
    found = ritz.decompose(
        ritz.laplacian(), ritz.Nystrom(ritz.Gaussian("auto")), NORMAL[:, :1], 3, random_state=0
    )
    np.testing.assert_allclose(found.values[1:], [1, 2], rtol=0.1)
    with pytest.raises(ValueError, match=r"'length_scale'.*decompose"):
        ritz.Gaussian("auto")(NORMAL, NORMAL)


def test_rows_far_from_all_others():
    X = np.concatenate([NORMAL[:500], [[40.0, 0, 0], [0, -50.0, 0]]])
    assert np.flatnonzero(far_rows(X)).tolist() == [500, 501]
    assert not far_rows(NORMAL[:500, :1] * 0 + np.arange(500)[:, None]).any()


def test_nothing_can_be_learned_from_few_rows_of_many_columns():
    X = np.random.default_rng(0).standard_cauchy(size=(80, 40))
    with pytest.warns(UserWarning, match="eigenvalues say little|belong to a few rows"):
        ritz.SpectralEmbedding(3, operator="laplacian", random_state=0).fit(X)
