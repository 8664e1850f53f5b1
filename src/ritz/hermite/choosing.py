"""The weight of gradients and the penalty, by the error on folds left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import stdtrit

from ritz.hermite.moments import Moments, solve_moments
from ritz.hermite.settings import Settings
from ritz.threads import n_threads, one_blas_thread, thread_map
from ritz.validation import Array

# Up to so many functions all pairs are compared, in one thread: each takes milliseconds.
ALL_PAIRS_FUNCTIONS = 300

# Fewer values determine the constant, and little else.
FEWEST_VALUES = 16


@dataclass(frozen=True, eq=False)
class PenaltyPath:
    """Mean squared errors on folds left out, for pairs of a gradient weight and a penalty.

    Parameters
    ----------
    gradient_weights, regularizations
        The numbers rho (m,) and gamma (m,) of each pair.
    errors
        The errors (m,), in units of the values' standard deviation: of values where there are 16
        or more, of derivatives otherwise. They are infinite where rounding hides the penalty.
    gradient_errors
        The errors (m,) of derivatives, in units of the inputs' standard deviations too.
    fold_errors
        The part of each fold in the errors (m, folds).
    """

    file_tag: ClassVar[str] = "PenaltyPath"
    unbounded_fields: ClassVar[tuple[str, ...]] = ("errors", "gradient_errors", "fold_errors")

    gradient_weights: Array
    regularizations: Array
    errors: Array
    gradient_errors: Array
    fold_errors: Array

    @property
    def best(self) -> tuple[float, float]:
        """The pair of smallest error; of those within a thousandth, that of the largest penalty."""
        near = np.flatnonzero(self.errors <= 1.001 * self.errors.min())
        pick = near[np.argmax(self.regularizations[near])]
        return float(self.gradient_weights[pick]), float(self.regularizations[pick])

    @property
    def best_is_smallest(self) -> bool:
        """Whether no smaller penalty has a finite error at the best gradient weight."""
        weight, penalty = self.best
        finite = np.isfinite(self.errors) & (self.gradient_weights == weight)
        return bool(penalty <= self.regularizations[finite].min())

    def excess(self, weight: float, penalty: float) -> Array | None:
        """Return by how much the errors of folds exceed those of the best pair.

        The penalty is rounded up to one that has a finite error; without any, None. Folds without
        any observation that the errors are of are left out.
        """
        usable = (self.gradient_weights == weight) & np.isfinite(self.errors)
        usable &= self.regularizations >= penalty
        if not usable.any():
            return None
        usable &= self.regularizations == self.regularizations[usable].min()
        best = (self.gradient_weights == self.best[0]) & (self.regularizations == self.best[1])
        tried, least = self.fold_errors[usable][0], self.fold_errors[best][0]
        return np.asarray((tried - least)[(tried > 0) | (least > 0)])

    def is_near_best(self, weight: float, penalty: float) -> bool:
        """Return whether a pair is not significantly worse than the best one.

        The test is Student's t of the excess of the folds, one-sided at 97.5%.
        """
        excess = self.excess(weight, penalty)
        if excess is None or len(excess) < 2:
            return excess is not None
        n, total = len(excess), excess.sum()
        # mean <= t sd / sqrt(n), squared, without a difference of squares.
        t2 = float(stdtrit(n - 1, 0.975)) ** 2
        return bool(total <= 0 or total**2 * (n - 1 + t2) <= n * t2 * (excess**2).sum())

    def most_folds_accept(self, penalty: float) -> bool:
        """Return whether most folds have no larger error with a penalty below the best one.

        The sum over folds may differ because of a few rows far from all others.
        """
        weight, best = self.best
        excess = self.excess(weight, min(penalty, best))
        return excess is not None and bool(np.sum(excess <= 0) > 0.5 * len(excess))

    def __add__(self, other: PenaltyPath) -> PenaltyPath:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return PenaltyPath(*(np.concatenate(pair) for pair in pairs))


class Validation:
    """Cross-validation from the sums of folds, without the rows."""

    def __init__(self, folds: list[Moments], constant: bool, n_jobs: int | None = None) -> None:
        self.constant, self.n_jobs = constant, n_jobs
        self.folds = [fold for fold in folds if fold.weight.sum() > 0]
        self.total = sum(self.folds[1:], self.folds[0])
        self.size = self.total.gram.shape[1]

    def rounding(self, rho: float) -> float:
        """Return the penalty that the rounding errors of the sums hide."""
        values, slopes = np.trace(self.total.gram, axis1=1, axis2=2)
        return 10 * float(np.finfo(np.float64).eps * (values + rho * slopes))

    def resolved_noise(self, noise: Array) -> Array:
        """Return the noise (2,) of values and derivatives, neither one below rounding errors.

        Where one kind is exact and the other one is noisy, the ratio of the two has no bound. Where
        both are exact, only their ratio matters, and it is kept.
        """
        least = 20 * float(np.finfo(np.float64).eps) * np.trace(self.total.gram, axis1=1, axis2=2)
        return noise if (noise <= least).all() else np.maximum(noise, least)

    def compare(self, pairs: list[tuple[float, float]]) -> PenaltyPath:
        """Return the errors of pairs of a gradient weight and a penalty."""
        errors = np.full((len(pairs), len(self.folds), 2), np.inf)
        resolved = [i for i, (rho, gamma) in enumerate(pairs) if gamma >= self.rounding(rho)]

        def leave_out(k: int) -> None:
            fold = self.folds[k]
            others = self.total - fold
            for i in resolved:
                try:
                    x, _ = solve_moments(others, *pairs[i], self.constant)
                except LinAlgError:
                    continue
                errors[i, k] = np.maximum(fold.squared_errors(x), 0.0)

        threads = 1 if self.size < ALL_PAIRS_FUNCTIONS else n_threads(self.n_jobs)
        with one_blas_thread():
            thread_map(leave_out, range(len(self.folds)), threads)
        errors /= np.maximum(self.total.weight, 1e-300) * self.total.cross.shape[2]
        which = 0 if self.total.count[0] >= FEWEST_VALUES or self.total.count[1] == 0 else 1
        rhos, gammas = np.array(pairs).T
        sums = errors.sum(axis=1)
        return PenaltyPath(rhos, gammas, sums[:, which], sums[:, 1], errors[:, :, which])

    def search(self, weights: Array, penalties: Array, likely: float) -> PenaltyPath:
        """Compare all pairs of few functions; else the penalties, the weights, penalties again.

        The weight in the middle comes first. The last step compares penalties within a factor of a
        thousand of the best one, and the likely one.
        """
        if self.size < ALL_PAIRS_FUNCTIONS:
            return self.compare([(w, p) for w in weights for p in penalties])
        middle = weights[len(weights) // 2]
        path = self.compare([(middle, p) for p in penalties])
        others = [(w, path.best[1]) for w in weights if w != middle]
        if others:
            path = path + self.compare(others)
            weight, best = path.best
            near = [p for p in penalties if p != best and (p == likely or 1e-3 < p / best < 1e3)]
            if weight != middle and near:
                path = path + self.compare([(weight, p) for p in near])
        return path


def choose_penalties(
    folds: list[Moments], settings: Settings, noise: Array | None, floor: float = 0.0
) -> tuple[float, float, PenaltyPath | None]:
    """Return the gradient weight rho, the penalty gamma, and the errors they were chosen by.

    The pair of the likelihood's noise (2,) is taken unless the folds show it to be worse than the
    best pair. Otherwise the best pair is taken, with the likelihood's noise as penalty where that
    is smaller and most folds accept it, or where rounding hides all penalties below the best.
    Without a likelihood the noise is None. `floor` is the smallest penalty the sums can resolve.
    """
    validation = Validation(folds, settings.constant, settings.n_jobs)
    count, gamma = validation.total.count, settings.regularization
    value_noise, slope_noise = np.full(2, 1e-8) if noise is None else noise
    likely = float(value_noise if count[0] > 0 else slope_noise)
    weights = np.ones(1)
    if settings.gradient_weight is not None:
        weights = np.array([settings.gradient_weight])
    elif (count > 0).all():
        resolved = validation.resolved_noise(np.array([value_noise, slope_noise]))
        weights = resolved[0] / resolved[1] * 10.0 ** np.arange(-2, 3)
    middle = float(weights[len(weights) // 2])
    total = float(validation.total.weight @ [1.0, middle])
    if gamma is None:
        # Powers of 100, which do not depend on whether a row has a weight or is repeated.
        powers = np.arange(np.ceil(np.log10(total) / 2) - 8, np.log10(total) / 2 + 1e-9)
        penalties = np.append(100.0**powers, likely)
    else:
        # Weights are compared at a penalty that rounding does not hide.
        hidden = validation.rounding(float(weights.max()))
        penalties = np.array([max(gamma, 2 * hidden)])
    if gamma is not None and len(weights) == 1:
        return middle, gamma, None
    if len(validation.folds) < 3:
        return middle, max(float(value_noise), 1e-10) if gamma is None else gamma, None
    path = validation.search(weights, np.unique(np.maximum(penalties, floor)), max(likely, floor))
    if not np.isfinite(path.errors).any():
        raise ValueError("No gradient weight and penalty gave a finite error on rows left out.")
    rho, best = path.best
    if gamma is not None:
        return rho, gamma, path
    if noise is not None and path.is_near_best(middle, max(likely, floor)):
        return middle, likely, path
    if path.best_is_smallest or (noise is not None and path.most_folds_accept(likely)):
        best = min(best, likely)
    return rho, best, path
