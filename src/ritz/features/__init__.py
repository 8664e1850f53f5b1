"""Features: what the functions of a basis look like on one block of rows."""

from ritz.features.gradients import DenseGradients, FactoredGradients, Gradients
from ritz.features.jet import CachedJet, Jet
from ritz.features.terms import Products, Term, Terms
from ritz.features.values import Values

__all__ = [
    "CachedJet",
    "DenseGradients",
    "FactoredGradients",
    "Gradients",
    "Jet",
    "Products",
    "Term",
    "Terms",
    "Values",
]
