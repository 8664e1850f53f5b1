"""What the loss must know of an operator beforehand, from a cheap fit with kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.arrays import Array, must
from ritz.assembly import Sums, assemble
from ritz.bases import Nystrom
from ritz.estimators.defaults import SCALE_ROWS, auto_length_scale
from ritz.forms import Form
from ritz.kernels import Gaussian
from ritz.spectrum import decompose_sums
from ritz.streams import Stream

CENTERS, FEW = 200, 8
ROWS_PER_CENTER = 40
DRAWS = 3
MARGIN = 3.0
REGULARIZATION = 1e-6


def auto_mu(form: Form, stream: Stream, m: int, seed: int = 0, margin: float = MARGIN) -> float:
    """Return three times the m-th eigenvalue of a fit with up to 200 Gaussian kernel sections.

    There is one for each 40 rows: more would fit the few rows there are, at a lower energy. Where
    there are fewer than 200, the fit is the middle one of three choices of centers.

    A component of eigenvalue lambda is learned at the size sqrt((1 - lambda / mu)_+): far above
    the last one all have their full size but little tells them from the next; at it, the last one
    vanishes. At three times the last, it keeps 0.8 of its size.

    Parameters
    ----------
    form
        A symmetric operator.
    stream
        The rows.
    m
        The number of functions wanted, the constant among them.
    seed
        What the choice of centers follows from.
    margin
        How many times the eigenvalue mu is.
    """
    return scale_of(kernel_sums(form, stream, m, seed), m, margin)


def kernel_sums(form: Form, stream: Stream, m: int, seed: int) -> Sums:
    """Return the sums of an operator over enough kernel sections to tell m eigenvalues."""
    rows = stream.sample(SCALE_ROWS, seed)
    kernel = Gaussian(auto_length_scale(rows, np.ones(len(rows)), seed))
    n = stream.n_rows or sum(map(len, stream.blocks()))
    centers = max(2 * m, min(CENTERS, max(5 * m, n // ROWS_PER_CENTER))) if m else FEW
    basis = Nystrom(kernel, min(centers, len(rows)))
    # A section at a row far from others is flat there, and seems to have no energy where the rows
    # are few; it takes another choice of centers to tell.
    draws = [
        assemble(form, basis, stream, n_folds=1, random_state=seed + i, progress=False)
        for i in range(DRAWS if m and centers < CENTERS else 1)
    ]
    return sorted(draws, key=lambda sums: kernel_values(sums, m)[-1] if m else 0.0)[len(draws) // 2]


def kernel_values(sums: Sums, m: int) -> Array:
    """Return the first m eigenvalues over the functions of some sums, fewer if there are not."""
    found: Any = decompose_sums(sums, m, regularization=REGULARIZATION, fewer=True)
    return np.asarray(found.values)


def kills_one(sums: Sums) -> bool:
    """Return whether the form of the function 1 and any other is zero, over all rows."""
    return not sums.mean().L[0].any()


def scale_of(sums: Sums, m: int, margin: float = MARGIN) -> float:
    """Return three times the m-th eigenvalue over the functions of some sums."""
    last = float(kernel_values(sums, m)[-1])
    if last <= 0:
        remedy = "Pass a positive number, the scale of the eigenvalues wanted."
        raise ValueError(
            must("mu", f"a number where {sums.form} has eigenvalues below zero", "'auto'", remedy)
        )
    return margin * last
