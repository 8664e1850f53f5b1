"""Which columns move each function: mean squared partial derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ritz.rows import sample_rows
from ritz.validation import Array

# Numbers of the gradients that are held at a time, and the most rows looked at.
GRADIENT_NUMBERS, MOST_ROWS = 4_000_000, 2000


def column_shares(X: Array, k: int, gradient: Callable[[Array], Array]) -> Array:
    """Return E[(d_c f)^2] var(x_c) of k functions, as shares (d, k) over the columns c.

    Each derivative is one for a standard deviation of its column, so that units do not count.

    Parameters
    ----------
    X
        Rows (n, d).
    k
        The number of functions.
    gradient
        A function of rows (m, d) that returns gradients (m, d, k).
    """
    d = X.shape[1]
    m = max(1, min(len(X), MOST_ROWS, GRADIENT_NUMBERS // (d * k)))
    rows = X[sample_rows(X, m, seed=0)]
    size = np.maximum(np.abs(X).max(axis=0), np.finfo(np.float64).tiny)
    deviations = size * (X / size).std(axis=0)
    squares = ((gradient(rows) * deviations[:, None]) ** 2).mean(axis=0)
    return np.asarray(squares / np.maximum(squares.sum(axis=0), np.finfo(np.float64).tiny))
