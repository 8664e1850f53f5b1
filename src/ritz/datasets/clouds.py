"""Point clouds with a visible shape, for pictures and clustering.

scikit-learn's `make_moons` and `make_circles` space points evenly instead of drawing them, and its
`make_swiss_roll` returns only one of the two intrinsic coordinates.
"""

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

from ritz.datasets.problem import Seed
from ritz.rows import as_generator
from ritz.validation import Array, as_count, as_number

__all__ = ["Cloud", "concentric_circles", "half_moons", "swiss_roll"]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points with labels of their connected component and intrinsic coordinates.

    Parameters
    ----------
    X : array of shape (n, d)
        The points.
    labels : array of n integers, or None
        The component of each point; None for a connected shape.
    parameters : array of shape (n, r)
        The intrinsic coordinates of each point before noise is added.

    """

    X: Array
    labels: NDArray[np.int64] | None
    parameters: Array


def half_moons(n: int, noise: float = 0.1, random_state: Seed = None) -> Cloud:
    r"""Draw points on the unit circle with its right half shifted up by one.

    .. math:: x = (\cos t, \sin t + 1_{\cos t > 0}) + \varepsilon, \quad t \sim U[0, 2\pi).

    Parameters
    ----------
    n : int
        Number of points.
    noise : float
        Standard deviation of each coordinate of the Gaussian noise.
    random_state : int, numpy Generator or None
        Seed or generator.

    Returns
    -------
    Cloud
        With labels 0 (left) and 1 (right), and parameters t (n, 1).

    """
    n = as_count(n, "n")
    rng = as_generator(random_state)
    t = rng.uniform(0.0, 2 * pi, n)
    labels = (np.cos(t) > 0).astype(np.int64)
    X = np.column_stack([np.cos(t), np.sin(t) + labels])
    return Cloud(_add_noise(X, noise, rng), labels, t[:, None])


def concentric_circles(
    n: int, n_circles: int = 4, noise: float = 0.1, random_state: Seed = None
) -> Cloud:
    r"""Draw points on circles of radius 1, 2, ... around the origin, all equally likely.

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
        Seed or generator.

    Returns
    -------
    Cloud
        With labels c = 0, ..., n_circles - 1 from the inside out, and parameters t (n, 1).

    """
    n = as_count(n, "n")
    n_circles = as_count(n_circles, "n_circles")
    rng = as_generator(random_state)
    t = rng.uniform(0.0, 2 * pi, n)
    labels = rng.integers(n_circles, size=n)
    X = (1 + labels[:, None]) * np.column_stack([np.cos(t), np.sin(t)])
    return Cloud(_add_noise(X, noise, rng), labels, t[:, None])


def swiss_roll(n: int, noise: float = 0.0, random_state: Seed = None) -> Cloud:
    r"""Draw points on a rolled-up strip in three dimensions.

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
        Seed or generator.

    Returns
    -------
    Cloud
        Without labels, and with parameters (t, h) (n, 2).

    """
    n = as_count(n, "n")
    rng = as_generator(random_state)
    t, h = rng.uniform(1.5 * pi, 4.5 * pi, n), rng.uniform(0.0, 21.0, n)
    X = np.column_stack([t * np.cos(t), h, t * np.sin(t)])
    return Cloud(_add_noise(X, noise, rng), None, np.column_stack([t, h]))


def _add_noise(X: Array, noise: float, rng: np.random.Generator) -> Array:
    scale = as_number(noise, "noise", "a nonnegative number", lowest=0.0)
    return X + scale * rng.standard_normal(X.shape)
