"""How many functions fit into memory."""

from __future__ import annotations

import os
import sys

import numpy as np

from ritz.arrays import must

SHARE = 0.8


def most_functions(n_folds: int, held: int = 0) -> int:
    """Return the largest p whose matrices, and p numbers for each row held, fit into memory."""
    try:
        there = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return sys.maxsize
    # Minus one where the system does not tell.
    if there <= 0:
        return sys.maxsize
    squares = _squares(n_folds)
    half = held / squares / 2
    return int(np.sqrt(SHARE * there / 8 / squares + half**2) - half)


def require_memory(p: int, n_folds: int, held: int = 0, name: str = "n_centers") -> None:
    """Raise where p functions would not fit into memory."""
    most = most_functions(n_folds, held)
    if p > most:
        needed = 8.0 * p * (_squares(n_folds) * p + held)
        raise ValueError(
            must(name, f"at most {most:,} on this machine", f"{p:,}")
            + f" They would take {needed / 1e9:.0f} GB."
        )


def _squares(n_folds: int) -> int:
    """Return how many matrices (p, p) there are at once."""
    return 2 * n_folds + 6
