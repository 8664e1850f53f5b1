"""Samples with a known answer: problems with exact spectra, and point clouds with a shape.

A `Problem` draws samples and returns the exact eigenvalues and eigenfunctions of its energy; its
`tangent` gives the directions along which the energy measures gradients. A `SingularProblem` does
the same for asymmetric forms. A `Cloud` has points, labels and intrinsic coordinates.
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
