"""Defaults on problems with a known spectrum, against the best of the grid in grid.json."""

from __future__ import annotations

import numpy as np

import ritz
from benchmarks.selection.grid import COMPONENTS, load
from benchmarks.selection.problems import CHOSEN_ON, SEEDS, SET_ASIDE, SIZES, mode_error
from benchmarks.selection.work import by_row, case_of, in_processes, show

PARTS = {"chosen on": CHOSEN_ON, "set aside": SET_ASIDE}


def measure(name: str, n: int, seed: int) -> float:
    """Return the error of the default on one sample; 1 where it fails."""
    case = case_of(name)
    truth = case.eigenvalues(1 + COMPONENTS)[1:]
    model = ritz.SpectralEmbedding(COMPONENTS, operator="laplacian", random_state=seed, n_jobs=1)
    try:
        return mode_error(model.fit(case.sample(n, seed)).eigenvalues_, truth)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return 1.0


def table(count: int, jobs: int) -> None:
    best = load()
    some = SEEDS[:count]
    show(f"Eight eigenvalues, mean error of {len(some)} samples, against the best of the grid")
    show(f"{'problem':<30}{'n':>7}{'default':>9}{'best':>9}{'ratio':>7}")
    rows = [(part, case.name, n) for part, cases in PARTS.items() for n in SIZES for case in cases]
    tasks = [(name, n, seed) for _, name, n in rows for seed in some]
    ratios: dict[str, list[float]] = {part: [] for part in PARTS}
    for (part, name, n), errors in by_row(rows, in_processes(measure, tasks, jobs), len(some)):
        error = float(np.mean(errors))
        entry = best.get(name, {}).get(str(n))
        if entry is None:
            show(f"{name:<30}{n:>7,}{error:>9.4f}{'-':>9}{'-':>7}")
            continue
        # The same samples on both sides.
        least = float(np.mean(entry["errors"][: len(some)]))
        ratios[part].append(error / least)
        show(f"{name:<30}{n:>7,}{error:>9.4f}{least:>9.4f}{error / least:>7.2f}")
    for part, values in ratios.items():
        if values:
            show(
                f"Problems {part}: ratio {np.mean(values):.2f} in the mean (goal 1.1), "
                f"{max(values):.2f} in the worst (goal 1.3), {len(values)} of "
                f"{sum(row[0] == part for row in rows)} cells"
            )
