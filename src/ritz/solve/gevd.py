"""The symmetric generalized eigenvalue problem L a = lambda Phi a."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, eigh
from scipy.linalg.lapack import dsygvd

from ritz.arrays import Array, as_count
from ritz.solve.whiten import (
    EPS,
    TINY,
    cut_off,
    every_eigenpair,
    is_positive,
    positive,
    rank_of,
    require_rank,
    rooted,
    split,
    symmetric,
    whiten,
    whitened,
)

LEAST = 1e-280


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
        How many finite eigenvalues there are, as far as rounding tells.
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
    floor: Array | float = 0.0,
) -> Eigenpairs:
    """Find the k smallest eigenvalues of L a = lambda Phi a, Phi positive, perhaps singular.

    The pencil (Phi, L + s Phi), s being the median of L_ii / Phi_ii, is solved instead: L + s Phi
    is whitened with a rank cut, and nu gives lambda = 1 / nu - s. One path for singular L, singular
    Phi or both. Where L is indefinite, s is raised to twice its most negative eigenvalue and more;
    where even that does not make L + s Phi positive, Phi is whitened. With a penalty the vectors
    are those of (L + penalty, Phi), and the values and vectors returned those of (L, Phi) in
    their span.

    Parameters
    ----------
    L, Phi
        Symmetric matrices (p, p).
    k
        The number of eigenpairs.
    penalty
        A positive matrix (p, p) added to L.
    floor
        The share of each function (p,), or of all, that may be rounding.
    """
    L = symmetric(L, "L")
    Phi = positive(Phi, "Phi", L.shape, floor)
    if penalty is not None:
        penalty = positive(penalty, "penalty", L.shape)
    found = lowest_eigenpairs(L, Phi, k, penalty=penalty, floor=floor)
    require_rank(len(found.values), k)
    return found


def lowest_eigenpairs(
    L: Array,
    Phi: Array,
    k: int,
    *,
    penalty: Array | None = None,
    floor: Array | float = 0.0,
    rank: int | None = None,
    squares: bool = False,
) -> Eigenpairs:
    """Do as `gevd` does, but return fewer pairs where the rank is below k.

    The matrices are taken to be what they should: finite, symmetric but for rounding, Phi and the
    penalty positive. The rank is that of Phi, where it is known. Where L is a sum of `squares`, so
    that it cannot but be positive, that is not looked at.
    """
    k = as_count(k, "k")
    rank = rank_of(Phi) if rank is None else rank
    M = L if penalty is None else L + penalty
    problem = reduce_quickly(M, Phi, floor, rank, squares)
    nu, U = problem.largest(min(k, rank))
    # With half the shift already positive, no eigenvalue is near -s, where it would be cut.
    if not problem.sure and nu.max(initial=0.0) * problem.shift > 2:
        problem = reduce(M, Phi, floor)
        nu, U = problem.largest(min(k, rank))
    # They are in descending order.
    A = problem.W @ U[:, : int((nu > problem.smallest).sum())]
    return rayleigh_ritz(L, Phi, A, problem, min(rank, problem.rank))


@dataclass(frozen=True, eq=False)
class Reduced:
    """An ordinary symmetric problem whose largest eigenvalues nu belong to those wanted.

    Parameters
    ----------
    W
        Columns (p, q) that span the meaningful directions.
    N
        The matrix (q, q), of which the upper part counts.
    rank
        How many directions there are, at most q.
    smallest
        Eigenvalues nu up to this one are rounding: lambda is infinite there.
    shift
        The number s, in units of lambda.
    sure
        Whether no eigenvalue lambda is below -s / 2.
    """

    W: Array
    N: Array
    rank: int
    smallest: float
    shift: float
    sure: bool = True

    def largest(self, k: int) -> tuple[Array, Array]:
        """Return the k largest eigenvalues nu, descending, and their vectors (r, k)."""
        r = len(self.N)
        k = min(k, self.rank)
        if not k:
            return np.zeros(0), np.zeros((r, 0))
        many = 4 * k >= r
        if not many:
            some = (r - k, r - 1)
            try:
                nu, U = eigh(self.N, lower=False, subset_by_index=some, check_finite=False)
            except LinAlgError:
                # The routine for some of them fails at times where eigenvalues crowd.
                many = True
        if many:
            nu, U = every_eigenpair(self.N)
        return nu[::-1][:k], U[:, ::-1][:, :k]


def shift_of(L: Array, Phi: Array) -> float:
    """Return the number s: the middle of the functions' own quotients.

    A single stiff function does not move it.
    """
    energy, size = np.abs(L.diagonal()), Phi.diagonal()
    some = size > 0
    quotients = np.sort(energy / size if some.all() else energy[some] / size[some])
    half = len(quotients) // 2
    s = float(quotients[half] + quotients[-1 - half]) / 2
    return s if s >= LEAST else float(energy.sum() / size.sum())


def reduce_quickly(
    L: Array, Phi: Array, floor: Array | float, rank: int, squares: bool = False
) -> Reduced:
    """Do as `reduce` does, without a look whether L + s Phi / 2 is positive.

    If it is not, an eigenvalue of the reduced problem is above 2 / s. The rank is that of Phi.
    """
    if not (len(Phi) and (Phi.diagonal() > 0).all()):
        return reduce(L, Phi, floor)
    s = shift_of(L, Phi)
    if s >= LEAST:
        B, smallest = L + s * Phi, 10 * len(L) * EPS / s
        # Where functions depend on each other there is no root, as a rule.
        found = None if rank < len(Phi) <= TINY else rooted(B, Phi, floor)
        if found is not None:
            return Reduced(*found, len(L), smallest, s, sure=False)
        if squares:
            return Reduced(*cut_off(B, Phi, floor), smallest, s)
    return reduce(L, Phi, floor, s)


def reduce(L: Array, Phi: Array, floor: Array | float, tried: float | None = None) -> Reduced:
    """Reduce L a = lambda Phi a to an ordinary problem.

    Parameters
    ----------
    L, Phi, floor
        As in `gevd`.
    tried
        The number s, where L + s Phi is known to have no root that is clear of the cut.
    """
    if not (Phi.diagonal() > 0).any():
        return Reduced(np.zeros((len(L), 0)), np.zeros((0, 0)), 0, 0.0, 0.0)
    s = shift_of(L, Phi) if tried is None else tried
    V: Array | None = None
    for factor in (0, 2, 8, 64):
        if s < LEAST:
            break  # Too small to divide by.
        if factor:
            V = whiten(Phi, floor) if V is None else V
            s = s + factor * abs(float(eigh(V.T @ L @ V, eigvals_only=True)[0]))
        # With half the shift already positive, no eigenvalue is near -s, where it would be cut.
        if is_positive(L + s / 2 * Phi, floor):
            solve = whitened if tried is None or factor else cut_off
            return Reduced(*solve(L + s * Phi, Phi, floor), 10 * len(L) * EPS / s, s)
    # No multiple of Phi holds L's negative directions down, or L is zero: whiten Phi itself.
    W = stationary(L, *split(Phi, floor))
    return Reduced(W, -(W.T @ L @ W), W.shape[1], -np.inf, s)


def stationary(L: Array, W: Array, N: Array) -> Array:
    """Add to each direction of W what makes it stationary under L along N, where Phi vanishes.

    An eigenvector a has n' L a = lambda n' Phi a = 0 for every direction n of N.
    """
    sizes = np.sqrt(np.einsum("ij,ij->j", np.abs(N), np.abs(L) @ np.abs(N)))
    N = N[:, sizes > 0] / sizes[sizes > 0]
    values, vectors = eigh(N.T @ L @ N) if N.shape[1] else (np.zeros(0), np.zeros((0, 0)))
    firm = np.abs(values) > 1e-8
    N = N @ vectors[:, firm]
    return np.asarray(W - N @ ((N.T @ L @ W) / values[firm][:, None]))


def rayleigh_ritz(L: Array, Phi: Array, A: Array, problem: Reduced, rank: int) -> Eigenpairs:
    """Solve (L, Phi) exactly in the span of the columns of A, and measure what is left over."""
    W, s = problem.W, problem.shift
    if not A.shape[1]:
        return Eigenpairs(np.zeros(0), A, rank, np.zeros(0))
    L_A, Phi_A = L @ A, Phi @ A
    size = norms(A, Phi_A)
    A, L_A, Phi_A = A / size, L_A / size, Phi_A / size
    values, U, failed = dsygvd(A.T @ L_A, A.T @ Phi_A)
    if failed:
        what = "did not converge" if failed <= len(values) else "are of dependent functions"
        raise LinAlgError(f"The eigenvalues {what}.")
    A = A @ U
    # W' B W = I, so |W' r| is the norm of r dual to B.
    left, right = W.T @ (L_A @ U), W.T @ (Phi_A @ U)
    rest, whole = left - right * values, left + right * s
    sizes = norms(whole, whole)
    residuals = norms(rest, rest) / np.where(sizes > 0, sizes, 1.0)
    return Eigenpairs(values, A, rank, residuals)


def norms(A: Array, B: Array) -> Array:
    """Return the roots (k,) of the scalar products of the columns of A with those of B."""
    return np.asarray(np.sqrt(np.add.reduce(A * B)))
