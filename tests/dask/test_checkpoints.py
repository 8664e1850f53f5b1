"""A pass over chunks goes on from its checkpoint, and each row is counted once."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest

import ritz
from ritz.assembly.chunks import ChunkCheckpoint

X = np.random.default_rng(0).normal(size=(5000, 3))
BASIS = ritz.Nystrom(ritz.Gaussian(2.0), 20)


def chunked(rows, made=None, broken=None):
    """Return rows in 50 chunks that note who is made; one of them may fail."""

    def make(block, block_id=None):
        if block_id[0] == broken:
            raise OSError("a disk is gone")
        if made is not None:
            made.append(block_id[0])
        return block

    lazy = da.from_array(rows, chunks=(100, 3))
    return lazy.map_blocks(make, dtype=float, meta=np.empty((0, 0)))


def assembled(rows, path, basis=BASIS):
    with dask.config.set(scheduler="synchronous"):
        return ritz.assemble(ritz.laplacian(), basis, rows, random_state=0, checkpoint=path)


def assert_same(found, expected):
    np.testing.assert_array_equal(found.count, expected.count)
    for ours, theirs in zip(found.L + found.Phi, expected.L + expected.Phi, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * np.abs(theirs).max())


def test_what_was_summed_before_an_error_is_in_the_file(tmp_path):
    path = tmp_path / "sums.ritz"
    expected = ritz.assemble(ritz.laplacian(), BASIS, X, random_state=0)

    # The sample reads all chunks: the disk is lost after it.
    def half_broken(count):
        def make(block, block_id=None):
            count.append(block_id[0])
            if len(count) > 50 + 25:
                raise OSError("a disk is gone")
            return block

        lazy = da.from_array(X, chunks=(100, 3))
        return lazy.map_blocks(make, dtype=float, meta=np.empty((0, 0)))

    with pytest.raises(RuntimeError, match=r"a disk is gone.*chunk 2\d of X"):
        assembled(half_broken([]), path)
    made = []
    assert_same(assembled(chunked(X, made), path), expected)
    # Chunks that are in are read once more, to be compared, and no sample is drawn.
    assert sorted(made) == list(range(50))
    # A file that is complete is the result, after a look at the first chunk.
    made.clear()
    assert_same(assembled(chunked(X, made), path), expected)
    assert made == [0]


def test_what_cannot_be_written_is_known_before_the_pass(tmp_path):
    made = []
    with pytest.raises(FileNotFoundError):
        assembled(chunked(X, made), tmp_path / "none" / "sums.ritz")
    # Only the sample was drawn.
    assert len(made) == 50
    made.clear()
    slope = np.eye(3)[:1]
    basis = ritz.Functions([lambda x: x[:, 0]], gradients=[lambda x: slope.repeat(len(x), 0)])
    with pytest.raises(TypeError, match="holds functions of yours"):
        assembled(chunked(X, made), tmp_path / "sums.ritz", basis)
    assert len(made) == 50
    assert not (tmp_path / "sums.ritz").exists()


def test_other_rows_are_refused(tmp_path):
    path = tmp_path / "sums.ritz"
    # The functions are fixed, so that no sample is drawn.
    functions = ritz.assemble(ritz.laplacian(), BASIS, X, random_state=0).left
    with pytest.raises(RuntimeError, match="chunk 40"):
        assembled(chunked(X, broken=40), path, functions)
    other = X.copy()
    other[120] += 1.0
    with pytest.raises(ValueError, match="other rows in chunk 1"):
        assembled(chunked(other), path, functions)


def die_at_chunk_30(block, block_id=None):
    if block_id[0] == 30:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


CLIENT = """
import sys
import numpy as np
import ritz.assembly.chunks
from tests.dask.test_checkpoints import X, assembled, die_at_chunk_30, chunked

# The file is written after each round.
ritz.assembly.chunks.CHECKPOINT_SECONDS = ritz.assembly.chunks.WRITING_SHARE = -1.0
basis = ritz.load(sys.argv[1]).left
rows = chunked(X).map_blocks(die_at_chunk_30, dtype=float, meta=np.empty((0, 0)))
assembled(rows, sys.argv[2], basis)
"""


def test_a_complete_file_is_refused_for_other_rows_and_other_chunks(tmp_path):
    path = tmp_path / "sums.ritz"
    assert assembled(chunked(X), path).n_rows == len(X)
    with pytest.raises(ValueError, match="other rows in chunk 0"):
        assembled(chunked(X + 1), path)
    for size in (50, 200):
        with pytest.raises(ValueError, match="100 rows in chunk 0, which has"):
            assembled(da.from_array(X, chunks=(size, 3)), path)
    # A pass over arrays reads its blocks in other sizes.
    with pytest.raises(ValueError, match="other rows in block 0"):
        assembled(X, path)
    assert assembled(chunked(X), path).n_rows == len(X)


def test_empty_chunks_go_on(tmp_path, monkeypatch):
    """An empty chunk starts at the row at which the next one does."""
    path = tmp_path / "sums.ritz"
    rows = da.from_array(X, chunks=((1000, 0, 1000, 1000, 0, 2000), 3))
    record, rounds = ChunkCheckpoint.record, []

    def interrupted(self, receipts, sums):
        rounds.append(receipts)
        if len(rounds) == 4:
            raise KeyboardInterrupt
        record(self, receipts, sums)

    with monkeypatch.context() as patched:
        patched.setattr(ChunkCheckpoint, "record", interrupted)
        with pytest.raises(KeyboardInterrupt):
            assembled(rows, path)
    assert_same(assembled(rows, path), ritz.assemble(ritz.laplacian(), BASIS, X, random_state=0))


def test_a_client_that_was_killed_goes_on(tmp_path):
    path, start = tmp_path / "sums.ritz", tmp_path / "start.ritz"
    expected = ritz.assemble(ritz.laplacian(), BASIS, X, random_state=0)
    expected.save(start)
    command = [sys.executable, "-W", "ignore", "-c", CLIENT, str(start), str(path)]
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    assert subprocess.run(command, cwd=root, env=environment).returncode == -signal.SIGKILL
    # The first chunks are in the file: others in their place are refused.
    with pytest.raises(ValueError, match="other rows in chunk 5"):
        assembled(chunked(np.where(np.arange(len(X))[:, None] == 500, 0.0, X)), path, expected.left)
    found = assembled(chunked(X), path, expected.left)
    assert found.n_rows == len(X)
    assert_same(found, expected)
