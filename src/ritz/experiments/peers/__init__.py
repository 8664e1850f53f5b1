"""Estimators that the method is compared with: each returns inverse eigenvalues, largest first.

The inverse of an eigenvalue that was not found is 0, and that of the constant is left out.
"""

from ritz.experiments.peers.graph import Weights, graph_inverses, rescaled
from ritz.experiments.peers.neighbors import neighbor_inverses
from ritz.experiments.peers.paper import galerkin_inverses, pencil_inverses
from ritz.experiments.peers.representer import Representer

__all__ = [
    "Representer",
    "Weights",
    "galerkin_inverses",
    "graph_inverses",
    "neighbor_inverses",
    "pencil_inverses",
    "rescaled",
]
