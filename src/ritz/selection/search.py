"""The search for a basis: which kernel, length scales, penalty and number of centers score best."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ritz.assembly import Sums, assemble
from ritz.bases import KernelSections
from ritz.forms import Form
from ritz.kernels import Kernel
from ritz.selection.rows import WeightedRows
from ritz.spectrum.held_out import ROUNDING, HeldOut, hold_out
from ritz.spectrum.solve_sums import solve_sums
from ritz.threads import thread_map
from ritz.validation import Array

# Folds of a comparison: each candidate is solved once for each, and once for all.
COMPARED_FOLDS = 4
# How much the difference between held-out and in-sample values counts against a candidate.
OPTIMISM_SHARE = 0.5
# The difference in score, for each function, that matters: half a percent of its value.
LEAST_GAIN = 0.005
# The longest length scale of a column, in standard deviations: functions are straight lines there.
LONGEST = 8.0


@dataclass(frozen=True, eq=False)
class Setting:
    """What is chosen: a kernel, the number of its sections, and the regularization."""

    file_tag: ClassVar[str] = "Setting"

    kernel: Kernel
    n_centers: int
    regularization: float

    @property
    def key(self) -> tuple[Any, ...]:
        """A value that equal settings share."""
        return repr(self.kernel), self.n_centers, self.regularization

    @property
    def length(self) -> float:
        """The length scale, the geometric mean of those of the columns."""
        return float(np.exp(np.log(self.kernel.length_scale).mean()))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A setting, and how the first functions do on rows that they were not found from.

    Parameters
    ----------
    setting
        The kernel, the number of centers, and the regularization.
    ritz_values
        The values (k,) of the functions on the rows they were found from.
    held
        The functions on unseen rows, or None where the candidate failed.
    """

    file_tag: ClassVar[str] = "Candidate"
    unbounded_fields: ClassVar[tuple[str, ...]] = ("ritz_values",)

    setting: Setting
    ritz_values: Array
    held: HeldOut | None

    @property
    def valid(self) -> bool:
        """Whether all functions generalize."""
        return self.held is not None and bool(self.held.generalize.all())

    @property
    def estimates(self) -> Array:
        """The values (k,) halfway between in-sample and held-out ones."""
        assert self.held is not None
        return np.asarray((self.ritz_values + self.held.values) / 2)

    def score(self, floor: Array) -> float:
        """Return sum_i log c_i + |log(c_i / a_i)| / 2, lower is better, infinite where invalid.

        Here c are held-out and a in-sample values. Each function counts alike, whatever the units.

        Parameters
        ----------
        floor
            Numbers (k,) added to all values: differences below them are noise.
        """
        return self.loss(floor) if self.valid else np.inf

    def loss(self, floor: Array) -> float:
        """Return the score, also where some functions do not generalize."""
        if self.held is None:
            return np.inf
        # Energies of clusters that are apart may be below zero by rounding.
        least = floor + np.finfo(np.float64).tiny
        held, seen = (np.maximum(v, 0.0) + least for v in (self.held.values, self.ritz_values))
        optimism = np.abs(np.log(held / seen))
        return float((np.log(held) + OPTIMISM_SHARE * optimism).sum())

    def difference_error(self, other: Candidate) -> float:
        """Return the standard error of the difference between the scores of two candidates."""
        if self.held is None or other.held is None:
            return np.inf
        ours, theirs = _influence(self.held), _influence(other.held)
        m = len(ours)
        return float(np.sqrt(m / (m - 1) * ((ours - theirs) ** 2).sum()))


