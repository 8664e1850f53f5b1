"""A pass that was interrupted goes on from its file, and each row counts once."""

import os
import signal
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import ritz
from benchmarks.checkpoints import (
    BLOCK_ROWS,
    N_BLOCKS,
    PROBLEMS,
    WEIGHT,
    Slowly,
    X,
    difference,
    killed,
    sums_of,
)
from ritz.assembly import checkpoint
from ritz.assembly.checkpoint import Progress, read_progress
from ritz.assembly.laplacian import LaplacianAssembler
from ritz.files import write

LAPLACIAN, SECTIONS = ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(1.5), 40)
PARTS = np.array_split(X, 10)


@pytest.fixture(autouse=True)
def blocks_of_a_part(monkeypatch):
    """Cut rows into blocks as large as a part."""
    monkeypatch.setattr("ritz.streams.stream.CHUNK_ROWS", len(PARTS[0]))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.ritz"


@pytest.fixture
def always(monkeypatch):
    """Write the file after each block."""
    monkeypatch.setattr(checkpoint, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "WRITING_SHARE", 1e9)


def progress_in(path):
    """Return what a file holds, whatever it is of."""
    classes = {vars(cls)["file_tag"]: cls for cls in (*checkpoint.SAVED, Progress)}
    return checkpoint.read(path, classes)


class BreakingOff(Exception):
    """The data end here."""


def breaking(path, block):
    """Return a stream that fails at a block in the pass of the sums, once functions are fixed."""

    def source():
        for number, part in enumerate(PARTS):
            if number == block and path.exists():
                raise BreakingOff
            yield part

    return ritz.Batches(source)


def assemble(data, path=None, **options):
    options = {"random_state": 0} | options
    form, basis = options.pop("form", LAPLACIAN), options.pop("basis", SECTIONS)
    return ritz.assemble(form, basis, data, checkpoint=path, **options)


class Height:
    """A potential that fails once it was asked about some rows."""

    left = 0

    def __call__(self, x):
        Height.left -= len(x)
        if Height.left < 0:
            raise BreakingOff
        return x[:, 0]


def partial(path, blocks=6, **options):
    """Write a file with some blocks of ten."""
    with pytest.raises(BreakingOff):
        assemble(breaking(path, blocks), path, **options)


