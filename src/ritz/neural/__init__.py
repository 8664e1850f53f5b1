"""Spectra by networks: torch modules as bases, losses whose minimum is a spectrum, estimators."""

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise ImportError("ritz.neural needs torch: pip install 'ritz[torch]'.") from None

from ritz.neural.augmented import Augmented
from ritz.neural.losses import contrastive, energy, two_towers, variance_covariance, whitening
from ritz.neural.modules import Standardized, mlp
from ritz.neural.mu import auto_mu
from ritz.neural.network import Network
from ritz.neural.objectives import SingularLoss, SpectralLoss
from ritz.neural.singular_network import SingularNetwork
from ritz.neural.spectral_network import SpectralNetwork

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
