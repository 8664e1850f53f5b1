"""From sums to a spectrum: functions, best estimates of their values, and how sure these are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from ritz.assembly import Sums
from ritz.bases import Centered, Combination, KernelSections
from ritz.forms.pairs import Cross
from ritz.solve.whiten import require_rank
from ritz.spectrum.errors import fold_matrices, jackknife, left_out_values, noise_of
from ritz.spectrum.folds import FoldMatrices
from ritz.spectrum.groups import Groups, certain, group
from ritz.spectrum.held_out import (
    FEWEST_EFFECTIVE_ROWS,
    LEAST_ROW_SHARE,
    HeldOut,
    effective_rows,
    heavy_folds,
    hold_out,
)
from ritz.spectrum.solve_sums import Found, solve_sums
from ritz.spectrum.spectrum import SingularSpectrum, Spectrum
from ritz.spectrum.stability import half_overlaps, stability
from ritz.threads import solver_threads
from ritz.validation import Array, as_count, as_number, parameter_error

# The share of the difference between held-out and in-sample values that counts as an error of
# their mean: the two biases cancel only up to about a quarter.
BIAS_SHARE = 0.25
# Differences below this share of the largest value say nothing about a function: values of clusters
# that are apart are nearly zero.
NEGLIGIBLE = 0.02
# Where held-out values differ from in-sample ones by more than this share, errors of second order
# are as large as those of first order, which alone tell how far sampling spreads repeated values.
LARGEST_GAP = 0.5
# The weight of functions that do not generalize where estimates are put in order.
LITTLE_WEIGHT = 1e-6
# Functions below which the first half of a basis says nothing about the whole.
FEWEST_NESTED = 16
# Bounds of the ratio by which gains fall each time the number of functions doubles: at least the
# last gain is expected again, at most nine times as much.
LEAST_RATIO, MOST_RATIO = 0.5, 0.9


def decompose_sums(
    sums: Sums,
    k: int = 16,
    *,
    regularization: float = 0.0,
    fewer: bool = False,
    n_jobs: int | None = None,
) -> Spectrum | SingularSpectrum:
    """Find the spectrum of an operator from its sums over samples.

    Parameters
    ----------
    sums
        The result of `ritz.assemble`, or of adding several.
    k, regularization
        As in `ritz.decompose`.
    fewer
        Whether to return fewer than k where the functions have a smaller rank on the samples,
        instead of raising an error.
    n_jobs
        The number of threads that find functions without each fold.
    """
    k = as_count(k, "k")
    if not isinstance(sums, Sums):
        got = type(sums).__name__
        raise parameter_error("sums", "what ritz.assemble returns", got, kind=TypeError)
    regularization = as_number(regularization, "regularization", "a nonnegative number", 0.0)
    with solver_threads(max(sums.left.size, sums.right.size)):
        # Twice as many eigenfunctions, so that the last group is whole. Of singular functions more
        # would undo the regularization, which chooses the span.
        found = solve_sums(sums, 2 * k if sums.form.symmetric else k, regularization)
        require_rank(min(len(found), k), 1 if fewer else k)
        estimates = Estimates.of(sums, found, regularization, n_jobs)
        levels: dict[str, Any] = {
            "values": estimates.values,
            "errors": estimates.errors,
            "ritz_values": found.values,
            "heldout_values": None if estimates.held is None else estimates.held.values,
            "basis_errors": basis_errors(sums, estimates.values, regularization, n_jobs),
            "groups": estimates.groups,
            "group_sizes": np.bincount(estimates.groups)[estimates.groups],
            "group_confidence": estimates.confidence,
            "flags": estimates.flags,
            "stability": stability(half_overlaps(sums, found, regularization), estimates.groups),
            "residuals": found.residuals,
        }
    first = np.arange(min(k, len(found)))
    found = found.pick(first)
    levels = {name: None if part is None else part[: len(first)] for name, part in levels.items()}
    if estimates.folds is not None:
        levels["folds"] = estimates.folds.pick(first)
    levels |= {"rank": found.rank, "n_rows": sums.n_rows, "operator": str(sums.form)}
    sides = [
        Combination(replace(basis, offset=basis.offset + means), C[1:], C[0] + means @ C[1:])
        for basis, means, C in zip(
            (sums.left, sums.right), found.means, (found.left, found.right), strict=True
        )
    ]
    if not sums.form.symmetric:
        return SingularSpectrum(left=sides[0], right=sides[1], **levels)
    functions = sides[0]
    return Spectrum(functions.basis, functions.coefficients, functions.constants, **levels)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Best estimates of the values of functions, and what they rest on.

    Parameters
    ----------
    values, errors
        The estimates (k,) and their standard errors, or None; the same for all members of a group.
    groups, confidence
        Numbers (k,) of groups of values, and their probabilities, or None.
    held
        The functions on unseen rows, or None.
    flags
        What is wrong with each function (k,), or an empty text.
    folds
        The matrices of each fold over the functions, or None.
    """

    values: Array
    errors: Array | None
    groups: NDArray[np.intp]
    confidence: Array | None
    held: HeldOut | None
    flags: tuple[str, ...]
    folds: FoldMatrices | None

    @classmethod
    def of(cls, sums: Sums, found: Found, regularization: float, n_jobs: int | None) -> Estimates:
        """Estimate the values of functions that were found from sums."""
        held = hold_out(sums, found, regularization, n_jobs)
        small = fold_matrices(sums, found.left, found.right)
        order = None if sums.form.symmetric else sums.form.order
        left_out = None if small is None else left_out_values(small, order)
        values, bias = found.values, np.zeros(len(found))
        is_rough = np.ones(len(found), dtype=np.bool_)
        flags = np.full(len(found), "", dtype=object)
        if held is not None:
            noise = held.errors if left_out is None else jackknife(left_out)
            # Groups count as rows, and there may be few of them.
            if small is not None and not sums.grouped:
                rows = effective_rows(np.einsum("fii->fi", small.Phi), small.weight)
                few = min(FEWEST_EFFECTIVE_ROWS, LEAST_ROW_SHARE * sums.n_rows)
                flags[rows < few] = "few rows"
            is_rough = np.abs(held.values - values) > LARGEST_GAP * np.abs(values)
            values, bias, usable = combined(values, held, noise)
            if not sums.form.symmetric:
                # Held-out products of noise may be below zero, singular values never are.
                values = np.maximum(values, 0.0)
            flags[~usable] = "does not generalize"
            flags[found.is_exact] = ""
            plain = found.is_exact | (flags != "")
            values, bias = np.where(plain, found.values, values), np.where(plain, 0.0, bias)
        good = np.flatnonzero(flags == "")
        found_groups = grouped(sums, found, small, good, is_rough)

        def means(values: Array) -> Array:
            """Return values (..., k) with the expected mean of the run for each good one."""
            result = values.copy()
            result[..., good] = found_groups.means(values[..., good])
            return result

        errors = None
        if left_out is not None:
            errors = np.hypot(jackknife(means(left_out)), means(bias))
            errors[good] = np.hypot(errors[good], found_groups.doubt(values[good]))
            errors = np.where(found.is_exact, 0.0, errors)
        values = in_order(means(values), flags == "", found.is_exact, order == "largest")
        groups, confidence = with_flagged(found_groups, good, len(found))
        return cls(values, errors, groups, confidence, held, tuple(flags.tolist()), small)


