"""Compiled sums over rows of products of kernel sections, a tile of rows at a time.

From coordinates to sums without Python in between: the sections of a tile are still in cache when
the linear algebra library multiplies them. Imported on first use only, as `compiled` is. It works
with addresses, as the library does: arrays cut in compiled code take long to compile.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ritz.arrays import TILE_ROWS, Array
from ritz.compiling import DOUBLES, INTEGERS, Routine, address, compiled, real
from ritz.features.products import halved, routine_address
from ritz.kernels.compiled import filling

LETTERS = np.frombuffer(b"UNT", dtype=np.uint8).copy()


@intrinsic
def _call(typing_context: Any, address: Any, arguments: Any) -> Any:
    """Call the routine at an address, all of whose arguments are addresses."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * arguments.count)
        routine = builder.inttoptr(args[0], kind.as_pointer())
        given = (builder.extract_value(args[1], place) for place in range(arguments.count))
        builder.call(routine, [builder.inttoptr(number, pointer) for number in given])
        return context.get_dummy_value()

    return types.void(types.int64, arguments), generate


# What compiled code is told, one number after the other.
# Addresses of the pass that fills a tile and of the library's routines,
FILL, GEMV, SYRK, GEMM = 0, 1, 2, 3
# the counts of the pass, of which the first is the number of rows and the last four tell what is
# wanted, and the integers p, rows and 1 of the library,
COUNTS, WIDTH = 4, 12
# addresses of the arguments of the pass up to its sections, of room for sums that do not count, of
# the roots of weights, of the letters "UNT" and of the integers of the library,
GIVEN, SPARE, ROOTS, TEXT, NUMERALS = 15, 23, 24, 25, 26
# bytes of the sections of a tile, of a row, and of a number,
SECTION, LINE, NUMBER = 27, 28, 29
# how many rows a tile has, whether of squares the lower triangle is enough, and how many columns
# there are, products, and folds.
TILE, HALVES, COLUMNS, PRODUCTS, FOLDS = 30, 31, 32, 33, 34
TOLD = 35


def add_tiles(
    told: Any,
    frame: Any,
    points: Any,
    roots: Any,
    pairs: Any,
    buffers: Any,
    X: Any,
    rows: Any,
    weight: Any,
    ends: Any,
    targets: Any,
) -> None:
    """Add to matrices and sums of columns of some folds what rows of X (n, d) give.

    Parameters
    ----------
    told
        Numbers and addresses, in the places named above.
    frame
        What to take off the rows and to divide them by (2, d).
    points, roots
        Room for the points of a tile (tile, d) and the roots of their weights (tile + 1,), the
        last of which is one.
    pairs
        Which sections to multiply (m, 2). Of a pair of equal ones the lower triangle is added, if
        that takes less time.
    buffers
        Sections of one tile (4, tile, p), of the type of the sums.
    X, rows, weight
        The data, which rows of it to add, and their weights (rows,).
    ends
        The rows of fold f are those from ends[f] to ends[f + 1].
    targets
        Addresses (folds, m + 1) of the matrices of each fold, and of its sums.
    """
    tile, d, last = told[TILE], told[COLUMNS], told[PRODUCTS]
    padded, p = told[COUNTS + 1], told[COUNTS + 2]
    fixed = (
        told[GIVEN],
        told[GIVEN + 1],
        told[GIVEN + 2],
        told[GIVEN + 3],
        told[GIVEN + 4],
        told[GIVEN + 5],
        told[GIVEN + 6],
    )
    first, step, root = told[GIVEN + 7], told[SECTION], told[ROOTS]
    upper, width, unit = told[TEXT], told[NUMERALS], root + tile * told[NUMBER]
    plain, turned, height, apart = upper + 1, upper + 2, width + 8, width + 16
    # Fold after fold, each by tiles, in one loop: two take longer to compile.
    fold, start = 0, ends[0]
    while fold < told[FOLDS]:
        target = fold * (last + 1)
        size = ends[fold + 1] - start
        size = size if size < tile else tile
        if size == 0:
            fold += 1
            continue
        told[COUNTS], told[WIDTH + 1] = size, size
        even = True
        for r in range(size):
            row = rows[start + r] * d
            for c in range(d):
                points[r * padded + c] = (X[row + c] - frame[c]) / frame[d + c]
            roots[r] = sqrt(weight[start + r])
            even &= weight[start + r] == 1.0
        for place in range(COUNTS + 4, COUNTS + 8):
            told[place] = size if told[place] else 0
        sections = (first, first + step, first + 2 * step, first + 3 * step)
        sums = targets[target + last] if even else told[SPARE]
        _call(told[FILL], fixed + sections + (sums,))  # type: ignore[call-arg]
        for place in range(4):
            if even or not told[COUNTS + 4 + place]:
                continue
            for r in range(size):
                start_of = (place * tile + r) * p
                for j in range(start_of, start_of + p):
                    buffers[j] *= roots[r]
            A, y = first + place * step, targets[target + last] + place * told[LINE]
            _call(
                told[GEMV],
                (plain, width, height, unit, A, width, root, apart, unit, y, apart),
            )
        for place in range(last):
            A, B = first + pairs[2 * place] * step, first + pairs[2 * place + 1] * step
            C = targets[target + place]
            # The library reads rows as columns, so that C' = B' A.
            if A == B and told[HALVES]:
                _call(
                    told[SYRK],
                    (upper, plain, width, height, unit, A, width, unit, C, width),
                )
            else:
                _call(
                    told[GEMM],
                    (plain, turned, width, width, height, unit, B, width, A, width, unit, C, width),
                )
        start += size


