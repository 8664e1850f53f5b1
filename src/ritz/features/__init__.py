"""Features: the functions of a basis on one block of rows, and products of their probes."""

from ritz.features.gradients import DenseGradients, FactoredGradients, Gradients
from ritz.features.jet import CachedJet, CenteredJet, Jet
from ritz.features.terms import Term, Terms
from ritz.features.values import Values

__all__ = [
    "CachedJet",
    "CenteredJet",
    "DenseGradients",
    "FactoredGradients",
    "Gradients",
    "Jet",
    "Term",
    "Terms",
    "Values",
]
