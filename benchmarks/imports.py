"""CPU seconds that `import ritz` takes beyond scikit-learn's own import, the least of several.

`python -m benchmarks.imports` prints them. Warnings are errors, so an import that warns fails.
"""

from __future__ import annotations

import resource
import subprocess
import sys

TIMES = 8


def cpu_seconds(code: str) -> float:
    """Return the least CPU time of a fresh interpreter that runs the code."""
    least = float("inf")
    for _ in range(TIMES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        least = min(least, user + system)
    return least


def main() -> None:
    seconds = {name: cpu_seconds(f"import {name}") for name in ("sklearn", "ritz")}
    for name, value in seconds.items():
        print(f"import {name}: {value:.2f} s")
    print(f"beyond scikit-learn: {seconds['ritz'] - seconds['sklearn']:.2f} s")


if __name__ == "__main__":
    main()
