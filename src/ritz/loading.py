"""Reading what was saved."""

from __future__ import annotations

from os import PathLike
from typing import Any

from ritz.assembly import Sums
from ritz.assembly.checkpoint import Progress
from ritz.assembly.saved import SAVED
from ritz.bases import Monomials, Nystrom, RandomFourier
from ritz.bases.stack import SavedStack
from ritz.estimators import (
    DiffusionModes,
    LaplacianClassifier,
    LaplacianRegressor,
    SingularEmbedding,
    SpectralClustering,
    SpectralEmbedding,
)
from ritz.estimators.ridge import RidgePath
from ritz.estimators.saving import SavedEstimator
from ritz.files import read
from ritz.hermite import HermiteRegressor
from ritz.hermite.audit import GradientAudit
from ritz.hermite.calibration import Numbers, Posterior
from ritz.hermite.choosing import PenaltyPath
from ritz.hermite.functionals import Functionals
from ritz.hermite.moments import Moments
from ritz.hermite.sections import FunctionalSections, OrthonormalSections
from ritz.hermite.solution import RowSums, Solution
from ritz.hermite.units import Units
from ritz.selection.rows import WeightedRows
from ritz.selection.search import Candidate, Setting
from ritz.selection.selection import SavedSelection
from ritz.sparse import SavedRows
from ritz.spectrum import SingularSpectrum, Spectrum
from ritz.spectrum.folds import FoldMatrices
from ritz.spectrum.held_out import HeldOut

ESTIMATORS: tuple[type, ...] = (
    SpectralEmbedding,
    DiffusionModes,
    SpectralClustering,
    SingularEmbedding,
    LaplacianClassifier,
    LaplacianRegressor,
    HermiteRegressor,
)
# The classes that files may hold, each with a tag that never changes.
CLASSES: tuple[type, ...] = (
    *SAVED,
    Spectrum,
    SingularSpectrum,
    FoldMatrices,
    SavedEstimator,
    Nystrom,
    Monomials,
    RandomFourier,
    SavedStack,
    SavedSelection,
    Candidate,
    Setting,
    HeldOut,
    WeightedRows,
    SavedRows,
    RidgePath,
    Functionals,
    FunctionalSections,
    OrthonormalSections,
    Numbers,
    Posterior,
    Moments,
    Units,
    GradientAudit,
    PenaltyPath,
    Solution,
    RowSums,
)


def load(path: str | PathLike[str]) -> Any:
    """Read a spectrum, sums or an estimator written by its `save`. Reading never runs code.

    Parameters
    ----------
    path
        The file. A file that is damaged or holds nothing of the kind raises a ValueError.
    """
    result = read(path, {vars(cls)["file_tag"]: cls for cls in (*CLASSES, Progress)})
    if isinstance(result, Progress):
        remedy = "pass it as checkpoint= to the call that wrote it"
        raise ValueError(f"{path} is a checkpoint: {remedy}.")
    if isinstance(result, SavedEstimator):
        try:
            return result.restored({cls.__name__: cls for cls in ESTIMATORS})
        except (AttributeError, TypeError, ValueError) as error:
            what = "is not a file saved by ritz, or it is damaged"
            raise ValueError(f"{path} {what}: {error}.") from error
    if not isinstance(result, Spectrum | SingularSpectrum | Sums):
        what = "neither a spectrum nor sums nor an estimator"
        raise ValueError(f"{path} holds a {type(result).__name__}, {what}.")
    return result
