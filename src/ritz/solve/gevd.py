"""The symmetric generalized eigenvalue problem L a = lambda Phi a."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, eigh

from ritz.solve.whiten import (
    EPS,
    Floor,
    as_positive,
    as_symmetric,
    is_positive,
    rank_of,
    require_rank,
    split,
    whiten,
)
from ritz.validation import Array, as_count

# Division by a shift below this overflows.
LEAST_SHIFT = 1e-280


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """Eigenvalues in ascending order, vectors, and how well they were found.

    Parameters
    ----------
    values
        Eigenvalues (k,).
    vectors
        Columns (p, k) with vectors' Phi vectors = I.
    rank
        The number of finite eigenvalues, up to rounding.
    residuals
        |L a - lambda Phi a| relative to |L a + s Phi a|, in the norm dual to L + s Phi (and the
        penalty, where there is one).
    """

    values: Array
    vectors: Array
    rank: int
    residuals: Array


def gevd(
    L: Array,
    Phi: Array,
    k: int,
    *,
    penalty: Array | None = None,
    floor: Floor = 0.0,
) -> Eigenpairs:
    """Find the k smallest eigenvalues of L a = lambda Phi a, Phi positive, perhaps singular.

    The pencil (Phi, L + s Phi), s being the median of L_ii / Phi_ii, is solved instead: L + s Phi
    is whitened with a rank cut, and its eigenvalues nu give lambda = 1 / nu - s. L, Phi or both
    may be singular. Where L is indefinite, s is raised by multiples of the most negative
    eigenvalue; where even that does not make L + s Phi positive, Phi is whitened instead. With a
    penalty the span is that of the k lowest eigenvectors of (L + penalty, Phi), and the eigenpairs
    returned are those of (L, Phi) in this span.

    Parameters
    ----------
    L, Phi
        Symmetric matrices (p, p).
    k
        The number of eigenpairs.
    penalty
        A positive matrix (p, p) added to L.
    floor
        The share of each diagonal entry of Phi that may be rounding: (p,), or one for all.
    """
    L = as_symmetric(L, "L")
    Phi = as_positive(Phi, "Phi", L.shape, floor)
    if penalty is not None:
        penalty = as_positive(penalty, "penalty", L.shape)
    found = lowest_eigenpairs(L, Phi, as_count(k, "k"), penalty=penalty, floor=floor)
    require_rank(len(found.values), k)
    return found


def lowest_eigenpairs(
    L: Array, Phi: Array, k: int, *, penalty: Array | None = None, floor: Floor = 0.0
) -> Eigenpairs:
    """Do as `gevd` does, but return fewer pairs where the rank is below k.

    The matrices must be finite and symmetric, and Phi and the penalty positive, up to rounding.
    """
    rank = rank_of(Phi)
    problem = reduce(L if penalty is None else L + penalty, Phi, floor)
    nu, U = problem.largest(min(k, rank))
    A = problem.W @ U[:, nu > problem.smallest]
    return rayleigh_ritz(L, Phi, A, problem, min(rank, problem.W.shape[1]))


@dataclass(frozen=True, eq=False)
class Reduced:
    """An ordinary symmetric problem; its largest eigenvalues nu give the smallest lambda.

    Parameters
    ----------
    W
        Columns (p, r) that span the directions above the rounding error.
    N
        The matrix (r, r).
    smallest
        Eigenvalues nu up to this number are rounding: their lambda is infinite.
    shift
        The number s, in units of lambda.
    """

    W: Array
    N: Array
    smallest: float
    shift: float

    def largest(self, k: int) -> tuple[Array, Array]:
        """Return the k largest eigenvalues nu, descending, and their vectors (r, k)."""
        r = len(self.N)
        k = min(k, r)
        if not k:
            return np.zeros(0), np.zeros((r, 0))
        try:
            some = (r - k, r - 1) if 4 * k < r else (0, r - 1)
            nu, U = eigh(self.N, subset_by_index=some, check_finite=False)
        except LinAlgError:
            # The routine for a subset of the eigenvalues may fail where they are clustered.
            nu, U = eigh(self.N, driver="evd", check_finite=False)
        return nu[::-1][:k], U[:, ::-1][:, :k]


def shift_of(L: Array, Phi: Array) -> float:
    """Return the number s: the median of the functions' own quotients L_ii / Phi_ii.

    Unlike the quotient of the traces it does not depend on a single stiff function.
    """
    energy, size = np.abs(L.diagonal()), Phi.diagonal()
    some = size > 0
    s = float(np.median(energy[some] / size[some]))
    return s if s >= LEAST_SHIFT else float(energy.sum() / size.sum())


def reduce(L: Array, Phi: Array, floor: Floor) -> Reduced:
    """Reduce L a = lambda Phi a to an ordinary symmetric problem."""
    if not (Phi.diagonal() > 0).any():
        return Reduced(np.zeros((len(L), 0)), np.zeros((0, 0)), 0.0, 0.0)
    s = shift_of(L, Phi)
    lowest: float | None = None
    for factor in (0, 2, 8, 64):
        if s < LEAST_SHIFT:
            break
        if factor:
            if lowest is None:
                V = whiten(Phi, floor)
                lowest = float(eigh(V.T @ L @ V, eigvals_only=True)[0])
            s = s + factor * abs(lowest)
        # If L + s Phi / 2 is positive, no eigenvalue is near -s, where it would be cut off.
        if is_positive(_shifted(L, Phi, s / 2), floor):
            W = whiten(_shifted(L, Phi, s), floor)
            return Reduced(W, W.T @ Phi @ W, 10 * len(L) * EPS / s, s)
    # L is zero, or no multiple of Phi makes it positive: whiten Phi itself.
    W = stationary(L, *split(Phi, floor))
    return Reduced(W, -(W.T @ L @ W), -np.inf, s)


def _shifted(L: Array, Phi: Array, s: float) -> Array:
    """Return L + s Phi."""
    result = s * Phi
    result += L
    return result


def stationary(L: Array, W: Array, N: Array) -> Array:
    """Make each direction of W stationary under L along N, the directions where Phi vanishes.

    An eigenvector a has n' L a = lambda n' Phi a = 0 for every direction n of N.
    """
    sizes = np.sqrt(np.einsum("ij,ij->j", np.abs(N), np.abs(L) @ np.abs(N)))
    N = N[:, sizes > 0] / sizes[sizes > 0]
    values, vectors = eigh(N.T @ L @ N) if N.shape[1] else (np.zeros(0), np.zeros((0, 0)))
    firm = np.abs(values) > 1e-8
    N = N @ vectors[:, firm]
    return np.asarray(W - N @ ((N.T @ L @ W) / values[firm][:, None]))


def rayleigh_ritz(L: Array, Phi: Array, A: Array, problem: Reduced, rank: int) -> Eigenpairs:
    """Solve (L, Phi) exactly in the span of the columns of A, and compute the residuals."""
    W, s = problem.W, problem.shift
    V = whiten(A.T @ Phi @ A)
    if not V.shape[1]:
        return Eigenpairs(np.zeros(0), A[:, :0], rank, np.zeros(0))
    A = A @ V
    values, U = np.linalg.eigh(A.T @ L @ A)
    A = A @ U
    # W'BW = I, so |W'r| is the norm of r dual to B = L + s Phi.
    left, right = W.T @ (L @ A), W.T @ (Phi @ A)
    whole = np.linalg.norm(left + right * s, axis=0)
    residuals = np.linalg.norm(left - right * values, axis=0) / np.where(whole > 0, whole, 1.0)
    return Eigenpairs(values, A, rank, residuals)
