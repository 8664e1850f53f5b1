"""Choosing the weight of gradients and the penalty by leaving out each fold in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import stdtrit

from ritz.arrays import Array
from ritz.regression.moments import Moments, solve
from ritz.threads import Workers, blas_threads, jobs

FEW_FUNCTIONS = 300
MANY_VALUES = 16
CONFIDENCE = 0.975
ROUNDING = 10 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Choice:
    """Mean squared errors on rows left out, for pairs of a weight of gradients and a penalty.

    Parameters
    ----------
    gradient_weights, regularizations
        The numbers rho (m,) and gamma (m,) of each pair.
    errors
        The errors (m,), in units of the values' spread: of values where there are 16 or more, of
        derivatives otherwise.
    gradient_errors
        The errors (m,) of derivatives, in units of the inputs' spread too.
    fold_errors
        What each fold left out adds to the errors (m, folds).
    """

    gradient_weights: Array
    regularizations: Array
    errors: Array
    gradient_errors: Array
    fold_errors: Array

    @property
    def best(self) -> tuple[float, float]:
        """The pair of least error, that of the largest penalty where there are several."""
        near = np.flatnonzero(self.errors <= 1.001 * self.errors.min())
        pick = near[np.argmax(self.regularizations[near])]
        return float(self.gradient_weights[pick]), float(self.regularizations[pick])

    @property
    def undecided(self) -> bool:
        """Whether the best penalty is the smallest that could be told from none."""
        weight, penalty = self.best
        told = np.isfinite(self.errors) & (self.gradient_weights == weight)
        return bool(penalty <= self.regularizations[told].min())

    def near_best(self, weight: float, penalty: float) -> bool:
        """Return whether the folds left out do not show a pair to be worse than the best one.

        They do where the difference x of their errors has a mean that is positive by Student's t at
        97.5%. Where rounding hides the penalty the smallest above it that could be told from
        none stands for it.
        """
        own = self.gradient_weights == weight
        told = own & np.isfinite(self.errors) & (self.regularizations >= penalty)
        if not told.any():
            return False
        tried = self._folds_of(weight, self.regularizations[told].min())
        lost = judged(tried, self._folds_of(*self.best))
        folds, total = len(lost), lost.sum()
        if folds < 2:
            return True
        # mean <= t sd / sqrt(m), without a difference of squares.
        t2 = float(stdtrit(folds - 1, CONFIDENCE)) ** 2
        return bool(total <= 0 or total**2 * (folds - 1 + t2) <= folds * t2 * (lost**2).sum())

    def _folds_of(self, weight: float, penalty: float) -> Array:
        which = (self.gradient_weights == weight) & (self.regularizations == penalty)
        return np.asarray(self.fold_errors[which][0])

    def bears(self, wanted: float) -> bool:
        """Return whether most folds left out are no worse off with a smaller penalty.

        The smallest penalty tried from there up is compared with the best one, fold by fold: a few
        rows far from the others can make all the difference of the sums, and what they would
        have is not what the others need.
        """
        weight, penalty = self.best
        own = self.gradient_weights == weight
        told = own & np.isfinite(self.errors) & (self.regularizations >= min(wanted, penalty))
        tried = self._folds_of(weight, self.regularizations[told].min())
        lost = judged(tried, self._folds_of(weight, penalty))
        return bool(np.sum(lost <= 0) > 0.5 * len(lost))

    def __add__(self, other: Choice) -> Choice:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Choice(*(np.concatenate(pair) for pair in pairs))


def judged(tried: Array, best: Array) -> Array:
    """Return what folds lose by a pair, without those that have nothing to judge it by."""
    return np.asarray((tried - best)[(tried > 0) | (best > 0)])


class Validation:
    """Folds to be left out, known by their sums: no row is seen again."""

    def __init__(self, folds: list[Moments], constant: bool, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs
        self.folds = [fold for fold in folds if fold.weight.sum() > 0]
        self.constant = constant
        self.total: Moments = sum(self.folds[1:], self.folds[0])
        self.size = len(self.total.V)

    def compare(self, pairs: list[tuple[float, float]]) -> Choice:
        """Return the errors on folds left out, for pairs of a weight and a penalty."""
        tasks = [(fold, pair) for pair in pairs for fold in self.folds]
        threads = 1 if self.size < FEW_FUNCTIONS else jobs(self.n_jobs)
        with blas_threads(1), Workers(threads) as run:
            errors = np.array(list(run(lambda task: self._missed(task[0], *task[1]), tasks)))
        weight = np.maximum(self.total.weight, 1e-300) * self.total.v.shape[1]
        folds = errors.reshape(len(pairs), len(self.folds), 2) / weight
        values, slopes = folds.sum(axis=1).T
        rhos, gammas = np.array(pairs).T
        # A few values say how to fix the constant, and nothing of what is between them.
        enough = self.total.count[0] >= MANY_VALUES or self.total.count[1] == 0
        which = 0 if enough else 1
        return Choice(rhos, gammas, (values, slopes)[which], slopes, folds[:, :, which])

    def _missed(self, fold: Moments, rho: float, gamma: float) -> Array:
        """Return the squared errors (2,) of values and derivatives on a fold left out.

        They are infinite for a penalty that rounding of the sums hides.
        """
        if gamma < ROUNDING * float(np.trace(self.total.V) + rho * np.trace(self.total.G)):
            return np.full(2, np.inf)
        try:
            x, _ = solve(self.total - fold, rho, gamma, self.constant)
        except LinAlgError:
            return np.full(2, np.inf)
        return np.maximum(fold.missed(x), 0.0)


def cross_validate(
    validation: Validation, weights: Array, penalties: Array, likely: float
) -> Choice:
    """Compare all pairs where that is quick; else penalties, then weights, then penalties again.

    The weight in the middle is where the search begins; the likely penalty is tried with any.
    """
    compare = validation.compare
    if validation.size < FEW_FUNCTIONS:
        return compare([(w, p) for w in weights for p in penalties])
    middle = weights[len(weights) // 2]
    choice = compare([(middle, p) for p in penalties])
    _, best = choice.best
    others = [(w, best) for w in weights if w != middle]
    if others:
        choice = choice + compare(others)
        weight, best = choice.best
        if weight != middle:
            near = [p for p in penalties if p != best and (p == likely or 1e-3 < p / best < 1e3)]
            if near:
                choice = choice + compare([(weight, p) for p in near])
    return choice