def measured(sums: Sums, k: int, setting: Setting, n_jobs: int | None) -> Candidate:
    """Return a setting with the values of its first k functions, in-sample and held out.

    Of an operator between two views they are 1 - c for the correlations c, so that the functions
    of lowest values are the best ones, as those of an energy are.
    """
    # More singular functions than are wanted would undo the regularization.
    more = max(2, k // 4) if sums.form.symmetric else 0
    found = solve_sums(sums, 1 + k + more, setting.regularization)
    first = np.flatnonzero(~found.is_exact)[:k]
    if len(first) < k:
        return Candidate(setting, np.full(k, np.nan), None)
    held = hold_out(sums, found, setting.regularization, n_jobs)
    held = None if held is None else held.pick(first)
    values = found.values[first]
    if sums.form.symmetric:
        return Candidate(setting, values, held)
    gaps = np.maximum(1 - values, ROUNDING)
    return Candidate(setting, gaps, None if held is None else held.gaps)


def _influence(held: HeldOut) -> Array:
    """Return what each fold (folds,) adds to sum_i log c_i, to first order."""
    size = np.maximum(held.left.sum(axis=0), np.finfo(np.float64).tiny)
    value = np.maximum(held.values, np.finfo(np.float64).tiny)
    return np.asarray(((held.energies / value - held.left) / size).sum(axis=1))


@dataclass(eq=False)
class Search:
    """Candidates that are compared on one sample of rows.

    Parameters
    ----------
    form
        The operator, prepared for the sample.
    rows
        The sample.
    centers
        Rows (m, d) of the sample in random order, none of them far from all others.
    base
        The length scale that others are multiples of.
    threads
        How many candidates are computed at the same time.
    k
        The number of functions, the constant not counted.
    seen
        The candidates compared so far, by the keys of their settings.
    floor
        Numbers (k,) added to all values in scores, or None before the first score.
    errors
        Why candidates failed, one error for each that did.
    step
        A function that is called with the number of candidates compared, to show the progress.
    """

    form: Form
    rows: WeightedRows
    centers: Array
    base: float
    threads: int
    k: int = 1
    seen: dict[Any, Candidate] = field(default_factory=dict)
    floor: Array | None = None
    errors: list[ValueError] = field(default_factory=list)
    step: Callable[[int], object] = field(default=lambda count: None)

    @cached_property
    def deviations(self) -> Array:
        """The standard deviation (d,) of each column, without rows that are far from all others."""
        return np.asarray(self.centers.std(axis=0))

    def evaluate(self, settings: Iterable[Setting]) -> list[Candidate]:
        """Return the candidates of some settings, computing those that are new."""
        settings = list(settings)
        # Settings that differ in the regularization alone share their sums.
        new: dict[Any, dict[Any, Setting]] = {}
        for setting in settings:
            if setting.key not in self.seen:
                new.setdefault(setting.key[:2], {})[setting.key] = setting
        for found in thread_map(self._candidates, new.values(), self.threads):
            self.seen.update(found)
            self.step(len(found))
        if len(self.errors) == len(self.seen):
            # Not the candidates but the data or the operator are the reason.
            raise self.errors[0]
        return [self.seen[setting.key] for setting in settings]

    def _candidates(self, settings: dict[Any, Setting]) -> dict[Any, Candidate]:
        """Return the candidates of settings of one basis."""
        sums: Sums | None = None
        found = {}
        for key, setting in settings.items():
            try:
                sums = self._sums(setting) if sums is None else sums
                found[key] = measured(sums, self.k, setting, 1)
            except ValueError as error:
                self.errors.append(error)
                found[key] = Candidate(setting, np.full(self.k, np.nan), None)
        return found

    def bases(self, setting: Setting) -> Any:
        """Return the kernel sections of a setting."""
        return KernelSections(setting.kernel, self.centers[: setting.n_centers])

    def _sums(self, setting: Setting) -> Sums:
        return assemble(
            self.form,
            self.bases(setting),
            self.rows.X if self.rows.Y is None else (self.rows.X, self.rows.Y),
            sample_weight=self.rows.weight,
            groups=self.rows.groups,
            n_folds=COMPARED_FOLDS,
            random_state=0,
            n_jobs=1,
            progress=False,
        )

    def score(self, candidate: Candidate) -> float:
        """Return the score of a candidate, with the floor that all candidates share."""
        if self.floor is None:
            errors = [c.held.errors for c in self.seen.values() if c.held is not None and c.valid]
            self.floor = np.median(errors, axis=0) if errors else np.zeros(self.k)
        return candidate.score(self.floor)

    @property
    def any_valid(self) -> bool:
        """Whether all functions of some candidate generalize."""
        return any(candidate.valid for candidate in self.seen.values())

    def best(self, candidates: Iterable[Candidate]) -> Candidate:
        """Return the candidate of the lowest score."""
        return min(candidates, key=self.score)

    def improve(
        self, best: Candidate, moves: Callable[[Setting], list[Setting]], gain: float
    ) -> Candidate:
        """Move to the best of some neighboring settings as long as the score falls by a gain."""
        while True:
            found = self.best(self.evaluate(moves(best.setting)) or [best])
            if not self.score(found) < self.score(best) - gain:
                return best
            best = found

    def fit_columns(self, best: Candidate, factors: tuple[float, ...], sweeps: int) -> Candidate:
        """Give each column a length scale of its own where that lowers the score.

        Parameters
        ----------
        best
            The candidate to start from.
        factors
            By what the length scale of a column is multiplied.
        sweeps
            The most sweeps: the first over all columns, each later one over those that changed.
        """
        columns = np.flatnonzero(self.deviations > 0).tolist()
        for _ in range(sweeps):
            changed = []
            for j in columns:
                found = self.best(self.evaluate(self._scaled(best.setting, j, factors)))
                if self.score(found) < self.score(best) - LEAST_GAIN * self.k:
                    best = found
                    changed.append(j)
            columns = changed
        return best

    def _scaled(self, setting: Setting, j: int, factors: tuple[float, ...]) -> list[Setting]:
        """Return a setting with the length scale of column j multiplied by each factor."""
        result = []
        for factor in factors:
            lengths = setting.kernel.scales(self.rows.X.shape[1]).copy()
            lengths[j] = min(factor * lengths[j], LONGEST * self.deviations[j])
            kernel = setting.kernel.with_length_scale(tuple(lengths.tolist()))
            result.append(replace(setting, kernel=kernel))
        return result

    def halved(self, setting: Setting) -> Setting:
        """Return a setting with half its length scales."""
        lengths = (np.asarray(setting.kernel.length_scale, dtype=np.float64) / 2).tolist()
        lengths = tuple(lengths) if isinstance(lengths, list) else lengths
        return replace(setting, kernel=setting.kernel.with_length_scale(lengths))

    def ends_at(self, setting: Setting) -> bool:
        """Return whether no shorter, or no longer, length scale of the kernel was tried."""
        kind = type(setting.kernel)
        tried = [c.setting.length for c in self.seen.values() if type(c.setting.kernel) is kind]
        may_be_longer = 2 * setting.length <= LONGEST * float(self.deviations.max())
        return setting.length == min(tried) or (setting.length == max(tried) and may_be_longer)

    def cheapest(self, candidates: Iterable[Candidate]) -> Candidate:
        """Return the candidate of fewest centers within a standard error of the best."""
        candidates, least = list(candidates), LEAST_GAIN * self.k
        best = self.best(candidates)
        # The error of a candidate that failed is infinite too, which makes it close to none.
        close = [
            c
            for c in candidates
            if c.valid and self.score(c) <= self.score(best) + max(least, c.difference_error(best))
        ]
        return min(close, key=lambda c: (c.setting.n_centers, self.score(c)), default=best)
