"""The public names and where they live; `ritz` imports each when it is first used."""

from . import datasets as datasets
from .assembly import Sums as Sums
from .assembly.assemble import assemble as assemble
from .bases import (
    Basis as Basis,
    Functions as Functions,
    KernelSections as KernelSections,
    Monomials as Monomials,
    Nystrom as Nystrom,
    RandomFourier as RandomFourier,
    Stack as Stack,
)
from .decomposition import decompose as decompose
from .displays import (
    CalibrationDisplay as CalibrationDisplay,
    ClusterDisplay as ClusterDisplay,
    EigenfunctionDisplay as EigenfunctionDisplay,
    EmbeddingDisplay as EmbeddingDisplay,
    SelectionDisplay as SelectionDisplay,
    SpectrumDisplay as SpectrumDisplay,
)
from .estimators import (
    DiffusionModes as DiffusionModes,
    LaplacianClassifier as LaplacianClassifier,
    LaplacianRegressor as LaplacianRegressor,
    SingularEmbedding as SingularEmbedding,
    SpectralClustering as SpectralClustering,
    SpectralEmbedding as SpectralEmbedding,
    Summary as Summary,
)
from .forms import (
    Form as Form,
    cross as cross,
    potential as potential,
)
from .forms.custom import form as form
from .forms.differential import differential as differential
from .forms.diffusion import diffusion as diffusion
from .forms.directional import directional as directional
from .forms.graph import graph as graph
from .forms.laplacian import laplacian as laplacian
from .forms.neighbors import neighbors as neighbors
from .forms.pairs import pairs as pairs
from .hermite import HermiteRegressor as HermiteRegressor
from .kernels import (
    CustomKernel as CustomKernel,
    DotExponential as DotExponential,
    Exponential as Exponential,
    Gaussian as Gaussian,
    Kernel as Kernel,
    Matern as Matern,
    Polynomial as Polynomial,
    RationalQuadratic as RationalQuadratic,
)
from .loading import load as load
from .planning import (
    Plan as Plan,
    plan as plan,
)
from .reports import report as report
from .selection.select import select as select
from .selection.selection import Selection as Selection
from .solve import (
    gevd as gevd,
    gsvd as gsvd,
)
from .spectrum import (
    Comparison as Comparison,
    SingularSpectrum as SingularSpectrum,
    Spectrum as Spectrum,
    diffusion_distance as diffusion_distance,
    diffusion_map as diffusion_map,
    diffusion_neighbors as diffusion_neighbors,
    heat_kernel as heat_kernel,
    pullback_metric as pullback_metric,
)
from .spectrum.compare import compare as compare
from .spectrum.decompose_sums import decompose_sums as decompose_sums
from .streams import (
    Batches as Batches,
    Stream as Stream,
    Table as Table,
)
from .streams.open import open as open
from .timescales import (
    ImpliedTimescales as ImpliedTimescales,
    implied_timescales as implied_timescales,
)
from .trajectories import (
    Displacements as Displacements,
    displacements as displacements,
    lagged as lagged,
)

__version__: str
