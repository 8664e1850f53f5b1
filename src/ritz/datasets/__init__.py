"""Samples whose truth is known: exactly solvable spectra, and point clouds with a shape.

A `Problem` draws samples and says which eigenvalues and eigenfunctions they must lead to; its
`tangent` says which part of the gradient its energy counts. A `SingularProblem` does the same
for asymmetric forms. A `Cloud` is points with labels and intrinsic coordinates.
"""

from ritz.datasets.bessel import disk
from ritz.datasets.clouds import Cloud, concentric_circles, half_moons, swiss_roll
from ritz.datasets.fourier import circle, cube, torus
from ritz.datasets.hermite import derivative, gaussian, gaussian_pair
from ritz.datasets.problem import Problem, SingularProblem
from ritz.datasets.spherical import sphere

__all__ = [
    "Cloud",
    "Problem",
    "SingularProblem",
    "circle",
    "concentric_circles",
    "cube",
    "derivative",
    "disk",
    "gaussian",
    "gaussian_pair",
    "half_moons",
    "sphere",
    "swiss_roll",
    "torus",
]
