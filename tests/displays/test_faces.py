"""What notebooks show: tables in HTML, frames, and summaries."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import ritz
from ritz.tables import numbered, table
from tests.displays import models

SPECTRUM = models.embedding().spectrum_
FACES = {
    "Spectrum": lambda: SPECTRUM,
    "SingularSpectrum": lambda: models.pair()[0].spectrum_,
    "Sums": lambda: ritz.assemble(ritz.laplacian(), ritz.Monomials(2), np.eye(3), random_state=0),
    "Selection": lambda: models.embedding().selection_,
    "Comparison": lambda: ritz.compare(SPECTRUM, SPECTRUM),
    "Summary": lambda: models.embedding().summary(),
}


class Cells(HTMLParser):
    """The cells of all tables, after checking that tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.rows = [], []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "th":
            assert dict(attributes)["scope"] in ("row", "col")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def cells(html):
    parser = Cells()
    parser.feed(html)
    assert not parser.open
    return parser.rows


@pytest.mark.parametrize("name", FACES)
def test_faces_are_tables_with_the_numbers_of_the_text(name):
    value = FACES[name]()
    rows = cells(value._repr_html_())
    assert len({len(row) for row in rows}) == 1
    assert "<script" not in value._repr_html_()
    if name == "Sums":
        found = {row[0]: row[1] for row in rows}
        assert found["rows"] == f"{value.n_rows:,}"
        return
    text = str(value)
    for row in rows[1:]:
        for cell in row:
            assert cell in text or cell in ("agrees",)


def test_a_face_has_no_colors_but_those_of_the_text_around():
    style = SPECTRUM._repr_html_().split("</style>")[0]
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb\(|: ?(white|black)", style)


def test_cells_are_escaped_and_long_tables_end():
    html = table("<b>", ["a"], [["<i>"]] * 99)
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count("&lt;i&gt;") == 30
    assert "and 69 more" in html


@pytest.mark.parametrize(("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_have_the_numbers(backend, kind):
    frame = SPECTRUM.to_frame(backend=backend)
    assert isinstance(frame, kind)
    np.testing.assert_array_equal(frame["value"].to_numpy(), SPECTRUM.values)
    np.testing.assert_array_equal(frame["error"].to_numpy(), SPECTRUM.errors)
    assert list(frame["flag"]) == list(SPECTRUM.flags)
    assert list(frame["number"]) == [0, 1, 2, 3]


def test_frames_leave_out_what_is_not_known(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 1))
    found = ritz.decompose(ritz.laplacian(), ritz.Monomials(2), X, 2, n_folds=1)
    assert "error" not in found.to_frame().columns
    with pytest.raises(ValueError, match="The 'backend' parameter must be 'pandas' or 'polars'"):
        found.to_frame("dask")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        found.to_frame("polars")


# Summaries


@pytest.mark.parametrize(
    ("model", "chosen", "sentence"),
    [
        (models.embedding, "length scale", "Sampling moves eigenvalues by"),
        (lambda: models.table()[0], "units", "Sampling moves eigenvalues by"),
        (models.clusters, "clusters", "The number of clusters is"),
        (lambda: models.modes()[0], "modes", "The timescales"),
        (lambda: models.pair()[0], "pairs of functions", "Correlations on unseen rows are"),
        (models.classifier, "smoothness", "Labeled rows left out in turn are missed by"),
        (models.regression, "length scales", "Folds left out are missed by"),
    ],
)
def test_summaries_say_what_was_chosen_and_how_sure(model, chosen, sentence):
    found = model().summary()
    assert chosen in [name for name, _, _ in found.chosen]
    assert any(line.startswith(sentence) for line in found.sure)
    assert found.next[-1].startswith("Look at ritz.")
    assert all(line.endswith(".") for line in (*found.sure, *found.next))


def test_summaries_tell_what_was_asked_from_what_was_chosen():
    found = {name: (value, why) for name, value, why in models.embedding().summary().chosen}
    assert found["centers"] == ("60", "as asked")
    assert found["operator"] == ("laplacian()", "as asked")
    assert found["kernel"][1].startswith("best of ")
    table, _ = models.table()
    found = {name: (value, why) for name, value, why in table.summary().chosen}
    assert found["length scale"] == ("2", "as asked")
    assert found["units"][0] == "standard deviations of the columns"


def test_a_summary_after_sums_describes_their_functions():
    sums = ritz.assemble(ritz.laplacian(), ritz.Monomials(2), models.MOONS.X, random_state=0)
    model = ritz.SpectralEmbedding(2).fit_sums(sums)
    assert ("operator", "laplacian()", "as asked") in [
        (name, value, "as asked") for name, value, _ in model.summary().chosen
    ]
    assert "basis" in [name for name, _, _ in model.summary().chosen]


def test_noise_leads_to_advice():
    X = np.random.default_rng(0).normal(size=(80, 5))
    model = ritz.SpectralEmbedding(4, operator="laplacian", random_state=0).fit(X)
    found = model.summary()
    assert any("do not even agree on function 1" in line for line in found.sure)
    assert "Use more rows: four times as many halve the intervals." in found.next


def test_wrong_gradients_are_in_the_summary():
    X = np.random.default_rng(0).uniform(-2, 2, size=(60, 2))
    t = -np.column_stack([np.cos(X[:, 0]) * X[:, 1], np.sin(X[:, 0])])
    with pytest.warns(UserWarning, match="Gradients look wrong"):
        model = ritz.HermiteRegressor(random_state=0).fit(X, models.wave(X), gradient=t)
    assert any(line.startswith("Gradients look wrong") for line in model.summary().sure)


@pytest.mark.parametrize(
    "estimator",
    [
        ritz.SpectralEmbedding,
        ritz.SpectralClustering,
        ritz.DiffusionModes,
        ritz.SingularEmbedding,
        ritz.LaplacianClassifier,
        ritz.LaplacianRegressor,
        ritz.HermiteRegressor,
    ],
)
def test_summaries_need_a_fit(estimator):
    with pytest.raises(NotFittedError):
        estimator().summary()


def test_numbers_in_words():
    assert numbered([3]) == "function 3"
    assert numbered([1, 2]) == "functions 1 and 2"
    assert numbered([7, 1, 3, 2, 4]) == "functions 1 to 4 and 7"
