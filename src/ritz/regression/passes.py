"""Least squares on values and gradients of any number of rows: conjugate gradients, in passes."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from ritz.arrays import Array, Block, row_slices
from ritz.assembly.passes import in_pieces, over_folds
from ritz.bases.functionals import (
    Functionals,
)
from ritz.regression.fold_sums import block_rows, right_hand_side
from ritz.regression.moments import HELD, penalties
from ritz.regression.observations import Observations, Part
from ritz.regression.solution import Solution
from ritz.regression.whitened import Whitened, whitened_once
from ritz.streams import Stream
from ritz.threads import Workers, blas_threads, jobs

PASSES = 30
ACCURATE = 1e-6
FOLDS = 8


def fit_by_passes(
    functions: Whitened,
    stream: Stream,
    observations: Observations,
    pilot: Part,
    totals: tuple[float, float],
    rho: float,
    gamma: float,
    constant: bool,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Solution:
    """Fit rows of any number by conjugate gradients, each step a pass of O(n p d).

    Products of features would square what separates them. The rows of a pilot sample, by QR, do
    not: their triangle is nearly that of all rows, so that few steps bring the residual, taken
    over the rows themselves, to nothing.

    Parameters
    ----------
    functions
        The functions psi.
    stream, observations
        All rows, and what was observed there.
    pilot
        What was observed at some of them.
    totals
        The total weight of values and of derivatives.
    rho, gamma, constant
        The weight of gradients, the penalty, and whether there is a constant.
    """
    F, z, weight, _ = pilot.functionals()
    told = F.values == 1.0
    design = functions.design(F)
    share = np.array([max(weight[kind].sum(), 1e-300) for kind in (told, ~told)])
    scale = np.where(told, totals[0] / share[0], rho * totals[1] / share[1]) * weight
    root = np.sqrt(scale)[:, None]
    down = penalties(design.shape[1] - 1, gamma, constant)
    if totals[0] <= 0:
        down[0] = HELD
    elif not told.any():
        # Few values are known, and none here: their weight at least.
        scale = np.append(scale, totals[0])
        design = np.vstack(
            [design, np.append(1.0, functions.design(Functionals.at(pilot.X))[:, 1:].mean(axis=0))]
        )
        z = np.vstack([z, np.zeros((1, z.shape[1]))])
        root = np.sqrt(scale)[:, None]
    target = design.T @ (scale[:, None] * z)
    design *= root
    R: Array = np.zeros((0, design.shape[1]))
    # Row by row, so that no second copy is needed.
    for rows in row_slices(len(design), 4 * design.shape[1]):
        R = triangle(np.vstack([R, design[rows]]))
    R = triangle(np.vstack([R, np.diag(np.sqrt(down))]))
    x = solve_with(R, target)
    data = Passes(functions, stream, observations, rho, n_jobs, progress)
    rest, squares, at_zero = data.left_over(x)
    rest -= down[:, None] * x
    step = toward = solve_with(R, rest)
    size = first = np.einsum("ij,ij->j", rest, toward)
    for _ in range(PASSES):
        if (size <= (ACCURATE * first.max()) * ACCURATE).all():
            break
        image = data.products(step) + down[:, None] * step
        alpha = size / np.maximum(np.einsum("ij,ij->j", step, image), 1e-300)
        x = x + alpha * step
        rest = rest - alpha * image
        toward = solve_with(R, rest)
        new = np.einsum("ij,ij->j", rest, toward)
        step = toward + new / np.maximum(size, 1e-300) * step
        size = new
    rest, squares, at_zero = data.left_over(x)
    rest -= down[:, None] * x
    if not constant:
        rest[0] = 0.0
    residual = float(np.abs(rest).max() / at_zero) if at_zero > 0 else 0.0
    loss = squares[0] + rho * squares[1] + (down[:, None] * x * x).sum(axis=0)
    noise = loss / max(data.count - int(constant), 1)
    a = functions.coefficients(x[1:])
    return Solution(functions, a, x[0], R, rho, gamma, noise, residual)


class Passes:
    """Products with the functions (1, psi), taken over all rows."""

    def __init__(
        self,
        functions: Whitened,
        stream: Stream,
        observations: Observations,
        rho: float,
        n_jobs: int | None,
        progress: bool | None,
    ) -> None:
        self.functions, self.stream, self.observations = functions, stream, observations
        self.rho, self.n_jobs, self.progress = rho, n_jobs, progress
        self.count = 0

    def products(self, x: Array) -> Array:
        """Return (V + rho G) x for x (1 + r, outputs)."""
        return self._go(x, False)[0]

    def left_over(self, x: Array) -> tuple[Array, Array, float]:
        """Return v + rho g - (V + rho G) x, the squares left over, and the size of v + rho g."""
        found, target, squares, self.count = self._go(x, True)
        return found, squares, float(np.abs(target).max(initial=0.0))

    def _go(self, x: Array, observed: bool) -> tuple[Array, Array, Array, int]:
        functions, rho = self.functions, self.rho
        a = functions.coefficients(x[1:])
        shape = (FOLDS, 2, *x.shape)
        sums, squares = np.zeros(shape), np.zeros((FOLDS, 2, x.shape[1]))
        count = np.zeros(FOLDS, dtype=np.int64)

        def add(fold: int, block: Block) -> None:
            part = self.observations.part(block.views[0], block.index)
            f = functions.basis.jet(part.X)
            y = f.value.dense() @ a + x[0]
            slopes = f.gradient.combine(a) if part.t.shape[1] else None
            t = part.t if slopes is None else part.along(slopes)
            if observed:
                y, t = part.y - y, part.t - t
                squares[fold, 0] += part.known @ y**2
                squares[fold, 1] += np.einsum("kr,kro->o", part.told, t**2)
                count[fold] += part.count if rho > 0 else (part.known > 0).sum()
                v, g = right_hand_side(part, f, part.y, part.t)
                sums[fold, 1] += v + rho * g
            v, g = right_hand_side(part, f, y, t)
            sums[fold, 0] += v + rho * g

        size = block_rows(functions.basis.size, self.stream.dimensions[0])
        with blas_threads(1), Workers(jobs(self.n_jobs)) as run:
            over_folds(self.stream, in_pieces(add, size), FOLDS, run, self.progress)
        found, target = (whitened_once(functions, m) for m in sums.sum(axis=0))
        return found, target, squares.sum(axis=0), int(count.sum())


def triangle(A: Array) -> Array:
    """Return the triangle R of A = Q R, in the place of A."""
    (R,) = qr(A, mode="r", overwrite_a=True, check_finite=False)
    return np.asarray(R[: A.shape[1]], dtype=np.float64)


def solve_with(R: Array, b: Array) -> Array:
    """Solve R' R x = b."""
    return np.asarray(solve_triangular(R, solve_triangular(R, b, trans=1)))
