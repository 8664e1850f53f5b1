"""What the allocator is told, and how many threads the linear algebra takes."""

import sys

import pytest

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
