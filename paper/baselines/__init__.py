"""Estimators for comparison. Each returns inverse eigenvalues, largest first.

The constant's eigenvalue is left out, and the inverse of an eigenvalue that was not found is 0.
"""

from paper.baselines.galerkin import galerkin_inverses, pencil_inverses
from paper.baselines.graph import Weights, graph_inverses, rescaled
from paper.baselines.neighbors import neighbor_inverses
from paper.baselines.representer import Representer

__all__ = [
    "Representer",
    "Weights",
    "galerkin_inverses",
    "graph_inverses",
    "neighbor_inverses",
    "pencil_inverses",
    "rescaled",
]
