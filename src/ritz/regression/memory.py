"""How many functions fit into memory."""

from __future__ import annotations

import os

import numpy as np

from ritz.arrays import must


def require_memory(p: int, n_folds: int) -> None:
    """Raise where the matrices of p functions would not fit into memory."""
    needed = 8.0 * p**2 * (2 * n_folds + 6)
    try:
        there = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return
    if needed > 0.8 * there:
        most = int(np.sqrt(0.8 * there / (8.0 * (2 * n_folds + 6))))
        raise ValueError(
            must("n_centers", f"at most {most:,} on this machine", f"{p:,}")
            + f" Their matrices would take {needed / 1e9:.0f} GB of {there / 1e9:.0f} GB."
        )
