"""Whitening a positive matrix on the directions that rounding leaves meaningful."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ritz.arrays import Array

EPS = float(np.finfo(np.float64).eps)


def whiten(B: Array, floor: float = 0.0) -> tuple[Array, float]:
    """Find W (p, r) with W' B W = I for a positive B that may be singular.

    B is first scaled to unit diagonal, so that the units of the functions do not matter.
    Directions whose share is below max(p eps, floor) of the largest are left out.

    Returns
    -------
    W, and the smallest eigenvalue of the scaled B relative to the largest: far below zero, B
    was not positive.
    """
    diagonal = np.diag(B)
    top = diagonal.max(initial=0.0)
    keep = np.flatnonzero(diagonal > 0) if top > 0 else np.array([], dtype=int)
    if not len(keep):
        return np.zeros((len(B), 0)), 0.0 if len(B) == 0 else float(np.sign(diagonal.min()))
    D = 1 / np.sqrt(diagonal[keep])
    values, vectors = eigh(
        B[np.ix_(keep, keep)] * (D[:, None] * D), driver="evd", check_finite=False
    )
    good = values > max(10 * len(B) * EPS, floor) * values[-1]
    W = np.zeros((len(B), int(good.sum())))
    W[keep] = D[:, None] * vectors[:, good] / np.sqrt(values[good])
    lost = -np.inf if (diagonal < 0).any() else 0.0
    return W, float(min(values[0] / values[-1], lost))
