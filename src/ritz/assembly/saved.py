"""The classes that files of sums may hold: kernels, bases and operators."""

from __future__ import annotations

from ritz.assembly.sums import PackedSums
from ritz.bases import (
    Centered,
    Combination,
    FourierFeatures,
    KernelSections,
    OrthogonalPolynomials,
    StackedBasis,
)
from ritz.forms.differential import Differential, Potential
from ritz.forms.diffusion import ConstantDiffusion, Diffusion
from ritz.forms.directional import Directional
from ritz.forms.form import FormScaled, FormSum
from ritz.forms.graph import Graph
from ritz.forms.laplacian import Laplacian
from ritz.forms.neighbors import Neighbors
from ritz.forms.pairs import Cross, Pairs
from ritz.kernels import (
    DotExponential,
    Exponential,
    Gaussian,
    Matern,
    Polynomial,
    RationalQuadratic,
)
from ritz.kernels.kernel import KernelProduct, KernelScaled, KernelSum

SAVED: tuple[type, ...] = (
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
    Laplacian,
    ConstantDiffusion,
    Diffusion,
    Directional,
    Potential,
    Differential,
    Neighbors,
    Graph,
    Pairs,
    Cross,
    FormScaled,
    FormSum,
    PackedSums,
)
