"""Compiled steps of making matrices of products. Imported on first use only, as `hashes` is."""

from __future__ import annotations

from typing import Any

from ritz.arrays import Array
from ritz.compiling import DOUBLES, INTEGER, REAL, Routine

TILE = 32


def join_distances(
    inner: Array,
    half: Array,
    stretched: Array,
    sums: Array,
    unit: float,
    spread: Array,
    offset: Array,
) -> None:
    """Write (u (M + M' + s c' + c s') - E * (V + h c' + c h')) / 2 in place of M, for each fold.

    V = inner and M = stretched (folds, p, p), h = half and s = sums (folds, p), E = spread,
    c = offset, u = unit; V and E are symmetric, and so is the result.
    """
    JOIN(len(inner), len(offset), unit, inner, half, stretched, sums, spread, offset)


def _join_distances(
    folds: int, p: int, unit: float, V: Any, h: Any, M: Any, s: Any, E: Any, c: Any
) -> None:
    for f in range(folds):
        square, line = f * p * p, f * p
        # By tiles that stay in cache with their mirror images.
        for top in range(0, p, TILE):
            for left in range(0, top + 1, TILE):
                for i in range(top, top + TILE if top + TILE < p else p):
                    for j in range(left, left + TILE if left + TILE < i + 1 else i + 1):
                        here, there = square + i * p + j, square + j * p + i
                        T = V[here] + (h[line + i] * c[j] + c[i] * h[line + j])
                        twice = M[here] + M[there] + (s[line + i] * c[j] + c[i] * s[line + j])
                        M[here] = M[there] = (twice * unit - E[i * p + j] * T) / 2


JOIN = Routine(_join_distances, INTEGER, INTEGER, REAL, *[DOUBLES] * 6)
