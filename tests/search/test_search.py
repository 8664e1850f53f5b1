"""The one search for neighbors: exact, the same for all blocks and threads, and interruptible."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ritz
from ritz import search
from ritz.assembly.folds import add_block
from ritz.rows import Block, row_slices
from ritz.search import NearestRows

# One number of columns for which a tree is searched, two for which all distances are computed.
COLUMNS = (3, 12, 40)


def by_differences(points, X, k):
    """Return distances and numbers of the nearest points, of equal ones the first."""
    squares = np.array([((points - x) ** 2).sum(axis=1) for x in X])
    index = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return np.sqrt(np.take_along_axis(squares, index, axis=1)), index


def clouds(d):
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(700, d))
    clusters = normal * 1e-3
    clusters[::2] += 1e5
    outlier = normal.copy()
    outlier[5] = 1e9
    return {
        "normal": normal,
        "far from the origin": normal + 1e7,
        "two far clusters": clusters,
        "an outlier": outlier,
        "near a plane": normal * np.where(np.arange(d) < 2, 1.0, 1e-7),
        "few points": normal[:25],
    }


@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("cloud", clouds(1))
def test_the_nearest_rows_are_exact(cloud, d):
    points = clouds(d)[cloud]
    rows = points[::7] + 1e-4 * np.random.default_rng(1).normal(size=points[::7].shape)
    nearest = NearestRows(points)
    for k in (1, 10, 20):
        distances, index = nearest(rows, k)
        truth, places = by_differences(points, rows, k)
        np.testing.assert_array_equal(index, places)
        np.testing.assert_allclose(distances, truth, rtol=1e-14)
    distances, index = nearest.others(4)
    truth, places = by_differences(points, points, 5)
    np.testing.assert_array_equal(index, places[:, 1:])
    np.testing.assert_allclose(distances, truth[:, 1:], rtol=1e-14)


@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("unit", [1e-250, 1e-100, 1e100, 1e200, 1e300])
def test_the_unit_of_the_rows_does_not_matter(d, unit):
    points = np.random.default_rng(0).normal(size=(200, d))
    plain, index = NearestRows(points).others(6)
    scaled, same = NearestRows(unit * points).others(6)
    np.testing.assert_array_equal(same, index)
    np.testing.assert_allclose(scaled / unit, plain, rtol=1e-13)


@pytest.mark.parametrize("d", COLUMNS)
def test_rows_beyond_the_range_of_squares_find_some_points(d):
    points = np.random.default_rng(0).normal(size=(50, d))
    _, index = NearestRows(points)(np.full((3, d), 1e300), 4)
    assert all(len(set(row)) == 4 and max(row) < 50 for row in index.tolist())


@pytest.mark.parametrize("d", COLUMNS)
def test_neighbors_do_not_depend_on_threads_or_blocks(d, monkeypatch):
    # On a lattice most distances are equal to others.
    points = np.random.default_rng(0).integers(0, 3, size=(900, d)).astype(float)
    whole = NearestRows(points).others(7, n_jobs=1)
    monkeypatch.setattr(search, "BLOCK_FLOATS", 20_000)
    monkeypatch.setattr(search, "TREE_ROWS", 37)
    for n_jobs in (1, 3):
        for one, other in zip(whole, NearestRows(points).others(7, n_jobs), strict=True):
            np.testing.assert_array_equal(one, other)
    for row in (0, 500):
        np.testing.assert_array_equal(NearestRows(points)(points[[row]], 7)[0][0][0], 0.0)


def test_among_equal_distances_products_choose_the_first_points():
    points = np.random.default_rng(0).integers(0, 3, size=(900, 8)).astype(float)
    np.testing.assert_array_equal(
        NearestRows(points)(points[:100], 9)[1], by_differences(points, points[:100], 9)[1]
    )


@pytest.mark.parametrize("kind", ["one-hot", "binary"])
def test_many_ties_are_broken_without_computing_all_differences(kind, monkeypatch):
    points = np.eye(400)
    if kind == "binary":
        points = np.random.default_rng(0).integers(0, 2, size=(2000, 12)).astype(float)
    computed = []

    def recorded(n, block):
        computed.append(n)
        return row_slices(n, block)

    monkeypatch.setattr(search, "row_slices", recorded)
    distances, index = NearestRows(points)(points[:300], 5)
    truth, places = by_differences(points, points[:300], 5)
    np.testing.assert_array_equal(index, places)
    np.testing.assert_array_equal(distances, truth)
    assert max(computed) <= 300 * 5 * 8


@pytest.mark.parametrize("d", COLUMNS)
def test_no_row_is_its_own_neighbor_among_copies(d):
    points = np.repeat(np.random.default_rng(0).normal(size=(20, d)), 15, axis=0)
    distances, index = NearestRows(points).others(5)
    assert (index != np.arange(300)[:, None]).all()
    assert all(len(set(row)) == 5 for row in index.tolist())
    np.testing.assert_array_equal(distances, 0.0)


# Threads

ROWS = np.random.default_rng(0).normal(size=(300, 8))
Y = np.where(np.arange(300) % 3, np.nan, ROWS[:, 0])
FITS = {
    "decompose": lambda n_jobs: ritz.decompose(
        ritz.neighbors(5), ritz.Nystrom(ritz.Gaussian(3.0), 20), ROWS, 3, n_jobs=n_jobs
    ),
    "a sum of forms": lambda n_jobs: ritz.assemble(
        ritz.laplacian() + 2.0 * ritz.neighbors(5), ritz.Monomials(1), ROWS, n_jobs=n_jobs
    ),
    "embedding": lambda n_jobs: (
        ritz.SpectralEmbedding(2, operator="neighbors", n_centers=20, n_jobs=n_jobs)
        .fit(ROWS)
        .score(ROWS)
    ),
    "clustering": lambda n_jobs: ritz.SpectralClustering(
        2, operator="neighbors", n_centers=20, n_jobs=n_jobs
    ).fit(ROWS),
    "regressor": lambda n_jobs: ritz.LaplacianRegressor(
        operator="neighbors", n_centers=20, n_jobs=n_jobs
    ).fit(ROWS, Y),
}


@pytest.mark.parametrize("fit", FITS)
def test_searches_take_the_threads_asked_for(fit, monkeypatch):
    asked = []
    others = NearestRows.others

    def recorded(self, k, n_jobs=1):
        asked.append(n_jobs)
        return others(self, k, n_jobs)

    monkeypatch.setattr(NearestRows, "others", recorded)
    FITS[fit](3)
    # The two halves of a comparison are too small for threads.
    assert {3} <= set(asked) <= {1, 3}


def test_the_index_is_built_once_before_the_threads_start(monkeypatch):
    built = []
    build = NearestRows.__init__

    def recorded(self, points):
        built.append(threading.current_thread())
        build(self, points)

    monkeypatch.setattr(NearestRows, "__init__", recorded)
    first = ritz.assemble(ritz.neighbors(5), ritz.Monomials(2), ROWS, random_state=0)
    others = np.random.default_rng(1).normal(size=(20_000, 8))
    ritz.assemble(first.form, first.left, others, n_jobs=4)
    assert built == [threading.main_thread()]


# Ctrl-C

INTERRUPTED = """
import time
import numpy as np, ritz
X = np.random.default_rng(0).normal(size=(60_000, 12))
basis = ritz.Nystrom(ritz.Gaussian(3.0), 100)
print("ready", flush=True)
try:
    while True:
        ritz.decompose(ritz.neighbors(10), basis, X, 8, n_jobs={n_jobs})
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_answers_ctrl_c_within_about_a_second(n_jobs):
    command = [sys.executable, "-c", INTERRUPTED.format(n_jobs=n_jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        answered = float(process.stdout.readline())
    # Twice as long as promised, for busy machines. Whole folds by a kd-tree take over 3 seconds.
    assert answered - sent < 2.0


def test_an_error_in_one_fold_stops_the_others():
    n, added = 4000, []
    failed = threading.Event()
    block = Block((np.arange(float(n))[:, None],), np.ones(n), np.arange(n))

    def add(fold, piece):
        if fold == 0:
            failed.set()
            raise RuntimeError("fold 0")
        failed.wait()
        added.append(fold)
        time.sleep(0.01)

    with pytest.raises(RuntimeError, match="fold 0"):
        add_block(block, add, n_folds=2, block_rows=10, threads=2)
    # All pieces of the other fold would be some 200.
    assert len(added) < 50
