"""Reading saved spectra."""

from __future__ import annotations

from os import PathLike

from ritz.bases import (
    Centered,
    Combination,
    FourierFeatures,
    KernelSections,
    OrthogonalPolynomials,
    StackedBasis,
)
from ritz.kernels import (
    DotExponential,
    Exponential,
    Gaussian,
    Matern,
    Polynomial,
    RationalQuadratic,
)
from ritz.kernels.kernel import KernelProduct, KernelScaled, KernelSum
from ritz.spectrum.files import read
from ritz.spectrum.spectrum import SingularSpectrum, Spectrum

SAVED = (
    Gaussian,
    Exponential,
    Matern,
    RationalQuadratic,
    Polynomial,
    DotExponential,
    KernelSum,
    KernelProduct,
    KernelScaled,
    KernelSections,
    FourierFeatures,
    OrthogonalPolynomials,
    StackedBasis,
    Centered,
    Combination,
    Spectrum,
    SingularSpectrum,
)


def load(path: str | PathLike[str]) -> Spectrum | SingularSpectrum:
    """Read a spectrum written by its `save`. Reading a file never runs code.

    Parameters
    ----------
    path
        The file. A file that is damaged or holds no spectrum raises a ValueError.
    """
    result = read(path, {cls.file_tag: cls for cls in SAVED})
    if not isinstance(result, Spectrum | SingularSpectrum):
        raise ValueError(f"{path} holds a {type(result).__name__}, not a spectrum.")
    return result