def grouped(
    sums: Sums,
    found: Found,
    small: FoldMatrices | None,
    good: NDArray[np.intp],
    is_rough: NDArray[np.bool_],
) -> Groups:
    """Return the groups of the values that are not flagged, whose numbers are `good`.

    Eigenvalues over kernel sections of one variable are simple, as Sturm and Liouville found.
    """
    form, basis = sums.form, sums.left.basis
    while isinstance(basis, Combination | Centered):
        basis = basis.basis
    one_variable = isinstance(basis, KernelSections) and basis.dimension == 1
    if form.symmetric and form.views == 1 and one_variable:
        return certain(np.arange(len(good)), np.ones(len(good)))
    # Division by the unit prevents overflow and underflow of squares.
    unit = float(np.abs(found.values).max(initial=0.0)) or 1.0
    values, noise = found.values / unit, None
    if small is not None:
        all_noise = noise_of(replace(small, L=small.L / unit), values)
        noise = all_noise[0][np.ix_(good, good)], all_noise[1][np.ix_(good, good)]
    n_folds = len(heavy_folds(sums))
    return group(values[good], noise, found.is_exact[good], is_rough[good], n_folds)


def with_flagged(
    found: Groups, good: NDArray[np.intp], k: int
) -> tuple[NDArray[np.intp], Array | None]:
    """Return groups (k,) and confidence; flagged values stand alone, with confidence 0.

    Groups are numbered in the order in which they begin.
    """
    groups = k + np.arange(k)
    groups[good] = found.number
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    groups = np.argsort(np.argsort(first))[member]
    if found.confidence is None:
        return groups, None
    confidence = np.zeros(k)
    confidence[good] = found.confidence
    return groups, confidence


