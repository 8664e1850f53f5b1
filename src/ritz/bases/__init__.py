"""Bases: the p functions that an operator is restricted to."""

from ritz.bases.basis import Basis, Recipe
from ritz.bases.combination import Combination
from ritz.bases.conditioning import Centered, conditioned
from ritz.bases.fourier import FourierFeatures, RandomFourier
from ritz.bases.functions import Functions
from ritz.bases.monomials import Monomials, OrthogonalPolynomials
from ritz.bases.nystrom import KernelSections, Nystrom
from ritz.bases.stack import Stack, StackedBasis

__all__ = [
    "Basis",
    "Centered",
    "Combination",
    "FourierFeatures",
    "Functions",
    "KernelSections",
    "Monomials",
    "Nystrom",
    "OrthogonalPolynomials",
    "RandomFourier",
    "Recipe",
    "Stack",
    "StackedBasis",
    "conditioned",
]
