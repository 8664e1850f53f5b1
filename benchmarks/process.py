"""Measure time and peak memory in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil

# Seconds between two looks at the memory.
INTERVAL = 0.002


def run_alone(module: str, *arguments: object) -> Any:
    """Run `python -m module arguments` and return the JSON in its last line."""
    command = [sys.executable, "-W", "ignore", "-m", module, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def seconds_and_megabytes(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that some work takes, and the memory that it adds at its peak.

    Pages of mapped files do not count: the system takes them back at any time.
    """
    process, done = psutil.Process(), threading.Event()

    def used() -> int:
        memory = process.memory_info()
        return int(memory.rss - getattr(memory, "shared", 0))

    before = used()
    peak = before

    def watch() -> None:
        nonlocal peak
        while not done.wait(INTERVAL):
            peak = max(peak, used())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    return seconds, (max(peak, used()) - before) / 1e6
