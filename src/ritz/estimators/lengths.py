"""Which length scale, and how many centers: what has the least energy on rows not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ritz.arrays import Array, lowest_hashed
from ritz.assembly import assemble
from ritz.bases import Centered, Nystrom
from ritz.forms import Form
from ritz.kernels import Kernel
from ritz.kernels.distances import FEW
from ritz.spectrum.decompose import decompose_sums
from ritz.threads import Workers, blas_threads, jobs

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
ROWS = 2000
FEWEST_ROWS = 60
CENTERS = 150
MOST_FUNCTIONS = 10
# How much less energy twice as many centers must leave to be worth their time.
WORTH = 0.02
# Functions with less variance than this on unseen rows live on single rows.
VARIANCE = 0.05


def comparable(form: Form, rows: Array) -> bool:
    """Return whether energies of parts of the rows say which length scale is better."""
    alone = form.symmetric and form.positive and form.views == 1 and not any(form.row_arrays())
    return alone and len(rows) >= FEWEST_ROWS


def choose_length_scale(
    form: Form,
    kernel: Callable[[float], Kernel],
    base: float,
    rows: Array,
    weight: Array,
    k: int,
    seed: int,
    regularization: float,
    n_jobs: int | None = None,
) -> tuple[float, dict[float, float]]:
    """Return the best of five length scales around a base, and the energy of each.

    By Rayleigh and Ritz the sum of the first k eigenvalues is smallest for the best functions. Up
    to 2,000 distinct rows are split in two; functions found from one half are measured on the
    other: the sum of the eigenvalues of (L, Phi) there, in their span. Functions too narrow for the
    data have little variance on unseen rows, hence large or no eigenvalues.

    Parameters
    ----------
    form
        The operator.
    kernel
        The kernel of a length scale.
    base
        The length scale in the middle.
    rows, weight
        Distinct rows (n, d) and their weights (n,).
    k
        How many functions besides the constant.
    seed
        Which rows to look at.
    regularization, n_jobs
        As in `ritz.decompose`.
    """
    halves = two_halves(rows, weight, seed)
    # Few rows are used both ways.
    sides = (0, 1) if sum(len(half) for half, _ in halves) < ROWS else (0,)

    def energy(length: float) -> float:
        basis = Nystrom(kernel(length), min(CENTERS, len(halves[1][0])))
        return sum(
            unseen_energy(form, basis, *halves[side], *halves[1 - side], k, regularization)
            for side in sides
        )

    lengths = [factor * base for factor in FACTORS]
    # With few columns threads would wait for Python's lock longer than they compute.
    threads = jobs(n_jobs) if rows.shape[1] > FEW else 1
    with blas_threads(1), Workers(threads) as run:
        # What the first one compiles the others find.
        found = [energy(lengths[0]), *run(energy, lengths[1:])]
    energies = dict(zip(lengths, found, strict=True))
    best = min(energies, key=lambda length: energies[length])
    return (best if np.isfinite(energies[best]) else base), energies


def two_halves(rows: Array, weight: Array, seed: int) -> list[tuple[Array, Array]]:
    """Return up to 2,000 distinct rows and their weights, in two halves."""
    pick = lowest_hashed(rows, ROWS, seed)
    return [(rows[half], weight[half]) for half in (pick[::2], pick[1::2])]


def energies_by_centers(
    form: Form,
    kernel: Kernel,
    rows: Array,
    weight: Array,
    k: int,
    seed: int,
    regularization: float,
    energy: float | None = None,
) -> dict[int, float]:
    """Return the energies that 75 centers and 150, on 1,000 rows, leave on 1,000 unseen ones.

    The parameters are those of `choose_length_scale`, which knows the energy of 150 centers.
    """
    (seen, unseen), basis = two_halves(rows, weight, seed), Nystrom(kernel, CENTERS // 2)
    with blas_threads(1):
        few = unseen_energy(form, basis, *seen, *unseen, k, regularization)
        # Of fewer rows what is known is of both halves.
        if energy is None or len(rows) < ROWS:
            basis = Nystrom(kernel, CENTERS)
            energy = unseen_energy(form, basis, *seen, *unseen, k, regularization)
    return {CENTERS // 2: few, CENTERS: energy}


def half_will_do(energies: dict[int, float]) -> bool:
    """Return whether half as many centers leave as little energy, within 2%.

    Functions that are that smooth on a sample are so on all rows.
    """
    few, many = energies[CENTERS // 2], energies[CENTERS]
    return bool(np.isfinite(many) and few <= (1 + WORTH) * many)


def unseen_energy(
    form: Form,
    basis: Nystrom,
    seen: Array,
    seen_weight: Array,
    unseen: Array,
    unseen_weight: Array,
    k: int,
    regularization: float,
) -> float:
    """Return the sum of the first k eigenvalues, on unseen rows, of functions found from others."""
    try:
        sums = assemble(
            form, basis, seen, sample_weight=seen_weight, n_folds=1, random_state=0, n_jobs=1
        )
        found: Any = decompose_sums(sums, 1 + k, regularization=regularization, fewer=True)
    except ValueError:
        # No functions at this length; what is wrong with the data the fit will tell.
        return np.inf
    if len(found) < 1 + k:
        return np.inf
    functions = Centered(found[1:], np.zeros(k))
    sums = assemble(form, functions, unseen, sample_weight=unseen_weight, n_folds=1, n_jobs=1)
    there = sums.mean()
    mean = there.Phi[0, 1:]
    covariance = there.Phi[1:, 1:] - np.outer(mean, mean)
    if eigh(covariance, eigvals_only=True)[0] < VARIANCE:
        return np.inf
    return float(eigh(there.L[1:, 1:], covariance, eigvals_only=True).sum())
