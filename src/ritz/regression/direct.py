"""Least squares on values and gradients by QR, one block of rows after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.lapack import dtpqrt

from ritz.arrays import Array, row_slices
from ritz.bases.functionals import (
    Functionals,
)
from ritz.regression.moments import HELD, Moments, penalties
from ritz.regression.solution import Solution
from ritz.regression.validation import Choice, Validation
from ritz.regression.whitened import Whitened

BLOCK_ROWS = 2048
PANEL = 64
Choose = Callable[[Validation], tuple[float, float, Choice | None]]


def fit_by_qr(
    functions: Whitened,
    H: Array,
    observed: tuple[Functionals, Array, Array, NDArray[np.intp]],
    lost: tuple[Array, int],
    folds: NDArray[np.intp],
    n_folds: int,
    constant: bool,
    choose: Choose,
) -> Solution:
    """Fit all that was observed by a QR decomposition: nothing is squared.

    Parameters
    ----------
    functions, H
        The functions psi, and what was observed of each of them (N, r).
    observed
        Functionals (N,), numbers (N, outputs), weights (N,) and rows (N,).
    lost
        The squares (2, outputs) that equal rows merged into one have lost, and how many numbers
        there were.
    folds
        The fold of each row (n,).
    n_folds
        The number of folds.
    constant
        Whether there is a constant.
    choose
        The weight of gradients and the penalty from the sums of folds.
    """
    F, z, weight, rows = observed
    told = F.values == 1.0
    parts = [folds[rows] == fold for fold in range(n_folds)]
    sums = [_moments(F.values, H, z, weight, told, here) for here in parts]
    rho, gamma, choice = choose(Validation(sums, constant))
    scale = np.sqrt(np.where(told, weight, rho * weight))
    r = H.shape[1]
    down = np.sqrt(penalties(r, gamma, constant))
    if not (told & (weight > 0)).any():
        down[0] = np.sqrt(HELD)

    def blocks() -> Iterator[tuple[Array, Array]]:
        for some in row_slices(len(H), BLOCK_ROWS):
            A = np.empty((some.stop - some.start, 1 + r))
            A[:, 0] = F.values[some]
            A[:, 1:] = H[some]
            A *= scale[some, None]
            yield A, z[some] * scale[some, None]

    R, x = triangle(down, blocks(), z.shape[1])
    # The gradient of the loss, at the solution and at zero.
    slope, at_zero = down[:, None] ** 2 * x, np.zeros_like(x)
    loss = (slope * x).sum(axis=0)
    for A, b in blocks():
        rest = A @ x - b
        loss += (rest**2).sum(axis=0)
        slope += A.T @ rest
        at_zero += A.T @ b
    # A constant that is held at zero has no say.
    told_of = slice(int(not constant), None)
    largest = np.abs(at_zero[told_of]).max(initial=0.0)
    residual = float(np.abs(slope[told_of]).max(initial=0.0) / largest) if largest > 0 else 0.0
    loss += lost[0][0] + rho * lost[0][1]
    count = lost[1] if rho > 0 else int((told & (weight > 0)).sum())
    noise = loss / max(count - int(constant), 1)
    return Solution(
        functions, functions.coefficients(x[1:]), x[0], R, rho, gamma, noise, residual, choice
    )


def triangle(
    down: Array, blocks: Iterable[tuple[Array, Array]], outputs: int
) -> tuple[Array, Array]:
    """Return R with R'R = A'A + diag(down)^2, and the x of least |A x - b|^2 + |down x|^2.

    The rows of A and b are rotated into the triangle block by block, so that neither A nor the
    orthogonal factor need be held.

    Parameters
    ----------
    down
        Penalties (m,): the diagonal that comes last, as small rows keep their digits only there.
    blocks
        Rows of A (rows, m), and of b (rows, outputs).
    outputs
        The number of columns of b.
    """
    m = len(down)
    R = np.zeros((m + outputs, m + outputs), order="F")
    for A, b in blocks:
        _rotate(R, np.hstack([A, b]), 0)
    _rotate(R, np.hstack([np.diag(down), np.zeros((m, outputs))]), m)
    return np.triu(R[:m, :m]), np.asarray(solve_triangular(R[:m, :m], R[:m, m:]))


def _rotate(R: Array, rows: Array, wedge: int) -> None:
    """Rotate rows into the triangle R, in place; the last of them, as many as `wedge`, are one."""
    panel = min(PANEL, len(R))
    rows = np.asfortranarray(rows)
    *_, wrong = dtpqrt(wedge, panel, R, rows, overwrite_a=1, overwrite_b=1)
    if wrong:
        raise LinAlgError(f"dtpqrt: {wrong}")


def _moments(
    values: Array,
    H: Array,
    z: Array,
    weight: Array,
    told: NDArray[np.bool_],
    here: NDArray[np.bool_],
) -> Moments:
    parts = []
    for kind in (told, ~told):
        which = here & kind
        w = weight[which]
        A = np.column_stack([values[which], H[which]]) * np.sqrt(w)[:, None]
        b = z[which] * np.sqrt(w)[:, None]
        # NumPy computes one half of A' A and copies the other.
        parts.append((A.T @ A, A.T @ b, (b * b).sum(axis=0), w.sum(), (w > 0).sum()))
    (V, v, *rest), (G, g, *more) = parts
    squares, total, count = (np.array(pair) for pair in zip(rest, more, strict=True))
    return Moments(V, G, v, g, squares, total, count)
