"""What the allocator is told, and how many threads the linear algebra takes."""

import sys
from contextlib import nullcontext

import numpy as np
import pytest

import ritz
from ritz import threads
from ritz.assembly.assemble import largest_product
from ritz.streams import as_stream


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is Linux's")
@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("UNRELATED", "1", [(-3, 32 << 20), (-1, 256 << 20)]),
        ("MALLOC_TRIM_THRESHOLD_", "1000000", []),
        ("MALLOC_MMAP_THRESHOLD_", "1000000", []),
        ("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=1000000", []),
    ],
)
def test_freed_memory_is_kept_unless_the_environment_says_otherwise(monkeypatch, name, value, told):
    for other in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, value)
    calls = []

    class Library:
        def __init__(self, name):
            assert name is None

        def mallopt(self, *option):
            calls.append(option)

    monkeypatch.setattr(threads, "CDLL", Library)
    threads.keep_freed_memory.__wrapped__()
    assert calls == told


def test_limits_hold_one_inside_another_and_end():
    libraries = threads._controller().lib_controllers
    before = [library.num_threads for library in libraries]
    with threads.blas_threads(1):
        with threads.blas_threads(1):
            assert [library.num_threads for library in libraries] == [1] * len(libraries)
        assert [library.num_threads for library in libraries] == [1] * len(libraries)
    assert [library.num_threads for library in libraries] == before


@pytest.mark.parametrize(("multiplications", "limited"), [(1 << 18, False), (1 + (1 << 18), True)])
def test_small_products_are_left_to_the_library(monkeypatch, multiplications, limited):
    asked = []
    monkeypatch.setattr(threads, "blas_threads", lambda n: asked.append(n) or nullcontext())
    with threads.one_thread(multiplications):
        pass
    assert asked == [1] * limited


GAUSSIAN = ritz.Gaussian(1.0)


@pytest.mark.parametrize(
    ("basis", "rows", "product"),
    [
        (ritz.Nystrom(GAUSSIAN, 30), 1000, 256 * 30**2),
        (ritz.Nystrom(GAUSSIAN, 30), 1600, 400 * 30**2),
        (ritz.Nystrom(GAUSSIAN, 30), 10**6, 512 * 30**2),
        (ritz.Nystrom(GAUSSIAN, centers=np.zeros((7, 2))), 1000, 256 * 7**2),
        (ritz.Nystrom(GAUSSIAN, 30, "kmeans++"), 1000, np.inf),
        (ritz.Monomials(2), 1000, np.inf),
        ((ritz.Nystrom(GAUSSIAN, 30), ritz.Nystrom(GAUSSIAN, 30)), 1000, np.inf),
    ],
)
def test_products_are_small_only_where_that_is_known(basis, rows, product):
    assert largest_product(basis, as_stream(np.zeros((rows, 2))), 8) == product
    assert largest_product(basis, ritz.Batches([np.zeros((rows, 2))]), 8) == np.inf
