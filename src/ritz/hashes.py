"""A compiled hash of rows. Imported only where the compiler is loaded already."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

MINUS_ZERO = np.uint64(1) << np.uint64(63)


@njit
def folded(key: Any, bits: Any) -> Any:
    """Return a key with the bits of one number folded in, by the finalizer of splitmix64."""
    bits = np.uint64(0) if bits == MINUS_ZERO else bits
    k = (key ^ bits) + np.uint64(0x9E3779B97F4A7C15)
    k = (k ^ (k >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    k = (k ^ (k >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return k ^ (k >> np.uint64(31))


@njit(cache=True, nogil=True)
def fold_in(key: Any, columns: Any) -> None:
    """Fold the bits (n, d) of numbers into keys (n,)."""
    n, d = columns.shape
    whole = n - n % 4
    # Four rows at once: the steps of each wait for one another, those of several do not.
    for i in range(0, whole, 4):
        a, b, c, e = key[i], key[i + 1], key[i + 2], key[i + 3]
        for j in range(d):
            a, b = folded(a, columns[i, j]), folded(b, columns[i + 1, j])
            c, e = folded(c, columns[i + 2, j]), folded(e, columns[i + 3, j])
        key[i], key[i + 1], key[i + 2], key[i + 3] = a, b, c, e
    for i in range(whole, n):
        for j in range(d):
            key[i] = folded(key[i], columns[i, j])
