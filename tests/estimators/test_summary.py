"""What summaries and intervals say, in the cases where it is easily wrong."""

import numpy as np
import pytest
from scipy.stats import t as student

import ritz
from ritz.estimators.certainty import advice_on, half_widths
from ritz.spectrum.spectrum import Levels

X = np.random.default_rng(0).normal(size=(400, 2))


@pytest.mark.parametrize("n_folds", [3, 8])
def test_intervals_after_sums_count_the_folds_of_the_sums(n_folds):
    sums = ritz.assemble(ritz.laplacian(), ritz.Monomials(2), X, n_folds=n_folds)
    model = ritz.SpectralEmbedding(2).fit_sums(sums)
    found = half_widths(model.spectrum_, model.n_folds)
    expected = student.ppf(0.975, n_folds - 1) * model.spectrum_.errors
    np.testing.assert_allclose(found, expected)


def test_advice_counts_clusters_and_not_functions():
    """Of four functions, which make five clusters, the last one belongs to a few rows."""
    values, groups = np.arange(5.0), np.arange(5)
    flags = ("", "", "", "", "few rows")
    levels = Levels(values, None, groups, np.zeros(5), 9, 100, "laplacian()", flags=flags)
    (embedding,) = advice_on(levels, 8, None, "n_components")
    (clusters,) = advice_on(levels, 8, None, "n_clusters", more=1)
    assert embedding.startswith("Lower n_components to 3:")
    assert clusters.startswith("Lower n_clusters to 4:")


@pytest.mark.parametrize(
    ("flags", "advice"),
    [
        ("001", "Lower n_components to 2: the other functions are flagged."),
        ("010", "Trust functions 1 and 3: the others are flagged."),
        ("111", "No function can be trusted: use more rows, or other columns."),
        ("000", None),
    ],
)
def test_advice_on_flagged_functions_gives_no_reason_of_another_flag(flags, advice):
    words = ("", *("does not generalize" if flag == "1" else "" for flag in flags))
    levels = Levels(
        np.arange(4.0), None, np.arange(4), np.zeros(4), 9, 100, "laplacian()", flags=words
    )
    assert advice_on(levels, 8, None, "n_components") == ([advice] if advice else [])


def test_of_a_single_cluster_something_is_sure_after_a_load(tmp_path):
    model = ritz.SpectralClustering(1, operator="laplacian", n_centers=20, random_state=0).fit(X)
    model.save(tmp_path / "one.ritz")
    sure = ritz.load(tmp_path / "one.ritz").summary().sure
    assert sure[-1] == "All rows are one cluster, which takes no function."


@pytest.mark.parametrize("operator", ["auto", "laplacian"])
def test_a_summary_of_few_labels_says_who_chose_the_operator(operator):
    model = ritz.LaplacianRegressor(operator=operator, n_components=5, random_state=0)
    summary = model.fit(X, np.where(np.arange(400) < 30, X[:, 0], np.nan)).summary()
    why = {name: reason for name, _, reason in summary.chosen}
    expected = "as asked" if operator == "laplacian" else "the samples fill their space"
    assert why["operator"] == expected
    assert "units" in why


def test_a_number_of_clusters_is_doubted_for_the_reason_found():
    model = ritz.SpectralClustering("auto", operator="laplacian", random_state=0)
    with pytest.warns(UserWarning, match="is not sure"):
        model.fit(X)
    # What a fit finds where a gap is large, and halves agree on one cluster more.
    model.n_clusters_, model.sure_ = 2, False
    model.evidence_, model.stability_ = {2: np.log(9.0)}, {2: 1.0, 3: 0.97}
    assert any(
        line == "The number of clusters is not sure: halves of the samples agree on 3 clusters as "
        "well."
        for line in model.summary().sure
    )


def test_a_summary_says_that_rows_have_length_one():
    summary = ritz.SpectralEmbedding(1, metric="cosine", random_state=0).fit(X + 1).summary()
    units = {name: (value, why) for name, value, why in summary.chosen}["units"]
    assert units == ("columns as they are, rows of length 1", "only directions of rows count")


@pytest.mark.parametrize("scale", ["auto", "standard"])
def test_a_summary_of_sums_gives_no_reason_from_rows(scale):
    sums = ritz.assemble(ritz.laplacian(), ritz.Monomials(2), X)
    chosen = ritz.SpectralEmbedding(2, scale=scale).fit_sums(sums).summary().chosen
    why = {name: reason for name, _, reason in chosen}
    assert why["operator"] == "that of the sums"
    assert why["units"] == "those of the sums"
