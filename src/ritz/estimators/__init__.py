"""Estimators: faces that scikit-learn's users know."""

from ritz.estimators.clustering import SpectralClustering
from ritz.estimators.embedding import SpectralEmbedding

__all__ = ["SpectralClustering", "SpectralEmbedding"]
