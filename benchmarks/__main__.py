"""`make bench`: print the table of ratios, and write it to benchmarks/results.json."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import numpy as np

from benchmarks import klap_fit, memory


def main() -> None:
    print("Against klap 0.0.2 (ratio: its time over ours)")
    comparisons = klap_fit.cases(repeats=5)
    for comparison in comparisons:
        print(comparison)
    print("\nPeak memory, Gaussian kernel, p = 300, d = 10")
    sizes = memory.cases()
    for size in sizes:
        print(memory.line(size))
    results = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "klap": [comparison.record() for comparison in comparisons],
        "memory": sizes,
    }
    path = Path(__file__).parent / "results.json"
    path.write_text(json.dumps(results, indent=2) + "\n")
    print(f"\nwritten to {path.name}")


if __name__ == "__main__":
    main()
