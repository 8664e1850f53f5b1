"""Spectrum: the result, values with error bars and functions to call."""

from ritz.spectrum.compare import compare
from ritz.spectrum.comparison import Comparison
from ritz.spectrum.decompose_sums import decompose_sums
from ritz.spectrum.geometry import (
    diffusion_distance,
    diffusion_map,
    diffusion_neighbors,
    heat_kernel,
    pullback_metric,
)
from ritz.spectrum.spectrum import SingularSpectrum, Spectrum

__all__ = [
    "Comparison",
    "SingularSpectrum",
    "Spectrum",
    "compare",
    "decompose_sums",
    "diffusion_distance",
    "diffusion_map",
    "diffusion_neighbors",
    "heat_kernel",
    "pullback_metric",
]
