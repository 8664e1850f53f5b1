"""What a report holds: every section, no address, numbers that are those of the model."""

import re
import sys
import warnings
from copy import copy
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ritz
from ritz.reports.brush import short
from ritz.reports.glance import glance
from ritz.reports.influence import column_shares
from ritz.reports.render import source_of, write_page
from ritz.reports.reproduce import code_for
from ritz.reports.sections import profile_of
from tests.displays import models

MOONS = models.MOONS
# Elements that are never closed.
VOID = {"meta", "link", "input"}


class Page(HTMLParser):
    """The ids, headings and texts of a page, after checking that tags are closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.headings, self.svgs = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "svg":
            assert found["role"] == "img"
            self.svgs.append(found["aria-label"])
        if tag == "th":
            assert found["scope"] in ("row", "col")
        for name in ("src", "href", "xlink:href"):
            assert re.match(r"#|data:", found.get(name, "#")), found

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and re.fullmatch("h[1-4]", self.open[-1]):
            self.headings.append(data)


def written(folder, *arguments, **options):
    path = ritz.report(*arguments, path=folder / "page.html", **options)
    return path.read_text("utf-8")


CASES = {
    "embedding": (
        lambda: (models.embedding(), MOONS.X),
        ["In short", "Data at a glance", "Spectrum", "Functions", "Embedding"],
    ),
    "table": (models.table, ["Which columns move each function", "Which functions to trust"]),
    "clusters": (lambda: (models.clusters(), MOONS.X), ["Clusters", "What was compared"]),
    "modes": (models.modes, ["Spectrum", "Functions", "How to reproduce it"]),
    "pair": (models.pair, ["Spectrum", "Functions", "Embedding"]),
    "few labels": (lambda: (models.classifier(), MOONS.X), ["In short", "Embedding"]),
    "regression": (
        lambda: (models.regression(), np.random.default_rng(1).uniform(-2, 2, size=(50, 2))),
        ["In short", "Data at a glance", "Which columns move each function"],
    ),
    "spectrum": (lambda: (models.embedding().spectrum_, MOONS.X), ["Spectrum", "Embedding"]),
    "no samples": (lambda: (models.embedding(), None), ["Spectrum", "What was compared"]),
    "spectrum, no samples": (
        lambda: (models.embedding().spectrum_[1:3], None),
        ["In short", "Spectrum", "Which functions to trust"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_pages_have_their_sections_and_fetch_nothing(case, tmp_path):
    make, headings = CASES[case]
    html = written(tmp_path, *make())
    page = Page(html)
    assert set(headings) <= set(page.headings)
    assert len(set(page.ids)) == len(page.ids)
    assert len(html) < 3_000_000
    # What is not Bokeh has no address but those of names of XML.
    own = re.sub(r"<script>.*?BEGIN bokeh.*?</script>", "", html, flags=re.DOTALL)
    assert set(re.findall(r"https?://[^/\"']+", own)) <= {"http://www.w3.org"}
    assert "default-src 'none'" in unescape(html)


def test_all_pictures_have_texts_and_titles_can_be_given(tmp_path):
    html = written(tmp_path, models.embedding(), MOONS.X, title="Two <moons>")
    page = Page(html)
    assert page.headings[0] == "Two <moons>"
    assert len(page.svgs) == 1 + 3 + 1
    assert all(len(text) > 20 for text in page.svgs)


def test_names_of_columns_and_labels_may_hold_anything(tmp_path):
    nasty = "</script><script>alert(1)</script>"
    frame = pd.DataFrame(MOONS.X, columns=[nasty, "b & <i>"])
    model = ritz.SpectralEmbedding(
        2, operator="laplacian", length_scale=0.5, regularization=1e-3, **models.FEW
    ).fit(frame)
    labels = np.where(MOONS.labels > 0, nasty, "left")
    html = written(tmp_path, model, frame, y=labels)
    Page(html)
    assert "<script>alert" not in html


def test_values_are_those_of_the_model(tmp_path):
    model = models.embedding()
    html = written(tmp_path, model, MOONS.X)
    for value in model.eigenvalues_:
        assert f"<td>{value:.6g}</td>" in html
    assert "operator=&#39;laplacian&#39;, random_state=0)" in html


def test_of_a_pipeline_the_last_step_is_reported(tmp_path):
    frame = pd.DataFrame({"a": MOONS.X[:, 0], "b": MOONS.X[:, 1]})
    last = ritz.SpectralClustering(2, operator="laplacian", **models.FEW)
    pipeline = make_pipeline(StandardScaler(), last).fit(frame)
    html = written(tmp_path, pipeline, frame, y=np.where(MOONS.labels > 0, "low", "high"))
    assert {"Clusters", "Embedding", "What the clusters are like"} <= set(Page(html).headings)
    assert all(f'<th scope="col">{name}</th>' in html for name in ("a", "b"))
    assert "transformed by the steps before" in html
    Page(written(tmp_path, pipeline))
    with pytest.raises(NotFittedError):
        ritz.report(make_pipeline(StandardScaler(), ritz.SpectralEmbedding()), frame)


def test_a_profile_has_the_rows_and_means_of_clusters():
    model = models.clusters()
    labels = model.predict(MOONS.X)
    table = profile_of(model, MOONS.X, ("across", "up"))
    # The moons lie one beside the other.
    assert table.index("across") < table.index("up")
    for j in range(model.n_clusters_):
        part = MOONS.X[labels == j]
        cells = (str(len(part)), f"{len(part) / 400:.0%}", f"{part[:, 0].mean():.4g}")
        assert "".join(f"<td>{cell}</td>" for cell in cells) in table


def test_a_fit_with_groups_is_not_told_to_pass_them(tmp_path):
    X = np.cumsum(np.random.default_rng(0).normal(size=(2000, 1)), axis=0) % 40.0
    runs = np.arange(2000) // 100
    for groups, said in ((runs, False), (None, True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ritz.DiffusionModes(2, **models.FEW).fit(X, groups=groups)
        model.save(tmp_path / "m.ritz")
        model = ritz.load(tmp_path / "m.ritz")
        advice = [line for line in model.summary().next if "labels of runs" in line]
        assert bool(advice) == said
        assert ("Rows resemble about" in written(tmp_path, model, X)) == said


@pytest.mark.parametrize(("largest", "where"), [(2, "there"), (3, "at 3")])
def test_the_evidence_names_the_number_of_clusters_chosen(largest, where, tmp_path):
    model = copy(models.clusters())
    assert model.n_clusters_ == 2
    model.evidence_ = {2: np.log(1.7), 3: np.log(1.5), largest: np.log(1.9)}
    text = Page(written(tmp_path, model, MOONS.X)).svgs[-2]
    assert text.endswith(f"; 2 clusters were chosen, the largest ratio is {where}.")


@pytest.mark.parametrize("rows", [MOONS.X, None])
def test_a_single_cluster_has_a_page_without_functions(rows, tmp_path):
    model = ritz.SpectralClustering(1, operator="laplacian", **models.FEW).fit(MOONS.X)
    headings = set(Page(written(tmp_path, model, rows)).headings)
    assert {"In short", "What was compared", "How to reproduce it"} <= headings
    assert (
        ("Clusters" in headings) == ("What the clusters are like" in headings) == (rows is not None)
    )
    assert not {"Spectrum", "Functions", "Embedding", "Which functions to trust"} & headings


def test_a_single_row_has_a_page(tmp_path):
    model, frame = models.table()
    headings = Page(written(tmp_path, model, frame[:1], y=[3])).headings
    assert {"Data at a glance", "Functions", "Embedding"} <= set(headings)


def test_a_sample_of_the_rows_is_called_so(tmp_path):
    for n, there in ((400, False), (30_000, True)):
        path = write_page(models.embedding(), MOONS.X, tmp_path / "page.html", drawn_from=n)
        said = "These are 400 rows drawn at random from 30,000;" in path.read_text("utf-8")
        assert said == there


def test_a_regression_is_told_of_the_rows_given_and_of_no_option_it_lacks(tmp_path):
    X = np.sort(np.random.default_rng(0).uniform(-2, 2, size=(200, 2)), axis=0) * [1.0, 1000.0]
    model = ritz.HermiteRegressor(kernel=ritz.Gaussian((1.0, 1000.0)), random_state=0)
    html = written(tmp_path, model.fit(X, models.wave(X / [1, 1000])), X, y=X[:, 0])
    assert "Values of the rows given, against the predictions" in html
    assert "not fitted" not in html
    assert "held values" not in html
    assert "`groups`" not in html
    assert (model._units.x_scale == 1).all()
    assert "divided each by its own width" not in html
    assert "times as wide as" in html


def test_numbers_keep_the_digits_of_their_spread():
    dates = 1.7e9 + np.arange(5.0)
    assert short(dates) == dates.tolist()
    assert short(np.array([1 / 3, -2 / 3, np.nan])) == [0.33333, -0.66667, None]
    assert short(np.full(2, 1234567.0)) == [1234567.0] * 2
    assert short(np.zeros(2)) == [0.0, 0.0]


def test_held_values_check_intervals(tmp_path):
    X = np.random.default_rng(1).uniform(-2, 2, size=(50, 2))
    html = written(tmp_path, models.regression(), X, y=models.wave(X))
    assert "Predicted intervals" in Page(html).headings
    with pytest.raises(ValueError, match="The 'y' parameter"):
        written(tmp_path, models.regression(), X, y=np.full(50, np.nan))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", None),
        ("model", ritz.Monomials(2)),
        ("X", np.ones((4, 3))),
        ("X", MOONS.X[:0]),
        ("path", 3),
        ("path", "page.txt"),
        ("y", np.ones(3)),
        ("title", 3),
        ("n_points", 0),
    ],
)
def test_errors_name_the_argument_and_leave_nothing(name, value, tmp_path):
    path = tmp_path / "page.html"
    arguments = {"model": models.embedding(), "X": MOONS.X, "path": path} | {name: value}
    with pytest.raises((TypeError, ValueError), match=f"The '{name}' parameter"):
        ritz.report(**arguments)
    assert not list(tmp_path.iterdir())


def test_a_failed_report_keeps_the_page_before_it(tmp_path):
    before = written(tmp_path, models.embedding(), MOONS.X)
    with pytest.raises(ValueError, match="The 'y' parameter"):
        written(tmp_path, models.embedding(), MOONS.X, y=np.ones(3))
    assert (tmp_path / "page.html").read_text("utf-8") == before


@pytest.mark.parametrize("module", ["jinja2", "bokeh", "matplotlib"])
def test_without_the_extra_an_error_says_how_to_install_it(module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'ritz\[report\]'"):
        ritz.report(models.embedding(), MOONS.X, tmp_path / "page.html")


# Data at a glance


def warned(X, start, scaled=False):
    names = tuple(f"c{j}" for j in range(X.shape[1]))
    found = glance(X, names, scaled).warnings
    return [line for line in found if line.startswith(start)]


def test_plain_data_have_no_warning():
    assert not glance(np.random.default_rng(0).normal(size=(1000, 3)), ("a", "b", "c")).warnings


def test_what_spoils_spectra_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    (line,) = warned(X * [1, 1, 1000], "Columns are not in one unit")
    assert "c2 is 1,0" in line or "c2 is 9" in line
    assert "StandardScaler" in line
    assert "divided" in warned(X * [1, 1, 1000], "Columns are not in one unit", True)[0]
    heavy = np.column_stack([X[:, 0], np.exp(3 * X[:, 1])])
    assert "Heavy tails in c1:" in warned(heavy, "Heavy tails")[0]
    assert warned(np.vstack([X, X[:100]]), "100 of 1,100 rows repeat others (9%)")
    assert warned(np.column_stack([X, np.ones(1000)]), "Constant: c3.")
    assert warned(X[:20], "There are only 6.7 rows for each column")
    assert warned(np.cumsum(X, axis=0), "Rows resemble about")


def test_shares_of_columns_are_those_of_a_known_function():
    X = np.random.default_rng(0).normal(size=(4000, 3)) * [1.0, 2.0, 1000.0]

    # f = x_0 + x_1 has slopes 1, 1, 0, and g = x_2^2 / 1000 has 2 x_2 / 1000 along one column.
    def gradient(P):
        zero, one = np.zeros(len(P)), np.ones(len(P))
        f, g = [one, one, zero], [zero, zero, P[:, 2] / 500]
        return np.stack([np.stack(f, axis=1), np.stack(g, axis=1)], axis=2)

    shares = column_shares(X, 2, gradient)
    variances = X.var(axis=0)
    expected = variances[:2] / variances[:2].sum()
    np.testing.assert_allclose(shares[:2, 0], expected)
    np.testing.assert_allclose(shares[:, 1], [0, 0, 1])


def test_shares_of_a_scaled_fit_are_in_the_units_of_the_data(tmp_path):
    model, frame = models.table()
    html = written(tmp_path, model, frame)
    assert model.scale_ is not None
    first = r'scope="row" class="ritz-text">(\w+)</th><td class="share"[^>]*>(\d+)%'
    found = re.findall(first, html)
    rows = frame.to_numpy()
    slopes = model.spectrum_.gradient(frame / model.scale_)[:, :, 1]
    squares = (slopes**2).mean(axis=0) * (rows.std(axis=0) / model.scale_) ** 2
    expected = dict(zip(frame.columns, np.round(100 * squares / squares.sum()), strict=True))
    assert {name: float(share) for name, share in found} == expected


@pytest.mark.parametrize("kind", ["kernels", "polynomials", "scaled columns"])
def test_code_of_a_spectrum_gives_its_values_again(kind, monkeypatch, tmp_path):
    X = MOONS.X * [1.0, 100.0]
    if kind == "scaled columns":
        model = ritz.SpectralEmbedding(2, scale="standard", operator="neighbors", random_state=0)
        spectrum, rows = model.fit(X).spectrum_, X / model.scale_
    else:
        kernels = 0.5 * (ritz.Gaussian(0.5) + ritz.Matern(2.5, 1.0))
        basis = ritz.Nystrom(kernels, 40) if kind == "kernels" else ritz.Monomials(3)
        spectrum = ritz.decompose(ritz.laplacian(), basis, MOONS.X, k=3, random_state=0)
        rows = MOONS.X
    monkeypatch.chdir(tmp_path)
    code = code_for(spectrum, source_of(spectrum), "page.html")
    names = {}
    lines = [line for line in code.splitlines() if not line.startswith(("X =", "ritz.report"))]
    names["X"] = rows
    exec("\n".join(lines), names)
    np.testing.assert_allclose(names["spectrum"].values, spectrum.values, rtol=0.3, atol=1e-3)


def test_code_leaves_a_gap_where_a_name_is_not_public():
    X = MOONS.X
    basis = ritz.RandomFourier(ritz.Gaussian(0.5), 40)
    form = ritz.laplacian() + ritz.potential(lambda x: x[:, 0] ** 2)
    spectrum = ritz.decompose(form, basis, X, k=3, random_state=0)
    code = code_for(spectrum, source_of(spectrum), "page.html")
    compile(code, "code", "exec")
    assert "form = ...  # laplacian() + potential(V)" in code
    assert "basis = ...  # <FourierFeatures: 40 functions>" in code
