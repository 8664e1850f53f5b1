"""Compiled steps of making matrices of products. Imported on first use only, as `hashes` is."""

from __future__ import annotations

from typing import Any

from numba import njit

TILE = 32


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
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
        for top in range(0, p, TILE):
            for left in range(0, top + 1, TILE):
                bottom = top + TILE if top + TILE < p else p
                for i in range(top, bottom):
                    for j in range(left, left + TILE if left + TILE <= i else i + 1):
                        T = inner[f, i, j] + (half[f, i] * offset[j] + offset[i] * half[f, j])
                        M = stretched[f, i, j] + stretched[f, j, i]
                        M += sums[f, i] * offset[j] + offset[i] * sums[f, j]
                        stretched[f, i, j] = (M * unit - spread[i, j] * T) / 2
                for j in range(left, left + TILE if left < top else bottom):
                    for i in range(top if top > j else j, bottom):
                        stretched[f, j, i] = stretched[f, i, j]
