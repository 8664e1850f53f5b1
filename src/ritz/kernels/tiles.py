"""Sums over rows of products of kernel sections, a tile of rows at a time, by compiled code.

From coordinates to sums without Python in between: the sections of a tile are still in cache when
the linear algebra library multiplies them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz import native
from ritz.arrays import TILE_ROWS, Array
from ritz.features.products import halved
from ritz.kernels.compiled import PASSES


class Pass(NamedTuple):
    """What `Room.add` adds up: sections of a kernel at centers.

    Parameters
    ----------
    name, a, b
        The pass in `compiled`, and its coefficients.
    frame
        What to take off the rows and to divide them by (2, d).
    Y, offset
        The centers (d, p) as `Distances` has them, and what to take off the values.
    wanted
        Which of values, shifted values, slopes and stretched slopes to compute (4,).
    pairs
        Which of them to multiply (m, 2).
    """

    name: str
    a: Array
    b: Array
    frame: Array
    Y: Array
    offset: Array
    wanted: NDArray[np.int64]
    pairs: NDArray[np.int64]


class Room(NamedTuple):
    """Where one thread works: arrays for a tile, and what is to be done with them.

    Parameters
    ----------
    given
        What compiled code is told, up to the data.
    partial, target
        Room for matrices (1, p^2) and sums of columns (1, 4, p) of one fold, zero, and where they
        are; sums of double precision need none.
    """

    given: tuple[Any, ...]
    partial: tuple[list[Array], Array] | None = None
    target: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, what: Pass, dtype: Any) -> Room:
        """Return room for the tiles of a pass, in the precision of its sums."""
        d, p = what.Y.shape
        sections, points = native.room_of(TILE_ROWS, d, p)
        given = (
            PASSES[what.name],
            p,
            TILE_ROWS,
            int(halved(p, dtype)),
            what.Y,
            what.offset,
            what.a,
            what.b,
            what.frame,
            what.wanted,
            what.pairs,
            np.empty(sections, dtype),
            np.empty(points),
        )
        if dtype == np.float64:
            return cls(given)
        partial = [np.zeros((1, p * p), dtype) for _ in what.pairs], np.zeros((1, 4, p), dtype)
        return cls(given, partial, places_of(*partial))

    def add(
        self,
        X: Array,
        rows: NDArray[np.intp],
        weight: Array,
        ends: NDArray[np.intp],
        targets: NDArray[np.int64],
    ) -> None:
        """Add what some rows of X (n, d) give to matrices and sums of columns of their folds.

        Of a pair of equal sections the lower triangle is added, if that takes less time.

        Parameters
        ----------
        X, rows, weight
            The data, which rows of it to add, and their weights (rows,).
        ends
            The rows of fold f are those from ends[f] to ends[f + 1].
        targets
            Addresses (folds, m + 1) of the matrices of each fold, and of its sums.
        """
        add_tiles: Callable[..., None] = native.add_tiles
        add_tiles(*self.given, X, rows, weight, ends, targets)


def places_of(matrices: list[Array], columns: Array) -> NDArray[np.int64]:
    """Return where matrices (folds, size) and sums (folds, 4, p) of some folds are."""
    arrays = (*matrices, columns)
    starts = np.array([array.ctypes.data for array in arrays], dtype=np.int64)
    steps = np.array([array.strides[0] for array in arrays], dtype=np.int64)
    return np.asarray(starts + np.arange(len(columns))[:, None] * steps)
