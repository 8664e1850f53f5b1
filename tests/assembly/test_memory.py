"""A pass keeps one block and p by p sums, whatever n; its progress bar keeps out of the way."""

import io
import itertools
import sys
import tracemalloc

import numpy as np
import pytest

import ritz

P, D = 50, 5
BASES = {
    "gaussian": ritz.Nystrom(ritz.Gaussian(2.0), P),
    "exponential": ritz.Nystrom(ritz.Exponential(2.0), P),
    "monomials": ritz.Monomials(2),
}
MEGABYTE = 2**20


def peak_of(call):
    """Return the most memory in bytes, beyond what there was before, that a call took."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(400_000, D))


@pytest.mark.parametrize("basis", BASES)
def test_memory_does_not_grow_with_the_rows_of_an_array(rows, basis):
    def run(n):
        ritz.assemble(ritz.laplacian(), BASES[basis], rows[:n], random_state=0, n_jobs=1)

    # What is compiled on first use takes memory too.
    run(1000)
    few, some, many = (peak_of(lambda n=n: run(n)) for n in (20_000, 150_000, 400_000))
    # Blocks are full from some 150,000 rows on; n times p numbers would be 160 MB.
    assert many - some < MEGABYTE
    assert many - few < 6 * MEGABYTE
    assert many < 10 * MEGABYTE


def test_memory_does_not_grow_with_the_rows_of_a_stream():
    def batches(count):
        for seed in range(count):
            yield np.random.default_rng(seed).normal(size=(10_000, D))

    def run(count):
        stream = ritz.Batches(lambda: batches(count))
        ritz.assemble(ritz.laplacian(), BASES["exponential"], stream, random_state=0, n_jobs=1)

    few, many = (peak_of(lambda count=count: run(count)) for count in (14, 40))
    assert many - few < MEGABYTE


def test_memory_does_not_grow_with_the_rows_of_a_mapped_file(rows, tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, rows)
    mapped = np.load(path, mmap_mode="r")

    def run(n):
        ritz.assemble(ritz.laplacian(), BASES["gaussian"], mapped[:n], random_state=0, n_jobs=1)

    some, many = (peak_of(lambda n=n: run(n)) for n in (131_072, 800_000))
    assert many - some < MEGABYTE


def test_other_number_types_are_not_copied_whole(rows):
    rows = rows[:800_000]
    single = rows.astype(np.float32)

    def run(array):
        ritz.assemble(ritz.laplacian(), BASES["gaussian"], array, random_state=0, n_jobs=1)

    run(single[:1000])
    assert peak_of(lambda: run(single)) < peak_of(lambda: run(rows)) + 6 * MEGABYTE


def test_weights_and_groups_take_a_number_a_row(rows):
    rows = rows[:150_000]
    labels = {"sample_weight": np.ones(150_000), "groups": np.arange(150_000) // 100}

    def run(**labels):
        ritz.assemble(
            ritz.laplacian(), BASES["monomials"], rows, random_state=0, n_jobs=1, **labels
        )

    # Sorting the labels takes a few numbers a row.
    assert peak_of(lambda: run(**labels)) < peak_of(run) + 10 * 8 * 150_000


# Memory beside the rows

KERNELS = {
    "gaussian": ritz.Gaussian(1.0),
    "gaussian, low rank": ritz.Gaussian(20.0),
    "matern": ritz.Matern(1.5, 2.0),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_fit_takes_two_matrices_a_fold_and_thirteen_more(kernel):
    """Sums are L and Phi of eight folds; squared distances of centers are one matrix more."""
    p, samples = 400, np.random.default_rng(0).normal(size=(1400, 10))

    def sums(p):
        basis = ritz.Nystrom(KERNELS[kernel], p)
        return ritz.assemble(ritz.laplacian(), basis, samples, random_state=0, n_jobs=1)

    ritz.decompose_sums(sums(30), 8)
    matrix, kept = 8 * (1 + p) ** 2, []
    assert peak_of(lambda: kept.append(sums(p))) < 21 * matrix
    assert kept[0].left.size == p
    assert peak_of(lambda: ritz.decompose_sums(kept[0], 8, n_jobs=1)) < 10 * matrix
    penalized = peak_of(lambda: ritz.decompose_sums(kept[0], 8, regularization=1e-6, n_jobs=1))
    assert penalized < 13 * matrix


ESTIMATORS = {
    "embedding": lambda: ritz.SpectralEmbedding(2, n_centers=30, random_state=0, n_jobs=1),
    "regressor": lambda: ritz.LaplacianRegressor(
        operator="laplacian", n_components=5, n_centers=30, random_state=0, n_jobs=1
    ),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_does_not_copy_a_mapped_file(name, dtype, tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.random.default_rng(0).normal(size=(800_000, 30)).astype(dtype))
    mapped = np.load(path, mmap_mode="r")
    y = np.full(len(mapped), np.nan)
    y[:50] = mapped[:50, 0]
    ESTIMATORS[name]().fit(mapped[:500], y[:500])
    taken = peak_of(lambda: ESTIMATORS[name]().fit(mapped, y))
    # Some numbers a row, two fifths of a copy, and one block converted to float64.
    converted = 0 if dtype == np.float64 else 131_072 * 30 * 8
    assert taken < 12 * 8 * len(mapped) + converted


# The progress bar


def run(**options):
    X = np.random.default_rng(0).normal(size=(2000, 1))
    return ritz.assemble(ritz.laplacian(), ritz.Monomials(2), X, **options)


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_shown_where_the_output_is_not_a_terminal(capsys, progress):
    run(progress=progress)
    ritz.decompose(
        ritz.laplacian(), ritz.Monomials(2), np.arange(50.0)[:, None], 2, progress=progress
    )
    assert capsys.readouterr() == ("", "")


def test_the_bar_is_shown_when_asked_for(capsys):
    run(progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "rows" in err
    assert "100%" in err
    assert "2.00k" in err


def test_the_bar_counts_rows_of_unknown_number(capsys):
    X = np.random.default_rng(0).normal(size=(2000, 1))
    stream = ritz.Batches(np.array_split(X, 4))
    ritz.assemble(ritz.laplacian(), ritz.Monomials(2), stream, progress=True)
    assert "2.00k" in capsys.readouterr().err


class Terminal(io.StringIO):
    """A terminal to write to."""

    def isatty(self):
        return True


def test_on_a_terminal_a_short_pass_shows_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run()
    assert terminal.getvalue().strip() == ""


@pytest.mark.parametrize(("progress", "shown"), [(None, True), (True, True), (False, False)])
def test_on_a_terminal_a_long_pass_shows_the_bar_unless_it_is_turned_off(
    monkeypatch, progress, shown
):
    terminal = Terminal()
    clock = itertools.count()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("tqdm.std.time", lambda: float(next(clock)))
    X = np.random.default_rng(0).normal(size=(2000, 1))
    stream = ritz.Batches(np.array_split(X, 20))
    ritz.assemble(ritz.laplacian(), ritz.Monomials(2), stream, progress=progress)
    assert ("rows" in terminal.getvalue()) == shown


def test_the_bar_does_not_change_the_sums():
    with_bar, without = run(progress=True, random_state=0), run(progress=False, random_state=0)
    np.testing.assert_array_equal(with_bar.L, without.L)
