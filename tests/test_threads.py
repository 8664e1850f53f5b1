"""What the allocator is told, and how many threads the linear algebra takes."""

import sys

import numpy as np
import pytest

import ritz
from ritz import threads


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


@pytest.mark.parametrize(
    ("basis", "limited"),
    [
        # At once, by compiled code that needs none of both.
        (ritz.Nystrom(ritz.Gaussian(1.0), threads.TINY), ()),
        (ritz.Nystrom(ritz.Gaussian(1.0), threads.TINY + 1), (True, True)),
        # Centers chosen by products of many rows.
        (ritz.Nystrom(ritz.Gaussian(1.0), 20, centers="rpcholesky"), (True, True)),
        (ritz.Nystrom(ritz.Gaussian(1.0), centers=np.zeros((1, 2))), (True, True)),
        # Blocks of many rows in place of tiles.
        (ritz.Nystrom(ritz.RationalQuadratic(1.0, 1.0), 20), (False, True)),
        (ritz.Monomials(2), (True, True)),
    ],
    ids=str,
)
def test_all_but_tiny_sums_limit_the_threads_of_the_linear_algebra(monkeypatch, basis, limited):
    module = sys.modules["ritz.assembly.assemble"]
    depth, seen = [], []

    class Limit:
        def __enter__(self):
            depth.append(1)

        def __exit__(self, *_):
            depth.pop()

    def looked_at(function):
        def call(*arguments):
            seen.append(bool(depth))
            return function(*arguments)

        return call

    monkeypatch.setattr(module, "blas_threads", lambda n: Limit())
    for name in ("fit_bases", "run_through"):
        monkeypatch.setattr(module, name, looked_at(getattr(module, name)))
    X = np.random.default_rng(0).normal(size=(200, 2))
    ritz.assemble(ritz.laplacian(), basis, X, random_state=0)
    assert tuple(seen) == limited
    assert not depth
