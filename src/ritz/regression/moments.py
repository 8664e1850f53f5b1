"""Sums of products of features with themselves and with targets, and least squares by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky

from ritz.arrays import Array

HELD = 1e30


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
    weight, count
        The total weight (2,) and the number (2,) of both.
    """

    V: Array
    G: Array
    v: Array
    g: Array
    squares: Array
    weight: Array
    count: Array

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.V + other.V,
            self.G + other.G,
            self.v + other.v,
            self.g + other.g,
            self.squares + other.squares,
            self.weight + other.weight,
            self.count + other.count,
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
            self.count - other.count,
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


def penalties(r: int, gamma: float, constant: bool) -> Array:
    """Return the diagonal (1 + r,) of the penalty: the constant is free, or held at zero."""
    result = np.full(1 + r, gamma)
    result[0] = 0.0 if constant else HELD
    return result


def solve(m: Moments, rho: float, gamma: float, constant: bool) -> tuple[Array, Array]:
    """Return the least squares solution x (1 + r, outputs), and the root of its matrix.

    Minimizes sum_i w_i |y_i - f(x_i)|^2 + rho sum_i v_i |t_i - grad f(x_i)|^2 + gamma |psi's x|^2.
    """
    A = m.V + rho * m.G
    A[np.diag_indices_from(A)] += penalties(len(A) - 1, gamma, constant)
    # A constant that no value fixes is zero.
    if m.count[0] <= 0:
        A[0] = A[:, 0] = 0.0
        A[0, 0] = HELD
    R = cholesky(A, check_finite=False, overwrite_a=True)
    return cho_solve((R, False), m.v + rho * m.g, check_finite=False), R
