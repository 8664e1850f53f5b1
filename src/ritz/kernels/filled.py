"""The sections of kernels that have a compiled pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.arrays import Array
from ritz.kernels.compiled import fill
from ritz.kernels.distances import Distances
from ritz.kernels.kernel import Kernel, Sections


def filled_sections(
    kernel: Kernel,
    X: Array,
    Y: Array,
    offset: Array,
    wanted: tuple[bool, bool, bool, bool],
    dtype: Any,
) -> Sections:
    """Return the sections of a kernel that has a compiled pass, those that are wanted."""
    if not (len(X) and len(Y)):
        none = np.empty((len(X), len(Y)), dtype)
        return Sections(*(none.copy() if want else None for want in wanted))
    assert kernel.compiled is not None
    name, a, b = kernel.compiled
    coefficients = (np.array(a), np.array(b))
    found: tuple[Array, Array, Array]
    if kernel.family == "distance":
        found = Distances.of(X, Y)
    else:
        found = (X @ Y.T, np.empty((len(X), 0)), np.empty((0, len(Y))))
    return Sections(*fill(name, coefficients, found, offset, wanted, dtype))
