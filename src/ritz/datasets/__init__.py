"""Samples whose truth is known: exact spectra, clouds with a shape, energies with forces.

A `Problem` draws samples and says which eigenvalues and eigenfunctions they must lead to; its
`tangent` says which part of the gradient its energy counts. A `SingularProblem` does the same
for asymmetric forms. A `Cloud` is points with labels and intrinsic coordinates.
`Configurations` are clusters of atoms with their energies and gradients.
"""

from ritz.datasets.atoms import Configurations, align, lennard_jones, lennard_jones_minimum
from ritz.datasets.bessel import disk
from ritz.datasets.clouds import Cloud, concentric_circles, half_moons, swiss_roll
from ritz.datasets.fourier import circle, cube, torus
from ritz.datasets.hermite import derivative, gaussian, gaussian_pair
from ritz.datasets.motion import simulate_cluster, verlet
from ritz.datasets.problem import Problem, SingularProblem
from ritz.datasets.spherical import sphere

__all__ = [
    "Cloud",
    "Configurations",
    "Problem",
    "SingularProblem",
    "align",
    "circle",
    "concentric_circles",
    "cube",
    "derivative",
    "disk",
    "gaussian",
    "gaussian_pair",
    "half_moons",
    "lennard_jones",
    "lennard_jones_minimum",
    "simulate_cluster",
    "sphere",
    "swiss_roll",
    "torus",
    "verlet",
]
