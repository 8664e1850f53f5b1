"""The scale mu of the loss, from a cheap fit with kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.arrays import must
from ritz.assembly import assemble
from ritz.bases import Nystrom
from ritz.estimators.defaults import SCALE_ROWS, auto_length_scale
from ritz.forms import Form
from ritz.kernels import Gaussian
from ritz.spectrum import decompose_sums
from ritz.streams import Stream

CENTERS = 200
MARGIN = 3.0


def auto_mu(form: Form, stream: Stream, m: int, seed: int = 0, margin: float = MARGIN) -> float:
    """Return three times the m-th eigenvalue of a fit with 200 Gaussian kernel sections.

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
    rows = stream.sample(SCALE_ROWS, seed)
    kernel = Gaussian(auto_length_scale(rows, np.ones(len(rows)), seed))
    basis = Nystrom(kernel, min(max(CENTERS, 2 * m), len(rows)))
    sums = assemble(form, basis, stream, n_folds=1, random_state=seed)
    found: Any = decompose_sums(sums, m, regularization=1e-6, fewer=True)
    last = float(found.values[-1])
    if last <= 0:
        remedy = "Pass a positive number, the scale of the eigenvalues wanted."
        raise ValueError(
            must("mu", f"a number where {form} has eigenvalues below zero", "'auto'", remedy)
        )
    return margin * last
