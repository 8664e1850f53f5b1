"""Hermite regression: least squares on values and gradients."""

from ritz.hermite.regressor import HermiteRegressor

__all__ = ["HermiteRegressor"]
