"""Spectra by networks: torch modules as bases, losses whose minimum is a spectrum, estimators."""

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise ImportError("ritz.neural needs torch: pip install 'ritz[torch]'.") from None

from ritz.neural.augmented import Augmented
from ritz.neural.losses import contrastive, energy, two_towers, variance_covariance, whitening
from ritz.neural.module import Network, mlp
from ritz.neural.mu import auto_mu
from ritz.neural.network import SpectralNetwork
from ritz.neural.objectives import SingularLoss, SpectralLoss
from ritz.neural.scale import Standardized
from ritz.neural.towers import SingularNetwork

__all__ = [
    "Augmented",
    "Network",
    "SingularLoss",
    "SingularNetwork",
    "SpectralLoss",
    "SpectralNetwork",
    "Standardized",
    "auto_mu",
    "contrastive",
    "energy",
    "mlp",
    "two_towers",
    "variance_covariance",
    "whitening",
]
