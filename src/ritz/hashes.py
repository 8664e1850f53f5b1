"""A compiled hash of rows. Imported only where the compiler is loaded already."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

ROWS = 64


@njit(cache=True, nogil=True)
def fold_in(key: Any, columns: Any) -> None:
    """Fold the bits (n, d) of numbers into keys (n,), by the finalizer of splitmix64."""
    minus_zero = np.uint64(1) << np.uint64(63)
    for start in range(0, len(key), ROWS):
        # Some rows at once: the steps of each wait for one another, those of several do not.
        end = min(start + ROWS, len(key))
        for c in range(columns.shape[1]):
            for i in range(start, end):
                bits = columns[i, c]
                bits = np.uint64(0) if bits == minus_zero else bits
                k = (key[i] ^ bits) + np.uint64(0x9E3779B97F4A7C15)
                k = (k ^ (k >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                k = (k ^ (k >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                key[i] = k ^ (k >> np.uint64(31))
