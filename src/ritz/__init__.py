"""The spectrum of an operator from samples, by the Galerkin method."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    Summary,
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
from ritz.load import load
from ritz.planning import Plan, plan
from ritz.selection.select import select
from ritz.selection.selection import Selection
from ritz.solve import gevd, gsvd
from ritz.spectrum import (
    Comparison,
    SingularSpectrum,
    Spectrum,
    compare,
    decompose_sums,
    diffusion_distance,
    diffusion_map,
    diffusion_neighbors,
    heat_kernel,
    pullback_metric,
)
from ritz.streams import Batches, Stream, Table, open
from ritz.timescales import ImpliedTimescales, implied_timescales
from ritz.trajectories import Displacements, displacements, lagged
from ritz.version import __version__ as __version__

if TYPE_CHECKING:
    from ritz.displays import (
        CalibrationDisplay,
        ClusterDisplay,
        EigenfunctionDisplay,
        EmbeddingDisplay,
        SelectionDisplay,
        SpectrumDisplay,
    )
    from ritz.reports import report


__all__ = [
    "Basis",
    "Batches",
    "CalibrationDisplay",
    "ClusterDisplay",
    "Comparison",
    "CustomKernel",
    "DiffusionModes",
    "Displacements",
    "DotExponential",
    "EigenfunctionDisplay",
    "EmbeddingDisplay",
    "Exponential",
    "Form",
    "Functions",
    "Gaussian",
    "HermiteRegressor",
    "ImpliedTimescales",
    "Kernel",
    "KernelSections",
    "LaplacianClassifier",
    "LaplacianRegressor",
    "Matern",
    "Monomials",
    "Nystrom",
    "Plan",
    "Polynomial",
    "RandomFourier",
    "RationalQuadratic",
    "Selection",
    "SelectionDisplay",
    "SingularEmbedding",
    "SingularSpectrum",
    "SpectralClustering",
    "SpectralEmbedding",
    "Spectrum",
    "SpectrumDisplay",
    "Stack",
    "Stream",
    "Summary",
    "Sums",
    "Table",
    "assemble",
    "compare",
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
    "displacements",
    "form",
    "gevd",
    "graph",
    "gsvd",
    "heat_kernel",
    "implied_timescales",
    "lagged",
    "laplacian",
    "load",
    "neighbors",
    "open",
    "pairs",
    "plan",
    "potential",
    "pullback_metric",
    "report",
    "select",
]

# Names that are imported when they are first used, and where they live.
_LAZY = {
    "CalibrationDisplay": "ritz.displays",
    "ClusterDisplay": "ritz.displays",
    "EigenfunctionDisplay": "ritz.displays",
    "EmbeddingDisplay": "ritz.displays",
    "SelectionDisplay": "ritz.displays",
    "SpectrumDisplay": "ritz.displays",
    "report": "ritz.reports",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ritz' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
