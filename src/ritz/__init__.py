"""The spectrum of an operator from samples, by the Galerkin method."""

from ritz import datasets
from ritz.assembly import Sums, assemble
from ritz.bases import Basis, Functions, KernelSections, Monomials, Nystrom, RandomFourier, Stack
from ritz.decompose import decompose
from ritz.estimators import (
    DiffusionModes,
    LaplacianClassifier,
    LaplacianRegressor,
    SingularEmbedding,
    SpectralClustering,
    SpectralEmbedding,
)
from ritz.forms import (
    Form,
    cross,
    differential,
    diffusion,
    directional,
    form,
    graph,
    laplacian,
    neighbors,
    pairs,
    potential,
)
from ritz.hermite import HermiteRegressor
from ritz.kernels import (
    CustomKernel,
    DotExponential,
    Exponential,
    Gaussian,
    Kernel,
    Matern,
    Polynomial,
    RationalQuadratic,
)
from ritz.solve import gevd, gsvd
from ritz.spectrum import (
    SingularSpectrum,
    Spectrum,
    decompose_sums,
    diffusion_distance,
    diffusion_map,
    diffusion_neighbors,
    heat_kernel,
    load,
    pullback_metric,
)
from ritz.streams import Batches, Stream, Table

__version__ = "0.1.0"

__all__ = [
    "Basis",
    "Batches",
    "CustomKernel",
    "DiffusionModes",
    "DotExponential",
    "Exponential",
    "Form",
    "Functions",
    "Gaussian",
    "HermiteRegressor",
    "Kernel",
    "KernelSections",
    "LaplacianClassifier",
    "LaplacianRegressor",
    "Matern",
    "Monomials",
    "Nystrom",
    "Polynomial",
    "RandomFourier",
    "RationalQuadratic",
    "SingularEmbedding",
    "SingularSpectrum",
    "SpectralClustering",
    "SpectralEmbedding",
    "Spectrum",
    "Stack",
    "Stream",
    "Sums",
    "Table",
    "assemble",
    "cross",
    "datasets",
    "decompose",
    "decompose_sums",
    "differential",
    "diffusion",
    "diffusion_distance",
    "diffusion_map",
    "diffusion_neighbors",
    "directional",
    "form",
    "gevd",
    "graph",
    "gsvd",
    "heat_kernel",
    "laplacian",
    "load",
    "neighbors",
    "pairs",
    "potential",
    "pullback_metric",
]
