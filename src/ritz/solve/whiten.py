"""Whitening a positive matrix on the directions that rounding leaves meaningful."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh, qr
from scipy.linalg.lapack import dpotrf, dpstrf, dsyevd, dsygst, dtrtri
from scipy.sparse.linalg import ArpackError, eigsh

from ritz.arrays import Array, must

EPS = float(np.finfo(np.float64).eps)
CUT = 30
TINY, SMALL, MANY = 32, 300, 600
FEW = 8
POWER_STEPS = 5


def unit_diagonal(M: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """Scale a symmetric matrix to unit diagonal, so that the units of functions do not matter.

    Returns
    -------
    The scaled matrix of the functions with a positive diagonal, their factors, their numbers.
    """
    diagonal = M.diagonal()
    keep = (diagonal > 0).nonzero()[0]
    if len(keep) < len(M):
        M, diagonal = M[np.ix_(keep, keep)], diagonal[keep]
    D = 1 / np.sqrt(diagonal)
    return scaled_by(M, D), D, keep


def scaled_by(M: Array, D: Array) -> Array:
    """Return the matrix D_i M_ij D_j."""
    scaled = M * D
    scaled *= D[:, None]
    return np.asarray(scaled)


def is_positive(M: Array, floor: Array | float = 0.0) -> bool:
    """Return whether a symmetric matrix is positive but for rounding, whatever its units.

    Of each function a share `floor`, (p,) or one for all, may be rounding.
    """
    if (M.diagonal() < 0).any():
        return False
    scaled, _, _ = unit_diagonal(M)
    diagonal_of(scaled)[:] += 1e3 * len(M) * EPS + _highest(floor)
    return root_of(scaled, overwrite=True) is not None


def _highest(floor: Array | float) -> float:
    return float(np.asarray(floor).max(initial=0.0))


def squared_norm(M: Array) -> float:
    """Return the sum of the squares of all entries."""
    flat = M.ravel(order="K")
    return float(flat @ flat)


def diagonal_of(M: Array) -> Array:
    """Return the diagonal of a matrix made for us, without gaps, to write to."""
    return M.ravel(order="K")[:: len(M) + 1]


def root_of(M: Array, overwrite: bool = False) -> Array | None:
    """Return the upper triangle R with R' R = M, or None where a symmetric M is not positive.

    By the library's own routine, as the eigenvalues below: what SciPy puts around it takes as long
    as a small problem.
    """
    # Symmetric, so that what Fortran reads as columns may be our rows.
    root, failed = dpotrf(M.T, lower=0, clean=1, overwrite_a=overwrite)
    return None if failed else np.asarray(root)


def every_eigenpair(M: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending, and vectors of a symmetric M, whose upper part counts."""
    values, vectors, failed = dsyevd(M, lower=0)
    if failed:
        raise LinAlgError("The eigenvalues of a symmetric matrix did not converge.")
    return np.asarray(values), np.asarray(vectors)


def whiten(B: Array, floor: Array | float = 0.0) -> Array:
    """Return W (p, r) with W' B W = I for a positive B that may be singular.

    Directions v whose share, in units where B has unit diagonal, is below 30 p eps of the largest
    or below sum_i v_i^2 floor_i are left out, floor_i being what may be rounding in function i.
    """
    return split(B, floor)[0]


def whitened(B: Array, M: Array, floor: Array | float = 0.0) -> tuple[Array, Array, int]:
    """Return W as `whiten` does, W' M W for a symmetric M, and the rank r.

    Of W' M W the upper part counts. W may have more columns than r, which depend on each other:
    W' M W then has as many eigenvalues zero.
    """
    found = rooted(B, M, floor)
    return cut_off(B, M, floor) if found is None else (*found, len(B))


