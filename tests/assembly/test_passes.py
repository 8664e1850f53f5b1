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


def test_what_goes_wrong_with_a_part_is_told(monkeypatch):
    monkeypatch.setattr(passes, "PART_ROWS", 10)
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
    for part_rows, n_jobs in ((100, 1), (100, 3), (4096, 1)):
        monkeypatch.setattr(passes, "PART_ROWS", part_rows)
        found.append(ritz.assemble(ritz.laplacian(), basis, X, random_state=0, n_jobs=n_jobs))
    parts, threads, whole = found
    assert whole.rounding == np.finfo(dtype).eps
    for name in ("L", "Phi"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(threads, name))
        expected = np.array(getattr(whole, name))
        atol = 100 * whole.rounding * np.abs(expected).max()
        np.testing.assert_allclose(getattr(parts, name), expected, rtol=0, atol=atol)
