"""QR decomposition of a tall matrix that comes in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dtpqrt

from ritz.validation import Array


def triangular_factor(
    blocks: Iterable[Array], columns: int, diagonal: Array | None = None
) -> Array:
    """Return the upper triangular R (columns, columns) with R'R = A'A.

    A is the blocks stacked on top of each other. Each block is rotated into R by LAPACK's dtpqrt,
    so that neither A nor its orthogonal factor is held in memory, and A'A is not formed.

    Parameters
    ----------
    blocks
        Arrays (rows, columns).
    columns
        The number of columns.
    diagonal
        Numbers (m,), m <= columns: the rows of a last block diag(diagonal), padded with zeros on
        the right. It comes last because small rows above large ones would lose their digits.
    """
    R = np.zeros((columns, columns), order="F")
    for block in blocks:
        _rotate(R, np.array(block, dtype=np.float64, order="F"), 0)
    if diagonal is not None:
        m = len(diagonal)
        last = np.zeros((m, columns), order="F")
        np.fill_diagonal(last, diagonal)
        _rotate(R, last, m)
    return np.triu(R)


def _rotate(R: Array, rows: Array, triangular: int) -> None:
    """Rotate rows into R, overwriting both; the last `triangular` of them are a triangle."""
    # Blocks of 64 columns are wide enough for matrix products to dominate.
    *_, info = dtpqrt(triangular, min(64, len(R)), R, rows, overwrite_a=1, overwrite_b=1)
    if info:
        raise LinAlgError(f"dtpqrt failed with info = {info}.")
