"""Whitening a positive matrix on the directions that are above the rounding error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, eigh
from scipy.linalg.lapack import dpstrf, dtrtri

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
    scaled = M * D
    scaled *= D[:, None]
    return scaled, D, keep


def is_positive(M: Array, floor: Floor = 0.0) -> bool:
    """Return whether a symmetric matrix is positive up to rounding, whatever its units.

    A share `floor` of each diagonal entry, (p,) or one for all, may be rounding.
    """
    if (M.diagonal() < 0).any():
        return False
    scaled, _, _ = unit_diagonal(M)
    shift = 1e3 * len(M) * EPS + float(np.max(floor, initial=0.0))
    scaled[np.diag_indices_from(scaled)] += shift
    return _cholesky(scaled) is not None


def _cholesky(M: Array) -> Array | None:
    """Return the upper triangle R with R'R = M, or None where M is not positive; overwrites M."""
    try:
        # LAPACK overwrites matrices in Fortran order only.
        return np.asarray(cholesky(M.T, lower=True, overwrite_a=True, check_finite=False).T)
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
    rest = np.setdiff1d(np.arange(p), keep)
    vanishing = np.zeros((p, len(rest)))
    vanishing[rest, np.arange(len(rest))] = 1.0
    if not len(keep):
        return np.zeros((p, 0)), vanishing
    root = _clear_cholesky(scaled, floor, p)
    if root is not None:
        W = dtrtri(root.T, lower=1, overwrite_c=1)[0].T
        W *= D[:, None]
        return _expanded(W, keep, p), vanishing
    values, V = eigh(scaled.T, lower=False, driver="evd", overwrite_a=True, check_finite=False)
    rounding = np.full(p, floor)[keep] @ V**2
    good = values > np.maximum(CUT * p * EPS * values[-1], rounding)
    V *= D[:, None]
    W = _expanded(V[:, good] / np.sqrt(values[good]), keep, p)
    return W, np.hstack([_expanded(V[:, ~good], keep, p), vanishing])


def _expanded(W: Array, keep: NDArray[np.intp], size: int) -> Array:
    """Return the rows of W at the places `keep` of (size, r), zeros elsewhere."""
    if len(keep) == size:
        return W
    result = np.zeros((size, W.shape[1]))
    result[keep] = W
    return result


def _clear_cholesky(M: Array, floor: Floor, size: int) -> Array | None:
    """Return R with R'R = M (unit diagonal) if all eigenvalues of M are clearly above the cut.

    M minus a multiple of the identity must still be positive: the larger of the floor and of twice
    the cut, with the Frobenius norm as an upper bound of the largest eigenvalue.
    """
    least = max(2 * CUT * size * EPS * float(np.linalg.norm(M)), float(np.max(floor, initial=0.0)))
    lowered = M.copy()
    lowered[np.diag_indices_from(M)] -= least
    if _cholesky(lowered) is None:
        return None
    del lowered
    return _cholesky(M)


def rank_of(M: Array) -> int:
    """Return the rank of a positive matrix, up to rounding, after scaling it to unit diagonal."""
    scaled, _, keep = unit_diagonal(M)
    if not len(keep):
        return 0
    # The matrix is symmetric, and its transpose is in the order that LAPACK overwrites.
    return int(dpstrf(scaled.T, tol=CUT * len(M) * EPS, lower=0, overwrite_a=1)[2])


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
