"""The code of docs/engines.md runs, and sums of blocks are those of all rows."""

import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from operator import add
from pathlib import Path

import numpy as np

import ritz

PAGE = (Path(__file__).parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")


def assert_same_sums(found, expected):
    np.testing.assert_array_equal(found.count, expected.count)
    for name in ("L", "Phi"):
        for ours, theirs in zip(getattr(found, name), getattr(expected, name), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * np.abs(theirs).max())


def test_blocks_run_in_order_and_give_the_sums_of_all_rows():
    names = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "engines.md", "exec"), names)
    whole = ritz.assemble(names["form"], names["basis"], names["X"])
    assert_same_sums(names["total"], whole)
    assert_same_sums(names["again"], whole)
    assert names["functions"].repeats
    repeated = ritz.assemble(names["form"], names["functions"], names["counts"])
    assert_same_sums(names["repeated"], repeated)
    np.testing.assert_allclose(names["spectrum"].values, [0, 1, 1, 2], atol=0.2)
    assert len(names["model"].eigenvalues_) == 3


# What an engine such as Ray maps: functions of a module, of values that it has stored.


def block_sums(basis, path, first_row):
    return ritz.assemble(ritz.neighbors(4), basis, np.load(path), first_row=first_row, n_jobs=1)


def test_a_map_and_a_tree_of_tasks(tmp_path):
    X = np.random.default_rng(0).integers(0, 30, size=(3000, 2)).astype(float)
    starts, paths = [0, 700, 1500, 2200], []
    for number, rows in enumerate(np.split(X, starts[1:])):
        paths.append(tmp_path / f"{number}.npy")
        np.save(paths[-1], rows)
    basis = ritz.assemble(
        ritz.neighbors(4), ritz.Nystrom(ritz.Gaussian(6.0), 30), X[::5], random_state=0
    ).left
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(block_sums, [basis] * 4, paths, starts))
        while len(parts) > 1:
            parts = list(pool.map(add, parts[::2], parts[1::2]))
    assert basis.repeats
    assert_same_sums(parts[0], ritz.assemble(ritz.neighbors(4), basis, X))
