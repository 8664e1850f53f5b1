"""Threads: how many there are, and how many the linear algebra may use meanwhile."""

import gc
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import ritz
from ritz import threads
from ritz.threads import n_threads, one_blas_thread, thread_map


@pytest.fixture
def limits():
    """A function that returns the numbers of BLAS threads, which are two before each test."""
    # Other packages bring libraries of their own, which NumPy and SciPy do not call.
    libraries = threads._blas().lib_controllers
    # Tasks of a scheduler that an earlier test has closed may still be at work, one after another,
    # and a limit that Ctrl-C ended may wait in a cycle of frames.
    quiet, deadline = 0, monotonic() + 60
    while quiet < 10:
        assert monotonic() < deadline, "Other threads hold a limit, or one was never released."
        gc.collect()
        sleep(0.05)
        quiet = 0 if threads._limit.holders else quiet + 1
    with threadpool_limits(2, "blas"):
        yield lambda: [library.num_threads for library in libraries]


def test_limits_hold_one_inside_another_and_end(limits):
    before = limits()
    with one_blas_thread():
        with one_blas_thread():
            assert set(limits()) == {1}
        assert set(limits()) == {1}
    assert limits() == before
    assert set(before) == {2}


def test_a_limit_ends_with_the_last_who_holds_it(limits):
    """Whoever comes first does not have to leave last."""
    before = limits()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(limits()) == {1}
    second.__exit__(None, None, None)
    assert limits() == before


def test_a_limit_ends_with_an_error(limits):
    before = limits()
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018
    assert limits() == before


@pytest.mark.parametrize("method", ["acquire", "release"])
def test_a_limit_ends_wherever_ctrl_c_comes(limits, method):
    """Ctrl-C is raised at each line of the method in turn."""
    before = limits()
    code = getattr(threads._SharedLimit, method).__code__
    lines = sorted({line for _, _, line in code.co_lines() if line} - {code.co_firstlineno})
    left = list(lines)

    def trace(frame, event, _):
        if frame.f_code is not code:
            return None
        if event == "line" and left and frame.f_lineno == left[0]:
            left.pop(0)
            raise KeyboardInterrupt
        return trace

    for _ in lines:
        earlier = sys.gettrace()
        sys.settrace(trace)
        try:
            with pytest.raises(KeyboardInterrupt), one_blas_thread():
                pass
        finally:
            sys.settrace(earlier)
        assert limits() == before
    assert not left


@pytest.mark.parametrize("fails", [False, True], ids=["all succeed", "some fail"])
def test_concurrent_calls_leave_the_limits_as_they_were(limits, fails):
    X = np.random.default_rng(0).normal(size=(3000, 2))
    basis = ritz.Nystrom(ritz.Gaussian(1.0), 20)
    before = limits()

    def values(call):
        if fails and call % 3 == 0:
            with pytest.raises(ValueError, match="at most"):
                ritz.decompose(ritz.laplacian(), basis, X, k=50, random_state=0)
            bad = ritz.form(broken, symmetric=True)
            with pytest.raises(ZeroDivisionError):
                ritz.decompose(bad, basis, X, k=4, random_state=0)
            return None
        return ritz.decompose(ritz.laplacian(), basis, X, k=4, random_state=0).values

    def broken(f, g, x):
        raise ZeroDivisionError

    with ThreadPoolExecutor(8) as pool:
        found = [one for one in pool.map(values, range(32)) if one is not None]
    assert limits() == before
    assert len(found) == (21 if fails else 32)
    for one in found:
        np.testing.assert_array_equal(one, found[0])


def test_the_number_of_threads():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert n_threads(None) == n_threads(-1) == cores
    assert n_threads(3) == 3
    for wrong in (0, -2, 1.5, "two"):
        with pytest.raises(ValueError, match="'n_jobs' parameter must be a positive integer"):
            n_threads(wrong)


@pytest.mark.parametrize("count", [1, 3])
def test_results_come_in_order_and_errors_come_through(count):
    assert thread_map(lambda x: x**2, range(20), count) == [x**2 for x in range(20)]
    with pytest.raises(ZeroDivisionError):
        thread_map(lambda x: 1 / x, range(3), count)
