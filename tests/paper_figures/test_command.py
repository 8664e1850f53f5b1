"""`python -m paper` lists, computes, draws and continues figures, and explains errors."""

import importlib.util
from dataclasses import replace

import pytest

from paper import __main__ as command
from paper import figures, runner
from paper.figures import NAMES, hermite_constant, jacobian_variance, load, sentence
from paper.records import read_records


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small = hermite_constant.Config(n=50, p=10, lengths=(0.2,), trials=1, points=9)
    monkeypatch.setattr(hermite_constant, "QUICK", small)
    monkeypatch.setattr(hermite_constant, "FULL", replace(small, n=60))
    shared = {"directions": 10, "batches": 3, "n": 50, "trials": 2}
    small = jacobian_variance.Config(dimensions=(2, 3), **shared)
    monkeypatch.setattr(jacobian_variance, "QUICK", small)


@pytest.fixture
def paper(capsys, tmp_path):
    """Return a function that runs the command and returns its exit code and printed text."""

    def run(*arguments):
        folder = ("--out", str(tmp_path)) if "--out" not in arguments else ()
        try:
            code = command.main([*map(str, arguments), *folder])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


@pytest.mark.parametrize("arguments", [(), ("--list",)])
def test_figures_are_listed_with_a_sentence_each(paper, arguments):
    code, printed = paper(*arguments)
    assert code == 0
    lines = printed.splitlines()
    assert [line.split()[0] for line in lines] == list(NAMES)
    assert all(line.endswith(sentence(load(name))) for line, name in zip(lines, NAMES, strict=True))


def test_a_figure_and_its_records_are_written_and_used_again(paper, tmp_path):
    code, printed = paper("hermite-constant", "--jobs", 1)
    assert code == 0
    picture = tmp_path / "hermite-constant" / "hermite-constant.png"
    assert str(picture) in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    file = tmp_path / "hermite-constant" / "records.jsonl"
    assert [record["way"] for record in read_records(file)] == list(hermite_constant.WAYS)
    before = file.read_bytes()
    assert paper("hermite-constant", "--jobs", 1)[0] == 0
    assert file.read_bytes() == before


def test_full_and_seed_are_other_tasks(paper, tmp_path):
    for options in ((), ("--full",), ("--seed", 3)):
        assert paper("hermite-constant", "--jobs", 1, *options)[0] == 0
    assert len(read_records(tmp_path / "hermite-constant" / "records.jsonl")) == 9


def test_all_runs_every_figure_and_shares_records(paper, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "NAMES", ("hermite-constant", "jacobian-variance"))
    # As for a figure that is drawn from the records of another.
    monkeypatch.setattr(jacobian_variance, "RECORDS", "hermite-constant", raising=False)
    assert paper("all", "--jobs", 1)[0] == 0
    for name in command.NAMES:
        assert (tmp_path / name / f"{name}.png").exists()
    assert not (tmp_path / "jacobian-variance" / "records.jsonl").exists()
    assert len(read_records(tmp_path / "hermite-constant" / "records.jsonl")) == 3 + 2


def test_an_unknown_figure_is_answered_with_the_list(paper, tmp_path):
    code, printed = paper("moon")
    assert code == 2
    assert "There is no figure 'moon'. Did you mean moons?" in printed
    assert figures.contents() in printed
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Best_P", "best-p"), ("hermite2d", "hermite-2d"), ("al", "all"), ("qqq", None)],
)
def test_the_closest_name_is_suggested_if_there_is_one(paper, name, nearest):
    _, printed = paper(name)
    assert "Did you mean" not in printed if nearest is None else f"mean {nearest}?" in printed


def test_the_same_command_continues_after_ctrl_c(paper, tmp_path, monkeypatch):
    compute, calls = hermite_constant.constant, []

    def interrupted(**task):
        calls.append(task)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return compute(**task)

    interrupted.__module__, interrupted.__qualname__ = compute.__module__, "constant"
    monkeypatch.setattr(hermite_constant, "constant", interrupted)
    arguments = ("hermite-constant", "--jobs", 1, "--backend", "threading")
    code, printed = paper(*arguments)
    assert code == 130
    kept = f"Finished tasks are kept in {tmp_path}; the same command continues."
    assert printed.splitlines()[-1] == f"Stopped in hermite-constant. {kept}"
    assert paper(*arguments)[0] == 0
    assert len(calls) == 4


@pytest.mark.parametrize(
    "option", [("--jobs", "0"), ("--backend", "slurm"), ("--seed", "-1"), ("--trials", "x")]
)
def test_options_out_of_range_are_refused(paper, option):
    code, printed = paper("moons", *option)
    assert code == 2
    assert f"argument {option[0]}" in printed


def test_a_file_is_not_a_folder(paper, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    code, printed = paper("moons", "--out", file)
    assert code == 2
    assert str(file) in printed


@pytest.mark.parametrize("damage", ["a line", "a folder"])
def test_damaged_records_are_reported(paper, damage, tmp_path):
    file = tmp_path / "moons" / "records.jsonl"
    file.parent.mkdir()
    if damage == "a line":
        file.write_text("{}\n")
    else:
        file.mkdir()
    code, printed = paper("moons", "--jobs", 1)
    assert code == 1
    assert str(file) in printed


def test_the_number_of_trials_is_an_option_of_figures_that_have_trials(paper, tmp_path):
    assert paper("hermite-constant", "--jobs", 1, "--trials", 3)[0] == 0
    records = read_records(tmp_path / "hermite-constant" / "records.jsonl")
    assert len(records) == 3 * len(hermite_constant.WAYS)
    code, printed = paper("moons", "--trials", 3)
    assert code == 2
    assert "moons has no trials" in printed


def test_a_cluster_needs_its_library(paper, monkeypatch):
    monkeypatch.setattr(runner, "find_spec", lambda name: None)
    code, printed = paper("moons", "--backend", "dask")
    assert code == 2
    assert "pip install 'dask[distributed]'" in printed


def test_without_torch_the_network_is_left_out_of_all_and_refused_alone(paper, monkeypatch, capsys):
    def find_spec(name):
        return None if name == "torch" else importlib.util.find_spec(name)

    monkeypatch.setattr(figures, "find_spec", find_spec)
    assert command.chosen("all") == [name for name in NAMES if name != "network"]
    assert "Left out: network needs torch" in capsys.readouterr().err
    code, printed = paper("network")
    assert code == 2
    assert "network needs torch: pip install 'ritz[torch]'." in printed


def test_table_is_aligned():
    rows = [{"method": "graph", "error": 0.12345}, {"method": "galerkin", "error": 2}]
    assert command.table(rows).splitlines() == [
        "method    error",
        "graph     0.123",
        "galerkin  2",
    ]
