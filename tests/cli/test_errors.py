import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz.cli import fits

SURROGATE = ["surrogate", "mixed.csv", "--target", "id"]


def test_a_gap_is_named_with_its_remedy(run, folder, table):
    table.loc[5, "bill_y"] = np.nan
    table.to_csv("gaps.csv", index=False)
    result = run("embed", "gaps.csv", "-o", "out.csv", code=1)
    assert (
        "Column 'bill_y' of gaps.csv must hold finite numbers. Got a null in row 5."
        in result.stderr
    )
    assert "--nulls drop" in result.stderr
    assert "nulls=" not in result.stderr
    assert result.stdout == ""
    assert os.listdir() == ["gaps.csv"]


def test_a_text_among_numbers_is_named(run, folder):
    frame = pd.DataFrame({"a": ["1", "2", "oops"] * 9, "b": range(27)})
    frame.to_csv("texts.csv", index=False)
    result = run("embed", "texts.csv", "-o", "out.csv", "--columns", "a,b", code=1)
    assert "'a' of texts.csv" in result.stderr
    assert "'oops' in row 2" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["embed", "none.csv", "-o", "o.csv"], 1, "There is no file 'none.csv' in"),
        (["embed", "mixd.csv", "-o", "o.csv"], 1, "Did you mean 'mixed.csv'?"),
        (["embed", "no/none.csv", "-o", "o.csv"], 1, "There is no folder"),
        (["embed", "*.zip.csv", "-o", "o.csv"], 1, "fits the name of no file"),
        (["embed", "mixed.csv"], 2, "--output"),
        (["embed"], 2, "DATA"),
        (["embed", "mixed.csv", "-o", "o.xlsx"], 2, "must end in .parquet"),
        (["embed", "mixed.csv", "-o", "no/o.csv"], 2, "folder that exists"),
        (["embed", "mixed.csv", "-o", "mixed.csv"], 2, "another file than that of the data"),
        (["embed", "mixed.csv", "-o", "o.csv", "--save", "o.csv"], 2, "of --output"),
        (["embed", "mixed.csv", "-o", "o.csv", "-k", "0"], 2, "a positive integer or auto"),
        (["embed", "mixed.csv", "-o", "o.csv", "-k", "many"], 2, "a positive integer or auto"),
        (["embed", "mixed.csv", "-o", "o.csv", "--columns", "z"], 2, "'z' is no column"),
        (["embed", "mixed.csv", "-o", "o.csv", "--columns", "bil_x"], 2, "Did you mean 'bill_x'?"),
        (["embed", "mixed.csv", "-o", "o.csv", "--columns", "z_*"], 2, "bill_x, bill_y"),
        (["embed", "mixed.csv", "-o", "o.csv", "--keep", "z"], 2, "'z' is no column"),
        (["embed", "mixed.csv", "-o", "o.csv", "--weight", "z"], 2, "'z' is no column"),
        (["embed", "mixed.csv", "-o", "o.csv", "--exclude", "bil_x"], 2, "mean 'bill_x'?"),
        (["spectrum", "mixed.csv", "--columns", "id", "--exclude", "i*"], 2, "none is left"),
        (["spectrum", "mixed.csv", "--exclude", "id,bill_*"], 1, "without those of --exclude"),
        (["spectrum", "X.npy", "--exclude", "a"], 2, "named columns"),
        ([*SURROGATE, "--report", "o.txt"], 2, "must end in .html"),
        (["embed", "mixed.csv", "-o", "o.csv", "--nulls", "fill"], 2, "drop"),
        (["embed", "mixed.csv", "-o", "o.csv", "--operator", "curl"], 2, "neighbors"),
        (["embed", "mixed.csv", "-o", "o.csv", "--delimiter", "::"], 2, "one character"),
        (["embed", "mixed.csv", "-o", "o.csv", "--seed", "-1"], 2, "0"),
        (["embed", "mixed.csv", "-o", "o.csv", "--columns", "moon"], 1, "finite numbers"),
        (["embed", "mixed.csv", "-o", "o.csv", "--delimiter", ";"], 1, "--delimiter"),
        (["embed", "mixed.csv", "-o", "o.npy", "--keep", "id"], 2, ".npy holds numbers alone"),
        (["embed", "X.npy", "-o", "o.csv", "--columns", "a"], 2, "named columns"),
        (["embed", "X.npy", "-o", "o.csv", "--keep", "a"], 2, "named columns"),
        (["spectrum", "X.npy", "--nulls", "drop"], 2, "needs named columns, which X.npy has not"),
        (["spectrum", "twice.csv"], 1, "names that occur once. Got 'a' twice in twice.csv"),
        (["spectrum", "twice.parquet"], 1, "Got 'a' twice in twice.parquet"),
        (["embed", "twice.csv", "-o", "o.csv", "--columns", "b", "--keep", "s"], 1, "'s' twice in"),
        (["spectrum", "rows.txt"], 1, "Got 'rows.txt' instead. Rename it."),
        (["spectrum", "broken.xlsx"], 1, "Got 'broken.xlsx' instead. Save its sheet as CSV."),
        (["spectrum", "latin.csv"], 1, "is not UTF-8 (byte 0xf6 in line 1). Save it as"),
        (["spectrum", "weightless.csv", "--weight", "w"], 1, "Column 'w' holds no positive"),
        (["spectrum", "commas.csv", "--delimiter", ";"], 1, "such as '1,23': write decimal points"),
        (["embed", "one.csv", "-o", "o.csv"], 1, "at least 2 rows"),
        (["embed", "mixed.csv", "-o", "o.csv", "--seed", "4294967296"], 2, "4294967295"),
        (["embed", "mixed.csv", "-o", "o.csv", "--report", "o.txt"], 2, "must end in .html"),
        (["cluster", "mixed.csv", "-o", "o.csv", "-k", "-3"], 2, "positive"),
        (["spectrum", "broken.parquet"], 1, "cannot be read"),
        (["surrogate", "mixed.csv"], 2, "--target"),
        (["surrogate", "mixed.csv", "--target", "z"], 2, "'z' is no column"),
        ([*SURROGATE, "--columns", "bill_x", "--gradient", "bill_*"], 2, "each of the 1"),
        ([*SURROGATE, "--gradient", "bill_*"], 1, "No column of mixed.csv holds numbers"),
        ([*SURROGATE, "--columns", "bill_x", "--gradient", "bill_*"], 2, "Got 2 (bill_x, bill_y)"),
        (["transform", "none.ritz", "mixed.csv", "-o", "o.csv"], 1, "no file 'none.ritz'"),
        (["transform", "mixed.csv", "mixed.csv", "-o", "o.csv"], 1, "not a saved model"),
        (["transform", "m.ritz", "mixed.csv", "-o", "o.csv", "--std"], 2, "of ritz surrogate"),
        (["transform", "m.ritz", "mixed.csv", "-o", "o.csv", "--gradient"], 2, "SpectralEmbedding"),
        (["transform", "m.ritz", "one.csv", "-o", "o.csv"], 1, "'bill_x', which one.csv has not"),
        (["transform", "m.ritz", "wide.npy", "-o", "o.csv"], 1, "2 columns"),
        (["transform", "s.ritz", "mixed.csv", "-o", "o.csv"], 1, "holds a Spectrum"),
        (["report", "m.ritz"], 2, "--output"),
        (["report", "m.ritz", "-o", "m.txt"], 2, "must end in .html"),
        (["report", "p.html", "-o", "p.html"], 2, "another file"),
        (["report", "m.ritz", "-o", "o.html", "--target", "id"], 2, "needs DATA"),
        (["info", "none.ritz"], 1, "There is no file 'none.ritz' in"),
        (["info", "mixed.csv"], 1, "mixed.csv is a table and not a saved model"),
        (["info", "p.html"], 1, "There is no file"),
        (["report", "m.ritz", "mixed.csv", "-o", "o.html", "--target", "day"], 2, "holds times"),
        (["report", "m.ritz", "gaps.csv", "-o", "o.html", "--target", "n"], 2, "text or true and"),
        (["surrogate", "mixed.csv", "--target", "day"], 2, "'day' holds time"),
        (["surrogate", "mixed.csv", "--target", "moon"], 2, "'moon' holds text"),
        (["surrogate", "mixed.csv", "--target", "bill_*"], 2, "names 2 columns"),
        (["demo", "--folder", "mixed.csv"], 2, "a folder that may be written"),
        (["sing"], 2, "sing"),
        (["embed", "mixed.csv", "-o", "o.csv", "--wrong"], 2, "--wrong"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_errors_are_sentences(run, mixed, table, arguments, code, text):
    np.save("X.npy", np.zeros((9, 2)))
    np.save("wide.npy", np.ones((9, 3)))
    pd.DataFrame({"a": [1.0]}).to_parquet("one.parquet")
    pd.DataFrame({"a": [1.0]}).to_csv("one.csv", index=False)
    pd.DataFrame({"bill_x": [1.0], "bill_y": [1.0], "n": [None]}).to_csv("gaps.csv", index=False)
    pd.DataFrame({"a": [1.0, 2.0], "w": 0}).to_csv("weightless.csv", index=False)
    twice = pd.DataFrame([[1.0, 2.0, "x", "x", 3.0]] * 9, columns=[*"bassa"])
    twice.to_csv("twice.csv", index=False)
    numbers = [pa.array([1.0, 2.0])] * 2
    pq.write_table(pa.table(numbers, names=["a", "a"]), "twice.parquet")
    for name in ("broken.parquet", "broken.xlsx", "rows.txt"):
        Path(name).write_text("no parquet")
    Path("latin.csv").write_bytes("Größe,b\n1,2\n".encode("latin1"))
    Path("commas.csv").write_text("a;b\n1,23;4,56\n7,89;0,12\n")
    model = ritz.SpectralEmbedding(2, operator="laplacian", random_state=0)
    model.fit(table[["bill_x", "bill_y"]])
    model.save("m.ritz")
    model.spectrum_.save("s.ritz")
    before = sorted(os.listdir())
    result = run(*arguments, code=code)
    # Messages of usage stand in a box, which breaks their lines.
    said = " ".join(result.stderr.replace("│", " ").split())
    assert text in said
    assert result.stdout == ""
    assert sorted(os.listdir()) == before


def test_an_error_of_a_file_ends_in_one_full_stop(run, folder):
    Path("broken.parquet").write_text("no parquet")
    assert ".." not in run("spectrum", "broken.parquet", code=1).stderr


def test_only_debug_shows_a_traceback(run, folder):
    from typer.testing import CliRunner

    from ritz.cli.app import app

    arguments = ["embed", "none.csv", "-o", "o.csv"]
    assert len(run(*arguments, code=1).stderr.splitlines()) == 1
    result = CliRunner().invoke(app, [*arguments, "--debug"])
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_a_fault_of_the_program_is_no_fault_of_the_data(run, mixed, monkeypatch):
    def fault(*_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(fits, "title_of", fault)
    result = run("spectrum", mixed, code=1)
    assert "ZeroDivisionError: by zero. This is a fault of ritz" in result.stderr


def test_errors_of_the_system_are_sentences(run, mixed, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "out.csv")

    monkeypatch.setattr(fits, "title_of", full)
    result = run("spectrum", mixed, code=1)
    assert result.stderr.splitlines()[-1] == "error: No space left on device: 'out.csv'."


def test_ctrl_c_that_a_compiled_module_reports_as_its_own_ends_alike(run, mixed, monkeypatch):
    def load(*_):
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr(fits, "title_of", load)
    assert run("spectrum", mixed, code=130).stderr.splitlines()[-1].startswith("Interrupted.")


@pytest.mark.parametrize(
    ("module", "arguments", "remedy"),
    [
        ("pyarrow", ["embed", "mixed.csv", "-o", "o.csv"], "pip install 'ritz[files]'"),
        (
            "jinja2",
            ["spectrum", "mixed.csv", "--report", "r.html"],
            "pip install 'ritz[report]'",
        ),
        ("pyarrow", ["demo"], "pip install 'ritz[files]'"),
        ("bokeh", ["demo"], "pip install 'ritz[report]'"),
    ],
)
def test_a_missing_extra_says_how_to_install_it(run, mixed, monkeypatch, module, arguments, remedy):
    for name in list(sys.modules):
        if name == module or name.startswith(f"{module}."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    result = run(*arguments, code=1)
    assert remedy in result.stderr
    assert os.listdir() == ["mixed.csv"]
    assert "embed" in run("--help").stdout
