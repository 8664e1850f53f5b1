"""Chunks on the workers of a cluster: their sums are made there, and nothing else comes back."""

import os
import pickle
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.comm import tcp

import ritz
from ritz.assembly.partial import Summation
from ritz.rows import Draw
from ritz.streams import as_stream

X = np.random.default_rng(0).normal(size=(80_000, 12))
COUNTS = np.random.default_rng(1).integers(0, 4, size=(4000, 2)).astype(float)
WEIGHT = np.random.default_rng(2).integers(0, 3, size=4000).astype(float)
GROUPS = np.arange(4000) // 100
BASIS = ritz.Nystrom(ritz.Gaussian(4.0), 60)
SMALL = ritz.Nystrom(ritz.Gaussian(1.0), 15)


def cluster_of(n_workers):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        memory_limit=0,
    )


@pytest.fixture(scope="module")
def client():
    with cluster_of(2) as cluster, Client(cluster) as client:
        yield client


def made_chunk(block, block_info=None):
    """Return rows of X that the worker makes itself, so that the graph holds none."""
    (start, end), _ = block_info[0]["array-location"]
    return np.random.default_rng(0).normal(size=X.shape)[start:end]


def on_workers(rows=10_000):
    n, d = X.shape
    return da.zeros((n, d), chunks=(rows, d)).map_blocks(made_chunk, dtype=float)


class Traffic:
    """Counts the bytes that this process receives; the scheduler runs in it, too."""

    def __init__(self, monkeypatch):
        self.received = 0
        original = tcp.from_frames

        def counting(frames, *args, **kwargs):
            self.received += sum(memoryview(frame).nbytes for frame in frames)
            return original(frames, *args, **kwargs)

        monkeypatch.setattr(tcp, "from_frames", counting)


def assert_same_sums(found, expected):
    assert found.n_rows == expected.n_rows
    np.testing.assert_array_equal(found.count, expected.count)
    for ours, theirs in zip(found.homes or (), expected.homes or (), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for name in ("L", "Phi", "Psi"):
        for ours, theirs in zip(getattr(found, name), getattr(expected, name), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * np.abs(theirs).max())


def test_no_chunk_comes_to_the_client(client, monkeypatch):
    traffic = Traffic(monkeypatch)
    lazy = on_workers()
    found = ritz.decompose(ritz.laplacian(), BASIS, lazy, k=6, random_state=0)
    received = traffic.received
    # What comes is the sample that fixes the functions, the triangles of L and Phi, and messages.
    assert 2048 * 12 * 8 + 8 * 60 * 60 * 8 < received < X.nbytes / 4
    # The traffic is counted: the array itself is seen when it comes.
    np.testing.assert_array_equal(lazy.compute(), X)
    assert traffic.received - received > X.nbytes
    expected = ritz.decompose(ritz.laplacian(), BASIS, X, k=6, random_state=0)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-10)
    np.testing.assert_allclose(found(X[:50]), expected(X[:50]), atol=1e-9)


