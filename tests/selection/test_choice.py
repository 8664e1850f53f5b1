"""What "auto" chooses, and what it looks at."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import ritz
from ritz.forms import Form
from ritz.selection.choice import (
    Comparison,
    Defaults,
    choose_basis,
    choose_length_scale,
    choose_regularization,
    halve_centers,
)
from ritz.selection.rows import WeightedRows

NORMAL = np.random.default_rng(0).normal(size=(4000, 3))


def compare(X, form=None, n_functions=2, weight=None, regularization=1e-8):
    rows = WeightedRows(X, np.ones(len(X)) if weight is None else weight)
    return Comparison(form or ritz.laplacian(), n_functions, regularization, rows, 0)


def auto(comparison, *, kernel="gaussian", length_scale="auto", n_centers="auto", **defaults):
    parameters = (None, kernel, length_scale, n_centers)
    return choose_basis(*parameters, comparison, Defaults(**defaults))


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


def test_a_form_is_prepared_once_for_each_half():
    form = Prepared()
    selected = auto(compare(NORMAL, form), kernel="matern32")
    # Five length scales and two numbers of centers were compared.
    assert len(selected.length_scale_path) == 5
    assert list(selected.n_centers_path) == [75, 150]
    assert [reference.shape for reference in form.seen] == [(1000, 3), (1000, 3)]
    assert not set(map(tuple, form.seen[0])) & set(map(tuple, form.seen[1]))
    np.testing.assert_allclose(
        list(selected.length_scale_path.values()),
        list(auto(compare(NORMAL), kernel="matern32").length_scale_path.values()),
        rtol=1e-6,
    )


def test_the_length_scale_has_the_least_energy_on_unseen_rows():
    X = np.random.default_rng(0).uniform(size=(800, 1))
    length, energies = choose_length_scale(compare(X), ritz.Gaussian, 0.02)
    assert list(energies) == [0.005, 0.01, 0.02, 0.04, 0.08]
    assert energies[length] == min(energies.values())
    # Eigenvalues pi^2 and 4 pi^2, summed over both ways to choose the halves.
    assert energies[length] == pytest.approx(10 * np.pi**2, rel=0.15)
    assert energies[0.005] > 2 * energies[length]


def test_weights_are_repetitions():
    weight = np.random.default_rng(1).integers(0, 3, size=500)
    weighted = auto(compare(NORMAL[:500], weight=weight.astype(float)))
    repeated = auto(compare(np.repeat(NORMAL[:500], weight, axis=0)))
    assert weighted.length_scale_path == repeated.length_scale_path
    assert weighted.recipe.kernel.length_scale == repeated.recipe.kernel.length_scale
    assert weighted.recipe.n_centers == repeated.recipe.n_centers == 100


@pytest.mark.parametrize(
    "comparison",
    [
        compare(NORMAL[:59]),
        compare(NORMAL[:100], ritz.cross()),
        compare(NORMAL[:100], ritz.laplacian() - 2 * ritz.laplacian()),
        compare(NORMAL[:100], ritz.laplacian(tangent=np.tile(np.eye(3)[:, :2], (100, 1, 1)))),
    ],
    ids=["few rows", "pairs", "not positive", "an array of rows"],
)
def test_without_a_comparison_the_quantile_is_used(comparison):
    selected = auto(comparison)
    quantile = auto(comparison, quantile=0.5).recipe.kernel.length_scale
    assert selected.length_scale_path is None
    assert selected.recipe.kernel.length_scale < quantile


def test_an_operator_that_half_of_the_rows_are_too_few_for():
    comparison = compare(NORMAL[:60], ritz.neighbors(40))
    length, energies = choose_length_scale(comparison, ritz.Gaussian, 0.7)
    assert length == 0.7
    assert energies is None or set(energies.values()) == {np.inf}


def test_what_is_given_is_kept():
    selected = auto(compare(NORMAL[:80]), kernel=ritz.Matern(1.5, 3.0), n_centers=1000)
    assert selected.recipe.kernel.length_scale == 3.0
    assert selected.recipe.n_centers == 80
    basis = ritz.Monomials(2)
    comparison = compare(NORMAL[:80])
    assert choose_basis(basis, None, None, None, comparison, Defaults()).recipe is basis
    with pytest.raises(ValueError, match="length_scale"):
        auto(comparison, kernel=ritz.Gaussian(1.0), length_scale=2.0)


def test_centers_are_halved_where_few_functions_need_no_more():
    line, kernel = compare(NORMAL[:, :1]), ritz.Gaussian(2.0)
    n_centers, energies = halve_centers(line, kernel, 316)
    assert n_centers == 158
    assert energies[75] < 1.02 * energies[150]
    assert halve_centers(line, kernel, 316, energies[150]) == (n_centers, energies)
    assert auto(line, length_scale=2.0).n_centers_path == energies
    assert auto(line, length_scale=2.0, halve=False).recipe.n_centers == 316
    assert halve_centers(line, kernel, 300) == (300, None)
    assert halve_centers(compare(NORMAL[:, :1], n_functions=11), kernel, 316) == (316, None)
    n_centers, energies = halve_centers(compare(NORMAL), ritz.Gaussian(0.5), 316)
    assert n_centers == 316
    assert energies[75] > 1.02 * energies[150]


def test_the_regularization_explains_most_of_held_out_rows():
    pair = ritz.datasets.gaussian_pair(0.8).sample(300, random_state=0)
    recipe = ritz.Nystrom(ritz.Gaussian(1.0), 50)
    sums = ritz.assemble(ritz.cross(), recipe, pair, random_state=0)
    value, held_out, path = choose_regularization(sums, 3, "auto", 0.1)
    assert path[value] == max(path.values())
    assert value > 1e-6
    given, same, none = choose_regularization(sums, 3, value, 0.1)
    assert given == value
    assert none is None
    np.testing.assert_array_equal(same, held_out)
    one = ritz.assemble(ritz.cross(), recipe, pair, n_folds=1, random_state=0)
    assert choose_regularization(one, 3, "auto", 0.1) == (0.1, None, None)
