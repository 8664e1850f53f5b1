"""What is computed in C.

Arrays have no gaps, and the types that are asked for: float64 or float32 where that is open. None
stands for those that may be missing. Sizes are checked, and that they go together.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Integers = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Reals = NDArray[Any]

INSTRUCTIONS: Final[str]
"""Which instructions of the processor are used: "avx2", or "baseline" for those that all have."""

def fold_in(keys: Hashes, numbers: Doubles, /) -> None:
    """Fold numbers (n, d) into keys (n,), by their bits."""

def lowest(priority: Hashes, m: int, places: Integers, /) -> int:
    """Write the places of the m lowest different priorities; return how many there are."""

def by_remainder(keys: Hashes, order: Integers, ends: Integers, /) -> None:
    """Write rows (n,) in order of their folds, and where those begin and end (folds + 1,)."""

def differences(n: int, p: int, X: Doubles, Y: Doubles, S: Doubles, /) -> None:
    """Write |x - y|^2 (n, p) for points (n, d) and centers (d, p)."""

def squares(G: Doubles, X: Doubles, Y: Doubles, x2: Doubles, y2: Doubles, /) -> None:
    """Turn -2 x.y (n, p), about a mean, into |x - y|^2; close pairs by differences."""

def fill(
    kernel: int,
    n: int,
    d: int,
    p: int,
    S: Doubles | None,
    X: Doubles | None,
    Y: Doubles | None,
    offset: Doubles | None,
    a: Doubles | None,
    b: Doubles | None,
    values: Reals | None,
    shifted: Reals | None,
    slopes: Reals | None,
    stretched: Reals | None,
    /,
) -> None:
    """Write the sections (n, p) of a kernel, those that are given."""

def room_of(tile: int, d: int, p: int, /) -> tuple[int, int]:
    """Return how many numbers `add_tiles` needs room for, of the type of the sums and doubles."""

def add_tiles(
    kernel: int,
    p: int,
    tile: int,
    halves: int,
    Y: Doubles,
    offset: Doubles,
    a: Doubles,
    b: Doubles,
    frame: Doubles,
    wanted: Integers,
    pairs: Integers,
    room: Reals,
    points: Doubles,
    X: Doubles,
    rows: Integers,
    weight: Doubles,
    ends: Integers,
    targets: Integers,
    /,
) -> None:
    """Add products of sections to the matrices, and sums of columns, at some addresses."""

def add_product(p: int, q: int, factor: float, C: Reals, A: Reals, B: Reals | None, /) -> None:
    """Add factor * A' B to C (p, q); without B, A' A to its lower triangle."""

def empty_into(width: int, lower: int, some: Reals, total: Doubles, /) -> None:
    """Add rows of a width to a total, or of a square the lower triangle, and set them to zero."""

def join_distances(
    unit: float,
    V: Doubles,
    h: Doubles,
    M: Doubles,
    s: Doubles,
    E: Doubles,
    c: Doubles,
    /,
) -> None:
    """Write (u (M + M' + s c' + c s') - E * (V + h c' + c h')) / 2 in place of M, for each fold.

    V and M (folds, p, p), h and s (folds, p), E (p, p), c (p,), u the unit; V and E are symmetric.
    """

def cosines(angles: Doubles, turns: int, scale: float, result: Doubles, /) -> None:
    """Write scale cos(angle + turns pi / 2), for angles up to 1e5."""

def sum_few(
    kernel: int,
    pilot: int,
    enough: int,
    seed: int,
    X: Doubles,
    weight: Doubles,
    scale: Doubles,
    a: Doubles,
    b: Doubles,
    centers: Doubles,
    offset: Doubles,
    weights: Doubles,
    counts: Integers,
    L: Doubles,
    Phi: Doubles,
    /,
) -> bool:
    """Write what few rows add up to; return whether all was as it should be."""

def solve_few(
    squares: int,
    weight: float,
    L: Doubles,
    Phi: Doubles,
    offset: Doubles,
    means: Doubles,
    values: Doubles,
    constants: Doubles,
    residuals: Doubles,
    coefficients: Doubles,
    /,
) -> int:
    """Write the lowest eigenvalues of few functions; return the rank, 0 if that takes more."""
