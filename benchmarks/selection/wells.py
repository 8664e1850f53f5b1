"""The slow rate of a double well beside harmonic columns, by the number of modes asked for."""

from __future__ import annotations

from itertools import product

import ritz
from benchmarks.selection.problems import double_well
from benchmarks.selection.work import by_row, in_processes, seeds, show

ROWS = 20_000
COLUMNS = range(1, 7)
MODES = range(1, 9)
GOAL = 0.15


def measure(columns: int, modes: int, seed: int) -> float:
    X = double_well(columns).sample(ROWS, seed)
    return float(ritz.DiffusionModes(modes, random_state=seed, n_jobs=1).fit(X).rates_[0])


def table(count: int, jobs: int) -> None:
    truth = float(double_well().eigenvalues(2)[1])
    show(f"The first rate of a double well, truth {truth:.4f}, n = {ROWS:,}, {count} samples")
    show(f"{'harmonic columns':<18}{'modes':>6}  rates and relative errors")
    rows = list(product(COLUMNS, MODES))
    tasks = [(*row, seed) for row in rows for seed in seeds(count)]
    errors = []
    for (columns, modes), rates in by_row(rows, in_processes(measure, tasks, jobs), count):
        off = [rate / truth - 1 for rate in rates]
        errors += [abs(each) for each in off]
        each = "  ".join(f"{rate:.4f} ({o:+.0%})" for rate, o in zip(rates, off, strict=True))
        show(f"{columns:<18}{modes:>6}  {each}")
    within = sum(error <= GOAL for error in errors)
    show(f"{within} of {len(errors)} within {GOAL:.0%}, at most {max(errors):.0%} off")
