"""Pictures in scikit-learn's manner: `from_estimator`, `plot`, `ax_`, `figure_` (extra `plot`)."""

from ritz.displays.calibration import CalibrationDisplay
from ritz.displays.clusters import ClusterDisplay
from ritz.displays.eigenfunctions import EigenfunctionDisplay
from ritz.displays.embedding import EmbeddingDisplay
from ritz.displays.selection import SelectionDisplay
from ritz.displays.spectrum import SpectrumDisplay

__all__ = [
    "CalibrationDisplay",
    "ClusterDisplay",
    "EigenfunctionDisplay",
    "EmbeddingDisplay",
    "SelectionDisplay",
    "SpectrumDisplay",
]
