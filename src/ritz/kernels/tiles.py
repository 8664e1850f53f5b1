"""Compiled sums over rows of products of kernel sections, a tile of rows at a time.

From coordinates to sums without Python in between: the sections of a tile are still in cache when
the linear algebra library multiplies them. Imported on first use only, as `compiled` is. It works
with addresses, as the library does: arrays cut in compiled code take long to compile.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ritz.arrays import Array
from ritz.features.products import address
from ritz.kernels.compiled import routine

ROWS = 512
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def add_tiles(
    routines: Any,
    given: Any,
    letters: int,
    X: Any,
    rows: Any,
    weight: Any,
    shift: Any,
    scale: Any,
    points: Any,
    roots: Any,
    sizes: Any,
    whole: Any,
    pairs: Any,
    buffers: Any,
    steps: Any,
    ends: Any,
    targets: Any,
) -> None:
    """Add to matrices and sums of columns of some folds what rows of X (n, d) give.

    Parameters
    ----------
    routines
        Addresses of the pass that fills a tile, of gemv, syrk and gemm.
    given
        Addresses of the arguments of the pass, then of whole, roots, and room for sums that do not
        count.
    letters
        The address of "UNT".
    X, rows, weight
        The data, which rows of it to add, and their weights (rows,).
    shift, scale
        What to take off the rows and to divide them by.
    points, roots
        Room for the points of a tile (tile, d) and the roots of their weights (tile + 1,), the
        last of which is one.
    sizes, whole
        The counts of the pass, and the integers p, rows, 1 of the library.
    pairs
        Which sections to multiply (m, 2). Of a pair of equal ones the lower triangle is added.
    buffers
        Sections of one tile (4, tile, p), of the type of the sums.
    steps
        Bytes of the sections of a tile, of a row, and of a number.
    ends
        The rows of fold f are those from ends[f] to ends[f + 1].
    targets
        Addresses (folds, m + 1) of the matrices of each fold, and of its sums.
    """
    tile, p = len(points), buffers.shape[2]
    step, line, number, last = steps[0], steps[1], steps[2], len(pairs)
    fixed = (given[0], given[1], given[2], given[3], given[4], given[5], given[6])
    first, width, root = given[7], given[8], given[9]
    upper, plain, turned, height, apart = letters, letters + 1, letters + 2, width + 4, width + 8
    unit = root + tile * number
    # Fold after fold, each by tiles, in one loop: two take longer to compile.
    fold, start = 0, ends[0]
    while fold < len(targets):
        size = min(tile, ends[fold + 1] - start)
        if size == 0:
            fold += 1
            continue
        sizes[0], whole[1] = size, size
        even = True
        for r in range(size):
            row = rows[start + r]
            for c in range(len(shift)):
                points[r, c] = (X[row, c] - shift[c]) / scale[c]
            roots[r] = sqrt(weight[start + r])
            even &= weight[start + r] == 1.0
        for place in range(4, 8):
            sizes[place] = size if sizes[place] else 0
        sections = (first, first + step, first + 2 * step, first + 3 * step)
        sums = targets[fold, last] if even else given[10]
        _call(routines[0], fixed + sections + (sums,))  # type: ignore[call-arg]
        for place in range(4):
            if even or not sizes[4 + place]:
                continue
            for r in range(size):
                for j in range(p):
                    buffers[place, r, j] *= roots[r]
            A, y = first + place * step, targets[fold, last] + place * line
            _call(
                routines[1],
                (plain, width, height, unit, A, width, root, apart, unit, y, apart),
            )
        for place in range(len(pairs)):
            A, B = first + pairs[place, 0] * step, first + pairs[place, 1] * step
            C = targets[fold, place]
            # The library reads rows as columns, so that C' = B' A.
            if A == B:
                _call(
                    routines[2],
                    (upper, plain, width, height, unit, A, width, unit, C, width),
                )
            else:
                _call(
                    routines[3],
                    (plain, turned, width, width, height, unit, B, width, A, width, unit, C, width),
                )
        start += size


@njit(cache=True, nogil=True, error_model="numpy")
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
    shift, scale
        What to take off the rows and to divide them by, (d,) each.
    Y, offset
        The centers (d, p) as `Distances` has them, and what to take off the values.
    wanted
        Which of values, shifted values, slopes and stretched slopes to compute.
    pairs
        Which of them to multiply (m, 2). Of a pair of equal ones the lower triangle is added.
    """

    name: str
    a: Array
    b: Array
    shift: Array
    scale: Array
    Y: Array
    offset: Array
    wanted: tuple[bool, ...]
    pairs: NDArray[np.int64]


