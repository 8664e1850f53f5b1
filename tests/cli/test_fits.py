import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

import ritz


def read(path):
    if path.endswith(".parquet"):
        return pd.read_parquet(path)
    if path.endswith(".feather"):
        return pd.read_feather(path)
    if path.endswith(".npy"):
        return pd.DataFrame(np.load(path))
    return pd.read_csv(path)


@pytest.mark.parametrize("end", [".parquet", ".csv", ".csv.gz", ".feather", ".npy"])
def test_embed_writes_the_embedding_of_the_library(run, mixed, table, end):
    run("embed", mixed, "-o", f"out{end}", "-k", 3, "--columns", "bill_*")
    X = table[["bill_x", "bill_y"]]
    model = ritz.SpectralEmbedding(3, random_state=0).fit(X)
    assert_allclose(np.abs(read(f"out{end}")), np.abs(model.transform(X)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("end", [".parquet", ".csv", ".feather"])
def test_formats_of_the_data_give_the_same(run, folder, table, end):
    write = {".csv": lambda f, p: f.to_csv(p, index=False)}
    for suffix, name in ((".parquet", "to_parquet"), (".feather", "to_feather")):
        write[suffix] = lambda f, p, name=name: getattr(f, name)(p)
    write[end](table, f"in{end}")
    np.save("in.npy", table[["bill_x", "bill_y"]].to_numpy())
    run("embed", f"in{end}", "-o", "a.csv", "-k", 2, "--columns", "bill_x,bill_y")
    run("embed", "in.npy", "-o", "b.csv", "-k", 2)
    assert_allclose(pd.read_csv("a.csv"), pd.read_csv("b.csv"), atol=1e-10)


def test_several_files_are_one_after_the_other(run, folder, table):
    table[:150].to_parquet("a.parquet")
    table[150:].to_parquet("b.parquet")
    run("embed", "a.parquet", "b.parquet", "-o", "out.csv", "-k", 2, "--keep", "id")
    assert pd.read_csv("out.csv")["id"].tolist() == list(range(400))


def test_numeric_columns_are_used_and_others_named(run, mixed):
    result = run("embed", mixed, "-o", "out.csv", "-k", 2, "--keep", "id,moon")
    assert "Columns used: bill_x, bill_y." in result.stderr
    assert "Left out, as they hold no numbers: seen (true or false), day (time)" in result.stderr
    out = pd.read_csv("out.csv")
    assert list(out.columns[:2]) == ["id", "moon"]
    assert len(out) == 400


def test_cluster_finds_the_moons(run, run_json, mixed, table):
    found = run_json("cluster", mixed, "-o", "out.csv", "--columns", "bill_*", "--keep", "moon")
    assert found["n_clusters"] == 2
    assert sum(found["sizes"]) == found["rows"] == 400
    shares = pd.crosstab(*pd.read_csv("out.csv").to_numpy().T).max(axis=1).sum() / 400
    assert shares > 0.98
    assert "2 clusters" in run("cluster", mixed, "-o", "out.npy", "--columns", "bill_*").stdout


def test_a_given_number_of_clusters(run_json, mixed):
    found = run_json("cluster", mixed, "-o", "out.parquet", "-k", 5, "--columns", "bill_*")
    assert len(found["sizes"]) == 5
    assert "sure" not in found


def test_spectrum_prints_the_numbers_of_the_library(run, run_json, mixed, table):
    arguments = ("spectrum", mixed, "-k", 4, "--columns", "bill_*", "--operator", "laplacian")
    model = ritz.SpectralEmbedding(4, operator="laplacian", random_state=0)
    model.fit(table[["bill_x", "bill_y"]])
    assert_allclose(run_json(*arguments)["eigenvalues"], model.eigenvalues_, rtol=1e-8)
    text = run(*arguments).stdout
    assert all(f"{value:.6g}" in text for value in model.eigenvalues_)


def test_weights_are_those_of_the_library(run_json, folder, table):
    weight = np.where(table["id"] < 200, 1.0, 3.0)
    table.assign(w=weight).to_csv("weighted.csv", index=False)
    options = ("-k", 2, "--columns", "bill_*", "--operator", "laplacian", "--weight", "w")
    model = ritz.SpectralEmbedding(2, operator="laplacian", random_state=0)
    model.fit(table[["bill_x", "bill_y"]], sample_weight=weight)
    found = run_json("spectrum", "weighted.csv", *options)
    assert_allclose(found["eigenvalues"], model.eigenvalues_, rtol=1e-8)


def test_rows_without_a_number_are_dropped_when_asked(run, folder, table):
    table.loc[[3, 77], "bill_y"] = np.nan
    table.to_csv("gaps.csv", index=False)
    result = run("embed", "gaps.csv", "-o", "out.csv", "-k", 2, "--nulls", "drop", "--keep", "id")
    assert "Left out, as they lack a number: 2 of 400 rows." in result.stderr
    assert set(range(400)) - set(pd.read_csv("out.csv")["id"]) == {3, 77}


def test_saved_models_transform_alike(run, mixed):
    run("embed", mixed, "-o", "a.csv", "-k", 3, "--columns", "bill_*", "--save", "m.ritz")
    run("transform", "m.ritz", mixed, "-o", "b.csv")
    assert_frame_equal(pd.read_csv("a.csv"), pd.read_csv("b.csv"))
    run("cluster", mixed, "-o", "c.csv", "--columns", "bill_*", "--save", "c.ritz")
    run("transform", "c.ritz", mixed, "-o", "d.csv")
    assert_frame_equal(pd.read_csv("c.csv"), pd.read_csv("d.csv"))


def surrogate_table():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-2, 2, size=(2, 60))
    frame = {
        "run": [f"r{i}" for i in range(60)],
        "dy_b": np.cos(b) * a,
        "a": a,
        "b": b,
        "y": a * np.sin(b),
        "dy_a": np.sin(b),
    }
    frame = pd.DataFrame(frame)
    frame.loc[::3, ["dy_a", "dy_b"]] = np.nan
    return frame


def test_surrogate_pairs_derivatives_by_name(run, run_json, folder):
    frame = surrogate_table()
    frame.to_csv("runs.csv", index=False)
    fit = ("surrogate", "runs.csv", "--target", "y", "--gradient", "dy_*")
    result = run(*fit, "--save", "y.ritz", "-o", "out.csv", "--keep", "run")
    assert "Derivatives of y: dy_a by a, dy_b by b." in result.stderr
    model = ritz.load("y.ritz")
    new = pd.DataFrame(np.random.default_rng(1).uniform(-2, 2, size=(100, 2)), columns=["a", "b"])
    assert np.abs(model.predict(new) - new["a"] * np.sin(new["b"])).max() < 1e-3
    assert_allclose(pd.read_csv("out.csv")["prediction"], frame["y"], atol=1e-3)
    ours = run_json(*fit[:-1], "dy_a,dy_b")
    assert ours["gradient"] == ["dy_a", "dy_b"]
    assert ours["relative_error_left_out"] < 0.01


def test_surrogate_pairs_names_in_any_order_with_the_inputs_they_end_in(run_json, run, folder):
    frame = surrogate_table().rename(columns={"a": "load", "dy_a": "dy_load"})
    frame["d"] = np.random.default_rng(1).normal(size=60)
    frame = frame.assign(dy_d=0.0)
    frame.to_csv("runs.csv", index=False)
    fit = ("surrogate", "runs.csv", "--target", "y", "--columns", "load,b,d", "--gradient")
    # "dy_load" ends in the names of two inputs, of which the longer is meant.
    found = run_json(*fit, "dy_d,dy_load,dy_b")
    assert found["gradient"] == ["dy_load", "dy_b", "dy_d"]
    assert found["relative_error_left_out"] < 0.01
    # Where names say nothing, their order counts.
    frame = frame.rename(columns={"dy_load": "g0", "dy_b": "g1", "dy_d": "dd"})
    frame.to_csv("runs.csv", index=False)
    assert run_json(*fit, "g0,g1,dd")["gradient"] == ["g0", "g1", "dd"]


def test_surrogate_leaves_out_columns(run_json, folder):
    frame = surrogate_table().assign(year=np.arange(60) % 3, dy_year=0.0)
    frame.to_csv("runs.csv", index=False)
    fit = ("surrogate", "runs.csv", "--target", "y", "--gradient", "dy_*")
    found = run_json(*fit, "--exclude", "year,dy_year")
    assert found["feature_names"] == ["a", "b"]
    assert found["gradient"] == ["dy_a", "dy_b"]


def test_surrogate_writes_a_report(run_json, run, folder):
    surrogate_table().to_csv("runs.csv", index=False)
    fit = ("surrogate", "runs.csv", "--target", "y", "--gradient", "dy_*", "--report", "page.html")
    assert run_json(*fit)["report"] == "page.html"
    assert "Wrote page.html: report." in run(*fit).stdout
    text = Path("page.html").read_text()
    assert "HermiteRegressor: page" in text
    assert "Predictions with their 95% intervals" not in text


def test_surrogate_without_derivatives(run_json, folder):
    surrogate_table().to_csv("runs.csv", index=False)
    found = run_json("surrogate", "runs.csv", "--target", "y", "--columns", "a,b")
    assert found["gradient"] == []
    assert len(found["length_scale"]) == 2


@pytest.mark.parametrize("command", ["embed", "cluster", "spectrum"])
def test_reports_of_fits(run, mixed, command):
    output = () if command == "spectrum" else ("-o", "out.csv")
    run(command, mixed, *output, "--columns", "bill_*", "--report", "page.html")
    with open("page.html") as page:
        text = page.read()
    assert text.startswith("<!DOCTYPE html>") or text.startswith("<!doctype html>")
    assert "bill_x" in text


def test_json_is_one_object_with_the_warnings(run, folder, table):
    table.assign(bill_x=table["bill_x"] * 1e4).to_csv("wide.csv", index=False)
    arguments = ("spectrum", "wide.csv", "--columns", "bill_*", "--operator", "laplacian")
    result = run(*arguments, "--json")
    found = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1
    [warning] = found["warnings"]
    assert f"warning: {warning}" in result.stderr
    assert "\n" not in warning


@pytest.mark.parametrize("first", [0, 1])
def test_columns_that_number_the_rows_are_left_out(run_json, run, mixed, table, first):
    table.assign(id=table["id"] + first).to_csv("numbered.csv", index=False)
    result = run("spectrum", "numbered.csv", "-k", 2)
    assert "Left out, as they number or identify the rows: id." in result.stderr
    asked = run_json("spectrum", "numbered.csv", "-k", 2, "--columns", "id,bill_*")
    assert asked["feature_names"] == ["id", "bill_x", "bill_y"]


def test_a_column_of_numbers_alone_is_used(run, folder):
    pd.DataFrame({"frame": range(300)}).to_csv("one.csv", index=False)
    assert "Columns used: frame." in run("spectrum", "one.csv", "-k", 1).stderr


def test_patterns_leave_out_texts(run, folder, table):
    table.rename(columns={"moon": "bill_name"}).to_csv("named.csv", index=False)
    result = run("spectrum", "named.csv", "-k", 1, "--columns", "bill_*")
    assert "Left out, as they hold no numbers: bill_name (text)." in result.stderr
    assert "Columns used: bill_x, bill_y." in result.stderr


def test_names_may_hold_commas(run, folder, table):
    table.rename(columns={"bill_x": "x, mm"}).to_csv("comma.csv", index=False)
    result = run("spectrum", "comma.csv", "-k", 1, "--columns", "x, mm", "--columns", "bill_y")
    assert "Columns used: x, mm, bill_y." in result.stderr


def test_columns_that_identify_rows_are_left_out(run, folder, table):
    numbers = np.random.default_rng(0).permutation(400)
    table = table[["bill_x", "bill_y"]].assign(
        customerId=numbers, paid=numbers, zone_id=numbers // 9
    )
    table.to_csv("named.csv", index=False)
    result = run("spectrum", "named.csv", "-k", 1)
    assert "number or identify the rows: customerId. --columns can name them." in result.stderr
    assert "Columns used: bill_x, bill_y, paid, zone_id." in result.stderr


NUMBERS = ["nr", "Number", "index", "no", "rowid", "row_number", "penguin_number", "Sample Number"]
NUMBERS += ["lot_no", "file_index", "case_nr", "invoiceNo"]


@pytest.mark.parametrize("name", NUMBERS)
def test_columns_whose_names_say_that_they_number_rows_are_left_out(run, folder, table, name):
    numbers = 1000 + np.random.default_rng(0).permutation(400)
    table[["bill_x", "bill_y"]].assign(**{name: numbers}).to_csv("named.csv", index=False)
    result = run("spectrum", "named.csv", "-k", 1, "--operator", "laplacian")
    assert f"number or identify the rows: {name}. --columns can name them." in result.stderr
    assert "Columns used: bill_x, bill_y." in result.stderr


def test_columns_that_repeat_or_are_not_whole_do_not_number_rows(run, folder, table):
    numbers = np.random.default_rng(0).permutation(400)
    table = table[["bill_x", "bill_y"]].assign(
        number=numbers // 2, heat_index=numbers / 7, piano=numbers
    )
    table.to_csv("named.csv", index=False)
    result = run("spectrum", "named.csv", "-k", 1, "--operator", "laplacian")
    assert "Columns used: bill_x, bill_y, number, heat_index, piano." in result.stderr


@pytest.mark.parametrize("command", ["embed", "cluster", "spectrum"])
def test_columns_can_be_left_out(run, run_json, folder, table, command):
    table.assign(year=np.arange(400) % 3, bill_z=1.0).to_csv("years.csv", index=False)
    output = () if command == "spectrum" else ("-o", "out.csv")
    fit = (command, "years.csv", *output, "-k", 2, "--operator", "laplacian")
    result = run(*fit, "--exclude", "year,*_z", "--exclude", "moon")
    assert "Columns used: bill_x, bill_y." in result.stderr
    assert "Left out, as they hold no numbers: seen (true or false), day (time)." in result.stderr
    found = run_json(*fit, "--columns", "bill_*,year", "--exclude", "bill_z")
    assert found["feature_names"] == ["bill_x", "bill_y", "year"]


def test_a_word_in_a_column_of_numbers_is_named(run_json, run, folder, table):
    table = table.astype({"bill_y": object})
    table.loc[[3, 7], "bill_y"] = ["forty", "n.a."]
    # Hardly any entry of this one is a word, and none is a number.
    table["remark"] = np.where(table.index == 9, "broken", "")
    table.to_csv("words.csv", index=False)
    [warning] = run_json("spectrum", "words.csv", "-k", 1)["warnings"]
    assert warning.startswith("bill_y holds numbers but for 'forty' in row 3 and 1 more: mend")


def test_of_many_clusters_the_first_are_counted(run, mixed):
    result = run("cluster", mixed, "-o", "out.csv", "-k", 20, "--columns", "bill_*")
    [line] = [line for line in result.stdout.splitlines() if line.startswith("Rows of each")]
    assert line.count(":") == 13
    assert line.endswith(" and 8 more.")


def test_derivatives_among_the_inputs_are_named(run, folder):
    frame = surrogate_table()
    frame.to_csv("gaps.csv", index=False)
    assert "--gradient 'dy_*'" in run("surrogate", "gaps.csv", "--target", "y", code=1).stderr
    frame = frame.dropna()
    frame.to_csv("runs.csv", index=False)
    said = "By their names, dy_b, dy_a are derivatives of y, not inputs: pass --gradient 'dy_*'"
    assert said in run("surrogate", "runs.csv", "--target", "y").stderr
    frame = frame.rename(columns={"dy_a": "dy/da", "dy_b": "dy/db"})
    frame.to_csv("slashes.csv", index=False)
    fit = ("surrogate", "slashes.csv", "--target", "y")
    assert "--gradient 'dy/d*'" in run(*fit).stderr
    assert "Derivatives of y: dy/da by a, dy/db by b." in run(*fit, "--gradient", "dy/d*").stderr


def test_centers_and_scale_are_those_of_the_library(run_json, mixed, table):
    arguments = ("spectrum", mixed, "-k", 2, "--columns", "bill_*", "--operator", "laplacian")
    found = run_json(*arguments, "--centers", 40, "--scale", "standard")
    model = ritz.SpectralEmbedding(
        2, operator="laplacian", n_centers=40, scale="standard", random_state=0
    ).fit(table[["bill_x", "bill_y"]])
    assert_allclose(found["eigenvalues"], model.eigenvalues_, rtol=1e-8)
    asis = run_json(*arguments, "--scale", "none")
    assert abs(asis["eigenvalues"][0] - found["eigenvalues"][0]) > 0.01


def test_columns_of_one_name_may_be_left_out(run, mixed):
    Path("trailing.csv").write_text(Path(mixed).read_text().replace("\n", ",,\n"))
    arguments = ("-k", 1, "--operator", "laplacian")
    result = run("spectrum", "trailing.csv", *arguments)
    assert "(several columns)" in result.stderr
    assert result.stdout == run("spectrum", mixed, *arguments).stdout


@pytest.mark.parametrize("typed", ["\\t", "tab", "\t", None])
def test_tabs_can_be_typed(run, mixed, table, typed):
    name = "tabs.csv" if typed else "tabs.tsv"
    table.to_csv(name, index=False, sep="\t")
    arguments = ("-k", 1, "--operator", "laplacian", "--columns", "bill_*")
    result = run("spectrum", name, *arguments, *(("--delimiter", typed) if typed else ()))
    assert result.stdout == run("spectrum", mixed, *arguments).stdout


def test_a_first_line_of_numbers_is_warned_of(run_json, run, folder, table):
    X = table[["bill_x", "bill_y"]]
    X.to_csv("headless.csv", index=False, header=False)
    arguments = ("-k", 1, "--operator", "laplacian")
    [warning] = run_json("spectrum", "headless.csv", *arguments)["warnings"]
    assert warning.startswith("The first line of headless.csv holds numbers and is taken for names")
    # Names that count the columns are those of a frame without names.
    for first in (0, 1):
        X.set_axis([first, first + 1], axis=1).to_csv("counted.csv", index=False)
        assert run_json("spectrum", "counted.csv", *arguments)["warnings"] == []


def test_columns_left_out_for_their_decimal_commas_are_named(run_json, folder, table):
    text = table[["bill_x", "bill_y"]].assign(bill_x=np.arange(400) % 7)
    text.to_csv("commas.csv", index=False, sep=";", decimal=",")
    found = run_json("spectrum", "commas.csv", "-k", 1, "--delimiter", ";")
    assert found["feature_names"] == ["bill_x"]
    assert found["warnings"][0].startswith("bill_y holds numbers with commas, such as '-0,816")