@cache
def adding(dtype: Any) -> Routine:
    """Return `add_tiles`, compiled for sums of a type."""
    kind = real(dtype)
    before = (INTEGERS, DOUBLES, DOUBLES, kind, INTEGERS, kind)
    return Routine(add_tiles, *before, DOUBLES, INTEGERS, DOUBLES, INTEGERS, INTEGERS)


@compiled
def empty_into(some: Any, total: Any, width: int, lower: bool) -> None:
    """Add matrices, rows of a width one after the other, to a total, and set them to zero.

    Of square ones all entries, or those on and below the diagonal.
    """
    for start in range(0, len(some), width):
        stop = start + (start // width + 1 if lower else width)
        for i in range(start, stop):
            total[i] += some[i]
            some[i] = 0.0


class Pass(NamedTuple):
    """What `add` adds up: sections of a kernel at centers.

    Parameters
    ----------
    name, a, b
        The pass in `compiled`, and its coefficients.
    frame
        What to take off the rows and to divide them by (2, d).
    Y, offset
        The centers (d, p) as `Distances` has them, and what to take off the values.
    wanted
        Which of values, shifted values, slopes and stretched slopes to compute.
    pairs
        Which of them to multiply (m, 2).
    """

    name: str
    a: Array
    b: Array
    frame: Array
    Y: Array
    offset: Array
    wanted: tuple[bool, ...]
    pairs: NDArray[np.int64]


class Room(NamedTuple):
    """Where one thread works: arrays for a tile, and what compiled code is told about them.

    Parameters
    ----------
    add_tiles
        The function of that name, compiled.
    given
        Its arguments up to the data, the first being what it is told.
    held
        Other arrays whose addresses are among what it is told.
    partial, target
        Room for matrices (1, p^2) and sums of columns (1, 4, p) of one fold, zero, and where they
        are; sums of double precision need none.
    """

    add_tiles: Routine
    given: tuple[NDArray[Any], ...]
    held: tuple[NDArray[Any], ...]
    partial: tuple[list[Array], Array] | None = None
    target: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, what: Pass, dtype: Any) -> Room:
        """Return room for the tiles of a pass, in the precision of its sums."""
        d, p = what.Y.shape
        points, roots = np.zeros((TILE_ROWS, d)), np.ones(TILE_ROWS + 1, dtype)
        buffers = np.empty((4, TILE_ROWS, p), dtype)
        spare, zero = np.zeros((4, p), dtype), np.zeros(p)
        told = np.zeros(TOLD, np.int64)
        own = address(told)
        held = (zero, points, what.Y, what.offset, what.a, what.b, buffers, spare, roots, LETTERS)
        letter = "d" if dtype == np.float64 else "s"
        told[FILL] = filling(what.name, roots.dtype).address
        names = (letter + name for name in ("gemv", "syrk", "gemm"))
        told[GEMV : GEMM + 1] = [routine_address(name) for name in names]
        told[COUNTS : COUNTS + 8] = [0, d, p, 1, *what.wanted]
        # Of integers of 32 bits the library reads the lower half.
        told[WIDTH : WIDTH + 3] = [p, 0, 1]
        told[GIVEN], told[NUMERALS] = own + 8 * COUNTS, own + 8 * WIDTH
        told[GIVEN + 1 : NUMERALS] = [address(array) for array in held]
        number = roots.itemsize
        told[SECTION : NUMBER + 1] = [TILE_ROWS * p * number, p * number, number]
        told[TILE:FOLDS] = [TILE_ROWS, halved(p, dtype), what.frame.shape[1], len(what.pairs)]
        given = (told, what.frame, points, roots, what.pairs, buffers)
        if dtype == np.float64:
            return cls(adding(roots.dtype), given, held)
        partial = [np.zeros((1, p * p), dtype) for _ in what.pairs], np.zeros((1, 4, p), dtype)
        return cls(adding(roots.dtype), given, held, partial, places_of(*partial))

    def add(
        self,
        X: Array,
        rows: NDArray[np.intp],
        weight: Array,
        ends: NDArray[np.intp],
        targets: NDArray[np.int64],
    ) -> None:
        """Add what some rows of X (n, d) give to the sums of their folds, as `add_tiles` does."""
        self.given[0][FOLDS] = len(targets)
        self.add_tiles(*self.given, X, rows, weight, ends, targets)


def places_of(matrices: list[Array], columns: Array) -> NDArray[np.int64]:
    """Return where matrices (folds, size) and sums (folds, 4, p) of some folds are."""
    arrays = (*matrices, columns)
    starts = np.array([address(array) for array in arrays], dtype=np.int64)
    steps = np.array([array.strides[0] for array in arrays], dtype=np.int64)
    return np.asarray(starts + np.arange(len(columns))[:, None] * steps)
