"""What is done while functions are compiled."""

import gc

import numpy as np
import pytest

from ritz.compiling import (
    DOUBLES,
    INTEGER,
    REAL,
    SINGLES,
    Routine,
    address,
    compiled,
    no_collection,
)


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_kept_away_and_left_as_it_was(running):
    before = gc.isenabled()
    (gc.enable if running else gc.disable)()
    try:
        with no_collection():
            assert not gc.isenabled()
        assert gc.isenabled() == running
        with pytest.raises(RuntimeError), no_collection():
            raise RuntimeError
        assert gc.isenabled() == running
    finally:
        (gc.enable if before else gc.disable)()


def double(x):
    """Double some numbers, in place."""
    for i in range(len(x)):
        x[i] *= 2


def test_compiled_functions_do_what_they_say_for_every_type():
    running, f = gc.isenabled(), compiled(double)
    for dtype in (np.float64, np.float32, np.float64):
        x = np.arange(3, dtype=dtype)
        f(x)
        assert x.tolist() == [0.0, 2.0, 4.0]
    assert gc.isenabled() == running
    assert f.__doc__ == double.__doc__


def scale(n, factor, numbers, result):
    """Multiply some numbers."""
    for i in range(n):
        result[i] = factor * numbers[i]


@pytest.mark.parametrize(("dtype", "kind"), [(np.float64, DOUBLES), (np.float32, SINGLES)])
def test_routines_take_numbers_arrays_and_addresses(dtype, kind):
    f = Routine(scale, INTEGER, REAL, DOUBLES, kind)
    result = np.zeros(3, dtype)
    # An array that nothing else holds lives until the call is over.
    f(3, 0.5, np.arange(3.0), result)
    assert result.tolist() == [0.0, 0.5, 1.0]
    f(2, 2.0, np.arange(3.0), address(result))
    assert result.tolist() == [0.0, 2.0, 1.0]
    assert f.address == f.machine_code.address


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize(
    "array", [np.zeros((3, 2)), np.zeros((0, 3)), np.arange(12)[4:7], np.zeros(3, np.float32)]
)
def test_addresses_are_those_of_the_numbers(array, writable):
    array = array[:]
    array.flags.writeable = writable
    assert address(array) == array.__array_interface__["data"][0]


def test_routines_take_no_arrays_with_gaps():
    f = Routine(scale, INTEGER, REAL, DOUBLES, DOUBLES)
    with pytest.raises(TypeError, match="gaps"):
        f(2, 1.0, np.arange(4.0)[::2], np.zeros(2))


def test_routines_take_numbers_of_their_own_type_alone():
    f = Routine(scale, INTEGER, REAL, DOUBLES, DOUBLES)
    with pytest.raises(TypeError, match="float32 for float64"):
        f(2, 1.0, np.arange(2, dtype=np.float32), np.zeros(2))
