"""`ritz reproduce` lists, runs, draws, resumes, and says what is wrong."""

import pytest
from typer.testing import CliRunner

from ritz import __main__, cli
from ritz.experiments import NAMES, hermite_2d, hermite_constant, load, moons, read_records, runner

COMMAND = CliRunner()


def ritz(*arguments):
    return COMMAND.invoke(cli.app, ["reproduce", *map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(moons, "QUICK", moons.Config(n=2000, p=40, k=4, resolution=9))
    monkeypatch.setattr(moons, "FULL", moons.Config(n=3000, p=40, k=4, resolution=9))
    monkeypatch.setattr(hermite_2d, "QUICK", hermite_2d.Config(n=2000, p=20, resolution=9))
    monkeypatch.setattr(cli.console, "width", 200)


@pytest.mark.parametrize("arguments", [(), ("--list",)])
def test_names_are_listed_with_a_sentence_each(arguments):
    result = ritz(*arguments)
    assert result.exit_code == 0
    for name in NAMES:
        assert name in result.output
        assert load(name).__doc__.partition("\n")[0][:40] in result.output


def test_a_figure_and_its_records_are_written_and_used_again(tmp_path):
    result = ritz("moons", "--out", tmp_path, "--jobs", 1)
    assert result.exit_code == 0
    assert str(tmp_path / "moons" / "moons.png") in result.output
    assert (tmp_path / "moons" / "moons.png").read_bytes().startswith(b"\x89PNG")
    file = tmp_path / "moons" / "records.jsonl"
    assert [record["basis"] for record in read_records(file)] == ["exponential", "gaussian"]
    before = file.read_bytes()
    assert ritz("moons", "--out", tmp_path, "--jobs", 1).exit_code == 0
    assert file.read_bytes() == before


def test_full_and_seed_are_other_tasks(tmp_path):
    for options in ((), ("--full",), ("--seed", 3)):
        assert ritz("moons", "--out", tmp_path, "--jobs", 1, *options).exit_code == 0
    assert len(read_records(tmp_path / "moons" / "records.jsonl")) == 6


def test_all_runs_every_name_and_shares_records(tmp_path, monkeypatch):
    monkeypatch.setattr(cli, "NAMES", ("moons", "hermite-2d"))
    # As a figure does that is drawn from the records of another.
    monkeypatch.setattr(hermite_2d, "RECORDS", "moons", raising=False)
    assert ritz("all", "--out", tmp_path, "--jobs", 1).exit_code == 0
    assert (tmp_path / "moons" / "moons.png").exists()
    assert (tmp_path / "hermite-2d" / "hermite-2d.png").exists()
    assert not (tmp_path / "hermite-2d" / "records.jsonl").exists()
    assert len(read_records(tmp_path / "moons" / "records.jsonl")) == 6


def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path):
    result = ritz("moon", "--out", tmp_path)
    assert result.exit_code == 2
    assert "Got 'moon' instead. Did you mean moons?" in result.output
    assert all(name in result.output for name in NAMES)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Best_P", "best-p"), ("hermite2d", "hermite-2d"), ("al", "all"), ("qqq", None)],
)
def test_the_nearest_name_is_suggested_if_there_is_one(name, nearest):
    output = ritz(name).output
    assert "Did you mean" not in output if nearest is None else f"mean {nearest}?" in output


def test_ctrl_c_says_that_what_is_finished_is_kept_and_the_same_command_goes_on(
    tmp_path, monkeypatch
):
    compute, calls = moons.moons, []

    def interrupted(**task):
        calls.append(task)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return compute(**task)

    interrupted.__module__, interrupted.__qualname__ = compute.__module__, "moons"
    monkeypatch.setattr(moons, "moons", interrupted)
    command = ("moons", "--out", tmp_path, "--jobs", 1, "--backend", "threading")
    result = ritz(*command)
    assert result.exit_code == 130
    line = f"Stopped in moons. Finished tasks are kept in {tmp_path}; the same command goes on."
    assert result.output.splitlines()[-1] == line
    assert ritz(*command).exit_code == 0
    assert len(calls) == 3


@pytest.mark.parametrize(
    "option", [("--jobs", "0"), ("--backend", "slurm"), ("--seed", "-1"), ("--trials", "0")]
)
def test_options_out_of_range_are_refused(option, tmp_path):
    assert ritz("moons", "--out", tmp_path, *option).exit_code == 2


def test_a_file_is_no_folder(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    result = ritz("moons", "--out", file)
    assert result.exit_code == 2
    assert "is a file" in result.output


@pytest.mark.parametrize("damage", ["a line", "a folder"])
def test_damaged_records_are_named_without_a_traceback(damage, tmp_path):
    file = tmp_path / "moons" / "records.jsonl"
    file.parent.mkdir()
    if damage == "a line":
        file.write_text("{}\n")
    else:
        file.mkdir()
    result = ritz("moons", "--out", tmp_path, "--jobs", 1)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert str(file) in result.output
    assert "line 1, is not a task" in result.output or damage == "a folder"


def test_trials_are_counted_where_there_are_any(tmp_path, monkeypatch):
    small = hermite_constant.Config(n=50, p=10, lengths=(0.2,), trials=1)
    monkeypatch.setattr(hermite_constant, "QUICK", small)
    monkeypatch.setattr(cli, "NAMES", ("moons", "hermite-constant"))
    assert ritz("all", "--out", tmp_path, "--jobs", 1, "--trials", 3).exit_code == 0
    records = read_records(tmp_path / "hermite-constant" / "records.jsonl")
    assert len(records) == 3 * len(hermite_constant.WAYS)
    refused = ritz("moons", "--out", tmp_path, "--trials", 3)
    assert refused.exit_code == 2
    assert "moons has no trials" in refused.output


def test_a_cluster_needs_its_library(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "find_spec", lambda name: None)
    result = ritz("moons", "--out", tmp_path, "--backend", "dask")
    assert result.exit_code == 2
    assert "pip install 'dask[distributed]'" in result.output


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setattr(__main__, "find_spec", lambda name: None if name == "typer" else object())
    with pytest.raises(SystemExit, match=r"needs typer: pip install 'ritz\[reproduce\]'"):
        __main__.main()
