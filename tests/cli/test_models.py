import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import ritz


@pytest.fixture
def model(folder, table):
    fitted = ritz.SpectralEmbedding(3, operator="laplacian", random_state=0)
    fitted.fit(table[["bill_x", "bill_y"]])
    fitted.save("m.ritz")
    return fitted


def test_transform_finds_its_columns_by_name(run, model, table):
    table[["moon", "bill_y", "id", "bill_x"]].to_parquet("turned.parquet")
    result = run("transform", "m.ritz", "turned.parquet", "-o", "out.npy")
    assert "Columns used: bill_x, bill_y." in result.stderr
    assert_allclose(np.load("out.npy"), model.transform(table[["bill_x", "bill_y"]]), atol=1e-10)


def test_transform_of_arrays(run_json, folder):
    X = np.random.default_rng(0).normal(size=(300, 2))
    np.save("X.npy", X)
    fitted = ritz.SpectralClustering(2, random_state=0).fit(X)
    fitted.save("c.ritz")
    found = run_json("transform", "c.ritz", "X.npy", "-o", "out.npy")
    assert found["rows"] == 300
    assert_allclose(np.load("out.npy")[:, 0], fitted.labels_)


def test_info_says_what_summaries_say(run, run_json, model):
    text = " ".join(run("info", "m.ritz").stdout.split())
    summary = model.summary()
    for part in (summary.title, *summary.sure, *(row[0] for row in summary.chosen)):
        assert part in text
    found = run_json("info", "m.ritz")
    assert found["sure"] == list(summary.sure)
    assert_allclose(found["eigenvalues"], model.eigenvalues_)


def test_info_of_spectra_and_sums(run, run_json, model, table):
    model.spectrum_.save("s.ritz")
    assert f"{model.eigenvalues_[0]:.6g}" in run("info", "s.ritz").stdout
    assert_allclose(run_json("info", "s.ritz")["eigenvalues"], model.spectrum_.values)
    X = table[["bill_x", "bill_y"]].to_numpy()
    ritz.assemble(ritz.laplacian(), ritz.Monomials(2), X).save("sums.ritz")
    assert run_json("info", "sums.ritz")["rows"] == 400
    assert "Sums" in run("info", "sums.ritz").stdout


def test_info_of_other_models(run, folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(np.arange(200) < 20, X[:, 0] > 0, -1)
    for fitted in (
        ritz.SpectralClustering(2, random_state=0).fit(ritz.Batches([X])),
        ritz.HermiteRegressor(random_state=0).fit(X, X[:, 0]),
        ritz.LaplacianClassifier(random_state=0).fit(X, y),
        ritz.SingularEmbedding(1, random_state=0).fit(X, X + rng.normal(size=X.shape)),
        ritz.DiffusionModes(2, random_state=0).fit(X),
    ):
        fitted.save("other.ritz")
        assert type(fitted).__name__ in run("info", "other.ritz").stdout
        json.loads(run("info", "other.ritz", "--json").stdout)


def test_reports_with_data_and_without(run, model, mixed):
    result = run("report", "m.ritz", "-o", "alone.html")
    assert Path("alone.html").resolve().as_uri() in result.stdout
    run("report", "m.ritz", mixed, "-o", "full.html", "--target", "id")
    assert len(Path("full.html").read_text()) > len(Path("alone.html").read_text())


def test_report_of_a_surrogate_checks_its_intervals(run, folder):
    X = np.random.default_rng(0).uniform(-2, 2, size=(90, 2))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.sin(X[:, 0]) * X[:, 1]})
    frame[:60].to_csv("runs.csv", index=False)
    frame[60:].to_csv("held.csv", index=False)
    run("surrogate", "runs.csv", "--target", "y", "--save", "y.ritz")
    run("report", "y.ritz", "held.csv", "-o", "page.html", "--target", "y")
    assert "Predictions with their 95% intervals" in Path("page.html").read_text()


def test_demo_ends_with_a_report(run, folder):
    result = run("demo")
    page = folder / "ritz-demo" / "report.html"
    assert f"Open it in a browser: {page.as_uri()}" in " ".join(result.stdout.split())
    assert "half-moons" in result.stdout
    assert "bokeh" in page.read_text().lower()
    embedded = pd.read_parquet("ritz-demo/embedded.parquet")
    assert list(embedded.columns[:2]) == ["id", "moon"]
    clusters = pd.read_csv("ritz-demo/clusters.csv")
    assert pd.crosstab(clusters["moon"], clusters["cluster"]).max(axis=1).sum() > 2970
    run("transform", "ritz-demo/moons.ritz", "ritz-demo/moons.csv", "-o", "again.parquet")