def cut_off(B: Array, M: Array, floor: Array | float = 0.0) -> tuple[Array, Array, int]:
    """Do as `whitened` does, where B is known to have no root that is clear of the cut."""
    # Of small matrices all eigenvalues are found soon enough, and a little more exactly.
    W = low_rank(B, floor) if len(B) > SMALL else None
    if W is None and len(B) > MANY:
        # Where few directions are below the cut those alone are found, or those above it where they
        # are fewer.
        above = about_above(B, floor)
        if FEW * (len(B) - above) <= len(B):
            lifted_off = lifted(B, M, floor)
            if lifted_off is not None:
                return lifted_off
        elif 2 * above <= len(B):
            W = highest(B, floor)
    if W is None:
        W = Directions.of(B, floor).whitened()
    return W, W.T @ M @ W, W.shape[1]


def about_above(B: Array, floor: Array | float) -> int:
    """Return about how many directions are above the cut: as many as pivots of a root are."""
    scaled, _, _ = unit_diagonal(B)
    cut = max(CUT * len(B) * EPS * sqrt(squared_norm(scaled)), _highest(floor))
    return int(dpstrf(scaled.T, tol=cut, lower=0, overwrite_a=1)[2])


def highest(B: Array, floor: Array | float = 0.0) -> Array | None:
    """Return W as `whiten` does, where less than half of all directions of B are above the cut.

    Only their eigenvalues are found: those above a share of a Rayleigh quotient, which is no more
    than the largest. None where the routine for some of them fails, or finds none.
    """
    scaled, D, keep = unit_diagonal(B)
    if not len(keep):
        return None
    v = np.random.default_rng(0).normal(size=len(scaled))
    for _ in range(POWER_STEPS):
        v = scaled @ v
        v /= np.linalg.norm(v)
    quotient = max(float(v @ (scaled @ v)), 1.0)
    least = max(CUT * len(B) * EPS * quotient, float(np.min(floor)))
    try:
        values, V = eigh(scaled, subset_by_value=(least, np.inf), check_finite=False)
    except LinAlgError:
        return None
    if not len(values):
        return None
    return Directions.cut(len(B), keep, D, values, V, floor).whitened()


def low_rank(B: Array, floor: Array | float = 0.0) -> Array | None:
    """Return W as `whiten` does, where B has a rank well below its size; None elsewhere.

    Of unit diagonal, B = R' R by a root with pivots that ends where rounding is left, a thirtieth
    of the cut or less, and the few eigenvalues of R R' are those of B. Its eigenvectors R' u are
    made orthogonal, the largest first: rounding leaves some of those in the others.
    """
    scaled, D, keep = unit_diagonal(B)
    root, pivots, rank, _ = dpstrf(scaled.T, tol=EPS, lower=0, overwrite_a=1)
    if not rank or 4 * rank > 3 * len(B):
        return None
    R = np.empty((rank, len(keep)))
    R[:, pivots - 1] = np.triu(root[:rank])
    values, vectors = every_eigenpair(R @ R.T)
    noise = np.full(len(B), floor)[keep]
    above = np.flatnonzero(values > CUT * len(B) * EPS * values[-1])[::-1]
    values = values[above]
    V, _ = qr(R.T @ vectors[:, above] / np.sqrt(values), mode="economic", check_finite=False)
    good = values > noise @ V**2
    W = np.zeros((len(B), int(good.sum())))
    W[keep] = D[:, None] * V[:, good] / np.sqrt(values[good])
    return W


def rooted(B: Array, M: Array, floor: Array | float = 0.0) -> tuple[Array, Array] | None:
    """Do as `whitened` does where no direction of B is near the cut; return None elsewhere."""
    scaled, D, keep = unit_diagonal(B)
    found = _root(scaled, floor) if len(keep) == len(B) else None
    if found is None:
        return None
    root, inverse = found
    # Of tiny ones the routine does not take half the time, and threads where others are busy.
    N = None if len(B) <= TINY else _reduced(M, D, root)
    inverse *= D[:, None]
    return inverse, inverse.T @ M @ inverse if N is None else N


