"""Uniform samples on spheres, whose eigenfunctions are spherical harmonics, in any dimension."""

from functools import partial
from itertools import accumulate, count, repeat, takewhile
from math import comb

import numpy as np
from scipy.special import betaln

from ritz.datasets.problem import Problem
from ritz.validation import Array, as_count, parameter_error

__all__ = ["sphere"]


def sphere(dimension: int = 3) -> Problem:
    r"""Uniform samples on the unit sphere of R^d with the tangential energy.

    .. math:: \rho = U(S^{d-1}), \qquad \lambda = s (s + d - 2), \quad
        \frac{2s + d - 2}{s} \binom{s + d - 3}{s - 1} \text{ times for } s \ge 1,

    and once for s = 0. The eigenfunctions are the spherical harmonics of degree s.

    Parameters
    ----------
    dimension : int
        The dimension d of the ambient space, at least 2.

    Returns
    -------
    Problem

    """
    requirement = "an integer, at least 2"
    d = as_count(dimension, "dimension", requirement)
    if d < 2:
        raise parameter_error("dimension", requirement, d)
    return Problem(
        name=f"sphere(dimension={d})",
        dimension=d,
        sampler=partial(_uniform, d),
        spectrum=partial(_spectrum, d),
        functions=_functions,
        tangent=_frames,
    )


def _multiplicity(d: int, s: int) -> int:
    return (2 * s + d - 2) * comb(s + d - 3, s - 1) // s if s else 1


def _degrees(d: int, k: int) -> list[int]:
    """Return the degrees of the first k harmonics."""
    ends = accumulate(_multiplicity(d, s) for s in count())
    n_full = sum(1 for _ in takewhile(lambda end: end < k, ends))
    degrees = [s for s in range(n_full + 1) for _ in repeat(None, _multiplicity(d, s))]
    return degrees[:k]


def _spectrum(d: int, k: int) -> Array:
    s = np.array(_degrees(d, k), dtype=np.float64)
    return s * (s + d - 2)


def _functions(X: Array, k: int) -> Array:
    degree = _degrees(X.shape[1], k)[-1]
    return np.hstack(_harmonics(X, degree))[:, :k]


def _harmonics(X: Array, degree: int) -> list[Array]:
    """Return orthonormal homogeneous harmonic polynomials of each degree up to `degree`.

    In two dimensions they are the real and imaginary parts of (x_1 + i x_2)^m. For each further
    coordinate t, those of degree l are multiplied by polynomials in t and the squared radius.
    """
    z = X[:, 0] + 1j * X[:, 1]
    levels: list[Array] = [np.ones((len(X), 1))]
    for m in range(1, degree + 1):
        levels.append(np.sqrt(2.0) * np.column_stack([(z**m).real, (z**m).imag]))
    squared_radii = np.cumsum(X**2, axis=1)
    for d in range(3, X.shape[1] + 1):
        lifted: list[list[Array]] = [[] for _ in levels]
        for l, H in enumerate(levels):  # noqa: E741
            P = _gegenbauer(X[:, d - 1], squared_radii[:, d - 1], d, l, degree - l)
            for j, p in enumerate(P):
                lifted[l + j].append(p[:, None] * H)
        levels = [np.hstack(parts) for parts in lifted]
    return levels


def _gegenbauer(t: Array, r2: Array, d: int, l: int, degree: int) -> list[Array]:  # noqa: E741
    """Return homogeneous Gegenbauer polynomials in (t, r) by their three-term recurrence.

    For r = 1 they are orthonormal under the law of a coordinate t of U(S^{d-1}), weighted by
    (1 - t^2)^l.
    """
    a = l + (d - 2) / 2
    j = np.arange(1, degree + 1)
    b = np.sqrt(j * (j + 2 * a - 1) / (4 * (j + a) * (j + a - 1)))
    mass = np.exp(betaln(0.5, l + (d - 1) / 2) - betaln(0.5, (d - 1) / 2))
    P: list[Array] = [np.full_like(t, 1 / np.sqrt(mass))]
    for i in range(degree):
        previous = b[i - 1] * r2 * P[i - 1] if i else 0.0
        P.append((t * P[i] - previous) / b[i])
    return P


def _frames(X: Array) -> Array:
    """Return orthonormal tangents (n, d, d - 1): the axes but the first, reflected by Householder.

    The reflection maps the first axis to a multiple of x.
    """
    radii = np.linalg.norm(X, axis=1)
    if not radii.all():
        what = "points of the sphere"
        raise parameter_error("X", what, "the origin", "It has no tangent; drop that row.")
    V = X.copy()
    V[:, 0] += np.copysign(radii, X[:, 0])
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    frames: Array = np.eye(X.shape[1])[:, 1:] - 2 * V[:, :, None] * V[:, None, 1:]
    return frames


def _uniform(d: int, n: int, rng: np.random.Generator) -> Array:
    X = rng.standard_normal((n, d))
    unit: Array = X / np.linalg.norm(X, axis=1, keepdims=True)
    return unit
