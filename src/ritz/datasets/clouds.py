"""Point clouds with a visible shape, to look at and to cluster."""

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

from ritz.datasets.checks import Array, Seed, count, real

__all__ = ["Cloud", "concentric_circles", "half_moons", "swiss_roll"]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points, the piece that each belongs to, and where on the piece it lies.

    Parameters
    ----------
    X : array of shape (n, d)
        The points.
    labels : array of n integers, or None
        The piece of each point; None for a shape in one piece.
    parameters : array of shape (n, r)
        The intrinsic coordinates of each point before the noise.

    """

    X: Array
    labels: NDArray[np.int64] | None
    parameters: Array


def half_moons(n: int, noise: float = 0.1, random_state: Seed = None) -> Cloud:
    r"""Draw the unit circle with its right half moved up by one.

    .. math:: x = (\cos t, \sin t + 1_{\cos t > 0}) + \varepsilon, \quad t \sim U[0, 2\pi).

    Parameters
    ----------
    n : int
        Number of points.
    noise : float
        Standard deviation of each coordinate of the Gaussian noise.
    random_state : int, numpy Generator or None
        Source of randomness.

    Returns
    -------
    Cloud
        Labels 0 (left) and 1 (right); parameters t, (n, 1).

    """
    n = count(n, "n", "half_moons")
    rng = np.random.default_rng(random_state)
    t = rng.uniform(0.0, 2 * pi, n)
    labels = (np.cos(t) > 0).astype(np.int64)
    X = np.column_stack([np.cos(t), np.sin(t) + labels])
    return Cloud(_blur(X, noise, "half_moons", rng), labels, t[:, None])


def concentric_circles(
    n: int, n_circles: int = 4, noise: float = 0.1, random_state: Seed = None
) -> Cloud:
    r"""Draw circles of radius 1, 2, ... around the origin, each as likely as the others.

    .. math:: x = (1 + c) (\cos t, \sin t) + \varepsilon, \quad t \sim U[0, 2\pi).

    Parameters
    ----------
    n : int
        Number of points.
    n_circles : int
        Number of circles.
    noise : float
        Standard deviation of each coordinate of the Gaussian noise.
    random_state : int, numpy Generator or None
        Source of randomness.

    Returns
    -------
    Cloud
        Labels c = 0, ..., n_circles - 1 from the inside out; parameters t, (n, 1).

    """
    n = count(n, "n", "concentric_circles")
    n_circles = count(n_circles, "n_circles", "concentric_circles")
    rng = np.random.default_rng(random_state)
    t = rng.uniform(0.0, 2 * pi, n)
    labels = rng.integers(n_circles, size=n)
    X = (1 + labels[:, None]) * np.column_stack([np.cos(t), np.sin(t)])
    return Cloud(_blur(X, noise, "concentric_circles", rng), labels, t[:, None])


def swiss_roll(n: int, noise: float = 0.0, random_state: Seed = None) -> Cloud:
    r"""Draw a rolled-up strip in space.

    .. math:: x = (t \cos t, h, t \sin t) + \varepsilon, \quad
        t \sim U[3\pi/2, 9\pi/2), \ h \sim U[0, 21).

    The length along the roll is (t sqrt(1 + t^2) + arcsinh t) / 2.

    Parameters
    ----------
    n : int
        Number of points.
    noise : float
        Standard deviation of each coordinate of the Gaussian noise.
    random_state : int, numpy Generator or None
        Source of randomness.

    Returns
    -------
    Cloud
        No labels; parameters (t, h), (n, 2).

    """
    n = count(n, "n", "swiss_roll")
    rng = np.random.default_rng(random_state)
    t, h = rng.uniform(1.5 * pi, 4.5 * pi, n), rng.uniform(0.0, 21.0, n)
    X = np.column_stack([t * np.cos(t), h, t * np.sin(t)])
    return Cloud(_blur(X, noise, "swiss_roll", rng), None, np.column_stack([t, h]))


def _blur(X: Array, noise: float, owner: str, rng: np.random.Generator) -> Array:
    scale = real(noise, "noise", owner, 0.0, np.inf, closed=True)
    return X + scale * rng.standard_normal(X.shape)