def reduced_by(B: Array, *matrices: Array, floor: float = 0.0) -> list[Array] | None:
    """Return W' M W of symmetric matrices M, of which the upper part counts, where W' B W = I.

    None where a direction of B is near the cut, or below the floor.
    """
    scaled, D, keep = unit_diagonal(B)
    found = _root(scaled, floor) if len(keep) == len(B) else None
    return None if found is None else [_reduced(M, D, found[0]) for M in matrices]


def _reduced(M: Array, D: Array, root: Array) -> Array:
    # Symmetric, so that what Fortran reads as columns may be our rows.
    return np.asarray(dsygst(scaled_by(M, D).T, root, overwrite_a=1)[0])


def lifted(B: Array, M: Array, floor: Array | float) -> tuple[Array, Array, int] | None:
    """Do as `whitened` does where few directions of B are below the cut; return None elsewhere.

    Those alone are found, lifted to where a root of B exists, and taken off M and W. For B = S of
    unit diagonal, S' the lifted one, R' R = S' and P the projector that takes them off, which
    commutes with S': P M P x = nu S' x has x = P x wherever nu is not zero, so S x = S' x.
    """
    scaled, D, keep = unit_diagonal(B)
    size = len(B)
    if len(keep) < size:
        return None
    noise = np.full(size, floor)
    bound = max(CUT * size * EPS * float(np.linalg.norm(scaled)), float(noise.max()))
    try:
        values, V = eigh(scaled, subset_by_value=(-np.inf, bound), check_finite=False)
    except LinAlgError:
        return None
    if FEW * len(values) > size:
        return None
    start = np.random.default_rng(0).normal(size=size)
    try:
        largest = eigsh(scaled, 1, v0=start, tol=1e-2, return_eigenvectors=False)[0]
    except ArpackError:
        return None
    bad = values <= np.maximum(CUT * size * EPS * largest, noise @ V**2)
    values, V = values[bad], V[:, bad]
    scaled += (V * (1 - values)) @ V.T
    root = root_of(scaled)
    if root is None:
        return None
    inner = scaled_by(M, D)
    inner -= V @ (inner @ V).T
    inner -= (inner @ V) @ V.T
    N = dsygst(inner.T, root, overwrite_a=1)[0]
    W = np.asarray(dtrtri(root)[0])
    W -= V @ (V.T @ W)
    W *= D[:, None]
    return W, np.asarray(N), size - len(values)


def split(B: Array, floor: Array | float = 0.0) -> tuple[Array, Array]:
    """Return W as `whiten` does, and the directions N (p, p - r) left out, where B is nothing."""
    scaled, D, keep = unit_diagonal(B)
    found = _root(scaled, floor, len(B)) if len(keep) else None
    if found is None:
        return split_by_eigenvalues(B, floor)
    W = np.zeros((len(B), len(keep)))
    W[keep] = D[:, None] * found[1]
    return W, np.eye(len(B))[:, np.diag(B) <= 0]


def split_by_eigenvalues(B: Array, floor: Array | float) -> tuple[Array, Array]:
    """Do as `split` does, where B may have no root: directions near the cut, or functions zero."""
    directions = Directions.of(B, floor)
    return directions.whitened(), directions.left_out()