def assert_same(a, b):
    assert difference(a, b) == 0.0
    for ours, theirs in zip(a.homes or (), b.homes or (), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert a.grouped == b.grouped


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_pass_that_is_killed_goes_on_to_the_last_bit(name, path):
    kills = int(os.environ.get("RITZ_KILLS", "1"))
    rng = np.random.default_rng(kills)
    for _ in range(kills):
        path.unlink(missing_ok=True)
        # The second process goes on from the file of the first, and is killed too.
        killed(name, path, rng, 2)
        assert_same(sums_of(name, path), sums_of(name))
        assert progress_in(path).complete


def test_what_was_summed_before_an_error_of_the_data_is_in_the_file(path):
    partial(path)
    found = progress_in(path)
    assert not found.complete
    assert found.rows.tolist() == [len(part) for part in PARTS[:6]]
    assert found.count.sum() == sum(map(len, PARTS[:6]))
    whole = assemble(ritz.Batches(PARTS))
    assert_same(assemble(ritz.Batches(PARTS), path), whole)


def test_a_complete_file_is_the_result_after_a_look_at_the_first_block(path):
    first = assemble(ritz.Batches(PARTS), path)
    read = []

    def source():
        for number, part in enumerate(PARTS):
            read.append(number)
            yield part

    again = assemble(ritz.Batches(source), path)
    assert_same(again, first)
    # One look for the number of columns, and one for the hash.
    assert read == [0, 0]
    both = again + assemble(ritz.Batches(PARTS), None, basis=again.left)
    assert both.n_rows == 2 * first.n_rows


@pytest.mark.parametrize(
    "options",
    [
        {"basis": ritz.Nystrom(ritz.Matern(2.5, 1.5), 40)},
        {"basis": ritz.Nystrom(ritz.Gaussian([1.0, 2.0, 1.5]), 40)},
        {"basis": ritz.Nystrom(ritz.Polynomial(3), 15)},
        {"basis": ritz.RandomFourier(ritz.Gaussian(1.5), 40)},
        {"basis": ritz.Stack(ritz.Monomials(2), SECTIONS)},
        {"form": ritz.neighbors(5)},
        {"form": ritz.neighbors(4, "directional", mutual=True)},
        {"form": ritz.laplacian("pca", dimension=2)},
        {"form": ritz.laplacian(density_correction=1.0)},
        {"form": ritz.diffusion(lambda x: 1 + x[:, 0] ** 2)},
        {"n_folds": 1},
        {"n_folds": 1000, "basis": ritz.Monomials(1)},
        {"n_jobs": 1},
        {"random_state": None},
    ],
)
def test_every_basis_and_operator_goes_on(options, path):
    partial(path, **options)
    found = progress_in(path)
    again = assemble(ritz.Batches(PARTS), path, **options)
    bases = (found.left,) if found.right is None else (found.left, found.right)
    fixed = options | {"basis": bases[0] if len(bases) == 1 else bases}
    assert_same(again, assemble(ritz.Batches(PARTS), **fixed))
    assert_same(assemble(ritz.Batches(PARTS), path, **options), again)


def test_files_go_on_by_the_position_of_rows(path, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "w": WEIGHT})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=500)

    def stream():
        return ritz.Table(tmp_path / "rows.parquet", columns=["a", "b", "c"], weight="w")

    whole = assemble(stream())
    real = ritz.Table.blocks

    def breaking_off(self):
        for number, block in enumerate(real(self)):
            if path.exists() and number == 4:
                raise BreakingOff
            yield block

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ritz.Table, "blocks", breaking_off)
        with pytest.raises(BreakingOff):
            assemble(stream(), path)
    assert 0 < progress_in(path).rows.sum() < len(X)
    assert_same(assemble(stream(), path), whole)


def test_ctrl_c_writes_a_last_time(path, monkeypatch):
    """The first Ctrl-C waits for the block that is being added."""
    monkeypatch.setattr("ritz.streams.stream.CHUNK_ROWS", BLOCK_ROWS)
    form, basis, stream = PROBLEMS["laplacian"]

    class Interrupted(Slowly):
        def blocks(self):
            for number, block in enumerate(super().blocks()):
                # The file is there once functions are fixed.
                if number == 10 and path.exists():
                    os.kill(os.getpid(), signal.SIGINT)
                yield block

    with pytest.raises(KeyboardInterrupt):
        ritz.assemble(form, basis, Interrupted(stream), random_state=0, checkpoint=path)
    found = progress_in(path)
    assert 0 < len(found.rows) < N_BLOCKS
    assert not found.complete
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert_same(sums_of("laplacian", path), sums_of("laplacian"))


def test_an_error_within_a_block_leaves_the_file_as_it_was(path, always, monkeypatch):
    """The sums then hold a part of the block, and would count its rows twice."""
    monkeypatch.setattr(Height, "left", 3000)
    form = ritz.potential(Height())
    with pytest.raises(BreakingOff):
        assemble(ritz.Batches(PARTS), path, form=form, n_jobs=1)
    assert progress_in(path).rows.sum() == 3000
    monkeypatch.setattr(Height, "left", 10**9)
    again = assemble(ritz.Batches(PARTS), path, form=form, n_jobs=1)
    assert_same(again, assemble(ritz.Batches(PARTS), form=ritz.potential(lambda x: x[:, 0])))


