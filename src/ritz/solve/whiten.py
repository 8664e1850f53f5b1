"""Whitening a positive matrix on the directions that are above the rounding error."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular
from scipy.linalg.lapack import dpstrf

from ritz.validation import Array, as_real, parameter_error

EPS = float(np.finfo(np.float64).eps)
# Eigenvalues below CUT p eps times the largest are rounding, once the diagonal is scaled to one.
CUT = 30
Floor = Array | float


def unit_diagonal(M: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """Scale a symmetric matrix to unit diagonal, so that the units of functions do not matter.

    Returns
    -------
    The scaled matrix over the positive diagonal entries, their scale factors and their indices.
    """
    diagonal = M.diagonal()
    keep = np.flatnonzero(diagonal > 0)
    if len(keep) < len(M):
        M, diagonal = M[np.ix_(keep, keep)], diagonal[keep]
    D = 1 / np.sqrt(diagonal)
    return M * D * D[:, None], D, keep


def is_positive(M: Array, floor: Floor = 0.0) -> bool:
    """Return whether a symmetric matrix is positive up to rounding, whatever its units.

    A share `floor` of each diagonal entry, (p,) or one for all, may be rounding.
    """
    if (M.diagonal() < 0).any():
        return False
    scaled, _, _ = unit_diagonal(M)
    shift = 1e3 * len(M) * EPS + float(np.max(floor, initial=0.0))
    return _cholesky(scaled + shift * np.eye(len(scaled))) is not None


def _cholesky(M: Array) -> Array | None:
    """Return the upper triangle R with R'R = M, or None where M is not positive."""
    try:
        return np.asarray(cholesky(M, check_finite=False))
    except LinAlgError:
        return None


def whiten(B: Array, floor: Floor = 0.0) -> Array:
    """Return W (p, r) with W'BW = I for a positive B that may be singular.

    B is scaled to unit diagonal. Eigenvectors v are left out if their eigenvalue is below 30 p eps
    times the largest, or below sum_i v_i^2 floor_i, where floor_i is the share of the diagonal
    entry i that may be rounding.
    """
    return split(B, floor)[0]


def split(B: Array, floor: Floor = 0.0) -> tuple[Array, Array]:
    """Return W as `whiten` does, and the directions N (p, p - r) that are left out.

    The Cholesky factor gives W if all eigenvalues are clearly above the cut; otherwise the
    eigenvectors do.
    """
    p = len(B)
    scaled, D, keep = unit_diagonal(B)
    W = np.zeros((p, len(keep)))
    vanishing = np.eye(p)[:, np.setdiff1d(np.arange(p), keep)]
    if not len(keep):
        return W, vanishing
    root = _clear_cholesky(scaled, floor, p)
    if root is not None:
        W[keep] = D[:, None] * solve_triangular(root, np.eye(len(root)), check_finite=False)
        return W, vanishing
    values, V = eigh(scaled, driver="evd", check_finite=False)
    rounding = np.full(p, floor)[keep] @ V**2
    good = values > np.maximum(CUT * p * EPS * values[-1], rounding)
    W = W[:, : int(good.sum())]
    W[keep] = D[:, None] * V[:, good] / np.sqrt(values[good])
    N = np.zeros((p, int((~good).sum())))
    N[keep] = D[:, None] * V[:, ~good]
    return W, np.hstack([N, vanishing])


def _clear_cholesky(M: Array, floor: Floor, size: int) -> Array | None:
    """Return R with R'R = M (unit diagonal) if all eigenvalues of M are clearly above the cut.

    M minus a multiple of the identity must still be positive: the larger of the floor and of twice
    the cut, with the Frobenius norm as an upper bound of the largest eigenvalue.
    """
    least = max(
        2 * CUT * size * EPS * sqrt(float((M * M).sum())), float(np.max(floor, initial=0.0))
    )
    if _cholesky(M - least * np.eye(len(M))) is None:
        return None
    return _cholesky(M)


def rank_of(M: Array) -> int:
    """Return the rank of a positive matrix, up to rounding, after scaling it to unit diagonal."""
    scaled, _, keep = unit_diagonal(M)
    if not len(keep):
        return 0
    return int(dpstrf(scaled, tol=CUT * len(M) * EPS, lower=1)[2])


def require_rank(rank: int, k: int) -> None:
    """Raise if there are fewer independent directions than values asked for."""
    if rank < k:
        requirement = f"at most {rank}, the rank of the functions on the samples"
        remedy = "Lower k, or use more or other functions, or more samples."
        raise parameter_error("k", requirement, k, remedy)


def as_symmetric(M: Array, name: str, shape: tuple[int, ...] | None = None) -> Array:
    """Return a finite symmetric matrix, made exactly so."""
    M = as_real(M, name)
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        raise parameter_error(name, "a square matrix", f"shape {M.shape}")
    if shape is not None and M.shape != shape:
        raise parameter_error(name, f"of shape {shape}", f"shape {M.shape}")
    if not np.isfinite(M).all():
        raise parameter_error(name, "finite", "nan or inf")
    gap = np.abs(M - M.T).max(initial=0.0)
    if gap > 1e-8 * np.abs(M).max(initial=0.0):
        remedy = "ritz.gsvd takes such an L." if name == "L" else ""
        got = f"{name} - {name}' up to {gap:.2g}"
        raise parameter_error(name, "symmetric", got, remedy)
    return (M + M.T) / 2


def as_positive(
    M: Array, name: str, shape: tuple[int, ...] | None = None, floor: Floor = 0.0
) -> Array:
    """Return a finite symmetric matrix that is positive up to rounding."""
    M = as_symmetric(M, name, shape)
    if not is_positive(M, floor):
        lowest = eigh(M, eigvals_only=True, subset_by_index=(0, 0))[0]
        raise parameter_error(name, "positive", f"an eigenvalue {lowest:.3g}")
    return M
