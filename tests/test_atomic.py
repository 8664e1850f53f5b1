"""Every file is written as a whole or not at all, whether the disk is full or the process dies."""

import builtins
import io
import os
import re
import resource
import signal
import stat
import warnings
from argparse import Namespace
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

import ritz
from benchmarks.atoms import __main__ as atoms
from paper import __main__ as paper
from paper.figures import hermite_constant
from paper.records import append_task, drop_unfinished_line, read_tasks
from paper.runner import Runner
from ritz.atomic import write_atomically
from ritz.neural.checkpoint import read_checkpoint, write_checkpoint

ROOT = Path(__file__).parents[1]
X = np.random.default_rng(0).normal(size=(300, 2))
# Bytes on the disk when it is full, or when the process is killed.
ROOM = 150


@cache
def spectrum(pair=False):
    """Return a spectrum to save."""
    form, rows = (ritz.cross(), (X, X + 1)) if pair else (ritz.laplacian(), X)
    return ritz.decompose(form, ritz.Monomials(2), rows, 3, random_state=0)


@cache
def paper_figure():
    """Return the records of a small figure of the paper."""
    config = hermite_constant.Config(n=50, p=10, lengths=(0.2,), trials=1, points=9)
    return config, hermite_constant.run(config, Runner(1))


def write_paper_figure(path, monkeypatch):
    config, records = paper_figure()
    monkeypatch.setattr(hermite_constant, "QUICK", config)
    monkeypatch.setattr(hermite_constant, "run", lambda config, runner: records)
    monkeypatch.setattr(hermite_constant, "RECORDS", "records", raising=False)
    options = Namespace(full=False, seed=0, trials=None, out=path.parent.parent)
    paper.reproduce(path.stem, options, Runner(1))


def write_atoms(path, monkeypatch):
    monkeypatch.setattr(atoms, "PICTURE", path)
    errors = [(1.0, 1.0, 1.0)] * len(atoms.SIZES)
    energies = dict.fromkeys("abc", np.zeros((3, 1)))
    atoms.draw(dict.fromkeys("ab", errors), energies)


def write_checkpoint_of(path, monkeypatch):
    write_checkpoint(path, {"seed": 0}, {"weights": torch.zeros(1000)})


# What writes the file of a name.
WRITERS = {
    "spectrum.npz": lambda path, _: spectrum().save(path),
    "singular.npz": lambda path, _: spectrum(pair=True).save(path),
    "state.pt": write_checkpoint_of,
    "hermite-constant/hermite-constant.png": write_paper_figure,
    "atoms.png": write_atoms,
}


@pytest.fixture(params=WRITERS)
def write(request, tmp_path, monkeypatch):
    """Return a path, and a function that writes the file there."""
    path = tmp_path / request.param
    path.parent.mkdir(exist_ok=True)

    def run():
        with pytest.MonkeyPatch.context() as patch:
            WRITERS[request.param](path, patch)

    # What is computed once is not computed when the disk is full.
    run()
    assert path.stat().st_size > ROOM
    return path, run


@contextmanager
def full_disk():
    """Let no file grow beyond ROOM bytes: writing more fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Deadly(io.BufferedWriter):
    """A file that kills the process once it has ROOM bytes."""

    def write(self, data):
        room = ROOM - self.tell()
        if len(memoryview(data).cast("B")) <= room:
            return super().write(data)
        super().write(bytes(data)[:room])
        self.flush()
        return os.kill(os.getpid(), signal.SIGKILL)


def run_until_killed(run, *, in_the_middle):
    """Run a function in a process that is killed in the middle of a file, or at its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Other threads do not matter to a process that dies.
        child = os.fork()
    if not child:
        plain = open

        def deadly(path, mode="r", *args, **kwargs):
            if mode in ("xb", "ab"):
                return Deadly(io.FileIO(path, mode))
            return plain(path, mode, *args, **kwargs)

        try:
            if in_the_middle:
                builtins.open = io.open = deadly
            else:
                os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
            run()
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def visible(folder):
    """Return the names in a folder that are not hidden."""
    return [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]


