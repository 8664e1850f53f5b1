"""Estimators: faces that scikit-learn's users know."""

from ritz.estimators.clustering import SpectralClustering
from ritz.estimators.embedding import SpectralEmbedding
from ritz.estimators.modes import DiffusionModes

__all__ = ["DiffusionModes", "SpectralClustering", "SpectralEmbedding"]