def test_the_sample_is_the_one_that_is_drawn_in_memory(client):
    weight = da.from_array(WEIGHT, chunks=1000)
    lazy = as_stream(da.from_array(COUNTS, chunks=(700, 1)), 1, weight)
    for m, seed in ((5, 3), (1000, 4)):
        [found] = lazy.samples([Draw(m, seed)])
        [expected] = as_stream(COUNTS, 1, WEIGHT).samples([Draw(m, seed)])
        for name in ("X", "weight", "copies"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize(
    ("form", "basis", "options"),
    [
        (ritz.laplacian(), SMALL, {}),
        (ritz.laplacian(), SMALL, {"sample_weight": WEIGHT}),
        (ritz.laplacian(), SMALL, {"sample_weight": WEIGHT, "groups": GROUPS}),
        (ritz.diffusion(2.0), ritz.Monomials(3), {"n_folds": 3}),
        (ritz.neighbors(3, weights="uniform"), SMALL, {}),
        (ritz.laplacian(density_correction=1.0), SMALL, {"first_row": 7}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_sums_of_each_fold_are_those_in_memory(client, form, basis, options):
    # The rows repeat, so that their folds depend on their places.
    lazy = {
        name: da.from_array(value, chunks=900) if isinstance(value, np.ndarray) else value
        for name, value in options.items()
    }
    rows = da.from_array(COUNTS, chunks=(700, 2))
    found = ritz.assemble(form, basis, rows, random_state=0, **lazy)
    expected = ritz.assemble(form, basis, COUNTS, random_state=0, **options)
    assert expected.left.repeats
    assert_same_sums(found, expected)
    assert found.grouped == expected.grouped


def test_two_views(client):
    Y = X[:4000] + np.random.default_rng(3).normal(size=(4000, 12))
    pair = da.from_array(X[:4000], chunks=(1000, 12)), da.from_array(Y, chunks=(900, 6))
    found = ritz.assemble(ritz.cross(), BASIS, pair, random_state=0)
    assert_same_sums(found, ritz.assemble(ritz.cross(), BASIS, (X[:4000], Y), random_state=0))


def failing_chunk(block, block_id=None):
    if block_id[0] == 3:
        raise ZeroDivisionError("nothing to divide by")
    return block


def test_a_chunk_that_always_fails_is_named(client, caplog):
    lazy = on_workers().map_blocks(failing_chunk, dtype=float)
    with pytest.raises(RuntimeError, match=r"ZeroDivisionError.*chunk 3 of X, rows 30000 to 39999"):
        ritz.assemble(ritz.laplacian(), BASIS, lazy)
    bad = X.copy()
    bad[42_345, 1] = np.nan
    with pytest.raises(ValueError, match=r"nan in row 42345, column 1.*chunk 4 of X"):
        ritz.assemble(ritz.laplacian(), BASIS, da.from_array(bad, chunks=(10_000, 12)))


def test_sums_of_a_chunk_weigh_a_triangle_of_each_matrix(client):
    sums = ritz.assemble(ritz.laplacian(), BASIS, X[:3000], random_state=0)
    partial = Summation(sums.form, sums.left, sums.right, 8)(as_stream(X[:3000]), None)
    p = 1 + sums.left.size
    size = len(pickle.dumps(partial, protocol=5))
    assert size < 1.05 * 8 * 8 * p * (p + 1) + 5000
    again = pickle.loads(pickle.dumps(partial))
    for ours, theirs in zip(again.folds, partial.folds, strict=True):
        np.testing.assert_array_equal(ours.L, theirs.L)
        np.testing.assert_array_equal(ours.Phi, theirs.Phi)
        assert ours.Psi is ours.Phi


def slow_chunk(block, log=None):
    """Return a chunk after a while, and note who made it."""
    with open(log, "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(0.15)
    return block


def test_a_worker_killed_and_another_added_change_nothing(tmp_path):
    log = tmp_path / "chunks"
    log.touch()
    expected = ritz.assemble(ritz.laplacian(), BASIS, X, random_state=0)
    killed = []

    def kill(cluster):
        # In the middle: some chunks are summed, and their sums are on the worker that dies.
        while len(pids := log.read_text().split()) < 8:
            time.sleep(0.02)
        killed.append(int(pids[-1]))
        cluster.scale(3)
        os.kill(killed[0], signal.SIGKILL)

    # A dead worker is given up after this time, which is 30 s by default.
    patience = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with patience, cluster_of(2) as cluster, Client(cluster):
        lazy = on_workers(4000).map_blocks(slow_chunk, log=str(log), dtype=float)
        thread = threading.Thread(target=kill, args=(cluster,))
        thread.start()
        found = ritz.assemble(ritz.laplacian(), expected.left, lazy)
        thread.join()
    makers = log.read_text().split()
    # Chunks whose sums were lost were made again, and some by a worker that was not there before.
    assert len(makers) > 20
    assert len(set(makers)) > 2
    assert killed
    assert makers[-1] != str(killed[0])
    assert found.n_rows == len(X)
    assert_same_sums(found, expected)
