"""The best of a grid of kernels, lengths, centers and penalties, chosen with the truth in sight.

`python -m benchmarks.selection.grid` writes grid.json anew; `--missing` keeps what is there.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import ritz
from benchmarks.selection.problems import (
    CENTERS,
    CHOSEN_ON,
    KERNELS,
    LENGTH_FACTORS,
    PENALTIES,
    SEEDS,
    SET_ASIDE,
    SIZES,
    mode_error,
)
from benchmarks.selection.work import by_row, case_of, in_processes, show
from ritz.assembly import Sums
from ritz.assembly.assemble import fit_bases
from ritz.atomic import write_atomically
from ritz.bases import Centered
from ritz.bases.nystrom import KernelSections
from ritz.estimators.checks import seed_of
from ritz.rows import random_integers
from ritz.selection.candidates import KERNELS as KERNEL_CLASSES
from ritz.selection.candidates import auto_length_scale
from ritz.spectrum import decompose_sums
from ritz.streams import Samples, as_stream
from ritz.validation import Array

PATH = Path(__file__).parent / "grid.json"
COMPONENTS = 8
GRID = tuple(product(KERNELS, LENGTH_FACTORS, CENTERS, PENALTIES))


def measure(name: str, n: int, seed: int) -> Array:
    """Return the error of each configuration of the grid on one sample; 1 where it fails."""
    case = case_of(name)
    X, truth = case.sample(n, seed), case.eigenvalues(1 + COMPONENTS)[1:]
    seed = seed_of(seed)
    base = auto_length_scale(X, np.ones(n), seed)
    errors = []
    for kernel, factor in product(KERNELS, LENGTH_FACTORS):
        family = KERNEL_CLASSES[kernel](factor * base)
        for sums in nested_sums(X, family, seed):
            errors += [error_of(sums, penalty, truth) for penalty in PENALTIES]
    return np.array(errors)


def nested_sums(X: Array, kernel: Any, seed: int) -> list[Sums | None]:
    """Return the sums for each number of centers, in one pass wherever that changes nothing.

    The first centers of a larger number are those of the smaller one. Their sums are blocks of the
    larger sums, unless one of the two bases is replaced by orthogonal combinations.
    """
    form = ritz.laplacian()

    def assembled(p: int) -> Sums | None:
        try:
            # With one fold, values are those found from all rows.
            basis = ritz.Nystrom(kernel, p)
            return ritz.assemble(form, basis, X, n_folds=1, random_state=seed, n_jobs=1)
        except (ValueError, ArithmeticError):
            return None

    def functions(p: int) -> Centered | None:
        try:
            samples = Samples(as_stream(X, form.views))
            return fit_bases(form, ritz.Nystrom(kernel, p), samples, random_integers(seed, 3))[0]
        except (ValueError, ArithmeticError):
            return None

    largest = assembled(CENTERS[-1])
    found = []
    for p in CENTERS[:-1]:
        small = functions(p)
        if largest is not None and small is not None and is_block(small, largest.left):
            found.append(first_functions(largest, p))
        else:
            found.append(assembled(p))
    return [*found, largest]


def is_block(small: Centered, large: Centered) -> bool:
    """Return whether the functions of one basis are the first of another, up to their means."""
    a, b = small.basis, large.basis
    if not (isinstance(a, KernelSections) and isinstance(b, KernelSections)):
        return False
    return np.array_equal(a.centers, b.centers[: a.size])


def first_functions(sums: Sums, p: int) -> Sums:
    """Return the sums over the first p functions and the function 1."""
    whole = sums.left
    assert isinstance(whole.basis, KernelSections)
    basis = KernelSections(whole.basis.kernel, whole.basis.centers[:p])
    left = replace(whole, basis=basis, offset=whole.offset[:p])
    L, Phi = (tuple(M[: 1 + p, : 1 + p] for M in matrices) for matrices in (sums.L, sums.Phi))
    return replace(sums, left=left, right=left, L=L, Phi=Phi, Psi=Phi)


def error_of(sums: Sums | None, penalty: float, truth: Array) -> float:
    if sums is None:
        return 1.0
    try:
        found = decompose_sums(sums, 1 + len(truth), regularization=penalty, fewer=True).values[1:]
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return 1.0
    return mode_error(found, truth)


def record(errors: Array) -> dict[str, Any]:
    """Return the configuration of least mean error from errors (seeds, configurations)."""
    best = int(errors.mean(axis=0).argmin())
    kernel, factor, centers, penalty = GRID[best]
    return {
        "kernel": kernel,
        "length_factor": factor,
        "n_centers": centers,
        "penalty": penalty,
        "error": float(errors[:, best].mean()),
        "errors": errors[:, best].tolist(),
        "best_of_each_seed": float(errors.min(axis=1).mean()),
    }


def load() -> dict[str, dict[str, Any]]:
    return json.loads(PATH.read_text()) if PATH.exists() else {}


def main(missing: bool, jobs: int) -> None:
    found = load() if missing else {}
    rows = [
        (case.name, n)
        for n in SIZES
        for case in (*CHOSEN_ON, *SET_ASIDE)
        if str(n) not in found.get(case.name, {})
    ]
    if not rows:
        return
    tasks = [(*row, seed) for row in rows for seed in SEEDS]
    start = time.perf_counter()
    for (name, n), errors in by_row(rows, in_processes(measure, tasks, jobs), len(SEEDS)):
        best = record(np.array(errors))
        found.setdefault(name, {})[str(n)] = best
        with write_atomically(PATH) as file:
            file.write(json.dumps(found, indent=2).encode() + b"\n")
        show(
            f"{name:<30}{n:>7,}{best['error']:>9.4f}  {best['kernel']}, "
            f"{best['length_factor']} times the quantile, {best['n_centers']} centers, "
            f"penalty {best['penalty']:g}; best of each seed {best['best_of_each_seed']:.4f} "
            f"({time.perf_counter() - start:.0f} s)"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missing", action="store_true", help="compute only what is not there")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    given = parser.parse_args()
    main(given.missing, given.jobs)
