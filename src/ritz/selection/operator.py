"""Which operator suits the samples: the ambient one where they fill their space."""

from __future__ import annotations

import numpy as np

from ritz.rows import seeded_priorities
from ritz.search import NearestRows
from ritz.selection.rows import Rows, keys_of
from ritz.selection.steps import FEWEST_COMPARED_ROWS
from ritz.validation import Array

# Rows that the dimension is estimated from, their neighbors, and shuffled copies to compare with.
DIMENSION_ROWS, NEIGHBORS, SHUFFLES = 2000, 15, 3
# The share of the dimension of shuffled columns above which samples fill their space: it is 0.93 to
# 1.02 for boxes, normal samples and noisy curves in the plane, and below 0.9 for surfaces and most
# tables.
FILLED = 0.925
# Where rows are too few to tell, they are taken to fill up to 3 columns. More than 200 columns are
# never taken to be filled.
FEW_COLUMNS, MOST_COLUMNS = 3, 200


def fills_space(data: Rows, seed: int = 0) -> bool:
    """Return whether samples fill their space, and do not lie near something of lower dimension.

    Their intrinsic dimension is compared with that of independent columns: principal components
    that are shuffled one by one.
    """
    d = data.dimension
    if d == 1 or d > MOST_COLUMNS or data.n_distinct < FEWEST_COMPARED_ROWS:
        return bool(d <= FEW_COLUMNS)
    rows = data.sample(DIMENSION_ROWS, seed).X
    # In an order of their own, so that the seed decides nothing where all rows are looked at.
    order = np.argsort(seeded_priorities(keys_of(rows), 0))
    sample = np.array(rows[order], dtype=np.float64)
    # Columns have one size, so that squares neither overflow nor underflow.
    sample /= np.maximum(np.abs(sample).max(axis=0), np.finfo(np.float64).tiny)
    sample -= sample.mean(axis=0)
    sample = sample[:, sample.std(axis=0) > 1e-14]
    U, s, _ = np.linalg.svd(sample, full_matrices=False)
    Z = U[:, s > 1e-6 * s.max(initial=0.0)]
    if not 0 < Z.shape[1] == sample.shape[1]:
        return False
    rng = np.random.default_rng(0)
    shuffled = [intrinsic_dimension(rng.permuted(Z, axis=0)) for _ in range(SHUFFLES)]
    return intrinsic_dimension(Z) >= FILLED * float(np.mean(shuffled))


def intrinsic_dimension(X: Array) -> float:
    """Return the dimension of what rows (n, d) lie on, by the maximum likelihood of distances.

    The number of neighbors within a distance r grows as r to the power of the dimension.
    """
    distances = NearestRows(X).others(min(NEIGHBORS, len(X) - 1))[0]
    distances = distances[distances[:, 0] > 0]
    if len(distances) < 2:
        return 0.0
    return float(1 / np.log(distances[:, -1:] / distances[:, :-1]).mean())
