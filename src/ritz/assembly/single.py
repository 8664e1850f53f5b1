"""Whether products of float32 are exact enough, judged on a sample before the pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ritz.arrays import Array, Block
from ritz.assembly.accumulator import Accumulator
from ritz.assembly.passes import in_pieces
from ritz.bases import Centered, KernelSections
from ritz.forms import Form, potential
from ritz.solve.whiten import reduced_by
from ritz.streams import Stream

# Functions looked at; rows for each of them, and of all; eigenvalues compared.
FUNCTIONS, ROWS_EACH, ROWS, VALUES = 256, 8, 2048, 16
# What eigenvalues may move by, what noise may be of the last of them, and what it may be where
# scalar products alone are whitened.
MOVED, NOISE, ALONE = 1e-4, 0.2, 5e-3
# The share of a function, in roundings of float32, below which directions are cut off.
FLOOR = 3


def single_will_do(form: Form, basis: Centered, stream: Stream, view: int) -> bool:
    """Return whether sums of float32 leave eigenvalues as they are, to about four digits.

    Up to 256 functions, at random, are summed up in both precisions over a sample of rows. What
    float32 does to the first eigenvalues is the same for more functions; the noise it adds to the
    last directions, which too large would be taken for eigenvalues, grows from half of those
    functions to all as a power of their number, and is taken to grow on so up to all there are.
    """
    p, n = basis.size, effective_rows(stream)
    # Features of other functions are of float64 anyway; few rows take no time.
    if not isinstance(basis.basis, KernelSections) or n < 2 * p:
        return False
    pilot = stream.sample(max(2 * p, ROWS), 0, view)
    # Rows that repeat others tell functions apart no better.
    if len(pilot) < 2 * p:
        return False
    some = basis
    if p > FUNCTIONS:
        which = np.random.default_rng(0).permutation(p)[:FUNCTIONS]
        some = Centered(basis.basis.pick(which), basis.offset[which])
    if n < ROWS_EACH * p:
        # No more rows for each function than there are in all.
        pilot = pilot[: int(some.size * n / p)]
    # Where L is not symmetric any form will do, for the scalar products.
    tried = form if form.symmetric else potential(1.0)
    with np.errstate(all="ignore"):
        sums = [sums_over(tried, some, pilot[:ROWS], dtype) for dtype in (np.float32, np.float64)]
        whole = change(*sums, by_form=form.symmetric)
        if some is basis:
            return whole.small
        half = some.size // 2
        fewer = [[M[:half, :half] for M in pair] for pair in sums]
        return whole.grown(change(*fewer, by_form=form.symmetric), p / some.size).small


def effective_rows(stream: Stream) -> float:
    """Return how many rows of one weight would tell as much, none if weights are out of reach."""
    weight = getattr(stream, "weight", None)
    if weight is None:
        return stream.n_rows or 0.0
    scaled = weight / weight.max()
    # What float32 can square and add up.
    return float(scaled.sum() ** 2 / (scaled**2).sum()) if 1e-12 < weight.max() < 1e12 else 0.0


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
    ours = reduced_by(L + s * Phi, s * Phi, floor=FLOOR * float(np.finfo(np.float32).eps))
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


def sums_over(form: Form, basis: Centered, pilot: Array, dtype: type) -> tuple[Array, Array]:
    """Return L and the covariance of functions over rows (m, d) of weight one each."""
    sums = Accumulator(form, basis, basis, 1, dtype)
    rows = np.arange(len(pilot))
    add = in_pieces(sums.add, len(pilot)) if sums.tiles is None else sums.add_rows
    add(0, Block((pilot,), np.ones(len(pilot)), rows), rows, np.array([0, len(pilot)]))
    sums.close(map)
    (L,), (Phi,), _ = sums.matrices()
    return L[1:, 1:], Phi[1:, 1:] - np.outer(Phi[0, 1:], Phi[0, 1:] / Phi[0, 0])