def in_order(
    values: Array, usable: NDArray[np.bool_], is_exact: NDArray[np.bool_], descending: bool
) -> Array:
    """Return estimates in the order of the functions: where two cross, their mean stands for both.

    Functions are in the order of their in-sample values. Estimates cross where noise cannot tell
    them apart, and the mean is better than either. Those of functions that do not generalize count
    little.
    """
    weights = np.where(usable, 1.0, LITTLE_WEIGHT)[~is_exact]
    result = values.copy()
    if len(weights):
        fit = isotonic_regression(values[~is_exact], weights=weights, increasing=not descending)
        result[~is_exact] = fit.x
    return result


def combined(
    ritz_values: Array, held: HeldOut, errors: Array
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return values between in-sample and held-out ones, the error of their bias, and where.

    Functions fitted to n rows have values that are too good there by some b, and on unseen rows too
    bad by b; held-out functions, fitted to (F - 1) / F of the rows, by b F / (F - 1). The weights F
    and F - 1 cancel both. Functions that do not generalize keep their in-sample values.
    """
    F = len(held.weight)
    gap = np.abs(held.values - ritz_values)
    size = np.abs(ritz_values)
    small = NEGLIGIBLE * size.max(initial=0.0)
    usable = held.generalize & (gap <= 2 * size + 3 * errors + small)
    mixed = (F * ritz_values + (F - 1) * held.values) / (2 * F - 1)
    bias = np.where(usable, BIAS_SHARE * gap, 0.0)
    return np.where(usable, mixed, ritz_values), bias, usable


def basis_errors(
    sums: Sums, values: Array, regularization: float, n_jobs: int | None
) -> Array | None:
    """Return by how much (k,) more functions may lower the values, or raise correlations.

    With half and a quarter of a nested basis the gains of two doublings are known. If later gains
    fall by the same ratio r, they add up to r / (1 - r) times the last one. It is an estimate, not
    a bound.
    """
    size = min(sums.left.size, sums.right.size)
    if not (sums.left.nested and sums.right.nested) or size < FEWEST_NESTED:
        return None
    try:
        quarter, half = (
            nested_values(sums, share, len(values), regularization, n_jobs) for share in (0.25, 0.5)
        )
    except ValueError:
        # The first functions alone vary too little on the samples.
        return None
    sign = -1.0 if sums.form.symmetric or sums.form.order == "smallest" else 1.0
    last, before = sign * (values - half), sign * (half - quarter)
    ratio = np.clip(last / np.where(before > 0, before, np.inf), LEAST_RATIO, MOST_RATIO)
    gains = np.maximum(last, 0.0) * ratio / (1 - ratio)
    if sums.form.positive:
        # No eigenvalue of a positive form is below zero.
        return np.minimum(gains, np.maximum(values, 0.0))
    if isinstance(sums.form, Cross):
        # No correlation is above one.
        return np.minimum(gains, np.maximum(1 - values, 0.0))
    return gains


def nested_values(
    sums: Sums, share: float, k: int, regularization: float, n_jobs: int | None
) -> Array:
    """Return the values (k,) of the first functions of a basis, the last one found repeated."""
    left = np.arange(int(share * sums.left.size))
    right = left if sums.right is sums.left else np.arange(int(share * sums.right.size))
    some = sums.pick(left, right)
    found = solve_sums(some, k, regularization)
    values = Estimates.of(some, found, regularization, n_jobs).values
    return np.append(values, np.full(k - len(values), values[-1]))
