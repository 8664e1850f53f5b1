"""Settings that must come before the first import of SciPy, and tests that repeat themselves."""

import os

# Without it scikit-learn leaves out one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from hypothesis import settings

from ritz.features import products

# The same examples each time: a change is red for its own reasons only. To look for new ones:
# pytest --hypothesis-profile default.
settings.register_profile("repeated", derandomize=True)
settings.load_profile("repeated")


@pytest.fixture(params=["whole", "half"])
def squares(request, monkeypatch):
    """Compute A'A whole, or its lower triangle, for the few functions that a test has."""
    monkeypatch.setattr(products, "NARROW", 10_000 if request.param == "whole" else 0)
