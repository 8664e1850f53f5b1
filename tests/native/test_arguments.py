"""What compiled functions are given: sizes and types that do not go together are refused."""

import subprocess
import sys

import numpy as np
import pytest

import ritz
from ritz import native

KEYS = np.arange(4, dtype=np.uint64)
THREE = np.zeros(3)


def fill(**changes):
    """Call `native.fill` for two points and three centers of four coordinates."""
    given = {
        "kernel": 0,
        "n": 2,
        "d": 4,
        "p": 3,
        "S": None,
        "X": np.zeros((2, 4)),
        "Y": np.zeros((4, 3)),
        "offset": np.zeros(3),
        "a": np.zeros(4),
        "b": np.zeros(3),
        "values": np.empty((2, 3)),
        "shifted": np.empty((2, 3)),
        "slopes": None,
        "stretched": None,
    }
    arguments = given | changes
    native.fill(*arguments.values())
    return arguments["values"]


def add_tiles(**changes):
    """Call `native.add_tiles` for two of three rows, one fold and two centers."""
    room, points = native.room_of(8, 2, 2)
    matrix, columns = np.zeros((2, 2)), np.zeros((4, 2))
    given = {
        "kernel": 0,
        "p": 2,
        "tile": 8,
        "halves": 0,
        "Y": np.zeros((2, 2)),
        "offset": np.zeros(2),
        "a": np.zeros(0),
        "b": np.zeros(0),
        "frame": np.array([[0.0, 0.0], [1.0, 1.0]]),
        "wanted": np.array([1, 0, 0, 0]),
        "pairs": np.array([[0, 0]]),
        "room": np.empty(room),
        "points": np.zeros(points),
        "X": np.zeros((3, 2)),
        "rows": np.array([0, 2]),
        "weight": np.ones(2),
        "ends": np.array([0, 2]),
        "targets": np.array([[matrix.ctypes.data, columns.ctypes.data]]),
    }
    native.add_tiles(*(given | changes).values())
    return matrix, columns


def test_what_goes_together_is_computed():
    np.testing.assert_array_equal(fill(), np.ones((2, 3)))
    matrix, columns = add_tiles()
    np.testing.assert_array_equal(matrix, np.full((2, 2), 2.0))
    np.testing.assert_array_equal(columns, [[2.0, 2.0], [0, 0], [0, 0], [0, 0]])


