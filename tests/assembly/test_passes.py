"""Rows handed out by folds and parts."""

import sys
import time
from itertools import pairwise

import numpy as np
import pytest

import ritz
from ritz.arrays import Block
from ritz.assembly import passes
from ritz.assembly.passes import Turns
from ritz.threads import Workers


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_no_fold_is_with_two_threads_and_its_rows_come_in_order(threads, monkeypatch):
    monkeypatch.setattr(passes, "PART_ROWS", 10)
    monkeypatch.setattr(passes, "TILE_ROWS", 1)
    block = Block((np.zeros((200, 1)),), np.ones(200), np.arange(200))
    rows, ends = np.arange(200), np.array([0, 95, 100, 100, 200])
    seen: dict[int, list[int]] = {fold: [] for fold in range(4)}
    busy: set[int] = set()
    pause = np.random.default_rng(0).uniform(0, 1e-3, 200)

    def add(fold, block, rows, ends):
        assert ends.tolist() == [0, len(rows)]
        assert fold not in busy
        busy.add(fold)
        time.sleep(pause[rows].sum())
        seen[fold].extend(rows)
        busy.remove(fold)

    turns = Turns(add, block, rows, ends)
    assert turns.count == 10 + 1 + 1 + 10
    with Workers(threads) as run:
        list(run(turns.take, range(turns.count)))
    assert [seen[fold] for fold in range(4)] == [list(range(a, b)) for a, b in pairwise(ends)]


@pytest.mark.parametrize("n", [0, 1, 8192, 8193, 16_383, 16_385, 25_000, 200_000])
def test_parts_are_of_whole_tiles_and_about_one_size(n):
    parts = passes.in_parts(np.arange(n))
    assert np.concatenate(parts).tolist() == list(range(n))
    assert len(parts) == max(1, -(-n // 8192))
    assert max(map(len, parts)) <= 8192
    assert all(len(part) % 512 == 0 for part in parts[:-1])
    assert len(parts) == 1 or min(map(len, parts[:-1])) >= 2048


def test_parts_can_be_of_whole_tiles():
    assert passes.PART_ROWS % passes.TILE_ROWS == 0


def test_what_goes_wrong_with_a_part_is_told(monkeypatch):
    monkeypatch.setattr(passes, "PART_ROWS", 10)
    monkeypatch.setattr(passes, "TILE_ROWS", 1)
    block = Block((np.zeros((200, 1)),), np.ones(200), np.arange(200))

    def add(fold, block, rows, ends):
        if 50 in rows:
            raise RuntimeError("fifty")

    turns = Turns(add, block, np.arange(200), np.array([0, 100, 200]))
    with Workers(2) as run, pytest.raises(RuntimeError, match="fifty"):
        list(run(turns.take, range(turns.count)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_do_not_change_the_sums_and_parts_round_them_otherwise(dtype, monkeypatch):
    monkeypatch.setattr(sys.modules["ritz.assembly.assemble"], "LITTLE_WORK", 0.0)
    X = np.random.default_rng(0).normal(size=(3000, 3)).astype(dtype)
    basis = ritz.Nystrom(ritz.Gaussian(0.5), 20)
    found = []
    for part_rows, n_jobs in ((100, 1), (100, 3), (8192, 1)):
        monkeypatch.setattr(passes, "PART_ROWS", part_rows)
        monkeypatch.setattr(passes, "TILE_ROWS", 10)
        found.append(ritz.assemble(ritz.laplacian(), basis, X, random_state=0, n_jobs=n_jobs))
    parts, threads, whole = found
    assert whole.rounding == np.finfo(dtype).eps
    for name in ("L", "Phi"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(threads, name))
        expected = np.array(getattr(whole, name))
        atol = 100 * whole.rounding * np.abs(expected).max()
        np.testing.assert_allclose(getattr(parts, name), expected, rtol=0, atol=atol)
