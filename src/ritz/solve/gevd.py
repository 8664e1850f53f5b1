"""The symmetric generalized eigenvalue problem L a = lambda Phi a."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ritz.arrays import Array, must
from ritz.solve.whiten import EPS, whiten


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
        How many directions rounding left meaningful.
    residuals
        |L a - lambda Phi a| relative to |L a + s Phi a|, in the norm dual to L + s Phi.
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
    floor: float = 0.0,
) -> Eigenpairs:
    """Find the k smallest eigenvalues of L a = lambda Phi a, Phi positive, perhaps singular.

    The pencil (Phi, L + s Phi) with s = tr L / tr Phi is solved instead: L + s Phi is whitened
    with a rank cut, and nu gives lambda = 1 / nu - s. One path for singular L, singular Phi or
    both. Where L is indefinite, s is raised above its most negative eigenvalue; where even that
    does not make L + s Phi positive, Phi is whitened. With a penalty the vectors are those of
    (L + penalty, Phi), and the values and vectors returned those of (L, Phi) in their span.

    Parameters
    ----------
    L, Phi
        Symmetric matrices (p, p).
    k
        The number of eigenpairs.
    penalty
        A positive matrix (p, p) added to L.
    floor
        The share of the largest direction below which directions are rounding.
    """
    found = lowest_eigenpairs(L, Phi, k, penalty=penalty, floor=floor)
    require_rank(len(found.values), k)
    return found


def lowest_eigenpairs(
    L: Array, Phi: Array, k: int, *, penalty: Array | None = None, floor: float = 0.0
) -> Eigenpairs:
    """Do as `gevd` does, but return fewer pairs where the rank is below k."""
    L, Phi = symmetric(L, "L"), symmetric(Phi, "Phi")
    if L.shape != Phi.shape:
        raise ValueError(must("Phi", f"of shape {L.shape}, as L", f"shape {Phi.shape}"))
    if k != int(k) or k < 1:
        raise ValueError(must("k", "a positive integer", k))
    if np.trace(Phi) <= 0:
        return Eigenpairs(np.zeros(0), np.zeros((len(L), 0)), 0, np.zeros(0))
    W, N, values_of = reduced_problem(L if penalty is None else L + penalty, Phi, floor)
    r = W.shape[1]
    k = min(k, r)
    subset = (r - k, r - 1) if 4 * k < r else None
    nu, U = eigh(N, subset_by_index=subset, check_finite=False)
    values = values_of(nu[::-1][:k])
    A = W @ U[:, ::-1][:, :k][:, np.isfinite(values)]
    return rayleigh_ritz(L, Phi, A, W, r)


def require_rank(rank: int, k: int) -> None:
    """Raise if there are fewer meaningful directions than eigenpairs asked for."""
    if rank < k:
        raise ValueError(
            must("k", f"at most {rank}, the rank of the functions on the samples", k)
            + " Lower k, or use more or other functions, or more samples."
        )


def reduced_problem(
    L: Array, Phi: Array, floor: float
) -> tuple[Array, Array, Callable[[Array], Array]]:
    """Reduce L a = lambda Phi a to an ordinary problem whose largest eigenvalues are wanted.

    Returns
    -------
    W (p, r), the symmetric matrix N (r, r), and the map from eigenvalues nu of N to lambda, which
    is infinite where nu is rounding.
    """
    size = float(np.abs(np.diag(L)).sum() / np.trace(Phi))
    s = float(np.trace(L) / np.trace(Phi))
    s = s if s > 0.1 * size else size
    rounding = -1e3 * len(L) * EPS
    if s > 0:
        W, lowest = whiten(L + s * Phi, floor)
        if lowest < rounding:
            V, _ = whiten(Phi, floor)
            s = size - 2 * float(eigh(V.T @ L @ V, eigvals_only=True)[0])
            W, lowest = whiten(L + s * Phi, floor)
        if lowest >= rounding:

            def unshifted(nu: Array) -> Array:
                tiny = nu <= 10 * len(L) * EPS / s
                return np.where(tiny, np.inf, 1 / np.where(tiny, 1.0, nu) - s)

            return W, W.T @ Phi @ W, unshifted
    # No multiple of Phi holds L's negative directions down, or L is zero: whiten Phi itself.
    W, _ = whiten(Phi, floor)
    return W, -(W.T @ L @ W), np.negative


def rayleigh_ritz(L: Array, Phi: Array, A: Array, W: Array, rank: int) -> Eigenpairs:
    """Solve (L, Phi) exactly in the span of the columns of A, and measure what is left over."""
    if not A.shape[1]:
        return Eigenpairs(np.zeros(0), A, rank, np.zeros(0))
    A = A / np.sqrt(np.einsum("ij,ij->j", A, Phi @ A))
    values, U = eigh(A.T @ L @ A, A.T @ Phi @ A, check_finite=False)
    A = A @ U
    # W' B W = I, so |W' r| is the norm of r dual to B.
    left, right = W.T @ (L @ A), W.T @ (Phi @ A)
    rest = np.linalg.norm(left - right * values, axis=0)
    whole = np.linalg.norm(left, axis=0) + np.linalg.norm(right, axis=0) * np.abs(values).max()
    residuals = rest / np.where(whole > 0, whole, 1.0)
    return Eigenpairs(values, A, rank, residuals)


def symmetric(M: Array, name: str) -> Array:
    """Return a finite symmetric matrix, made exactly so."""
    M = np.asarray(M, dtype=np.float64)
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(must(name, "a square matrix", f"shape {M.shape}"))
    if not np.isfinite(M).all():
        raise ValueError(must(name, "finite", "nan or inf"))
    if np.abs(M - M.T).max(initial=0.0) > 1e-8 * np.abs(M).max(initial=0.0):
        raise ValueError(must(name, "symmetric", "M - M' not zero", "Use gsvd for such a form."))
    return (M + M.T) / 2