@pytest.mark.parametrize(
    "changes",
    [
        {"kernel": 3},
        {"kernel": -1},
        {"n": 3},
        {"n": -1},
        {"d": 5},
        {"d": -1},
        {"p": 4},
        {"X": np.zeros((1, 4))},
        {"X": None},
        {"Y": np.zeros((4, 2))},
        {"offset": np.zeros(2)},
        {"offset": None},
        {"kernel": 1, "a": np.zeros(3)},
        {"kernel": 2, "b": None},
        {"values": np.zeros((1, 3))},
        {"S": np.zeros((1, 3))},
    ],
    ids=str,
)
def test_sections_need_room_and_numbers(changes):
    with pytest.raises(ValueError, match="fill: "):
        fill(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"tile": 0},
        {"tile": 9},
        {"p": 3},
        {"kernel": 1},
        {"frame": np.zeros((2, 5))},
        {"frame": np.zeros(0)},
        {"wanted": np.array([1, 0, 0])},
        {"pairs": np.array([[0, 1]])},
        {"pairs": np.array([[0, 4]])},
        {"pairs": np.array([[-1, 0]])},
        {"rows": np.array([0, 3])},
        {"rows": np.array([-1, 0])},
        {"weight": np.ones(1)},
        {"ends": np.array([0, 3])},
        {"ends": np.array([2, 0])},
        {"ends": np.array([-1, 2])},
        {"ends": np.array([0, 1, 2])},
        {"ends": np.zeros(0, dtype=np.int64)},
        {"points": np.zeros(8)},
        {"room": np.zeros(8)},
    ],
    ids=str,
)
def test_sums_need_rows_that_are_there(changes):
    with pytest.raises(ValueError, match="add_tiles: "):
        add_tiles(**changes)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fold_in", (KEYS, np.zeros(6))),
        ("lowest", (KEYS, 3, np.zeros(2, dtype=np.int64))),
        ("lowest", (KEYS, -1, np.zeros(2, dtype=np.int64))),
        ("by_remainder", (KEYS, np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64))),
        ("by_remainder", (KEYS, np.zeros(4, dtype=np.int64), np.zeros(1, dtype=np.int64))),
        ("differences", (2, 3, np.zeros(7), np.zeros(12), np.zeros(6))),
        ("differences", (2, 3, np.zeros(8), np.zeros(12), np.zeros(5))),
        ("differences", (2, 3, np.zeros(8), np.zeros(11), np.zeros(6))),
        ("squares", (np.zeros(5), np.zeros(4), np.zeros(6), np.zeros(2), np.zeros(3))),
        ("squares", (np.zeros(6), np.zeros(4), np.zeros(5), np.zeros(2), np.zeros(3))),
        ("add_product", (2, 3, 1.0, np.zeros(5), np.zeros(8), np.zeros(12))),
        ("add_product", (2, 3, 1.0, np.zeros(6), np.zeros(8), np.zeros(11))),
        ("add_product", (2, 3, 1.0, np.zeros(6), np.zeros(8), None)),
        ("add_product", (2, 3, 1.0, np.zeros(6), np.zeros(7), np.zeros(12))),
        ("empty_into", (3, 0, np.zeros(6), np.zeros(5))),
        ("empty_into", (3, 1, np.zeros(6), np.zeros(6))),
        ("empty_into", (4, 0, np.zeros(6), np.zeros(6))),
        ("join_distances", (1.0, np.zeros(9), THREE, np.zeros(9), THREE, np.zeros(8), THREE)),
        ("join_distances", (1.0, np.zeros(8), THREE, np.zeros(9), THREE, np.zeros(9), THREE)),
        ("cosines", (THREE, 0, 1.0, np.zeros(2))),
        ("solve_few", (1, 1.0, np.zeros(9), np.zeros(8), *[np.zeros(2)] * 5, np.zeros(4))),
        ("solve_few", (1, 1.0, np.zeros(9), np.zeros(9), *[np.zeros(2)] * 5, np.zeros(3))),
        ("solve_few", (1, 1.0, np.zeros(8), np.zeros(9), *[np.zeros(2)] * 5, np.zeros(4))),
    ],
)
def test_sizes_have_to_go_together(name, arguments):
    with pytest.raises(ValueError, match=f"{name}: "):
        getattr(native, name)(*arguments)


def test_types_and_gaps_are_refused():
    with pytest.raises(TypeError, match="argument 2 has numbers of the wrong type"):
        native.fold_in(KEYS, np.zeros(4, dtype=np.float32))
    with pytest.raises(TypeError, match="argument 1 has numbers of the wrong type"):
        native.fold_in(KEYS.astype(np.int64), np.zeros(4))
    with pytest.raises(TypeError, match="wrong type"):
        native.fold_in(KEYS, np.zeros(4, dtype=">f8"))
    with pytest.raises(TypeError, match="wrong type"):
        # Both or none of float32.
        native.add_product(1, 1, 1.0, np.zeros(1), np.zeros(1, np.float32), np.zeros(1))
    with pytest.raises(ValueError, match="contiguous"):
        native.fold_in(KEYS, np.zeros(8)[::2])
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        native.fold_in(KEYS)
    with pytest.raises(TypeError):
        native.lowest(KEYS, 1.5, np.zeros(2, dtype=np.int64))
    read_only = np.zeros(4, dtype=np.uint64)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        native.fold_in(read_only, np.zeros(4))
    native.lowest(read_only, 1, np.zeros(1, dtype=np.int64))


