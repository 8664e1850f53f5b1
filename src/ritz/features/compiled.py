"""Compiled steps of making matrices of products. Imported on first use only, as `hashes` is."""

from __future__ import annotations

from typing import Any

from numba import njit

TILE = 32


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def join_distances(
    inner: Any, half: Any, joined: Any, sums: Any, unit: float, spread: Any, offset: Any
) -> None:
    """Replace the lower triangle of M by (u (M + M' + s c' + c s') - E * (V + h c' + c h')) / 2.

    By tiles that stay in cache with their mirror images. V = inner and M = joined have room for the
    function 1, (1 + p, 1 + p); E = spread (p, p); h = half, s = sums, c = offset, u = unit. V and E
    are symmetric.
    """
    p = len(spread)
    for top in range(0, p, TILE):
        bottom = top + TILE if top + TILE < p else p
        for left in range(0, top + 1, TILE):
            for i in range(top, bottom):
                for j in range(left, left + TILE if left + TILE < i + 1 else i + 1):
                    T = inner[1 + i, 1 + j] + (half[i] * offset[j] + offset[i] * half[j])
                    M = joined[1 + i, 1 + j] + joined[1 + j, 1 + i]
                    M += sums[i] * offset[j] + offset[i] * sums[j]
                    joined[1 + i, 1 + j] = (M * unit - spread[i, j] * T) / 2
