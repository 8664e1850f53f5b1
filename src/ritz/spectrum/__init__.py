"""Spectrum: the result, values with error bars and functions to call."""

from ritz.spectrum.decompose_sums import decompose_sums
from ritz.spectrum.geometry import (
    diffusion_distance,
    diffusion_map,
    diffusion_neighbors,
    heat_kernel,
    pullback_metric,
)
from ritz.spectrum.load import load
from ritz.spectrum.spectrum import SingularSpectrum, Spectrum

__all__ = [
    "SingularSpectrum",
    "Spectrum",
    "decompose_sums",
    "diffusion_distance",
    "diffusion_map",
    "diffusion_neighbors",
    "heat_kernel",
    "load",
    "pullback_metric",
]