def test_numbers_out_of_line_are_refused_and_rows_put_in_line():
    odd = np.frombuffer(bytearray(8 * 600 + 1), np.uint8, 8 * 600, 1).view(np.float64)
    with pytest.raises(ValueError, match="argument 2 is not aligned"):
        native.fold_in(np.zeros(600, dtype=np.uint64), odd)
    rows = odd.reshape(200, 3)
    rows[...] = np.random.default_rng(0).normal(size=(200, 3))
    form = ritz.laplacian()
    for n_folds, p in ((8, 10), (4, 50)):
        basis = ritz.Nystrom(ritz.Exponential(), p)
        weight = odd[:200] ** 2
        odd_weight = np.frombuffer(bytearray(8 * 200 + 1), np.uint8, 8 * 200, 1).view(np.float64)
        odd_weight[...] = weight
        found, expected = (
            ritz.assemble(form, basis, X, sample_weight=w, n_folds=n_folds, random_state=0)
            for X, w in ((rows, odd_weight), (rows.copy(), weight))
        )
        np.testing.assert_array_equal(found.L, expected.L)
        np.testing.assert_array_equal(found.left(rows), expected.left(rows.copy()))


def test_rows_that_name_their_order_of_bytes():
    X = np.random.default_rng(0).normal(size=(100, 3))
    named = np.asfortranarray(X).view(np.dtype(np.float64).newbyteorder("<"))
    other = X.astype(np.dtype(np.float64).newbyteorder(">"))
    for p in (10, 40):
        basis = ritz.Nystrom(ritz.Exponential(), p)
        sums = [
            ritz.assemble(
                ritz.laplacian(), basis, rows, sample_weight=rows[:, 0] ** 2, random_state=0
            )
            for rows in (X, named, other)
        ]
        for each in sums[1:]:
            np.testing.assert_array_equal(each.L, sums[0].L)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("differences", (2**62, 4, np.zeros(0), np.zeros(16), np.zeros(0))),
        ("differences", (3, 4, np.zeros(0), np.zeros(0), np.zeros(12))),
        ("fill", (0, 2**62, 4, 4, *[np.zeros(16)] * 6, np.zeros(16), None, None, None)),
        ("fill", (0, 3, 0, 4, None, *[np.zeros(16)] * 5, np.zeros(16), None, None, None)),
        ("add_product", (2**32 + 1, 1, 1.0, np.zeros(1), np.zeros(1), np.zeros(1))),
        ("room_of", (2**40, 1, 1)),
    ],
)
def test_sizes_out_of_all_bounds_are_refused(name, arguments):
    with pytest.raises(ValueError, match=f"{name}: "):
        getattr(native, name)(*arguments)


def test_of_integers_those_of_64_bits_serve_whatever_they_are_called():
    for dtype in (np.int64, np.longlong, np.intp):
        places = np.zeros(4, dtype)
        assert native.lowest(KEYS, 4, places) == 4
        np.testing.assert_array_equal(places, np.arange(4))


def test_errors_leave_no_array_held():
    numbers = np.zeros(6)
    before = sys.getrefcount(numbers)
    for _ in range(5):
        with pytest.raises(ValueError, match="fold_in: "):
            native.fold_in(KEYS, numbers)
    assert sys.getrefcount(numbers) == before


@pytest.mark.skipif(native.INSTRUCTIONS == "baseline", reason="nothing to leave out here")
def test_the_baseline_computes_the_same():
    """The sources compiled for any processor, against those for this one."""
    program = """
import numpy as np, ritz
import ritz
from ritz import native
X = np.random.default_rng(0).normal(size=(1500, 3))
for kernel in (ritz.Gaussian(), ritz.Matern(1.5), ritz.Exponential(2.0), ritz.Polynomial(3)):
    for p in (12, 40):
        spectrum = ritz.decompose(ritz.laplacian(), ritz.Nystrom(kernel, p), X, 6, random_state=0)
        print(*spectrum.values[1:].tolist())
print(native.INSTRUCTIONS)
"""
    found = []
    for instructions in ("", "baseline"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={"RITZ_INSTRUCTIONS": instructions},
            capture_output=True,
            text=True,
            check=True,
        )
        *lines, name = run.stdout.splitlines()
        assert name == (instructions or native.INSTRUCTIONS)
        found.append(np.array([line.split() for line in lines], dtype=float))
    np.testing.assert_allclose(*found, rtol=1e-8)
