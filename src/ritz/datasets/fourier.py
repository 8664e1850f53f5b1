"""Uniform samples on cubes, circles and flat tori, whose eigenfunctions are cosines and sines."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import pi

import numpy as np

from ritz.datasets.problem import Problem
from ritz.datasets.separable import Separable
from ritz.validation import Array, as_count, as_number, parameter_error

__all__ = ["circle", "cube", "torus"]


def cube(dimension: int = 1) -> Problem:
    r"""Uniform samples on the unit cube with the ambient energy (the Neumann Laplacian).

    .. math:: \rho = U([0, 1]^d), \qquad \lambda_a = \pi^2 (a_1^2 + \dots + a_d^2), \qquad
        f_a(x) = \prod_i \sqrt{2 - \delta_{a_i 0}} \cos(\pi a_i x_i).

    Parameters
    ----------
    dimension : int
        The dimension d.

    Returns
    -------
    Problem

    """
    d = as_count(dimension, "dimension")
    neumann = Separable(_square, _cosines, _identity, (1.0,) * d, pi**2)
    return Problem(
        name=f"cube(dimension={d})",
        dimension=d,
        sampler=partial(_uniform, d),
        spectrum=neumann.eigenvalues,
        functions=neumann.eigenfunctions,
    )


def torus(lengths: Sequence[float] = (1.0, 1.0)) -> Problem:
    r"""Uniform samples on a flat torus, a product of circles, with the tangential energy.

    .. math:: x = \Big(\frac{l_i}{2\pi} \cos t_i, \frac{l_i}{2\pi} \sin t_i\Big)_i \in R^{2d},
        \qquad \lambda_m = \sum_i (2\pi m_i / l_i)^2, \quad m \in Z^d.

    The eigenfunctions are products of 1, sqrt(2) cos(m t) and sqrt(2) sin(m t).

    Parameters
    ----------
    lengths : sequence of float
        The lengths l_i of the d circles.

    Returns
    -------
    Problem

    """
    circumferences = _as_lengths(lengths)
    first = circumferences[0]
    weights = tuple((first / length) ** 2 for length in circumferences)
    periodic = Separable(_half_square, _fourier, _angles, weights, (2 * pi / first) ** 2)
    return Problem(
        name=f"torus(lengths={circumferences})",
        dimension=2 * len(circumferences),
        sampler=partial(_on_circles, circumferences),
        spectrum=periodic.eigenvalues,
        functions=periodic.eigenfunctions,
        tangent=_along_circles,
    )


def circle() -> Problem:
    r"""Uniform samples on the unit circle in the plane with the tangential energy.

    .. math:: \lambda = m^2, \qquad f = \sqrt 2 \cos(m t), \ \sqrt 2 \sin(m t), \quad m \ge 1,

    in addition to the constant with eigenvalue 0.

    Returns
    -------
    Problem

    """
    return replace(torus((2 * pi,)), name="circle()")


def _as_lengths(lengths: Sequence[float]) -> tuple[float, ...]:
    if not isinstance(lengths, list | tuple | np.ndarray) or len(lengths) == 0:
        requirement = "a nonempty sequence of positive numbers"
        remedy = "Pass one length per circle, as in (1.0, 2.0)."
        raise parameter_error("lengths", requirement, repr(lengths), remedy)
    smallest = float(np.finfo(np.float64).tiny)
    numbers = tuple(as_number(each, "lengths", "positive numbers", smallest) for each in lengths)
    if not (min(numbers) > 1e-75 and max(numbers) < 1e75):
        raise parameter_error("lengths", "between 1e-75 and 1e75", lengths)
    return numbers


def _cosines(u: Array, m: int) -> Array:
    """Return 1, sqrt(2) cos(pi u), ..., sqrt(2) cos((m - 1) pi u), (n, m)."""
    table: Array = np.sqrt(2.0) * np.cos(pi * np.outer(u, np.arange(m)))
    table[:, 0] = 1.0
    return table


def _fourier(t: Array, m: int) -> Array:
    """Return the first m of 1, sqrt(2) cos(t), sqrt(2) sin(t), sqrt(2) cos(2 t), ..., (n, m)."""
    phases = np.outer(t, (np.arange(m) + 1) // 2)
    waves = np.where(np.arange(m) % 2 == 1, np.cos(phases), np.sin(phases))
    table: Array = np.sqrt(2.0) * waves
    table[:, 0] = 1.0
    return table


def _angles(X: Array) -> Array:
    return np.arctan2(X[:, 1::2], X[:, ::2])


def _along_circles(X: Array) -> Array:
    """Return unit vectors (n, 2 d, d) along each circle."""
    t = _angles(X)
    axes = np.arange(t.shape[1])
    frames = np.zeros((*X.shape, len(axes)))
    frames[:, 2 * axes, axes] = -np.sin(t)
    frames[:, 2 * axes + 1, axes] = np.cos(t)
    return frames


def _on_circles(lengths: tuple[float, ...], n: int, rng: np.random.Generator) -> Array:
    t = rng.uniform(0.0, 2 * pi, (n, len(lengths)))
    radii = np.array(lengths) / (2 * pi)
    X: Array = np.stack([radii * np.cos(t), radii * np.sin(t)], axis=2)
    return X.reshape(n, -1)


def _uniform(d: int, n: int, rng: np.random.Generator) -> Array:
    return rng.random((n, d))


def _identity(X: Array) -> Array:
    return X


def _square(a: int) -> int:
    return a * a


def _half_square(a: int) -> int:
    return ((a + 1) // 2) ** 2
