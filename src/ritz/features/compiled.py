"""Compiled steps of making matrices of products. Imported on first use only, as `hashes` is."""

from __future__ import annotations

from typing import Any

from ritz.compiling import compiled

TILE = 32


@compiled
def join_distances(
    inner: Any,
    half: Any,
    stretched: Any,
    sums: Any,
    unit: float,
    spread: Any,
    offset: Any,
) -> None:
    """Write (u (M + M' + s c' + c s') - E * (V + h c' + c h')) / 2 in place of M, for each fold.

    By tiles that stay in cache with their mirror images. V = inner and M = stretched (folds, p, p),
    h = half and s = sums (folds, p), E = spread, c = offset, u = unit; V and E are symmetric, and
    so is the result.
    """
    p = len(offset)
    for f in range(len(inner)):
        # Rows of one fold: three numbers to an entry take longer to compile than two.
        V, M, h, s = inner[f], stretched[f], half[f], sums[f]
        for top in range(0, p, TILE):
            for left in range(0, top + 1, TILE):
                for i in range(top, min(top + TILE, p)):
                    for j in range(left, min(left + TILE, i + 1)):
                        T = V[i, j] + (h[i] * offset[j] + offset[i] * h[j])
                        twice = M[i, j] + M[j, i] + (s[i] * offset[j] + offset[i] * s[j])
                        M[i, j] = M[j, i] = (twice * unit - spread[i, j] * T) / 2
