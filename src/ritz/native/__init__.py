"""What is computed in C: the sources lie here, and `_c.pyi` says what each function does."""

from ritz.native._c import (
    INSTRUCTIONS,
    add_product,
    add_tiles,
    by_remainder,
    cosines,
    differences,
    empty_into,
    fill,
    fold_in,
    join_distances,
    lowest,
    room_of,
    solve_few,
    squares,
    sum_few,
)

__all__ = [
    "INSTRUCTIONS",
    "add_product",
    "add_tiles",
    "by_remainder",
    "cosines",
    "differences",
    "empty_into",
    "fill",
    "fold_in",
    "join_distances",
    "lowest",
    "room_of",
    "solve_few",
    "squares",
    "sum_few",
]
