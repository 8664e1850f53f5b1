"""The singular value decomposition of L between two metrics Phi and Psi."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import svd

from ritz.solve.whiten import as_positive, require_rank, whiten
from ritz.validation import Array, as_choice, as_count, as_real, parameter_error


@dataclass(frozen=True, eq=False)
class SingularTriples:
    """Singular values in the order asked for, left and right vectors, and their residuals.

    Parameters
    ----------
    values
        Singular values (k,).
    left, right
        Columns (p, k) and (q, k) with left' Phi left = right' Psi right = I.
    rank
        The smaller of the ranks of Phi and Psi, up to rounding.
    residuals
        The larger of |L b - sigma Phi a| and |L' a - sigma Psi b|, in the dual norms, relative to
        the largest singular value.
    """

    values: Array
    left: Array
    right: Array
    rank: int
    residuals: Array


def gsvd(
    L: Array,
    Phi: Array,
    Psi: Array,
    k: int,
    *,
    order: Literal["smallest", "largest"],
    penalties: tuple[Array, Array] | None = None,
    floors: tuple[Array | float, Array | float] = (0.0, 0.0),
) -> SingularTriples:
    """Find A' L B = diag(values) with A' Phi A = B' Psi B = I.

    Both metrics are whitened with a rank cut, which leaves an ordinary decomposition. With
    penalties the spans are those of the vectors of (L, Phi + penalty, Psi + penalty), and the
    triples returned are those of (L, Phi, Psi) in these spans.

    Parameters
    ----------
    L, Phi, Psi
        Matrices (p, q), (p, p) and (q, q), the last two symmetric and positive.
    k
        The number of singular triples.
    order
        Whether the k smallest values are wanted, ascending, or the k largest, descending.
    penalties
        Positive matrices added to Phi and Psi.
    floors
        The shares of the diagonal entries of Phi and Psi that may be rounding, as in `gevd`.
    """
    found = singular_triples(L, Phi, Psi, k, order=order, penalties=penalties, floors=floors)
    require_rank(len(found.values), k)
    return found


def singular_triples(
    L: Array,
    Phi: Array,
    Psi: Array,
    k: int,
    *,
    order: Literal["smallest", "largest"],
    penalties: tuple[Array, Array] | None = None,
    floors: tuple[Array | float, Array | float] = (0.0, 0.0),
) -> SingularTriples:
    """Do as `gsvd` does, but return fewer triples where the rank is below k."""
    k = as_count(k, "k")
    L = as_real(L, "L")
    Phi, Psi = as_positive(Phi, "Phi", floor=floors[0]), as_positive(Psi, "Psi", floor=floors[1])
    if L.shape != (len(Phi), len(Psi)):
        raise parameter_error("L", f"of shape {(len(Phi), len(Psi))}", f"shape {L.shape}")
    if not np.isfinite(L).all():
        raise parameter_error("L", "finite", "nan or inf")
    order = as_choice(order, "order", ("smallest", "largest"))
    left, right = (whiten(M, floor) for M, floor in zip((Phi, Psi), floors, strict=True))
    if penalties is not None:
        sides = zip((left, right), penalties, (Phi, Psi), strict=True)
        left, right = (penalized(W, as_positive(G, "penalties", M.shape)) for W, G, M in sides)
    rank = min(left.shape[1], right.shape[1])
    k = min(k, rank)
    if not k:
        none = np.zeros(0)
        return SingularTriples(none, left[:, :0], right[:, :0], 0, none)
    U, every, V = svd(left.T @ L @ right, full_matrices=False, check_finite=False)
    pick = slice(rank - k, rank) if order == "smallest" else slice(0, k)
    A, B = left @ U[:, pick], right @ V[pick].T
    if penalties is not None:
        small = (A.T @ Phi @ A, B.T @ Psi @ B)
        inner, outer = (whiten(M) for M in small)
        common = min(inner.shape[1], outer.shape[1])
        A, B = A @ inner[:, -common:], B @ outer[:, -common:]
    U, values, V = svd(A.T @ L @ B, check_finite=False)
    A, B = A @ U, B @ V.T
    if order == "smallest":
        values, A, B = values[::-1], A[:, ::-1], B[:, ::-1]
    rest = np.maximum(
        np.linalg.norm(left.T @ (L @ B - Phi @ A * values), axis=0),
        np.linalg.norm(right.T @ (L.T @ A - Psi @ B * values), axis=0),
    )
    return SingularTriples(
        values, A, B, rank, rest / max(every.max(initial=0.0), np.finfo(np.float64).tiny)
    )


def penalized(W: Array, G: Array) -> Array:
    """Return V with V' (M + G) V = I in the span of W, where W' M W = I."""
    return np.asarray(W @ whiten(np.eye(W.shape[1]) + W.T @ G @ W))