class Room(NamedTuple):
    """Where one thread works: arrays for a tile, and what compiled code is told about them.

    Parameters
    ----------
    points, roots, buffers
        The points of a tile, the roots of their weights, and their sections.
    sizes, whole, steps, routines, given
        As in `add_tiles`.
    partial, target
        Room for matrices (m, 1, p^2) and sums of columns (1, 4, p) of one fold, zero, and where
        they are.
    held
        Other arrays whose addresses are among those given.
    """

    points: Array
    roots: Array
    buffers: Array
    sizes: NDArray[np.int64]
    whole: NDArray[np.int32]
    steps: NDArray[np.int64]
    routines: NDArray[np.int64]
    given: NDArray[np.int64]
    partial: tuple[Array, Array]
    target: NDArray[np.int64]
    held: tuple[Any, ...]

    @classmethod
    def of(cls, what: Pass, dtype: Any) -> Room:
        """Return room for the tiles of a pass, in the precision of its sums."""
        d, p = what.Y.shape
        points, roots = np.zeros((ROWS, d)), np.ones(ROWS + 1, dtype)
        buffers, sums = np.empty((4, ROWS, p), dtype), np.zeros((4, p), dtype)
        sizes = np.array([0, d, p, 0, *what.wanted], np.int64)
        whole = np.array([p, 0, 1], np.int32)
        steps = np.array([ROWS * p, p, 1], np.int64) * np.dtype(dtype).itemsize
        letter = "d" if dtype == np.float64 else "s"
        blas = [address(letter + name) for name in ("gemv", "syrk", "gemm")]
        routines = np.array([routine(what.name, np.dtype(dtype)).address, *blas], np.int64)
        held: list[Any] = [sizes, points, points, what.Y, what.offset, what.a, what.b]
        held += [buffers, whole, roots]
        given = [array.ctypes.data for array in (*held, sums)]
        # Sums of double precision need none.
        few = len(what.pairs) if dtype != np.float64 else 0
        partial = np.zeros((few, 1, p * p), dtype), np.zeros((1, 4, p), dtype)
        return cls(
            points,
            roots,
            buffers,
            sizes,
            whole,
            steps,
            routines,
            np.array(given, np.int64),
            partial,
            addresses(*partial),
            (*held, sums),
        )


def add(
    what: Pass,
    room: Room,
    X: Array,
    rows: NDArray[np.intp],
    weight: Array,
    ends: NDArray[np.intp],
    targets: NDArray[np.int64],
) -> None:
    """Add what some rows of X (n, d) give to the sums of their folds, as `add_tiles` does."""
    add_tiles(
        room.routines,
        room.given,
        LETTERS.ctypes.data,
        X,
        rows,
        weight,
        what.shift,
        what.scale,
        room.points,
        room.roots,
        room.sizes,
        room.whole,
        what.pairs,
        room.buffers,
        room.steps,
        ends,
        targets,
    )


def addresses(matrices: Array, columns: Array) -> NDArray[np.int64]:
    """Return where matrices (m, folds, size) and sums (folds, 4, p) of some folds are."""
    m, folds, _ = matrices.shape
    result = np.empty((folds, m + 1), np.int64)
    steps = np.arange(m) * matrices.strides[0] + np.arange(folds)[:, None] * matrices.strides[1]
    result[:, :m] = matrices.ctypes.data + steps
    result[:, m] = columns.ctypes.data + np.arange(folds) * columns.strides[0]
    return result