class Directions(NamedTuple):
    """The eigenvectors of a positive matrix B (p, p), in units where its diagonal is one.

    Parameters
    ----------
    size
        The number p.
    keep, D
        The numbers of the functions with a positive diagonal, and what makes that one.
    values, vectors, good
        Eigenvalues (m,), vectors (m, m), and which of them are above the cut.
    """

    size: int
    keep: NDArray[np.intp]
    D: Array
    values: Array
    vectors: Array
    good: NDArray[np.bool_]

    @classmethod
    def of(cls, B: Array, floor: Array | float) -> Directions:
        """Return those of a matrix, cut as `whiten` says."""
        scaled, D, keep = unit_diagonal(B)
        if not len(keep):
            return cls(len(B), keep, D, D, scaled, D > 0)
        return cls.cut(len(B), keep, D, *every_eigenpair(scaled), floor)

    @classmethod
    def cut(
        cls,
        size: int,
        keep: NDArray[np.intp],
        D: Array,
        values: Array,
        vectors: Array,
        floor: Array | float,
    ) -> Directions:
        """Return those of some eigenvalues, the largest among them, cut as `whiten` says."""
        noise = np.full(size, floor)[keep]
        good = values > np.maximum(CUT * size * EPS * values[-1], noise @ vectors**2)
        return cls(size, keep, D, values, vectors, good)

    def whitened(self) -> Array:
        """Return W (p, r) with W' B W = I."""
        V = self.D[:, None] * self.vectors[:, self.good] / np.sqrt(self.values[self.good])
        if len(self.keep) == self.size:
            return np.asarray(V)
        W = np.zeros((self.size, V.shape[1]))
        W[self.keep] = V
        return W

    def left_out(self) -> Array:
        """Return the directions N (p, p - r) where B is nothing, functions that are zero last."""
        bad = ~self.good
        gone = np.setdiff1d(np.arange(self.size), self.keep)
        N = np.zeros((self.size, int(bad.sum()) + len(gone)))
        N[self.keep, : int(bad.sum())] = self.D[:, None] * self.vectors[:, bad]
        N[gone, int(bad.sum()) + np.arange(len(gone))] = 1.0
        return N


def _root(M: Array, floor: Array | float, size: int | None = None) -> tuple[Array, Array] | None:
    """Return the triangle R with R' R = M and its inverse, if M is clearly above the cut.

    All its eigenvalues, M being of unit diagonal, are to exceed the floor, and twice the cut times
    the largest there can be. The trace of M^-1, which is |R^-1|^2, tells as a rule; a second root,
    of M less the cut, decides.
    """
    cut = CUT * (size or len(M)) * EPS * sqrt(squared_norm(M))
    least = max(2 * cut, _highest(floor))
    root = root_of(M)
    if root is None:
        return None
    inverse = np.asarray(dtrtri(root)[0])
    if not least * squared_norm(inverse) < 1:
        shifted = M.copy()
        diagonal_of(shifted)[:] -= least
        if root_of(shifted) is None:
            return None
    return root, inverse


def symmetric(M: Array, name: str, shape: tuple[int, ...] | None = None) -> Array:
    """Return a finite symmetric matrix, made exactly so."""
    M = np.asarray(M, dtype=np.float64)
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(must(name, "a square matrix", f"shape {M.shape}"))
    if shape is not None and M.shape != shape:
        raise ValueError(must(name, f"of shape {shape}", f"shape {M.shape}"))
    if not np.isfinite(M).all():
        raise ValueError(must(name, "finite", "nan or inf"))
    gap = np.abs(M - M.T).max(initial=0.0)
    if gap > 1e-8 * np.abs(M).max(initial=0.0):
        raise ValueError(must(name, "symmetric", f"M - M' up to {gap:.2g}", "gsvd takes such L."))
    return (M + M.T) / 2


def positive(
    M: Array, name: str, shape: tuple[int, ...] | None = None, floor: Array | float = 0.0
) -> Array:
    """Return a finite symmetric matrix that is positive but for rounding."""
    M = symmetric(M, name, shape)
    if not is_positive(M, floor):
        lowest = eigh(M, eigvals_only=True, subset_by_index=(0, 0))[0]
        raise ValueError(must(name, "positive", f"an eigenvalue {lowest:.3g}"))
    return M


def rank_of(M: Array) -> int:
    """Return the rank of a positive matrix in units where it has unit diagonal."""
    scaled, _, keep = unit_diagonal(M)
    if not len(keep):
        return 0
    return int(dpstrf(scaled.T, tol=CUT * len(M) * EPS, lower=1, overwrite_a=1)[2])


def require_rank(rank: int, k: int) -> None:
    """Raise if there are fewer meaningful directions than values asked for."""
    if rank < k:
        raise ValueError(
            must("k", f"at most {rank}, the rank of the functions on the samples", k)
            + " Lower k, or use more or other functions, or more samples."
        )
