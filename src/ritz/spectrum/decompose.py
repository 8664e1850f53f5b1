"""From sums to a spectrum, and from samples to a spectrum in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import repeat
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, as_count, as_number, must
from ritz.assembly import Matrices, Sums, assemble
from ritz.bases import Centered, Combination
from ritz.forms import Form
from ritz.forms.form import Order
from ritz.solve import Eigenpairs, SingularTriples
from ritz.solve.few import FewPairs, lowest_of_few
from ritz.solve.gevd import lowest_eigenpairs
from ritz.solve.gsvd import singular_triples
from ritz.solve.whiten import EPS, is_positive, rank_of, require_rank
from ritz.spectrum.centering import NOT_POSITIVE, Side, center, center_form, decouples
from ritz.spectrum.errors import group, group_means, jackknife, leave_one_out
from ritz.spectrum.levels import ACCURACY
from ritz.spectrum.spectrum import SingularSpectrum, Spectrum
from ritz.threads import TINY, solving

MANY = 100_000


def decompose(
    form: Form,
    basis: Any,
    X: Any,
    k: int = 16,
    *,
    regularization: float = 0.0,
    sample_weight: Any = None,
    groups: Any = None,
    n_folds: int = 8,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Spectrum | SingularSpectrum:
    """Find the spectrum of an operator from samples.

    The operator is restricted to the span of a basis and the function 1, its matrices are
    estimated as averages over the samples, and a small eigenvalue problem is solved. Returns a
    `Spectrum` for symmetric operators, its eigenvalues ascending, and a `SingularSpectrum` for
    the others.

    Parameters
    ----------
    form
        The operator, such as `ritz.laplacian()`.
    basis
        The functions, such as `ritz.Nystrom(kernel, 200)`; a pair of them for the left and right
        functions of an operator that is not symmetric.
    X
        The samples (n, d), a pair of arrays for operators on pairs, or a stream.
    k
        How many eigenvalues, the constant's among them.
    regularization
        The number gamma: gamma (tr L / tr G) G is added to L, G being the basis's own Gram matrix
        and the constant being free (for operators that are not symmetric, to Phi and Psi in place
        of L); the unpenalized problem is then solved again in the span of the k functions found,
        which takes most of the bias away.
    sample_weight, groups, n_folds, random_state, n_jobs, progress
        As in `ritz.assemble`.

    Examples
    --------
    Standard normal samples have the spectrum 0, 1, 2, ...:

    >>> import numpy as np, ritz
    >>> X = np.random.default_rng(0).normal(size=(100_000, 1))
    >>> spectrum = ritz.decompose(ritz.laplacian(), ritz.Monomials(4), X, k=3)
    >>> np.round(spectrum.values, 1) + 0.0
    array([0., 1., 2.])
    """
    k = as_count(k, "k")
    sums = assemble(
        form,
        basis,
        X,
        sample_weight=sample_weight,
        groups=groups,
        n_folds=n_folds,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    return _decomposed(sums, k, regularization, of_rows=True)


def decompose_sums(
    sums: Sums, k: int = 16, *, regularization: float = 0.0, fewer: bool = False
) -> Spectrum | SingularSpectrum:
    """Find the spectrum of an operator from its sums over samples.

    Parameters
    ----------
    sums
        What `ritz.assemble` returned, or sums of such.
    k, regularization
        As in `ritz.decompose`.
    fewer
        Whether to return fewer than k where the functions have a smaller rank on the samples,
        instead of raising an error.
    """
    k = as_count(k, "k")
    if not isinstance(sums, Sums):
        raise TypeError(must("sums", "what ritz.assemble returns", type(sums).__name__))
    if max(sums.left.size, sums.right.size) <= TINY:
        # Kept until errors are asked for: whoever has the sums may change them meanwhile.
        sums = copied(sums)
    return _decomposed(sums, k, regularization, fewer)


def _decomposed(
    sums: Sums, k: int, regularization: float, fewer: bool = False, of_rows: bool = False
) -> Spectrum | SingularSpectrum:
    """Do as `decompose_sums` does; sums `of_rows` are as they were added up, none taken off."""
    regularization = as_number(regularization, "regularization", "a nonnegative number", 0.0)
    if not regularization and sums.left.size <= TINY and is_squares(sums):
        spectrum = _few(sums, k, of_rows)
        if spectrum is not None:
            return spectrum
    matrices = sums.mean()
    least = 1 if fewer else k
    left = center(matrices.Phi, np.abs(sums.left.offset), sums.rounding)
    with solving(max(sums.left.size, sums.right.size)):
        if sums.form.symmetric:
            return _eigen(sums, matrices, left, k, least, regularization, of_rows)
        right = left
        if sums.Psi is not sums.Phi:
            right = center(matrices.Psi, np.abs(sums.right.offset), sums.rounding)
        return _singular(sums, matrices, left, right, k, least, regularization)


def copied(sums: Sums) -> Sums:
    """Return the same sums in arrays of their own."""
    L, Phi, Psi = (tuple(M.copy() for M in folds) for folds in (sums.L, sums.Phi, sums.Psi))
    Psi = Phi if sums.Psi is sums.Phi else Psi
    return replace(sums, weight=sums.weight.copy(), L=L, Phi=Phi, Psi=Psi)


def _penalty(basis: Centered, matrix: Array, regularization: float) -> Array | None:
    """Return gamma (tr M / tr G) G with a zero for the function 1 first."""
    if not regularization:
        return None
    result = np.zeros_like(matrix)
    result[1:, 1:] = regularization * basis.penalty(matrix[1:, 1:])
    return result


def _eigen(
    sums: Sums,
    matrices: Matrices,
    side: Side,
    k: int,
    least: int,
    regularization: float,
    of_rows: bool,
) -> Spectrum:
    if not of_rows and not isfinite(matrices.L.sum() + matrices.Phi.sum()):
        raise ValueError(must("sums", "finite", "nan or inf"))
    rank = rank_of(side.metric)
    if not of_rows and rank < len(side.metric):
        # What products were rounded at may add up over all functions.
        noise = side.floor + len(side.metric) * sums.rounding
        if not is_positive(side.metric, noise):
            raise ValueError(NOT_POSITIVE)
    L = center_form(matrices.L, side, side)
    penalty = _penalty(sums.left, L, regularization)
    squares = of_rows and is_squares(sums)
    found = eigenpairs(L, side, k, penalty, sums.form.positive, rank, squares)
    require_rank(len(found.values), least)
    vectors = found.vectors * signs(side.metric @ found.vectors)
    span = side.uncentered(vectors)
    return Spectrum(
        basis=Centered(sums.left.basis, sums.left.offset + side.means),
        coefficients=vectors[1:],
        constants=vectors[0],
        **_levels(sums, found, span, span, is_constant(vectors)),
    )


def is_squares(sums: Sums) -> bool:
    """Return whether sums are of squares, if none were taken off, and so positive."""
    form = sums.form
    return form.symmetric and form.positive and form.foldable and sums.rounding <= EPS


def _few(sums: Sums, k: int, of_rows: bool) -> Spectrum | None:
    """Return the spectrum of few functions, or None where it takes more than compiled code does."""
    weight = float(sums.weight.sum())
    # Of rows they are finite, or were refused.
    if not weight > 0 or not (of_rows or isfinite(sum(M.sum() for M in (*sums.L, *sums.Phi)))):
        return None
    found = lowest_of_few(weight, sums.L, sums.Phi, sums.left.offset, k, of_rows)
    if found is None:
        return None
    # Over the functions as they were, without their means.
    span = np.empty((1 + sums.left.size, k))
    np.subtract(found.constants, found.means @ found.coefficients, out=span[0])
    span[1:] = found.coefficients
    return Spectrum(
        basis=Centered(sums.left.basis, sums.left.offset + found.means),
        coefficients=found.coefficients,
        constants=found.constants,
        **_levels(sums, found, span, span, np.arange(k) == 0),
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
        raise ValueError(
            must("regularization", f"0 for {sums.form}", regularization)
            + " A penalty makes rough functions look small, so their singular values, the "
            "artifacts, would come first. Use fewer or smoother functions instead."
        )
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
        Combination(Centered(basis.basis, basis.offset + side.means), C[1:], C[0])
        for basis, side, C in ((sums.left, left, A), (sums.right, right, B))
    ]
    spans = left.uncentered(A), right.uncentered(B)
    fixed = is_constant(A) & is_constant(B)
    return SingularSpectrum(left=sides[0], right=sides[1], **_levels(sums, found, *spans, fixed))


def eigenpairs(
    L: Array,
    side: Side,
    k: int,
    penalty: Array | None,
    positive: bool,
    rank: int,
    squares: bool = False,
) -> Eigenpairs:
    """Find the k smallest eigenvalues over (1, f - means), fewer where the rank is less.

    Where the function 1 is an eigenfunction by itself it is kept apart, so that its eigenvalue is
    exact. Those of a positive form are not below zero but by rounding; one that is a sum of
    `squares` as it stands need not be looked at.
    """
    alone = decouples(L)
    if positive and not (alone and L[0, 0] == 0.0) and abs(L[0, 0]) <= 1e-13 * np.abs(L).max():
        # No energy, so none shared: what is left of the function 1 is rounding.
        L = L.copy()
        L[0] = L[:, 0] = 0.0
        alone = True
    if not alone:
        return lowest_eigenpairs(
            L, side.metric, k, penalty=penalty, floor=side.floor, rank=rank, squares=squares
        )
    rest = lowest_eigenpairs(
        L[1:, 1:],
        side.metric[1:, 1:],
        k,
        penalty=None if penalty is None else penalty[1:, 1:],
        floor=side.floor[1:],
        rank=rank - 1,
        squares=squares,
    )
    found = np.maximum(rest.values, 0.0) if positive else rest.values
    place = int(found.searchsorted(L[0, 0]))
    values = np.concatenate([found[:place], L[:1, 0], found[place:]])
    residuals = np.concatenate([rest.residuals[:place], [0.0], rest.residuals[place:]])
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
    # Functions that fit few samples exactly have correlation 1 up to rounding: constants first.
    rank_by = values.copy() if order == "smallest" else -values
    rank_by[0] -= 1e-9 * values.max()
    pick = np.argsort(rank_by, kind="stable")[:k]
    A = _with_constant(rest.left, 1.0)
    B = _with_constant(rest.right, 1.0 if L[0, 0] >= 0 else -1.0)
    residuals = np.concatenate([[0.0], rest.residuals])
    return SingularTriples(values[pick], A[:, pick], B[:, pick], 1 + rest.rank, residuals[pick])


def _with_constant(vectors: Array, value: float, place: int = 0) -> Array:
    """Return vectors (p, k) over (1, f) with a multiple of the function 1 at a place of theirs."""
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


def _small_values(small: Matrices) -> Array | None:
    """Return the eigenvalues (m, k) of matrices (m, k, k), or None where some have none."""
    L, Phi = (M / 2 + M.transpose(0, 2, 1) / 2 for M in (small.L, small.Phi))
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(Phi))
        return np.asarray(np.linalg.eigvalsh(inverse @ L @ inverse.transpose(0, 2, 1)))
    except np.linalg.LinAlgError:
        return None


def _small_singular_values(small: Matrices, order: Order) -> Array | None:
    """Return the singular values (m, k) of matrices (m, k, k), or None where some have fewer."""
    Phi, Psi = (M / 2 + M.transpose(0, 2, 1) / 2 for M in (small.Phi, small.Psi))
    if not all(map(is_positive, (*Phi, *Psi))):
        # Functions that differ on the rows left out alone: of some, rounding is all there is.
        return None
    parts = zip(small.L, Phi, Psi, strict=True)
    k = small.L.shape[-1]
    found = [singular_triples(*part, k, order=order).values for part in parts]
    return np.array(found) if all(len(values) == k for values in found) else None


def _levels(
    sums: Sums,
    found: Eigenpairs | SingularTriples | FewPairs,
    A: Array,
    B: Array,
    fixed: NDArray[np.bool_],
) -> dict[str, Any]:
    """Return values, errors and groups; a value that no sample can change has no error.

    Errors and groups, which take a fifth of the time of a small problem, are left for when they are
    asked for. Until then the matrices of each fold are kept if they are tiny, else those (k, k) of
    the span, unless these are large.
    """
    # Copies, and no form, which may hold on to much: this may live as long as the spectrum.
    values, symmetric, order = found.values.copy(), sums.form.symmetric, sums.form.order
    weight, k = sums.weight, found.values.size
    small_of: Callable[[], Matrices | None]
    small_of = partial(leave_one_out, weight, sums.L, sums.Phi, sums.Psi, A, B)
    size = max(sums.left.size, sums.right.size)
    if size > TINY or len(weight) * (1 + size) ** 2 > MANY:
        small_of = repeat(small_of()).__next__

    def accuracy() -> dict[str, Any]:
        folds = int((weight > 0).sum())
        small, left_out = small_of(), None
        if small is not None:
            left_out = _small_values(small) if symmetric else _small_singular_values(small, order)
        errors = group_errors = None
        if left_out is not None:
            errors = np.where(fixed, 0.0, jackknife(left_out))
        groups = group(values, errors, folds)
        if left_out is not None:
            group_errors = np.where(fixed, 0.0, jackknife(group_means(left_out, groups)))
        return {
            "errors": errors,
            "groups": groups,
            "group_values": group_means(values, groups),
            "group_errors": group_errors,
        }

    return {
        "values": found.values,
        **(dict.fromkeys(ACCURACY, accuracy) if len(weight) * k**2 <= MANY else accuracy()),
        "residuals": found.residuals,
        "rank": found.rank,
        "n_rows": sums.n_rows,
        "operator": str(sums.form),
    }
