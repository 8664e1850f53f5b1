"""Kernels: profiles of an invariant of two points, with all their derivatives."""

from ritz.kernels.custom import CustomKernel
from ritz.kernels.distance import Exponential, Gaussian, Matern, RationalQuadratic
from ritz.kernels.dot import DotExponential, Polynomial
from ritz.kernels.kernel import Kernel

__all__ = [
    "CustomKernel",
    "DotExponential",
    "Exponential",
    "Gaussian",
    "Kernel",
    "Matern",
    "Polynomial",
    "RationalQuadratic",
]
