import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import ritz
from ritz.cli import data, samples
from ritz.cli import models as cli_models


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
    assert "Look at a page of ritz report." in text
    found = run_json("info", "m.ritz")
    assert found["sure"] == list(summary.sure)
    assert found["next"][-1] == "Look at a page of ritz report."
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


def test_a_report_names_the_columns_of_the_model_alone(run, folder):
    X = np.random.default_rng(0).uniform(-2, 2, size=(60, 2))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.sin(X[:, 0])})
    frame.assign(kind=np.where(X[:, 1] > 0, "upper", "lower")).to_csv("runs.csv", index=False)
    run("surrogate", "runs.csv", "--target", "y", "--save", "y.ritz")
    shown = ("runs.csv", "-o", "page.html", "--target")
    result = run("report", "y.ritz", *shown, "y")
    assert result.stderr.splitlines() == ["Columns used: a, b."]
    run("embed", "runs.csv", "-o", "out.csv", "-k", 2, "--columns", "a,b,y", "--save", "e.ritz")
    for target in ("y", "kind"):
        result = run("report", "e.ritz", *shown, target)
        assert "Columns used: a, b, y." in result.stderr
        assert "feature names" not in result.stderr
    page = Path("page.html").read_text()
    assert "upper" in page
    assert "lower" in page


def test_labels_of_a_sample_belong_to_its_rows(run, folder, monkeypatch):
    monkeypatch.setattr(samples, "REPORT_ROWS", 50)
    a = np.arange(300.0)
    pd.DataFrame({"a": a, "half": np.where(a < 150, "low", "high")}).to_parquet("rows.parquet")
    source = data.Source.at(["rows.parquet"], "error", None, ",")
    X, y = samples.with_target(source, ["a"], "half", True)
    assert X.shape == (50, 1)
    np.testing.assert_array_equal(y, np.where(X[:, 0] < 150, "low", "high"))
    assert 10 < (y == "low").sum() < 40


def test_a_target_keeps_its_type_and_its_gaps(run, folder):
    n = 90
    a, codes = np.arange(float(n)), np.where(np.arange(n) % 3, 3, 5)
    gap = np.arange(n) % 7 == 0
    frame = pd.DataFrame({"a": a, "code": codes, "some": np.where(gap, np.nan, codes)})
    frame = frame.assign(size=np.where(gap, np.nan, a / 7), flag=codes == 3)
    frame.to_csv("rows.csv", index=False)
    frame.to_parquet("rows.parquet")
    frame["flag"] = frame["flag"].astype(object).where(~gap)
    frame.to_csv("gaps.csv", index=False)
    for name in ("rows.csv", "rows.parquet"):
        source = data.Source.at([name], "error", None, ",")
        _, y = samples.with_target(source, ["a"], "code", True)
        assert y.dtype.kind == "i"
        np.testing.assert_array_equal(y, codes)
        # Also where the column is one of those of the model.
        X, y = samples.with_target(source, ["a", "code"], "code", True)
        np.testing.assert_array_equal(X, np.stack([a, codes], axis=1))
        assert y.dtype.kind == "i"
        _, y = samples.with_target(source, ["a"], "some", True)
        np.testing.assert_array_equal(y.mask, gap)
        np.testing.assert_array_equal(y.compressed(), codes[~gap])
        X, y = samples.with_target(source, ["a"], "size", True)
        np.testing.assert_array_equal(y, np.where(gap, np.nan, a / 7))
        assert len(X) == n
        _, y = samples.with_target(source, ["a"], "flag", True)
        np.testing.assert_array_equal(y, (codes == 3).astype(str))
    source = data.Source.at(["gaps.csv"], "error", None, ",")
    _, y = samples.with_target(source, ["a"], "flag", True)
    np.testing.assert_array_equal(y == "missing", gap)


@pytest.mark.parametrize("target", ["code", "some", "flag"])
def test_few_whole_numbers_and_truths_are_labels_of_a_report(run, model, table, target):
    codes = np.where(table["id"] % 3, 3.0, 5.0)
    table = table.assign(code=codes.astype(int), flag=codes == 3)
    table["some"] = np.where(table["id"] % 7 == 0, np.nan, codes)
    table.to_csv("coded.csv", index=False)
    run("report", "m.ritz", "coded.csv", "-o", "page.html", "--target", target)
    labels = ["False", "True"] if target == "flag" else ["3", "5"]
    assert json.dumps({"y": labels}) in Path("page.html").read_text()


def test_help_says_which_columns_are_taken(run):
    for command in ("transform", "report"):
        text = " ".join(run(command, "--help").stdout.replace("│", " ").split())
        assert "[default: (those of the fit)]" in text
        assert "all that hold numbers" not in text


def test_a_report_of_a_sample_says_so(run, folder, table, monkeypatch):
    for module in (samples, cli_models):
        monkeypatch.setattr(module, "REPORT_ROWS", 50)
    table.to_csv("rows.csv", index=False)
    said = "These are 50 rows drawn at random from 400;"
    columns = ("--columns", "bill_x,bill_y")
    run("embed", "rows.csv", "-o", "o.csv", *columns, "--report", "p.html", "--save", "m.ritz")
    assert said in Path("p.html").read_text()
    for target in ((), ("--target", "id"), ("--target", "moon")):
        run("report", "m.ritz", "rows.csv", "-o", "page.html", *target)
        assert said in Path("page.html").read_text()


def test_a_single_cluster_has_a_report(run, folder):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 4)))
    X.to_csv("four.csv", index=False)
    run("cluster", "four.csv", "-o", "c.csv", "-k", 1, "--report", "c.html", "--save", "c.ritz")
    run("report", "c.ritz", "-o", "alone.html")
    assert "All rows are one cluster" in run("info", "c.ritz").stdout


@pytest.mark.parametrize("outputs", [1, 2])
def test_transform_writes_deviations_and_slopes_of_a_surrogate(run, folder, outputs):
    X = pd.DataFrame(np.random.default_rng(0).uniform(-2, 2, size=(60, 2)), columns=["a", "b"])
    X.to_csv("new.csv", index=False)
    y = np.stack([np.sin(X["a"]), X["a"] * X["b"]], axis=1)
    model = ritz.HermiteRegressor(random_state=0).fit(X, y[:, 0] if outputs == 1 else y)
    model.save("y.ritz")
    result = run("transform", "y.ritz", "new.csv", "-o", "out.csv", "--std", "--gradient")
    assert "warning" not in result.stderr
    found = pd.read_csv("out.csv")
    values, deviations = model.predict(X, return_std=True)
    names = ["prediction", "std", "d_a", "d_b"]
    if outputs == 2:
        names = ["prediction0", "prediction1", "std0", "std1", "d0_a", "d1_a", "d0_b", "d1_b"]
    assert list(found) == names
    parts = [values, deviations, model.predict_gradient(X)]
    expected = np.concatenate([part.reshape(60, -1) for part in parts], axis=1)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-10)


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
