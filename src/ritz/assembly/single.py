"""Whether products of float32 are exact enough: on a sample before the pass, and after it."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.arrays import Array, Block, row_slices
from ritz.assembly.accumulator import Accumulator
from ritz.assembly.passes import in_pieces
from ritz.assembly.sums import Sums
from ritz.bases import Centered, KernelSections
from ritz.forms import Form, potential
from ritz.solve.whiten import (
    diagonal_of,
    reduced_by,
    root_of,
    squared_norm,
    unit_diagonal,
)
from ritz.streams import Stream
from ritz.threads import solving

# Functions looked at; rows for each of them, and of all; eigenvalues compared.
FUNCTIONS, ROWS_EACH, ROWS, VALUES = 256, 8, 2048, 16
# What eigenvalues may move by, what noise may be of the last of them, and what it may be where
# scalar products alone are whitened.
MOVED, NOISE, ALONE = 1e-4, 0.2, 5e-3
# The share of a function, in roundings of float32, below which directions are cut off.
FLOOR = 3
# By how much weights may differ, a sample being without them.
UNEVEN = 4.0
# By how much functions may be larger or smaller on all rows than on the sample, in the middle.
ALIKE = 1.5
ROUNDING = float(np.finfo(np.float32).eps)
BAND = 64


class Sample(NamedTuple):
    """How large functions are on a sample of rows.

    Parameters
    ----------
    which
        Their numbers (m,).
    energy, variance
        Their energies and variances (m,) over the sample.
    """

    which: NDArray[np.intp]
    energy: Array
    variance: Array

    def tells_of(self, L: Array, covariance: Array) -> bool:
        """Return whether most functions are as large on all rows, by averages (p, p) over those.

        A few rows far from all others, which a sample need not have, may be all that counts, and
        rows that are there many times are there once in a sample.
        """
        for M, size in ((L, self.energy), (covariance, self.variance)):
            there = size > 0
            ratio = M.diagonal()[self.which][there] / size[there]
            if not (2 * len(ratio) > len(size) and 1 / ALIKE <= np.median(ratio) <= ALIKE):
                return False
        return True


def single_will_do(form: Form, basis: Centered, stream: Stream, view: int) -> Sample | None:
    """Return a sample that shows sums of float32 to leave eigenvalues as they are; None if not.

    To about three digits. Up to 256 functions, at random, are summed up in both precisions over a
    sample of rows. What float32 does to the first eigenvalues is the same for more functions; the
    noise it adds to the last directions, which too large would be taken for eigenvalues, grows from
    half of those functions to all as a power of their number, and is taken to grow on so up to all
    there are.
    """
    p, n = basis.size, stream.n_rows if even_weights(stream) else None
    # Features of other functions are of float64 anyway; few rows take no time.
    if not isinstance(basis.basis, KernelSections) or n is None or n < 2 * p:
        return None
    pilot = stream.sample(max(2 * p, ROWS), 0, view)
    # Rows that repeat others tell functions apart no better.
    if len(pilot) < 2 * p:
        return None
    some, which = basis, np.arange(p)
    if p > FUNCTIONS:
        which = np.random.default_rng(0).permutation(p)[:FUNCTIONS]
        some = Centered(basis.basis.pick(which), basis.offset[which])
    if n < ROWS_EACH * p:
        # No more rows for each function than there are in all.
        pilot = pilot[: int(some.size * n / p)]
    # Where L is not symmetric any form will do, for the scalar products.
    tried = form if form.symmetric else potential(1.0)
    with np.errstate(all="ignore"):
        pilot = pilot[:ROWS]
        both = [averages(tried, some, pilot, dtype) for dtype in (np.float32, np.float64)]
        found = change(*both, by_form=form.symmetric)
        if some is not basis:
            half = some.size // 2
            fewer = [[M[:half, :half] for M in pair] for pair in both]
            found = found.grown(change(*fewer, by_form=form.symmetric), p / some.size)
    if not found.small:
        return None
    energy, variance = (M.diagonal() for M in both[1])
    return Sample(which, energy if form.symmetric else variance, variance)


def even_weights(stream: Stream) -> bool:
    """Return whether rows weigh about the same, in numbers that float32 can square and add up."""
    weight = getattr(stream, "weight", None)
    if weight is None:
        return True
    least, most = float(weight.min()), float(weight.max())
    return 1e-12 < most < 1e12 and most <= UNEVEN * least


def survived(sums: Sums, samples: Sequence[Sample]) -> bool:
    """Return whether functions are still told apart by what float32 has added up.

    A sample tells of up to 256 of them, and of rows like its own. L + s Phi, or the scalar products
    alone where L is not symmetric, is to be positive less what float32 may have added, which grows
    with its norm.
    """
    means = sums.mean()
    with solving(max(sums.left.size, sums.right.size)), np.errstate(all="ignore"):
        if sums.form.symmetric:
            L, Phi = means.L[1:, 1:], covariance(means.Phi)
            if not samples[0].tells_of(L, Phi):
                return False
            s = np.trace(L) / np.trace(Phi)
            for rows in row_slices(len(L), BAND):
                L[rows] += s * Phi[rows]
            return clearly_positive(L)
        sides = [means.Phi] if sums.Psi is sums.Phi else [means.Phi, means.Psi]
        for side, sample in zip(sides, samples, strict=False):
            Phi = covariance(side)
            if not (sample.tells_of(Phi, Phi) and clearly_positive(Phi)):
                return False
        return True


def clearly_positive(B: Array) -> bool:
    """Return whether a matrix, its diagonal made one, is positive less the noise of float32."""
    scaled, _, keep = unit_diagonal(B)
    if not len(keep):
        return False
    diagonal_of(scaled)[:] -= ROUNDING * (FLOOR + sqrt(squared_norm(scaled)) / 16)
    return root_of(scaled, overwrite=True) is not None


def covariance(Phi: Array) -> Array:
    """Return the covariance (p, p) of functions, in place of their scalar products, 1 the first."""
    inner, sums, means = Phi[1:, 1:], Phi[1:, 0], Phi[0, 1:] / Phi[0, 0]
    # By rows that stay in cache: memory for all takes longer to come by than to fill.
    for rows in row_slices(len(inner), BAND):
        inner[rows] -= sums[rows, None] * means
    return inner


class Change(NamedTuple):
    """What float32 does to a pencil of matrices.

    Parameters
    ----------
    moved
        By how much the first eigenvalues are off, relative to themselves.
    noise
        The size of what float32 adds to the reduced problem, in units of what is allowed: what is
        as large as an eigenvalue there is taken for one.
    """

    moved: float
    noise: float

    @property
    def small(self) -> bool:
        """Whether both are small enough."""
        return self.moved <= MOVED and self.noise <= 1.0

    def grown(self, half: Change, times: float) -> Change:
        """Return the change for so many times as many functions, from that for half as many."""
        if not half.noise < np.inf:
            return half
        growth = max(self.noise / half.noise, 1.0) if half.noise > 0 else 1.0
        return Change(self.moved, self.noise * growth ** float(np.log2(times)))


def change(single: Sequence[Array], double: Sequence[Array], *, by_form: bool) -> Change:
    """Return what the errors of L and Phi do: to L a = lambda Phi a, or where Phi is whitened.

    The reduced problem is that of Phi, or of L, whitened by L + s Phi, with s = tr L / tr Phi.
    """
    (L, Phi), (exact_L, exact_Phi) = single, double
    lost = Change(np.inf, np.inf)
    if not np.isfinite(L.sum() + Phi.sum() + exact_L.sum() + exact_Phi.sum()):
        return lost
    if not by_form:
        found = reduced_by(exact_Phi, Phi - exact_Phi)
        return lost if found is None else Change(0.0, norm_of(found[0]) / ALONE)
    s = float(np.trace(exact_L) / np.trace(exact_Phi))
    if not 0 < s < np.inf:
        return lost
    B = exact_L + s * exact_Phi
    exact = reduced_by(B, s * exact_Phi, s * (Phi - exact_Phi), L - exact_L)
    ours = reduced_by(L + s * Phi, s * Phi, floor=FLOOR * ROUNDING)
    if exact is None or ours is None:
        return lost
    try:
        nu, moved_nu = (np.linalg.eigvalsh(N, UPLO="U")[-VALUES:] for N in (exact[0], ours[0]))
    except np.linalg.LinAlgError:
        return lost
    if not min(nu[0], moved_nu[0]) > 0:
        return lost
    # lambda = s (1 / nu - 1).
    moved = np.abs((1 / moved_nu - 1) / (1 / nu - 1) - 1)
    noise = sum(norm_of(error) ** 2 for error in exact[1:]) ** 0.5
    return Change(float(moved.max()), noise / float(nu[0]) / NOISE)


def norm_of(upper: Array) -> float:
    """Return the Frobenius norm of a symmetric matrix whose upper part counts."""
    part = np.triu(upper)
    return float(np.sqrt(2 * (part**2).sum() - (part.diagonal() ** 2).sum()))


def averages(form: Form, basis: Centered, pilot: Array, dtype: type) -> tuple[Array, Array]:
    """Return L and the covariance of functions over rows (m, d), all of one weight."""
    sums = Accumulator(form, basis, basis, 1, dtype)
    rows = np.arange(len(pilot))
    add = in_pieces(sums.add, len(pilot)) if sums.tiles is None else sums.add_rows
    add(0, Block((pilot,), np.ones(len(pilot)), rows), rows, np.array([0, len(pilot)], np.intp))
    sums.close(map)
    (L,), (Phi,), _ = sums.matrices()
    # The form may have weighted them.
    return L[1:, 1:] / Phi[0, 0], covariance(Phi / Phi[0, 0])