@pytest.mark.parametrize("fold", [0, 3])
def test_an_interruption_after_the_last_block_leaves_the_file_as_it_was(fold, path, monkeypatch):
    """The matrices are made in the memory of the running sums, which is no longer written then."""
    expected = ritz.assemble(LAPLACIAN, SECTIONS, X, random_state=0)
    finish, done = LaplacianAssembler.finish, []

    def interrupted(self, sums):
        done.append(finish(self, sums))
        if len(done) == fold + 1:
            raise KeyboardInterrupt
        return done[-1]

    with monkeypatch.context() as patched:
        patched.setattr(LaplacianAssembler, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ritz.assemble(LAPLACIAN, SECTIONS, X, random_state=0, checkpoint=path)
    found = ritz.assemble(LAPLACIAN, SECTIONS, X, random_state=0, checkpoint=path)
    for ours, theirs in zip(found.L + found.Phi, expected.L + expected.Phi, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_file_is_written_every_so_often(path, monkeypatch):
    written = []
    monkeypatch.setattr(checkpoint, "write", lambda progress, path: written.append(progress))
    assemble(ritz.Batches(PARTS), path)
    assert [progress.complete for progress in written] == [False, True]
    monkeypatch.setattr(checkpoint, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "WRITING_SHARE", 1e9)
    written.clear()
    assemble(ritz.Batches(PARTS), path)
    assert len(written) == 12


# What is refused

OTHERS = {
    "operator is laplacian.* and not 2 \\* laplacian": {"form": 2 * LAPLACIAN},
    "operator is laplacian.* and not neighbors": {"form": ritz.neighbors(5)},
    "another basis": {"basis": ritz.Nystrom(ritz.Gaussian(1.4), 40)},
    "another random_state": {"random_state": 1},
    "n_folds is 8 and not 4": {"n_folds": 4},
    "first_row is 0 and not 7": {"first_row": 7},
}


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("text", OTHERS)
def test_other_settings_are_refused(text, complete, path):
    assemble(ritz.Batches(PARTS), path) if complete else partial(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"'checkpoint' parameter.*{text}.*start anew"):
        assemble(ritz.Batches(PARTS), path, **OTHERS[text])
    assert path.read_bytes() == before


def changed(number, change):
    parts = [part.copy() for part in PARTS]
    change(parts[number])
    return parts


def nudge(part):
    part[-1, -1] = np.nextafter(part[-1, -1], np.inf)


def swap(part):
    part[[0, 1]] = part[[1, 0]]


@pytest.mark.parametrize(
    "parts",
    [
        changed(0, nudge),
        changed(5, nudge),
        changed(3, swap),
        PARTS[1:],
        PARTS[:3],
    ],
    ids=["first", "last", "order", "shift", "fewer"],
)
def test_other_rows_are_refused(parts, path):
    partial(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"'checkpoint' parameter.*rows.*Pass the same rows"):
        assemble(ritz.Batches(parts), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("parts", [np.array_split(X, 9), [X]], ids=["other", "one"])
def test_a_pass_goes_on_with_the_same_rows_in_other_blocks(parts, path):
    partial(path)
    assert_same(assemble(ritz.Batches(parts), path), assemble(X))


def test_other_weights_and_groups_are_refused(path):
    n = len(X)
    options = {"sample_weight": WEIGHT, "groups": np.arange(n) // 10}
    assemble(X, path, **options)
    for other in ({"sample_weight": np.ones(n)}, {"groups": np.arange(n) // 9}):
        with pytest.raises(ValueError, match="Pass the same rows"):
            assemble(X, path, **options | other)
    with pytest.raises(ValueError, match="number of rows is 6000 and not 5999"):
        assemble(X[1:], path)
    with pytest.raises(ValueError, match="number of columns is 3 and not 2"):
        assemble(X[:, :2], path)


def test_a_complete_file_of_other_rows_is_refused(path):
    assemble(ritz.Batches(PARTS), path)
    with pytest.raises(ValueError, match="Pass the same rows"):
        assemble(ritz.Batches(changed(0, nudge)), path)


def test_a_complete_file_is_refused_where_no_rows_are_left(path):
    assemble(ritz.Batches(PARTS[:1]), path)
    # The number of columns is looked up first.
    calls = iter([PARTS, []])
    with pytest.raises(ValueError, match=f"Got no rows where {len(PARTS[0])} are in it"):
        assemble(ritz.Batches(lambda: next(calls)), path)


def test_another_version_is_refused(path, monkeypatch):
    partial(path)
    monkeypatch.setattr(checkpoint, "__version__", "9.9")
    with pytest.raises(ValueError, match=r"version of ritz is .* and not 9\.9.*start anew"):
        assemble(ritz.Batches(PARTS), path)


@pytest.mark.parametrize("seed", range(6))
def test_damaged_files_are_refused(seed, path):
    partial(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(seed)
    cut = whole[: int(rng.integers(len(whole)))]
    flipped = bytearray(whole)
    # Within the running sums, which are most of the file.
    flipped[int(rng.integers(len(whole) // 4, 3 * len(whole) // 4))] ^= 1 << int(rng.integers(8))
    for content in (cut, bytes(flipped), b"", b"not a file"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged or no checkpoint.*start anew"):
            assemble(ritz.Batches(PARTS), path)
        assert path.read_bytes() == content


def test_files_of_other_things_are_refused(path):
    sums = assemble(ritz.Batches(PARTS))
    sums.save(path)
    with pytest.raises(ValueError, match=r"damaged or no checkpoint.*start anew"):
        assemble(ritz.Batches(PARTS), path)
    path.unlink()
    partial(path)
    with pytest.raises(ValueError, match="is a checkpoint: pass it as checkpoint="):
        ritz.load(path)


def test_sums_that_do_not_fit_the_functions_are_refused(path):
    partial(path)
    found = progress_in(path)
    for change in ({"sums": found.sums[1:]}, {"sums": tuple(part[1:] for part in found.sums)}):
        write(replace(found, **change), path)
        with pytest.raises(ValueError, match="'checkpoint' parameter"):
            assemble(ritz.Batches(PARTS), path)


FACTOR = 1.0


def test_an_operator_whose_function_reads_another_number_is_refused(path, monkeypatch):
    form = ritz.laplacian() + ritz.potential(lambda x: FACTOR * x[:, 0] ** 2)
    assemble(ritz.Batches(PARTS), path, form=form)
    monkeypatch.setitem(globals(), "FACTOR", 100.0)
    with pytest.raises(ValueError, match="one whose operator is"):
        assemble(ritz.Batches(PARTS), path, form=form)


@pytest.mark.parametrize("scale", [None, "standard"])
def test_rows_that_were_appended_to_a_text_are_refused(scale, path, tmp_path):
    file = tmp_path / "rows.csv"
    pa.csv.write_csv(pa.table(dict(zip("abc", X.T, strict=True))), file)
    options = {"kernel": "gaussian", "length_scale": 1.0, "n_centers": 20, "random_state": 0}
    model = ritz.SpectralEmbedding(2, operator="laplacian", scale=scale, **options)
    model.fit(ritz.open(file), checkpoint=path)
    model.fit(ritz.open(file), checkpoint=path)
    with open(file, "a") as text:
        text.write("1.0,2.0,3.0\n")
    with pytest.raises(ValueError, match=r"number of rows is unknown, in files of .* bytes and"):
        model.fit(ritz.open(file), checkpoint=path)


def test_functions_of_yours_are_refused_before_the_pass(path):
    slope = np.eye(3)[:1]
    basis = ritz.Functions([lambda x: x[:, 0]], gradients=[lambda x: slope.repeat(len(x), 0)])
    with pytest.raises(TypeError, match=r"holds functions of yours.*never code"):
        assemble(ritz.Batches(PARTS), path, basis=basis)
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_known_before_the_pass(tmp_path):
    with pytest.raises(FileNotFoundError):
        assemble(ritz.Batches(PARTS), tmp_path / "none" / "fit.ritz")


def test_no_file_is_no_progress(path):
    assert read_progress(path, {}) is None
