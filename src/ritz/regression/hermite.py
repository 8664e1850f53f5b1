"""Least squares on values and gradients: by QR where the design fits in memory, else by passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, qr, solve_triangular

from ritz.arrays import Array, Block, row_slices
from ritz.assembly.passes import in_pieces, over_folds
from ritz.bases import Basis, Centered, Combination, KernelSections
from ritz.bases.functionals import (
    Functionals,
    FunctionalSections,
    covariance,
    pivoted_cholesky,
    variances,
)
from ritz.features import Jet, Ledger
from ritz.kernels import Kernel
from ritz.regression.moments import HELD, Moments, penalties, solve
from ritz.regression.observations import Observations, Part
from ritz.regression.validation import Choice, Validation
from ritz.streams import Stream
from ritz.threads import Workers, blas_threads, jobs

PASSES = 30
ACCURATE = 1e-6
FOLDS = 8
BLOCK_BYTES = 16_000_000


@dataclass(frozen=True, eq=False)
class Whitened:
    """Functions psi = phi T'^-1, T T' being the kernel's own products of phi: |x|^2 is their norm.

    Parameters
    ----------
    kernel
        The kernel.
    functionals, basis
        The functions phi (p,), and the functionals whose sections they are.
    triangle
        T (p, p), lower.
    """

    kernel: Kernel
    functionals: Functionals
    basis: Basis
    triangle: Array

    @classmethod
    def at(cls, kernel: Kernel, F: Functionals) -> Whitened:
        """Return the sections of functionals, but for those that the others explain."""
        chosen, H = pivoted_cholesky(kernel, F, len(F))
        return cls.of(kernel, F, chosen, H)

    @classmethod
    def of(cls, kernel: Kernel, F: Functionals, chosen: NDArray[np.intp], H: Array) -> Whitened:
        """Return the sections chosen by pivoted Cholesky."""
        F = F.take(chosen)
        plain = bool((F.values == 1).all())
        basis = KernelSections(kernel, F.points) if plain else FunctionalSections(kernel, F)
        return cls(kernel, F, basis, H[chosen])

    def first(self, count: int) -> Whitened:
        """Return the first of the functions."""
        chosen = np.arange(count)
        return Whitened.of(self.kernel, self.functionals, chosen, self.triangle[:, :count])

    def coefficients(self, x: Array) -> Array:
        """Return the coefficients over phi of sum_j x_j psi_j."""
        return np.asarray(solve_triangular(self.triangle, x, lower=True, trans=1))

    def features(self, values: Array) -> Array:
        """Return psi (n, p) from the values of phi (n, p)."""
        return np.asarray(solve_triangular(self.triangle, values.T, lower=True)).T

    def design(self, F: Functionals) -> Array:
        """Return functionals (n,) of the functions (1, psi), (n, 1 + p)."""
        result = np.empty((len(F), 1 + self.basis.size))
        result[:, 0] = F.values
        for rows in row_slices(len(F), 2048):
            some = F.take(np.arange(rows.start, rows.stop))
            result[rows, 1:] = self.features(covariance(self.kernel, some, self.functionals))
        return result


@dataclass(frozen=True, eq=False)
class Solution:
    """A function fitted to values and gradients, and how well that is known.

    Parameters
    ----------
    functions
        The functions.
    coefficients, constants
        The numbers (p, outputs) and (outputs,).
    root
        R with R' R the matrix of the least squares problem over (1, psi).
    gradient_weight, regularization
        The numbers rho and gamma.
    noise
        The variance (outputs,) of one value, estimated from what is left over.
    residual
        How far from stationary the solution is: the gradient of the loss, relative to that at 0.
    choice
        The errors of other weights and penalties on rows left out, where those were compared.
    offset
        What was taken off the functions phi (p,) before psi was made of them in R.
    about
        Points (m, d) over which the function has mean zero, or None: where no value was observed,
        what is known of it is how it differs from that mean.
    """

    functions: Whitened
    coefficients: Array
    constants: Array
    root: Array
    gradient_weight: float
    regularization: float
    noise: Array
    residual: float
    choice: Choice | None = None
    offset: float | Array = 0.0
    about: Array | None = None

    @property
    def function(self) -> Combination:
        """The functions fitted, one for each output."""
        return Combination(self.functions.basis, self.coefficients, self.constants)

    def variance(self, X: Array) -> Array:
        """Return the posterior variance (n, outputs) at points (n, d).

        It is noise (h' (R'R)^-1 h + (k(x, x) - |psi|^2) / gamma) with h = (1, psi(x)): what is
        left of the prior, that within the span and that outside of it.
        """
        phi = self.functions.basis(X)
        offset = self.offset
        if self.about is None:
            psi = self.functions.features(phi)
            prior = variances(self.functions.kernel, Functionals.at(X))
        else:
            kernel = self.functions.kernel
            offset = self.functions.basis(self.about).mean(axis=0)
            psi = self.functions.features(phi - offset)
            prior = (
                variances(kernel, Functionals.at(X))
                - 2 * kernel(X, self.about).mean(axis=1)
                + kernel(self.about, self.about).mean()
            )
        h = np.column_stack([np.ones(len(X)), self.functions.features(phi - offset)])
        inside = solve_triangular(self.root, h.T, trans=1)
        known = np.einsum("ij,ij->j", inside, inside)
        outside = np.maximum(prior - np.einsum("ij,ij->i", psi, psi), 0.0)
        return np.outer(known + outside / self.regularization, self.noise)


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
    design = np.column_stack([F.values, H])
    parts = [folds[rows] == fold for fold in range(n_folds)]
    sums = [_moments(design, z, weight, told, here) for here in parts]
    rho, gamma, choice = choose(Validation(sums, constant))
    scale = np.sqrt(np.where(told, weight, rho * weight))
    r = H.shape[1]
    down = np.sqrt(penalties(r, gamma, constant))
    if not (told & (weight > 0)).any():
        down[0] = np.sqrt(HELD)
    A = np.vstack([design * scale[:, None], np.diag(down)])
    b = np.vstack([z * scale[:, None], np.zeros((1 + r, z.shape[1]))])
    Q, R = qr(A, mode="economic", overwrite_a=True, check_finite=False)
    x = solve_triangular(R, Q.T @ b)
    rest = b - np.vstack([(design @ x) * scale[:, None], down[:, None] * x])
    A = np.vstack([design * scale[:, None], np.diag(down)])
    # A constant that is held at zero has no say.
    A = A[:, int(not constant) :]
    at_zero = np.abs(A.T @ b).max(initial=0.0)
    residual = float(np.abs(A.T @ rest).max(initial=0.0) / at_zero) if at_zero > 0 else 0.0
    loss = np.einsum("ij,ij->j", rest, rest) + lost[0][0] + rho * lost[0][1]
    count = lost[1] if rho > 0 else int((told & (weight > 0)).sum())
    noise = loss / max(count - int(constant), 1)
    return Solution(
        functions, functions.coefficients(x[1:]), x[0], R, rho, gamma, noise, residual, choice
    )


def _moments(
    design: Array, z: Array, weight: Array, told: NDArray[np.bool_], here: NDArray[np.bool_]
) -> Moments:
    parts = []
    for kind in (told, ~told):
        which = here & kind
        A, w, b = design[which], weight[which][:, None], z[which]
        squares = (w * b * b).sum(axis=0)
        parts.append((A.T @ (w * A), A.T @ (w * b), squares, w.sum(), (w > 0).sum()))
    (V, v, *rest), (G, g, *more) = parts
    squares, total, count = (np.array(pair) for pair in zip(rest, more, strict=True))
    return Moments(V, G, v, g, squares, total, count)


class HermiteSums:
    """Sums of a pass for each fold, over the function 1 and sections less their means."""

    def __init__(self, basis: Centered, observations: Observations, n_folds: int) -> None:
        self.basis, self.observations = basis, observations
        outputs = observations.y.shape[1]
        p = 1 + basis.size
        self.ledgers = [Ledger() for _ in range(n_folds)]
        self.odd = [Ledger() for _ in range(n_folds)]
        self.v = np.zeros((n_folds, p, outputs))
        self.g = np.zeros((n_folds, p, outputs))
        self.squares = np.zeros((n_folds, 2, outputs))
        self.weight = np.zeros((n_folds, 2))
        self.count = np.zeros((n_folds, 2), dtype=np.int64)

    def add(self, fold: int, block: Block) -> None:
        """Add some rows to a fold."""
        part = self.observations.part(block.views[0], block.index)
        f = self.basis.jet(part.X)
        terms = {"V": f.value * f.value * plain(part.known)}
        r = part.told.shape[1]
        # Rows with all partial derivatives of one weight have the fast path.
        even = np.zeros(len(part.X))
        if r and part.U is None:
            even = np.where(part.told.min(axis=1) == part.told.max(axis=1), part.told[:, 0], 0.0)
            terms["G"] = f.gradient @ f.gradient * plain(even)
        self.ledgers[fold].add(terms, np.ones(len(part.X)))
        odd = np.flatnonzero((part.told.max(axis=1, initial=0.0) > 0) & (even == 0))
        if len(odd):
            h = self.basis.jet(part.X[odd])
            slopes = h.gradient.along(part.directions()[odd])
            self.odd[fold].add({"G": slopes * slopes}, np.ones(len(odd)))
        v, g = right_hand_side(part, f, part.y, part.t)
        self.v[fold] += v
        self.g[fold] += g
        self.squares[fold, 0] += part.known @ part.y**2
        self.squares[fold, 1] += np.einsum("kr,kro->o", part.told, part.t**2)
        self.weight[fold] += part.known.sum(), part.told.sum()
        self.count[fold] += (part.known > 0).sum(), (part.told > 0).sum()

    def close(self, functions: Whitened) -> list[Moments]:
        """Return the sums of each fold over (1, psi)."""
        p = 1 + self.basis.size
        result = []
        for fold, (ledger, odd) in enumerate(zip(self.ledgers, self.odd, strict=True)):
            sums, more = ledger.close(), odd.close()
            V = sums.get("V", np.zeros((p, p)))
            G = sums.get("G", np.zeros((p, p))) + more.get("G", np.zeros((p, p)))
            v, g = self.v[fold], self.g[fold]
            V, G = (whitened_twice(functions, M) for M in (V, G))
            v, g = (whitened_once(functions, m) for m in (v, g))
            own = (self.squares[fold], self.weight[fold], self.count[fold])
            result.append(Moments(V, G, v, g, *own))
        return result


def plain(weight: Array) -> float | Array:
    """Return a weight (b,), as a number where it is the same for all rows."""
    return float(weight[0]) if len(weight) and (weight == weight[0]).all() else weight


def whitened_once(functions: Whitened, m: Array) -> Array:
    """Return products with (1, psi) from those with (1, phi), along the first axis."""
    result = m.copy()
    result[1:] = solve_triangular(functions.triangle, m[1:], lower=True)
    return result


def whitened_twice(functions: Whitened, M: Array) -> Array:
    """Return products of (1, psi) from those of (1, phi)."""
    M = whitened_once(functions, whitened_once(functions, M).T)
    return (M + M.T) / 2


def right_hand_side(part: Part, f: Jet, y: Array, t: Array) -> tuple[Array, Array]:
    """Return the products (1 + p, outputs) of values y and derivatives t with (1, phi)."""
    weighted = part.known[:, None] * y
    v = np.concatenate([weighted.sum(axis=0)[None], f.value.dense().T @ weighted])
    g = np.zeros_like(v)
    if t.shape[1]:
        g[1:] = f.gradient.against(part.vectors(t))
    return v, g


def sums_of_folds(
    functions: Whitened,
    offset: Array,
    stream: Stream,
    observations: Observations,
    n_folds: int,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> list[Moments]:
    """Go over the rows once; return the sums of each fold over (1, psi)."""
    basis = Centered(functions.basis, offset)
    sums = HermiteSums(basis, observations, n_folds)
    size = block_rows(basis.size, stream.dimensions[0])
    with blas_threads(1), Workers(min(n_folds, jobs(n_jobs))) as run:
        over_folds(stream, in_pieces(sums.add, size), n_folds, run, progress)
    return sums.close(functions)


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


def fit_moments(
    functions: Whitened,
    offset: Array,
    folds: list[Moments],
    constant: bool,
    choose: Choose,
    least: float,
) -> Solution:
    """Fit from sums alone, as where the rows are gone, with a penalty that sums can tell."""
    rho, gamma, choice = choose(Validation(folds, constant))
    gamma = max(gamma, least)
    total = sum(folds[1:], folds[0])
    for _ in range(20):
        try:
            x, R = solve(total, rho, gamma, constant)
            break
        except LinAlgError:
            # Rounding of the sums is larger than it was taken to be.
            gamma *= 10
    else:
        raise LinAlgError("The sums of products are not positive, whatever the penalty.")
    down = penalties(len(x) - 1, gamma, constant)[:, None]
    target = total.v + rho * total.g
    left = target - (total.V + rho * total.G) @ x - down * x
    at_zero = float(np.abs(target).max(initial=0.0))
    residual = float(np.abs(left[int(not constant) :]).max() / at_zero) if at_zero > 0 else 0.0
    squares = total.squares[0] + rho * total.squares[1]
    loss = np.maximum(squares - np.einsum("ij,ij->j", x, target), 0.0)
    count = total.count.sum() if rho > 0 else total.count[0]
    noise = loss / max(int(count) - int(constant), 1)
    a = functions.coefficients(x[1:])
    constants = x[0] - offset @ a
    return Solution(functions, a, constants, R, rho, gamma, noise, residual, choice, offset)


def triangle(A: Array) -> Array:
    """Return the triangle R of A = Q R, in the place of A."""
    (R,) = qr(A, mode="r", overwrite_a=True, check_finite=False)
    return np.asarray(R[: A.shape[1]], dtype=np.float64)


def solve_with(R: Array, b: Array) -> Array:
    """Solve R' R x = b."""
    return np.asarray(solve_triangular(R, solve_triangular(R, b, trans=1)))


def block_rows(p: int, d: int) -> int:
    """Return how many rows keep a thread's features within its share of memory."""
    return int(np.clip(BLOCK_BYTES // (8 * (4 * p + d)), 16, 2048))
