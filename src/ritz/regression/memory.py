"""How many functions fit into memory."""

from __future__ import annotations

import os

import numpy as np

from ritz.arrays import must


def require_memory(p: int, n_folds: int, held: int = 0) -> None:
    """Raise where matrices of p functions, and p numbers for each row held, would not fit."""
    try:
        there = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return
    square = 2 * n_folds + 6
    needed = 8.0 * p * (square * p + held)
    if needed > 0.8 * there:
        room = 0.8 * there / 8 / square
        most = int(np.sqrt(room + (held / square / 2) ** 2) - held / square / 2)
        raise ValueError(
            must("n_centers", f"at most {most:,} on this machine", f"{p:,}")
            + f" They would take {needed / 1e9:.0f} GB of {there / 1e9:.0f} GB."
            + " solver='sums' holds no rows." * (held > 0)
        )
