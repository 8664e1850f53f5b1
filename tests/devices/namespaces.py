"""Two libraries of the array API standard: torch, and one that has nothing beyond the standard.

The device of the latter refuses to become an array of NumPy, as a graphics card does, so that what
runs there transfers nothing unawares.
"""

import array_api_strict
import numpy as np
import torch

from ritz.namespaces import to_host

DEVICE = array_api_strict.Device("device1")
NAMESPACES = {
    "torch": torch.asarray,
    "strict": lambda array: array_api_strict.asarray(array, device=DEVICE),
}


def largest_gap(ours, theirs):
    """Return the largest difference of two arrays, relative to the largest number."""
    ours, theirs = to_host(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


def gap_of_sums(ours, theirs):
    """Return the largest gap of the matrices of all folds, which are arrays of NumPy in both."""
    assert np.array_equal(ours.count, theirs.count)
    return max(
        largest_gap(mine, yours)
        for name in ("L", "Phi", "Psi")
        for mine, yours in zip(getattr(ours, name), getattr(theirs, name), strict=True)
        if isinstance(mine, np.ndarray)
    )
