"""The program as a process: exit codes, Ctrl-C, memory, help."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ritz.cli.app import app

PROGRAM = [sys.executable, "-m", "ritz"]
COMMANDS = [command.callback.__name__ for command in app.registered_commands]


def ritz(*arguments, **options):
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, **options)


def write_rows(path, n, groups=1):
    """Write normal rows of three columns, a part of them at a time."""
    schema = pa.schema([(name, pa.float64()) for name in "abc"])
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(groups):
            columns = rng.normal(size=(3, n // groups))
            writer.write_table(pa.table(dict(zip("abc", columns, strict=True)), schema))


def test_exit_codes_and_streams(folder):
    write_rows("in.parquet", 300)
    done = ritz("spectrum", "in.parquet", "-k", "2", "--json")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["eigenvalues"]) == 2
    done = ritz("spectrum", "none.parquet")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: There is no file 'none.parquet' in")
    done = ritz("spectrum")
    assert (done.returncode, done.stdout) == (2, "")
    assert ritz().returncode == 2


def test_ctrl_c_leaves_no_file(folder):
    write_rows("large.parquet", 3_000_000, groups=10)
    before = sorted(os.listdir())
    arguments = ["embed", "large.parquet", "-o", "out.parquet", "--operator", "laplacian"]
    process = subprocess.Popen(
        [*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # It says which columns it uses before it reads the rows.
    assert process.stderr.readline().startswith("Columns used")
    time.sleep(3.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert errors.splitlines()[-1].startswith("Interrupted.")
    assert "Traceback" not in errors
    assert sorted(os.listdir()) == before


def test_ctrl_c_while_a_file_is_written(folder):
    write_rows("large.parquet", 2_000_000, groups=10)
    ritz("embed", "large.parquet", "-o", "out.csv", "--save", "m.ritz", "-k", "3")
    before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
    process = subprocess.Popen(
        [*PROGRAM, "transform", "m.ritz", "large.parquet", "-o", "out.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any(name.endswith(".part") for name in os.listdir()):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert {name: os.stat(name).st_mtime_ns for name in os.listdir()} == before


def test_ctrl_c_at_the_start_shows_no_traceback(folder):
    script = (
        "import sys, ritz.cli\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'ritz.cli.app': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
        "ritz.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr[:12]) == (130, "Interrupted.")


PEAK = """
import resource, sys
from ritz.cli.app import app
app(sys.argv[1:], standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def test_memory_does_not_grow_with_the_rows(folder):
    peaks = []
    for n in (300_000, 1_500_000):
        write_rows("rows.parquet", n, groups=n // 100_000)
        arguments = ["embed", "rows.parquet", "-o", "out.parquet", "-k", "3"]
        options = ["--operator", "laplacian", "--json"]
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *arguments, *options], capture_output=True, text=True
        )
        assert json.loads(done.stdout)["rows"] == n, done.stderr
        peaks.append(int(done.stderr.split()[-1]) * 1024)
    # The rows added and their embedding have 58 MB.
    assert peaks[1] - peaks[0] < 30e6


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(run, command):
    text = " ".join(run(command, "--help").stdout.split())
    assert f"Example: ritz {command}" in text
    assert "--debug" in text


def test_help_and_version(run):
    text = run("--help").stdout
    assert all(command in text for command in COMMANDS)
    assert run("--version").stdout.startswith("ritz ")


def test_help_imports_nothing_that_computes(folder):
    script = (
        "import sys; from ritz.cli.app import app; app(['embed', '--help'], standalone_mode=False);"
        "print({'numpy', 'scipy', 'sklearn', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "set()", done.stderr
