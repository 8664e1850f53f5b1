import json
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from ritz.cli.app import app


@pytest.fixture
def run():
    """Run a command line; check its exit code, and return the result."""

    def call(*arguments, code=0):
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
        assert "Traceback" not in result.output
        return result

    return call


@pytest.fixture
def run_json(run):
    """Run a command line with --json; return the object it prints."""

    def call(*arguments):
        return json.loads(run(*arguments, "--json").stdout)

    return call


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def moons(n=400):
    from ritz.datasets import half_moons

    drawn = half_moons(n, random_state=0)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "bill_x": drawn.X[:, 0],
            "bill_y": drawn.X[:, 1],
            "moon": np.where(drawn.labels == 0, "upper", "lower"),
            "seen": np.arange(n) % 2 == 0,
            "day": pd.date_range("2020-01-01", periods=n),
        }
    )


@pytest.fixture
def table():
    return moons()


@pytest.fixture
def mixed(folder, table):
    """A CSV file of numbers, texts, booleans and dates."""
    table.to_csv(folder / "mixed.csv", index=False)
    return "mixed.csv"


PROGRAM = [sys.executable, "-m", "ritz"]