@pytest.mark.parametrize("in_the_middle", [True, False])
def test_a_killed_process_leaves_the_old_file(write, in_the_middle):
    path, run = write
    path.write_bytes(b"old")
    run_until_killed(run, in_the_middle=in_the_middle)
    assert path.read_bytes() == b"old"
    assert visible(path.parent) == [path.name]
    run()
    assert path.stat().st_size > ROOM
    assert visible(path.parent) == [path.name]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(write):
    path, run = write
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="File too large"), full_disk():
        run()
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_files_are_whole_after_a_failed_attempt(write):
    path, run = write
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(OSError, match="File too large"), full_disk():
        run()
    assert list(path.parent.iterdir()) == []
    run()
    # Archives hold the time, to two seconds.
    assert abs(path.stat().st_size - len(content)) < 10
    if path.suffix == ".npz":
        ritz.load(path)
    elif path.suffix == ".pt":
        assert read_checkpoint(path, {"seed": 0})["weights"].shape == (1000,)


@pytest.mark.parametrize("way", ["full disk", "killed"])
def test_records_lose_no_more_than_the_line_that_was_being_written(tmp_path, way):
    path = tmp_path / "records.jsonl"
    append_task(path, {"task": 1}, [{"x": 1}])
    first = path.read_bytes()

    def append():
        append_task(path, {"task": 2}, [{"x": list(range(100))}])

    if way == "full disk":
        with pytest.raises(OSError, match="File too large"), full_disk():
            append()
    else:
        run_until_killed(append, in_the_middle=True)
    assert path.read_bytes().startswith(first)
    drop_unfinished_line(path)
    append()
    assert list(read_tasks(path).values()) == [[{"x": 1}], [{"x": list(range(100))}]]


WRITES = re.compile(
    r"""open\(([^)]*,\s*)?(mode=)?["'][rb]*[wax+][bt+]*["']|\b(write_text|write_bytes|savefig|savez\w*|to_csv|to_parquet|"""
    r"""write_csv|write_table|tofile|(np|torch)\.save|json\.dump|pickle\.dump)\((?!.*\b(file|buffer)\b)"""
)
# Lines that are appended one by one, where a reader drops the last one if it is cut.
APPENDED = {"paper/records.py"}
# Blocks go to a file that `write_atomically` opened.
IN_BLOCKS = {"src/ritz/streams/write.py", "benchmarks/huge.py"}


def test_no_file_is_written_in_another_way():
    folders = ("src", "paper", "benchmarks", "examples")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in files if WRITES.search(path.read_text())}
    assert found == {"src/ritz/atomic.py"} | APPENDED | IN_BLOCKS


def put(path, content=b"new"):
    with write_atomically(path) as file:
        file.write(content)


def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    put(tmp_path / "new")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "new")]
    assert modes[0] == modes[1]


def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    put(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_that_is_write_protected_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    # What a user without special rights sees.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="/a'"):
        put(path)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("exists", [True, False])
def test_links_are_followed(tmp_path, exists):
    (tmp_path / "folder").mkdir()
    path, link = tmp_path / "folder" / "a", tmp_path / "link"
    if exists:
        path.write_bytes(b"old")
    link.symlink_to(path)
    put(link)
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_devices_and_pipes_are_written_to_and_not_replaced(tmp_path):
    with pytest.raises(OSError, match="No space left"):
        put("/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    put(tmp_path / "pipe")
    assert os.read(reader, 10) == b"new"
    os.close(reader)


@pytest.mark.parametrize("place", ["nowhere/a", "file/a", "."])
def test_an_error_names_the_path_that_was_given(tmp_path, place):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(OSError, match=re.escape(f"{tmp_path / place}'")):
        put(tmp_path / place)
    assert visible(tmp_path) == ["file"]


def test_long_names_leave_room_for_the_hidden_file(tmp_path):
    path = tmp_path / ("é" * 127)
    put(path)
    assert path.read_bytes() == b"new"


def test_an_exception_of_the_caller_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def interrupted():
        with write_atomically(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_of_bytes_is_a_path(tmp_path):
    with write_atomically(bytes(tmp_path / "file")) as file:
        file.write(b"whole")
    assert (tmp_path / "file").read_bytes() == b"whole"
