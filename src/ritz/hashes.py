"""A compiled hash of rows. Imported only where the compiler is loaded already."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.compiling import HASHES, INTEGER, Routine, inlined

MINUS_ZERO = np.uint64(1) << np.uint64(63)


@inlined
def folded(key: Any, bits: Any) -> Any:
    """Return a key with the bits of one number folded in, by the finalizer of splitmix64."""
    bits = np.uint64(0) if bits == MINUS_ZERO else bits
    k = (key ^ bits) + np.uint64(0x9E3779B97F4A7C15)
    k = (k ^ (k >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    k = (k ^ (k >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return k ^ (k >> np.uint64(31))


def fold_in(key: NDArray[np.uint64], numbers: NDArray[np.float64]) -> None:
    """Fold numbers (n, d) into keys (n,), by their bits."""
    FOLD_IN(*numbers.shape, key, numbers.view(np.uint64))


def _fold_in(n: int, d: int, key: Any, bits: Any) -> None:
    # By columns: the steps of one row wait for one another, those of several do not.
    for j in range(d):
        for i in range(n):
            key[i] = folded(key[i], bits[i * d + j])


FOLD_IN = Routine(_fold_in, INTEGER, INTEGER, HASHES, HASHES)
