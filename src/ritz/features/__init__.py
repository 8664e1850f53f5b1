"""Features: what the functions of a basis look like on one block of rows."""

from ritz.features.gradients import DenseGradients, FactoredGradients, Gradients
from ritz.features.jet import CachedJet, CenteredJet, Jet
from ritz.features.ledger import Ledger, Page, Product
from ritz.features.terms import Term, Terms
from ritz.features.values import Values

__all__ = [
    "CachedJet",
    "CenteredJet",
    "DenseGradients",
    "FactoredGradients",
    "Gradients",
    "Jet",
    "Ledger",
    "Page",
    "Product",
    "Term",
    "Terms",
    "Values",
]
