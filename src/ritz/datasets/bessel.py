"""Uniform samples on the unit disk: Bessel functions times cosines and sines."""

from math import ceil, floor, pi, sqrt

import numpy as np
from scipy.special import jnp_zeros, jv

from ritz.datasets.problem import Problem
from ritz.validation import Array

__all__ = ["disk"]


def disk() -> Problem:
    r"""Uniform samples on the unit disk with the ambient energy (the Neumann Laplacian).

    .. math:: \lambda = z^2, \quad J_m'(z) = 0, \ z > 0, \qquad
        f(x) = c\, J_m(z r) \cos(m t), \ c\, J_m(z r) \sin(m t),

    once for m = 0 and twice for m >= 1, in addition to the constant with eigenvalue 0.

    Returns
    -------
    Problem

    """
    return Problem(
        name="disk()", dimension=2, sampler=_uniform, spectrum=_spectrum, functions=_functions
    )


def _modes(k: int) -> list[tuple[float, int, int]]:
    """Return the k smallest (z, m, side), where side 0 means the cosine and side 1 the sine."""
    # About b^2/4 + b/2 zeros lie below b (Weyl's law). The loop covers the exceptions.
    bound = 2 * sqrt(k) + 2
    modes = _modes_below(bound)
    while len(modes) < k:
        bound *= 1.5
        modes = _modes_below(bound)
    return modes[:k]


def _modes_below(bound: float) -> list[tuple[float, int, int]]:
    # The i-th positive zero of J_m' is larger than m and than (i - 1/2) pi, so none is missed.
    n_zeros = ceil(bound / pi + 0.5)
    modes = [(0.0, 0, 0)]
    for m in range(floor(bound) + 1):
        below = [float(z) for z in jnp_zeros(m, n_zeros) if z < bound]
        modes += [(z, m, side) for z in below for side in ((0, 1) if m else (0,))]
    return sorted(modes)


def _spectrum(k: int) -> Array:
    return np.array([z**2 for z, _, _ in _modes(k)])


def _functions(X: Array, k: int) -> Array:
    r, t = np.hypot(X[:, 0], X[:, 1]), np.arctan2(X[:, 1], X[:, 0])
    F = np.empty((len(X), k))
    for column, (z, m, side) in enumerate(_modes(k)):
        angular = np.sin(m * t) if side else np.cos(m * t)
        squared_norm = jv(m, z) ** 2 * (0.5 * (1 - (m / z) ** 2) if m else 1.0)
        F[:, column] = jv(m, z * r) * angular / np.sqrt(squared_norm)
    return F


def _uniform(n: int, rng: np.random.Generator) -> Array:
    r, t = np.sqrt(rng.random(n)), rng.uniform(0.0, 2 * pi, n)
    return np.column_stack([r * np.cos(t), r * np.sin(t)])
