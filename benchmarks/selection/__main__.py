"""How well the defaults choose, and whether their errors can be trusted: all tables.

`python -m benchmarks.selection` prints them all, `--table NAME` one of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from benchmarks.selection import coverage, known, outliers, spheres, wells
from benchmarks.selection.work import show, silence

# The table, and its number of samples for each row, in full and with --quick.
TABLES: dict[str, tuple[Callable[[int, int], None], int, int]] = {
    "spheres": (spheres.table, 5, 2),
    "problems": (known.table, 3, 2),
    "wells": (wells.table, 2, 1),
    "coverage": (coverage.table, 200, 40),
    "outliers": (outliers.table, 2, 1),
}


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be positive. Got {number} instead.")
    return number


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.selection", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--table", choices=tuple(TABLES), help="print this table only")
    parser.add_argument("--seeds", type=positive, help="samples of each row (problems: up to 3)")
    parser.add_argument("--quick", action="store_true", help="fewer samples of each row")
    parser.add_argument("--jobs", type=positive, default=2, help="number of processes")
    given = parser.parse_args()
    silence()
    for name in [given.table] if given.table else TABLES:
        table, full, quick = TABLES[name]
        start = time.perf_counter()
        table(given.seeds or (quick if given.quick else full), given.jobs)
        show(f"({time.perf_counter() - start:.0f} s)\n")


if __name__ == "__main__":
    main()
