"""The goals of speed: each figure, its goal, and whether it is met."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.neighbors import NearestNeighbors

import ritz
from benchmarks import TINY, embedding, floor, klap_fit
from benchmarks.compare import Comparison

# A figure of speed within ten percent of its goal counts as met.
TOLERANCE = 0.1
FLOOR_GOALS = {100: 1.8, 50: 1.8} if TINY else {1000: 1.2, 200: 1.4, 100: 1.8}
KLAP_GOALS = {"Gaussian": 40.0, "exponential": 55.0}
EMBEDDING_ROWS, EMBEDDING_GOAL = 600 if TINY else 10_000, 250.0
NEIGHBOR_ROWS = 600 if TINY else 5000


@dataclass(frozen=True)
class Goal:
    """A figure and what it has to be.

    Parameters
    ----------
    what
        What is measured.
    found
        The figure.
    goal
        Its bound.
    at_most
        Whether the bound is an upper one.
    detail
        Times or a range, to be printed.
    """

    what: str
    found: float
    goal: float
    at_most: bool
    detail: str

    @property
    def met(self) -> bool:
        # The number of searches is exact; times are not.
        slack = TOLERANCE if isinstance(self.found, float) else 0.0
        if self.at_most:
            return self.found <= self.goal * (1 + slack)
        return self.found >= self.goal * (1 - slack)

    def __str__(self) -> str:
        sign = "<=" if self.at_most else ">="
        verdict = "too small to judge" if TINY else "met" if self.met else "MISSED"
        judged = f"{self.found:7.4g} ({sign} {self.goal:g}: {verdict})"
        return f"{self.what:<54} {judged}   {self.detail}"


def over_floor() -> list[Comparison]:
    return [floor.case("Gaussian", p, 1 if TINY else 5) for p in FLOOR_GOALS]


def against_sklearn(repeats: int = 1) -> list[dict[str, Any]]:
    return embedding.cases((EMBEDDING_ROWS,), repeats, ("graph",))


def neighbor_searches() -> tuple[int, int]:
    """Return how many searches one fit makes over all rows, and how many over fewer."""
    X = np.random.default_rng(0).normal(size=(NEIGHBOR_ROWS, 10))
    queries = []
    kneighbors = NearestNeighbors.kneighbors

    def counted(self: NearestNeighbors, X: Any = None, *args: Any, **options: Any) -> Any:
        queries.append(self.n_samples_fit_ if X is None else len(X))
        return kneighbors(self, X, *args, **options)

    with patch.object(NearestNeighbors, "kneighbors", counted):
        ritz.SpectralEmbedding(8, operator="neighbors", random_state=0).fit(X)
    full = sum(n == NEIGHBOR_ROWS for n in queries)
    return full, len(queries) - full


def table(
    floors: list[Comparison], klaps: list[Comparison], embeddings: list[dict[str, Any]]
) -> list[Goal]:
    """Return the goals with the figures of these measurements, and count neighbor searches."""
    goals = []
    for comparison, (p, goal) in zip(floors, FLOOR_GOALS.items(), strict=True):
        middle, low, high = floor.over_floor(comparison)
        what = f"over the floor, n={floor.N:,}, d=10, p={p}"
        goals.append(Goal(what, middle, goal, True, f"{low:.2f} to {high:.2f} in half the runs"))
    for comparison, goal in zip(klaps, KLAP_GOALS.values(), strict=True):
        r = comparison.record()
        detail = f"{r['theirs_seconds']:.1f} to {r['ours_seconds']:.3f} s"
        goals.append(Goal(f"klap, {comparison.case}", r["ratio"], goal, False, detail))
    graph = embedding.PEERS["graph"]
    (case,) = (c for c in embeddings if (c["n"], c["peer"]) == (EMBEDDING_ROWS, graph))
    what = f"scikit-learn's SpectralEmbedding, n={case['n']:,}"
    detail = f"{case['peer_seconds']:.1f} to {case['ours_seconds']:.3f} s"
    goals.append(Goal(what, case["time_ratio"], EMBEDDING_GOAL, False, detail))
    full, partial = neighbor_searches()
    what = f"full neighbor searches in one fit, n={NEIGHBOR_ROWS:,}"
    goals.append(Goal(what, full, 1, True, f"and {partial} on subsamples"))
    return goals


def records(goals: list[Goal]) -> list[dict[str, Any]]:
    return [{**asdict(goal), "met": goal.met} for goal in goals]


if __name__ == "__main__":
    start = time.perf_counter()
    for goal in table(over_floor(), klap_fit.large(), against_sklearn()):
        print(goal)
    print(f"{time.perf_counter() - start:.0f} s")
