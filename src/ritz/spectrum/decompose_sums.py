"""From sums to a spectrum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.assembly import Matrices, Sums
from ritz.bases import Centered, Combination
from ritz.forms.form import Order
from ritz.solve import Eigenpairs, SingularTriples
from ritz.solve.gevd import lowest_eigenpairs
from ritz.solve.gsvd import singular_triples
from ritz.solve.whiten import is_positive, require_rank
from ritz.spectrum.centering import NOT_POSITIVE, Side, center, center_form, decouples
from ritz.spectrum.errors import group, group_means, jackknife, leave_one_out
from ritz.spectrum.spectrum import SingularSpectrum, Spectrum
from ritz.threads import solver_threads
from ritz.validation import Array, as_count, as_number, parameter_error


def decompose_sums(
    sums: Sums, k: int = 16, *, regularization: float = 0.0, fewer: bool = False
) -> Spectrum | SingularSpectrum:
    """Find the spectrum of an operator from its sums over samples.

    Parameters
    ----------
    sums
        The result of `ritz.assemble`, or of adding several.
    k, regularization
        As in `ritz.decompose`.
    fewer
        Whether to return fewer than k where the functions have a smaller rank on the samples,
        instead of raising an error.
    """
    k = as_count(k, "k")
    if not isinstance(sums, Sums):
        got = type(sums).__name__
        raise parameter_error("sums", "what ritz.assemble returns", got, kind=TypeError)
    regularization = as_number(regularization, "regularization", "a nonnegative number", 0.0)
    with solver_threads(max(sums.left.size, sums.right.size)):
        matrices = sums.mean()
        if not np.isfinite(matrices.L.sum() + matrices.Phi.sum() + matrices.Psi.sum()):
            raise parameter_error("sums", "finite", "nan or inf")
        left = center(matrices.Phi, np.abs(sums.left.offset))
        least = 1 if fewer else k
        if sums.form.symmetric:
            return _eigen(sums, matrices, left, k, least, regularization)
        right = left
        if sums.Psi is not sums.Phi:
            right = center(matrices.Psi, np.abs(sums.right.offset))
        return _singular(sums, matrices, left, right, k, least, regularization)


def _penalty(basis: Centered, matrix: Array, regularization: float) -> Array | None:
    """Return gamma (tr M / tr G) G, bordered by zeros for the function 1."""
    if not regularization:
        return None
    result = np.zeros_like(matrix)
    result[1:, 1:] = regularization * basis.penalty(matrix[1:, 1:])
    return result


def _eigen(
    sums: Sums, matrices: Matrices, side: Side, k: int, least: int, regularization: float
) -> Spectrum:
    if not is_positive(side.metric, side.floor):
        raise ValueError(NOT_POSITIVE)
    L = center_form(matrices.L, side, side)
    penalty = _penalty(sums.left, L, regularization)
    found = eigenpairs(L, side, k, penalty, sums.form.positive)
    require_rank(len(found.values), least)
    vectors = found.vectors * signs(side.metric @ found.vectors)
    span = side.uncentered(vectors)
    return Spectrum(
        basis=replace(sums.left, offset=sums.left.offset + side.means),
        coefficients=vectors[1:],
        constants=vectors[0],
        **_levels(sums, found, span, span, is_constant(vectors)),
    )


def _singular(
    sums: Sums,
    matrices: Matrices,
    left: Side,
    right: Side,
    k: int,
    least: int,
    regularization: float,
) -> SingularSpectrum:
    L = center_form(matrices.L, left, right)
    penalties = None
    if regularization and sums.form.order == "smallest":
        reason = (
            "A penalty makes rough functions look small, so that their singular values, which are "
            "artifacts, would come first. Use fewer or smoother functions instead."
        )
        raise parameter_error("regularization", f"0 for {sums.form}", regularization, reason)
    if regularization:
        parts = [
            _penalty(basis, side.metric, regularization)
            for basis, side in ((sums.left, left), (sums.right, right))
        ]
        penalties = (np.asarray(parts[0]), np.asarray(parts[1]))
    found = triples(L, left, right, k, sums.form.order, penalties)
    require_rank(len(found.values), least)
    sign = signs(left.metric @ found.left)
    A, B = found.left * sign, found.right * sign

    sides = [
        Combination(replace(basis, offset=basis.offset + side.means), C[1:], C[0])
        for basis, side, C in ((sums.left, left, A), (sums.right, right, B))
    ]
    spans = left.uncentered(A), right.uncentered(B)
    is_exact = is_constant(A) & is_constant(B)
    return SingularSpectrum(left=sides[0], right=sides[1], **_levels(sums, found, *spans, is_exact))


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


def _symmetrized(M: Array) -> Array:
    """Return (M + M') / 2 for matrices (m, k, k), halved first to prevent overflow."""
    return M / 2 + M.transpose(0, 2, 1) / 2


def _small_values(small: Matrices) -> Array | None:
    """Return the eigenvalues (m, k) of matrices (m, k, k), or None if a metric is not positive."""
    L, Phi = _symmetrized(small.L), _symmetrized(small.Phi)
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(Phi))
        return np.asarray(np.linalg.eigvalsh(inverse @ L @ inverse.transpose(0, 2, 1)))
    except np.linalg.LinAlgError:
        return None


def _small_singular_values(small: Matrices, order: Order) -> Array | None:
    """Return the singular values (m, k) of matrices (m, k, k), or None if some have fewer."""
    Phi, Psi = _symmetrized(small.Phi), _symmetrized(small.Psi)
    if not all(map(is_positive, (*Phi, *Psi))):
        # Some functions are independent only on the rows left out.
        return None
    parts = zip(small.L, Phi, Psi, strict=True)
    k = small.L.shape[-1]
    found = [singular_triples(*part, k, order=order).values for part in parts]
    return np.array(found) if all(len(values) == k for values in found) else None


def _levels(
    sums: Sums,
    found: Eigenpairs | SingularTriples,
    A: Array,
    B: Array,
    is_exact: NDArray[np.bool_],
) -> dict[str, Any]:
    """Return values, errors and groups; the error of an exact value is zero."""
    small = leave_one_out(sums, A, B)
    left_out = errors = group_errors = None
    if small is not None and sums.form.symmetric:
        left_out = _small_values(small)
    elif small is not None:
        left_out = _small_singular_values(small, sums.form.order)
    if left_out is not None:
        errors = np.where(is_exact, 0.0, jackknife(left_out))
    groups = group(found.values, errors, int((sums.weight > 0).sum()))
    if left_out is not None:
        group_errors = np.where(is_exact, 0.0, jackknife(group_means(left_out, groups)))
    return {
        "values": found.values,
        "errors": errors,
        "groups": groups,
        "group_values": group_means(found.values, groups),
        "group_errors": group_errors,
        "residuals": found.residuals,
        "rank": found.rank,
        "n_rows": sums.n_rows,
        "operator": str(sums.form),
    }
