"""Chunks that an engine adds up in any order are in the file once, or not at all."""

import numpy as np
import pytest

import ritz
from benchmarks.checkpoints import difference
from ritz.assembly.checkpoint import digest, problem_of
from ritz.assembly.chunks import ChunkCheckpoint
from ritz.rows import Block

X = np.random.default_rng(0).normal(size=(1000, 3))
CHUNKS = np.array_split(X, 8)
FORM, BASIS = ritz.laplacian(), ritz.Nystrom(ritz.Gaussian(1.5), 30)
CROSS = ritz.cross()


def opened(path, form=FORM):
    return ChunkCheckpoint(path, problem_of(form, BASIS, len(X), (3,), 8, 0, (0,)))


def data_of(form, rows):
    return (rows, rows[:, :2]) if form.two_sided else rows


def receipt(rows):
    block = Block((rows,), np.ones(len(rows)), np.arange(len(rows)))
    return len(rows), digest(block)


@pytest.mark.parametrize("form", [FORM, ritz.neighbors(5), CROSS], ids=str)
def test_chunks_go_on_in_any_order(form, tmp_path):
    path = tmp_path / "fit.ritz"
    whole = ritz.assemble(form, BASIS, data_of(form, X), random_state=0)
    bases = (whole.left, whole.right) if form.two_sided else whole.left

    def sums(number):
        rows = data_of(form, CHUNKS[number])
        # A chunk of an engine does not know its place, so that equal rows share a fold.
        return ritz.assemble(whole.form, bases, rows)

    first = opened(path, form)
    assert first.bases is None
    first.begin(whole.form, (whole.left, whole.right))
    for numbers in ([3], [0, 6]):
        part = sum((sums(number) for number in numbers), 0)
        first.record({number: receipt(CHUNKS[number]) for number in numbers}, part)
    first.write()
    second = opened(path, form)
    assert set(second.done) == {0, 3, 6}
    assert not second.complete
    for number in second.done:
        second.require(number, *receipt(CHUNKS[number]))
    left, right = second.bases
    second.begin(whole.form, (left, right))
    for number in (7, 5, 1, 2, 4):
        second.record({number: receipt(CHUNKS[number])}, sums(number))
    found = second.finish()
    assert difference(found, whole) < 1e-12
    third = opened(path, form)
    third.begin(whole.form, third.bases)
    assert third.complete
    assert difference(third.finish(), found) == 0.0


def test_a_chunk_counts_once_and_must_be_the_same(tmp_path):
    path = tmp_path / "fit.ritz"
    sums = ritz.assemble(FORM, BASIS, CHUNKS[0], random_state=0)
    checkpoint = opened(path)
    checkpoint.begin(sums.form, (sums.left, sums.right))
    checkpoint.record({0: receipt(CHUNKS[0])}, sums)
    with pytest.raises(ValueError, match=r"chunks that are not in yet. Got \[0\] again"):
        checkpoint.record({0: receipt(CHUNKS[0])}, sums)
    with pytest.raises(ValueError, match="other rows in chunk 0"):
        checkpoint.require(0, *receipt(CHUNKS[1]))
    checkpoint.write()
    with pytest.raises(ValueError, match="operator is laplacian"):
        opened(path, ritz.neighbors(5))


def test_a_file_without_chunks_holds_the_functions(tmp_path):
    sums = ritz.assemble(FORM, BASIS, CHUNKS[0], random_state=0)
    opened(tmp_path / "fit.ritz").begin(sums.form, (sums.left, sums.right))
    again = opened(tmp_path / "fit.ritz")
    np.testing.assert_array_equal(again.bases[0](X), sums.left(X))
    again.begin(sums.form, again.bases)
    again.record({0: receipt(CHUNKS[0])}, sums)
    assert difference(again.finish(), sums) == 0.0


def test_no_chunk_has_no_sums(tmp_path):
    with pytest.raises(ValueError, match="at least one chunk"):
        opened(tmp_path / "fit.ritz").finish()
