"""n_components="auto", scores of different numbers of components, basis errors of the defaults."""

import warnings

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(3000, 2))


def test_auto_components_are_whole_groups():
    model = ritz.SpectralEmbedding("auto", random_state=0).fit(NORMAL)
    # Eigenvalues 1, 1, 2, 2, 2, 3, ...: a number that cuts a group would depend on the sample.
    assert model.n_components_ in (2, 5, 9, 14, 20)
    assert model.transform(NORMAL[:5]).shape == (5, model.n_components_)
    assert len(model.get_feature_names_out()) == model.n_components_
    assert not any(model.spectrum_.flags)


def test_more_rows_determine_more_components():
    X = np.random.default_rng(0).uniform(size=(8000, 1))
    few, many = (
        ritz.SpectralEmbedding("auto", random_state=0).fit(X[:n]).n_components_ for n in (200, 8000)
    )
    assert 1 <= few < many <= 30


def test_where_nothing_can_be_learned_it_says_so():
    X = np.random.default_rng(0).normal(size=(200, 50))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = ritz.SpectralEmbedding("auto", random_state=0).fit(X)
    texts = " ".join(str(warning.message) for warning in seen)
    assert "Two halves of the samples give different functions" in texts
    assert model.n_components_ == 1


@pytest.mark.parametrize("value", ["all", 0, 1.5, None])
def test_other_numbers_of_components_are_refused(value):
    with pytest.raises((ValueError, TypeError), match="'n_components' parameter"):
        ritz.SpectralEmbedding(value).fit(NORMAL)


def test_parts_may_come_one_by_one():
    model = ritz.SpectralEmbedding("auto", random_state=0)
    for part in np.array_split(NORMAL, 3):
        model.partial_fit(part)
    whole = ritz.SpectralEmbedding("auto", random_state=0).fit(NORMAL)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-6)


def test_scores_of_different_numbers_of_components_are_on_one_scale():
    fresh = np.random.default_rng(1).normal(size=(3000, 2))
    scores = [ritz.SpectralEmbedding(k, random_state=0).fit(NORMAL).score(fresh) for k in (1, 2, 5)]
    # Each function of a small eigenvalue adds nearly one.
    assert (np.diff(scores) > [0.5, 1.2]).all()


def test_the_score_is_its_formula():
    model = ritz.SpectralEmbedding(3, mu=20.0, random_state=0).fit(NORMAL)
    X = np.random.default_rng(1).normal(size=(500, 2))
    f, slopes = model.spectrum_(X), model.spectrum_.gradient(X)
    scale = np.sqrt(np.maximum(1 - model.spectrum_.values / 20, 0))
    G = (f * scale).T @ (f * scale) / 500
    energy = ((slopes * scale) ** 2).sum(axis=(1, 2)).mean()
    expected = 4 - ((G - np.eye(4)) ** 2).sum() - 2 / 20 * energy
    assert model.score(X) == pytest.approx(expected, rel=1e-9)


def test_basis_errors_of_half_moons_know_that_the_gap_is_smaller():
    # The first eigenvalue is 0.0004, and kernels that suit the other modes give 0.03 to 0.04.
    X = ritz.datasets.half_moons(2000, random_state=0).X
    model = ritz.SpectralEmbedding(8, random_state=0).fit(X)
    first = model.spectrum_
    assert first.basis_errors[1] > 0.25 * first.values[1]
    # The others are right.
    assert (first.basis_errors[2:] < 0.1 * first.values[2:]).all()
    assert model.selection_.finer.setting.n_centers >= model.selection_.setting.n_centers


def test_the_picture_of_a_selection_shows_every_candidate():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    found = ritz.select(ritz.laplacian(), NORMAL[:500], 2, random_state=0)
    ax = found.plot()
    marks = sum(len(part.get_offsets()) for part in ax.collections if hasattr(part, "get_sizes"))
    finite = int(np.isfinite(found.scores).sum())
    assert marks == finite + 1
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[-1] == "chosen"
    assert ax.get_xlabel() == "length scale (geometric mean of columns)"
    _, given = pyplot.subplots()
    assert found.plot(given) is given
    pyplot.close("all")


@pytest.mark.parametrize(
    ("X", "groups", "few"),
    [
        (np.random.default_rng(0).normal(size=(600, 6)), np.arange(600) // 200, "groups"),
        (np.random.default_rng(0).normal(size=(5, 2)), None, "rows"),
    ],
    ids=["few groups", "few rows"],
)
def test_where_halves_cannot_be_compared_few_components_are_kept(X, groups, few):
    model = ritz.SpectralEmbedding("auto", operator="laplacian", random_state=0)
    with pytest.warns(UserWarning, match=f"cannot be compared, as the {few} are too few: up to 5"):
        model.fit(X, groups=groups)
    assert model.n_components_ <= 5
    (why,) = (reason for name, _, reason in model.summary().chosen if name == "functions")
    assert why == "the default: two halves of the samples cannot be compared"
