"""Regression: least squares over functions, with a penalty chosen by leaving points out."""

from ritz.regression.ridge import RidgePath, ridge_path

__all__ = ["RidgePath", "ridge_path"]
