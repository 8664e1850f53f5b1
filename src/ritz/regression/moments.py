"""Sums of products of features with themselves and with targets, and what they choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky

from ritz.arrays import Array
from ritz.assembly.passes import Workers
from ritz.threads import blas_threads, jobs

FEW_FUNCTIONS = 300


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over the rows of a fold, of features (1, psi) whose penalty is their sum of squares.

    Parameters
    ----------
    V, G
        Products (1 + r, 1 + r) of values and of gradients.
    v, g
        Products (1 + r, outputs) of values and gradients with what was observed.
    squares
        The sums of squares (2, outputs) of values and derivatives observed.
    weight
        The total weight (2,) of both.
    """

    V: Array
    G: Array
    v: Array
    g: Array
    squares: Array
    weight: Array

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.V + other.V,
            self.G + other.G,
            self.v + other.v,
            self.g + other.g,
            self.squares + other.squares,
            self.weight + other.weight,
        )

    def __radd__(self, other: object) -> Moments:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Moments) -> Moments:
        return Moments(
            self.V - other.V,
            self.G - other.G,
            self.v - other.v,
            self.g - other.g,
            self.squares - other.squares,
            self.weight - other.weight,
        )

    def missed(self, x: Array) -> Array:
        """Return the sums of squared errors (2,) of values and derivatives, for x (1 + r, o)."""
        return np.array(
            [
                float(np.sum(squares) - 2 * np.sum(x * b) + np.sum(x * (A @ x)))
                for squares, b, A in (
                    (self.squares[0], self.v, self.V),
                    (self.squares[1], self.g, self.G),
                )
            ]
        )


def penalty(r: int, constant: bool) -> Array:
    """Return the diagonal (1 + r,) of the penalty; without a constant it is held at zero."""
    result = np.ones(1 + r)
    result[0] = 0.0 if constant else 1e30
    return result


def solve(m: Moments, rho: float, gamma: float, constant: bool) -> tuple[Array, Array]:
    """Return the least squares solution x (1 + r, outputs), and the root of its matrix.

    Minimizes sum_i w_i |y_i - f(x_i)|^2 + rho sum_i v_i |t_i - grad f(x_i)|^2 + gamma |psi's x|^2.
    """
    A = m.V + rho * m.G
    A[np.diag_indices_from(A)] += gamma * penalty(len(A) - 1, constant)
    # A constant that no value fixes is zero.
    if A[0, 0] <= 0:
        A[0, 0] = 1.0
    R = cholesky(A, check_finite=False, overwrite_a=True)
    return cho_solve((R, False), m.v + rho * m.g, check_finite=False), R


@dataclass(frozen=True, eq=False)
class Choice:
    """Mean squared errors on rows left out, for pairs of a weight of gradients and a penalty.

    Parameters
    ----------
    gradient_weights, regularizations
        The numbers rho (m,) and gamma (m,) of each pair.
    errors
        The errors (m,), in units of the values' spread: of values where there are any, of
        derivatives otherwise.
    gradient_errors
        The errors (m,) of derivatives, in units of the inputs' spread too.
    """

    gradient_weights: Array
    regularizations: Array
    errors: Array
    gradient_errors: Array

    @property
    def best(self) -> tuple[float, float]:
        """The pair of least error, that of the largest penalty where there are several."""
        near = np.flatnonzero(self.errors <= 1.001 * self.errors.min())
        pick = near[np.argmax(self.regularizations[near])]
        return float(self.gradient_weights[pick]), float(self.regularizations[pick])

    def __add__(self, other: Choice) -> Choice:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Choice(*(np.concatenate(pair) for pair in pairs))


def compare(folds: Sequence[Moments], pairs: list[tuple[float, float]], constant: bool) -> Choice:
    """Leave out each fold in turn: from the folds' sums, without going over the rows again."""
    folds = [fold for fold in folds if fold.weight.sum() > 0]
    total = sum(folds[1:], folds[0])

    def missed(task: tuple[Moments, tuple[float, float]]) -> Array:
        fold, (rho, gamma) = task
        try:
            x, _ = solve(total - fold, rho, gamma, constant)
        except LinAlgError:
            return np.full(2, np.inf)
        return np.maximum(fold.missed(x), 0.0)

    tasks = [(fold, pair) for pair in pairs for fold in folds]
    threads = 1 if len(total.V) < FEW_FUNCTIONS else jobs(None)
    with blas_threads(1), Workers(threads) as run:
        errors = np.array(list(run(missed, tasks))).reshape(len(pairs), len(folds), 2).sum(axis=1)
    weight = np.maximum(total.weight, 1e-300) * total.v.shape[1]
    values, slopes = (errors / weight).T
    rhos, gammas = np.array(pairs).T
    return Choice(rhos, gammas, values if total.weight[0] > 0 else slopes, slopes)


def cross_validate(
    folds: Sequence[Moments], weights: Array, penalties: Array, constant: bool
) -> Choice:
    """Compare all pairs where that is quick; else penalties, then weights, then penalties again.

    The weight in the middle is where the search begins.
    """
    if folds[0].V.shape[0] < FEW_FUNCTIONS:
        return compare(folds, [(w, p) for w in weights for p in penalties], constant)
    middle = weights[len(weights) // 2]
    choice = compare(folds, [(middle, p) for p in penalties], constant)
    _, best = choice.best
    others = [(w, best) for w in weights if w != middle]
    if others:
        choice = choice + compare(folds, others, constant)
        weight, best = choice.best
        if weight != middle:
            near = [p for p in penalties if p != best and 1e-3 < p / best < 1e3]
            if near:
                choice = choice + compare(folds, [(weight, p) for p in near], constant)
    return choice
