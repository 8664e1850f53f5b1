"""Nearest rows: a kd-tree against all distances, for the rule that chooses between them.

Microseconds of one core for each row searched for, ten neighbors, normal rows: the hardest for a
tree, since their dimension is d.
"""

from __future__ import annotations

import time

import numpy as np

import ritz.search
from benchmarks import TINY
from ritz.search import NearestRows

SIZES = (500,) if TINY else (2_000, 10_000, 60_000)
COLUMNS = (2, 8) if TINY else (2, 4, 5, 6, 7, 8, 10, 12, 20, 50)
SEARCHED, K = 500, 10


def microseconds(n: int, d: int, by_tree: bool) -> float:
    """Return the time for each of 500 rows in a search among n rows of d columns."""
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(n, d)), rng.normal(size=(SEARCHED, d))
    rule = ritz.search.TREE_COLUMNS
    ritz.search.TREE_COLUMNS = d if by_tree else 0
    try:
        search = NearestRows(points)
    finally:
        ritz.search.TREE_COLUMNS = rule
    seconds = []
    for _ in range(3):
        start = time.thread_time()
        search(rows, K)
        seconds.append(time.thread_time() - start)
    return min(seconds) / SEARCHED * 1e6


if __name__ == "__main__":
    print(f"tree / all distances; the rule takes a tree up to d = {ritz.search.TREE_COLUMNS}")
    print("    d" + "".join(f"{n:>20,}" for n in SIZES))
    for d in COLUMNS:
        cells = [[microseconds(n, d, by_tree) for by_tree in (True, False)] for n in SIZES]
        print(
            f"{d:5}" + "".join(f"{tree:>11.0f} /{all_:>7.0f}" for tree, all_ in cells), flush=True
        )
