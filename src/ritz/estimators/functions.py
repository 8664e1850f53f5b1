"""The functions that a fit keeps: as many as are wanted, or as the samples agree on."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ritz.assembly import Sums
from ritz.selection.selection import Selection
from ritz.selection.steps import FEWEST_COMPARED_ROWS
from ritz.spectrum import SingularSpectrum, decompose_sums
from ritz.spectrum.solve_sums import solve_sums
from ritz.spectrum.stability import FEWEST_HALVED_FOLDS, cosine, half_overlaps
from ritz.validation import Array, as_count, parameter_error

# How many times as many functions as wanted are looked at for those that generalize.
MOST_LEFT_OUT = 8
# The most functions that "auto" may stand for, and the number that the basis is chosen for then.
MOST_AUTO_FUNCTIONS, AUTO_FUNCTIONS = 30, 5
# The squared cosine of the largest angle between the functions of two halves of the samples.
LEAST_AGREEMENT = 0.75


def as_n_functions(value: Any, name: str) -> int:
    """Return a number of functions; for "auto" the number that the basis is chosen for."""
    if isinstance(value, str) and value == "auto":
        return AUTO_FUNCTIONS
    return as_count(value, name, "'auto' or a positive integer")


def wanted_functions(
    sums: Sums,
    n_functions: Any,
    regularization: float,
    name: str,
    n_jobs: int | None = None,
    calls: int = 2,
) -> Any:
    """Return what `first_functions` does; warn where there are fewer, raise if there are none.

    `name` is the parameter that asks for so many functions, "auto" or a number, and `calls` counts
    the calls between the user's and this one.
    """
    if isinstance(n_functions, str):
        spectrum = stable_functions(sums, regularization, n_jobs, calls + 1)
        n_functions = len(spectrum) - 1
    else:
        n_functions = as_count(n_functions, name)
        spectrum = first_functions(sums, n_functions, regularization, n_jobs)
    found = len(spectrum) - 1
    if not found:
        requirement = "samples on which some function of the basis varies"
        remedy = "Use other functions, or samples with more distinct rows."
        raise parameter_error("X", requirement, "constant functions only", remedy)
    if found < n_functions:
        warnings.warn(
            f"Only {found} of {n_functions} functions were found: the basis has no more on the "
            f"samples. Lower {name}, use more or other functions, or more samples.",
            stacklevel=2 + calls,
        )
    flagged = sum(map(bool, spectrum.flags))
    if flagged and sums.n_rows >= FEWEST_COMPARED_ROWS and not sums.grouped:
        warnings.warn(
            f"The last {flagged} of {found} functions belong to a few rows and say nothing about "
            f"others: see `spectrum_.flags`. Lower {name}, or use more samples.",
            stacklevel=2 + calls,
        )
    return spectrum


def first_functions(
    sums: Sums, n_functions: int, regularization: float, n_jobs: int | None = None
) -> Any:
    """Return the spectrum of the constant and of the first functions that generalize.

    Functions that belong to single rows are left out. Where there are not enough others, they come
    last. `Spectrum.flags` says which they are.
    """
    asked = 1 + n_functions
    while True:
        spectrum = found_functions(sums, asked, regularization, n_jobs)
        good = [j for j, flag in enumerate(spectrum.flags) if not flag]
        bad = [j for j, flag in enumerate(spectrum.flags) if flag]
        # With few rows or groups, folds are too small to tell which functions generalize.
        few = sums.n_rows < FEWEST_COMPARED_ROWS or sums.grouped
        enough = few or len(good) > n_functions or len(spectrum) < asked
        if enough or asked >= MOST_LEFT_OUT * (1 + n_functions):
            some = slice(None) if few else np.array(good + bad)
            return spectrum[some][: 1 + n_functions]
        asked *= 2


def stable_functions(sums: Sums, regularization: float, n_jobs: int | None, calls: int) -> Any:
    """Return the spectrum of the constant and of the first functions that two halves agree on.

    They are as many as leave no angle above 30 degrees between the spaces that two halves of the
    samples give. A number that cuts through a group of repeated values makes a large angle, so the
    search goes on for half as many functions again. Where halves cannot be compared they are those
    that the basis is chosen for, and a warning says so.
    """
    if sums.n_folds < FEWEST_HALVED_FOLDS:
        what = f"at least {FEWEST_HALVED_FOLDS} where the number of functions is 'auto'"
        raise parameter_error("n_folds", what, sums.n_folds)
    k = 1 + MOST_AUTO_FUNCTIONS
    overlaps = half_overlaps(sums, solve_sums(sums, 2 * k, regularization), regularization)
    if overlaps is None:
        rows = "groups" if sums.grouped else "rows"
        warnings.warn(
            f"Two halves of the samples cannot be compared, as the {rows} are too few: up to "
            f"{AUTO_FUNCTIONS} functions are kept, whether the samples determine them or not. Use "
            f"more {rows}, or give a number of functions.",
            stacklevel=2 + calls,
        )
        return first_functions(sums, AUTO_FUNCTIONS, regularization, n_jobs)
    spectrum = found_functions(sums, k, regularization, n_jobs)
    good = np.flatnonzero([not flag for flag in spectrum.flags])
    agreed = 1
    for size in range(2, len(good) + 1):
        if cosine(overlaps, good[:size]) ** 2 >= LEAST_AGREEMENT:
            agreed = size
        elif size > 1.5 * agreed + 1:
            break
    if agreed == 1 and len(spectrum) > 1:
        warnings.warn(
            "Two halves of the samples give different functions, so that not even one can be "
            "trusted: the first one found is kept. Use more rows or fewer columns.",
            stacklevel=2 + calls,
        )
        return spectrum[:2]
    return spectrum[good[:agreed]]


def found_functions(sums: Sums, k: int, regularization: float, n_jobs: int | None) -> Any:
    """Return the spectrum of up to k functions, without the sample of rows of their basis.

    The sample, which is what an operator such as `neighbors` compares rows with, stays with the
    sums: the functions do not need it, and it may be larger than they are.
    """
    spectrum = decompose_sums(sums, k, regularization=regularization, fewer=True, n_jobs=n_jobs)
    if isinstance(spectrum, SingularSpectrum):
        left, right = map(_without_sample, (spectrum.left, spectrum.right))
        return replace(spectrum, left=left, right=right)
    return _without_sample(spectrum)


def _without_sample(functions: Any) -> Any:
    basis = replace(functions.basis, reference=None, reference_weight=None)
    return replace(functions, basis=basis)


def without_constant(spectrum: Any) -> tuple[Array, Array | None]:
    """Return the values of a spectrum and their errors, if it has any, but the constant's."""
    errors = spectrum.errors
    return spectrum.values[1:], None if errors is None else errors[1:]


def with_basis_errors(spectrum: Any, selection: Selection | None) -> Any:
    """Return a spectrum whose basis errors are not below what a finer basis gains on a sample.

    Half the length scales gain some share of a value; later halvings may gain as much again.
    """
    if selection is None or spectrum.basis_errors is None:
        return spectrum
    gains = np.zeros(len(spectrum))
    some = selection.basis_gains[: len(spectrum) - 1]
    gains[1 : 1 + len(some)] = np.minimum(2 * some, 1.0)
    errors = np.maximum(spectrum.basis_errors, gains * np.abs(spectrum.values))
    return replace(spectrum, basis_errors=errors)
