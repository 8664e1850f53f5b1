"""Estimators: faces that scikit-learn's users know."""

from ritz.estimators.clustering import SpectralClustering
from ritz.estimators.embedding import SpectralEmbedding
from ritz.estimators.modes import DiffusionModes
from ritz.estimators.semisupervised import LaplacianClassifier, LaplacianRegressor
from ritz.estimators.singular import SingularEmbedding
from ritz.estimators.summary import Summary

__all__ = [
    "DiffusionModes",
    "LaplacianClassifier",
    "LaplacianRegressor",
    "SingularEmbedding",
    "SpectralClustering",
    "SpectralEmbedding",
    "Summary",
]
