"""The weight of gradients and the penalty, by the error on rows left out."""

from __future__ import annotations

import numpy as np

from ritz.arrays import Array
from ritz.regression.validation import ROUNDING, Choice, Validation, cross_validate

WEIGHTS = 10.0 ** np.arange(-2, 3)
PENALTIES = 10.0 ** np.arange(-16, 2, 2.0)


def choose(
    validation: Validation,
    rho: float,
    gamma: float,
    free: bool,
    noise: Array,
    likely: bool,
    least: float,
) -> tuple[float, float, Choice | None]:
    """Return the weight of gradients and the penalty that are best on rows left out.

    Those of the likelihood's noise are taken unless the folds show them to be worse than the best.
    Otherwise its noise is the penalty where it is smaller, and most folds left out are no worse
    off with it.

    Parameters
    ----------
    validation
        Folds to be left out.
    rho, gamma, free
        Those given: NaN for a weight to be chosen; whether the penalty is to be chosen.
    noise, likely
        The noise (2,) of values and derivatives, and whether the likelihood found it.
    least
        The smallest penalty that the sums can tell from none.
    """
    total = validation.total
    unit = float(total.weight.sum()) / max(int(total.count.sum()), 1)
    own = noise[0 if total.count[0] > 0 else 1]
    weights, grid = np.array([rho]), np.array([gamma])
    if np.isnan(rho):
        both = total.count[0] > 0 and total.count[1] > 0
        weights = noise[0] / noise[1] * WEIGHTS if both else np.ones(1)
    if free:
        grid = np.append(PENALTIES * unit, own)
    else:
        # Weights are compared at a penalty that rounding of the sums does not hide.
        hidden = ROUNDING * float(np.trace(total.V) + weights.max() * np.trace(total.G))
        grid = np.maximum(grid, max(PENALTIES[2] * unit, 2 * hidden))
    middle = float(weights[len(weights) // 2])
    if len(weights) == len(grid) == 1:
        return middle, gamma, None
    if len(validation.folds) < 3:
        return middle, float(max(noise[0], 1e-10)) if free else gamma, None
    grid = np.unique(np.maximum(grid, least))
    choice = cross_validate(validation, weights, grid, likely=max(float(own), least))
    if not np.isfinite(choice.errors).any():
        raise ValueError("No weight and penalty gave a finite error on rows left out.")
    rho, best = choice.best
    if not free:
        best = gamma
    elif likely and choice.near_best(middle, max(float(own), least)):
        rho, best = middle, float(own)
    elif choice.undecided or (likely and choice.bears(float(own))):
        # What sums cannot tell from none is as good as the smallest that they can.
        best = min(best, float(own))
    return rho, best, choice
