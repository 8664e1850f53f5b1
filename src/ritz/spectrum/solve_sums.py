"""The functions that sums give: one eigenvalue or singular value problem."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ritz.assembly import Matrices, Sums
from ritz.bases import Centered
from ritz.forms import Form
from ritz.forms.form import Order
from ritz.solve import Eigenpairs, SingularTriples
from ritz.solve.gevd import lowest_eigenpairs
from ritz.solve.gsvd import singular_triples
from ritz.solve.whiten import is_positive
from ritz.spectrum.centering import NOT_POSITIVE, Side, center, center_form, decouples
from ritz.validation import Array, parameter_error


@dataclass(frozen=True, eq=False)
class Found:
    """Functions found from sums, as combinations of (1, f) and of (1, g).

    Parameters
    ----------
    values
        Eigenvalues or singular values (k,).
    left, right
        Coefficients (1 + p, k) and (1 + q, k), the function 1 first; the same array where the
        operator is symmetric.
    means
        The means of f and of g over the samples.
    is_exact
        Which of the functions (k,) are constants, whose values are exact.
    residuals
        Relative residuals (k,) of the matrix problem.
    rank
        The number of independent functions, up to rounding.
    """

    values: Array
    left: Array
    right: Array
    means: tuple[Array, Array]
    is_exact: NDArray[np.bool_]
    residuals: Array
    rank: int

    def __len__(self) -> int:
        return len(self.values)

    def pick(self, which: NDArray[np.intp]) -> Found:
        """Return some of the functions."""
        left = self.left[:, which]
        right = left if self.right is self.left else self.right[:, which]
        return replace(
            self,
            values=self.values[which],
            left=left,
            right=right,
            is_exact=self.is_exact[which],
            residuals=self.residuals[which],
        )


def solve_sums(sums: Sums, k: int, regularization: float, without: int | None = None) -> Found:
    """Find k functions, or as many as there are, from the sums of all folds.

    Parameters
    ----------
    sums
        The sums.
    k, regularization
        As in `ritz.decompose`.
    without
        A fold to leave out, together with the functions whose centers are rows of it. Their
        coefficients are zero in the result.
    """
    left, right, matrices = sums.left, sums.right, sums.mean(without)
    if not np.isfinite(matrices.L.sum() + matrices.Phi.sum() + matrices.Psi.sum()):
        raise parameter_error("sums", "finite", "nan or inf")
    if without is None or sums.homes is None:
        return solve_matrices(sums.form, left, right, matrices, k, regularization)
    shared = right is left
    stays = [home != without for home in sums.homes]
    if all(map(np.all, stays)):
        return solve_matrices(sums.form, left, right, matrices, k, regularization)
    f, g = map(np.flatnonzero, stays)
    matrices = matrices.pick(f, f if shared else g)
    # Functions without centers are used as a whole.
    left = left if stays[0].all() else left.pick(f)
    right = left if shared else right if stays[1].all() else right.pick(g)
    found = solve_matrices(sums.form, left, right, matrices, k, regularization)
    A = _spread(found.left, stays[0])
    B = A if found.right is found.left else _spread(found.right, stays[1])
    return replace(found, left=A, right=B)


def _spread(A: Array, stays: NDArray[np.bool_]) -> Array:
    """Return coefficients (1 + p, k) that are zero for the functions left out."""
    result = np.zeros((1 + len(stays), A.shape[1]))
    result[np.append(True, stays)] = A
    return result


def solve_matrices(
    form: Form,
    left: Centered,
    right: Centered,
    matrices: Matrices,
    k: int,
    regularization: float,
) -> Found:
    """Find k functions from the averages of a form over two bases."""
    f = g = center(matrices.Phi, np.abs(left.offset))
    if matrices.Psi is not matrices.Phi:
        g = center(matrices.Psi, np.abs(right.offset))
    L = center_form(matrices.L, f, g)
    # Free the averages before the problem is solved.
    del matrices
    if form.symmetric:
        return _eigen(form, left, L, f, k, regularization)
    return _singular(form, (left, right), L, (f, g), k, regularization)


def _penalty(basis: Centered, matrix: Array, regularization: float) -> Array | None:
    """Return gamma (tr M / tr G) G, bordered by zeros for the function 1."""
    if not regularization or not basis.size:
        return None
    result = np.zeros_like(matrix)
    result[1:, 1:] = regularization * basis.penalty(matrix[1:, 1:])
    return result


def _eigen(
    form: Form, basis: Centered, L: Array, side: Side, k: int, regularization: float
) -> Found:
    if not is_positive(side.metric, side.floor):
        raise ValueError(NOT_POSITIVE)
    penalty = _penalty(basis, L, regularization)
    found = eigenpairs(L, side, k, penalty, form.positive)
    vectors = found.vectors * signs(side.metric @ found.vectors)
    span = side.uncentered(vectors)
    exact = is_constant(vectors)
    return Found(found.values, span, span, (side.means,) * 2, exact, found.residuals, found.rank)


def _singular(
    form: Form,
    bases: tuple[Centered, Centered],
    L: Array,
    sides: tuple[Side, Side],
    k: int,
    regularization: float,
) -> Found:
    penalties = None
    if regularization and form.order == "smallest":
        reason = (
            "A penalty makes rough functions look small, so that their singular values, which are "
            "artifacts, would come first. Use fewer or smoother functions instead."
        )
        raise parameter_error("regularization", f"0 for {form}", regularization, reason)
    if regularization:
        parts = [
            _penalty(basis, side.metric, regularization)
            for basis, side in zip(bases, sides, strict=True)
        ]
        penalties = (np.asarray(parts[0]), np.asarray(parts[1]))
    left, right = sides
    found = triples(L, left, right, k, form.order, penalties)
    sign = signs(left.metric @ found.left)
    A, B = found.left * sign, found.right * sign
    exact = is_constant(A) & is_constant(B)
    spans, means = (left.uncentered(A), right.uncentered(B)), (left.means, right.means)
    return Found(found.values, *spans, means, exact, found.residuals, found.rank)


def eigenpairs(L: Array, side: Side, k: int, penalty: Array | None, positive: bool) -> Eigenpairs:
    """Find the k smallest eigenvalues over (1, f - means), fewer where the rank is less.

    Where the function 1 is an eigenfunction it is left out of the problem, so that its eigenvalue
    is exact. Eigenvalues of a positive form are below zero only by rounding, and set to zero.
    """
    alone = decouples(L)
    if positive and not alone and abs(L[0, 0]) <= 1e-13 * np.abs(L).max():
        # A positive form that vanishes at (1, 1) vanishes at all (1, g): the entries are rounding.
        L = L.copy()
        L[0] = L[:, 0] = 0.0
        alone = True
    if not alone:
        return lowest_eigenpairs(L, side.metric, k, penalty=penalty, floor=side.floor)
    rest = lowest_eigenpairs(
        L[1:, 1:],
        side.metric[1:, 1:],
        k,
        penalty=None if penalty is None else penalty[1:, 1:],
        floor=side.floor[1:],
    )
    found = np.maximum(rest.values, 0.0) if positive else rest.values
    place = int(found.searchsorted(L[0, 0]))
    values = np.insert(found, place, L[0, 0])
    residuals = np.insert(rest.residuals, place, 0.0)
    vectors = _with_constant(rest.vectors, 1.0, place)
    return Eigenpairs(values[:k], vectors[:, :k], 1 + rest.rank, residuals[:k])


def triples(
    L: Array,
    left: Side,
    right: Side,
    k: int,
    order: Order,
    penalties: tuple[Array, Array] | None,
) -> SingularTriples:
    """Find k singular values over (1, f - means) and (1, g - means), as `eigenpairs` does."""
    floors = (left.floor, right.floor)
    if not decouples(L):
        return singular_triples(
            L, left.metric, right.metric, k, order=order, penalties=penalties, floors=floors
        )
    inner = None if penalties is None else (penalties[0][1:, 1:], penalties[1][1:, 1:])
    metrics = (left.metric[1:, 1:], right.metric[1:, 1:])
    inner_floors = (left.floor[1:], right.floor[1:])
    rest = singular_triples(
        L[1:, 1:], *metrics, k, order=order, penalties=inner, floors=inner_floors
    )
    values = np.concatenate([np.abs(L[:1, 0]), rest.values])
    # Functions that fit few samples exactly have correlation 1 up to rounding. The constant comes
    # first among them.
    rank_by = values.copy() if order == "smallest" else -values
    rank_by[0] -= 1e-9 * values.max()
    pick = np.argsort(rank_by, kind="stable")[:k]
    A = _with_constant(rest.left, 1.0)
    B = _with_constant(rest.right, 1.0 if L[0, 0] >= 0 else -1.0)
    residuals = np.concatenate([[0.0], rest.residuals])
    return SingularTriples(values[pick], A[:, pick], B[:, pick], 1 + rest.rank, residuals[pick])


def _with_constant(vectors: Array, value: float, place: int = 0) -> Array:
    """Return vectors (1 + p, 1 + k) over (1, f), with a multiple of the function 1 at `place`."""
    p, k = vectors.shape
    result = np.zeros((1 + p, 1 + k))
    result[0, place] = value
    result[1:, :place] = vectors[:, :place]
    result[1:, place + 1 :] = vectors[:, place:]
    return result


def is_constant(vectors: Array) -> NDArray[np.bool_]:
    """Return which columns (1 + p, k) are multiples of the function 1."""
    return np.asarray(~vectors[1:].any(axis=0))


def signs(correlations: Array) -> Array:
    """Return signs (k,) that make each column's largest entry, by size, positive."""
    return np.where(correlations.max(axis=0) >= -correlations.min(axis=0), 1.0, -1.0)
