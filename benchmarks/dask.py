"""Two workers of one thread each, against two threads of one process, on the same rows.

Each worker holds its chunks before the fit, as the process holds the array. The ratio is the
cluster's time over the process's; the two run alternately.
"""

from __future__ import annotations

import numpy as np

import ritz
from benchmarks import TINY
from benchmarks.compare import Comparison, compare

D, K, SEED = 10, 8, 0
N, P, CHUNK_ROWS, REPEATS = (20_000, 50, 5000, 2) if TINY else (2_000_000, 500, 100_000, 3)


def made_chunk(block: np.ndarray, block_id: tuple[int, ...] | None = None) -> np.ndarray:
    """Return the rows of a chunk, which are the same wherever it is made."""
    assert block_id is not None
    return np.random.default_rng([SEED, block_id[0]]).normal(size=block.shape)


def cases() -> list[Comparison]:
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    def fit(X: object) -> object:
        basis = ritz.Nystrom(ritz.Gaussian(2.0), P)
        return ritz.decompose(
            ritz.laplacian(), basis, X, k=K, random_state=0, n_jobs=2, progress=False
        )

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "memory_limit": 0}
    with LocalCluster(dashboard_address=":0", **options) as cluster, Client(cluster):
        chunks = da.zeros((N, D), chunks=(CHUNK_ROWS, D)).map_blocks(made_chunk, dtype=float)
        X = chunks.persist()
        wait(X)
        rows = X.compute()
        case = f"n = {N:,}, d = {D}, p = {P}"
        found = compare(case, lambda: fit(rows), lambda: fit(X), REPEATS)
        np.testing.assert_allclose(fit(X).values, fit(rows).values, atol=1e-10)  # type: ignore[attr-defined]
    return [found]


def line(found: Comparison) -> str:
    r = found.record()
    return (
        f"{found.case}: two threads {r['ours_seconds']:.2f} s, two workers "
        f"{r['theirs_seconds']:.2f} s, ratio {r['ratio']:.2f} "
        f"({r['ratio_low']:.2f} to {r['ratio_high']:.2f})"
    )


if __name__ == "__main__":
    for found in cases():
        print(line(found))
