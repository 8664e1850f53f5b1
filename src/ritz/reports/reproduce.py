"""How to get the same numbers again: a few lines of code, and what identifies the data."""

from __future__ import annotations

import platform
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ritz.bases import KernelSections
from ritz.displays.source import Source
from ritz.estimators.choices import innermost
from ritz.validation import Array

# What a fit takes besides X.
MORE = {"SingularEmbedding": ", Y", "SingularNetwork": ", Y"}
MORE |= dict.fromkeys(["HermiteRegressor", "LaplacianRegressor", "LaplacianClassifier"], ", y")


def code_for(model: Any, source: Source | None, path: str) -> str:
    """Return five lines that fit and report again."""
    lines = ["import ritz", ""]
    if isinstance(model, BaseEstimator):
        name = type(model).__name__
        module = "ritz.neural" if "neural" in type(model).__module__ else "ritz"
        text = " ".join(model.__repr__(N_CHAR_MAX=10**9).split())
        lines[1] = "X = ...  # the rows of the fit; Y or y with them where it takes them"
        lines += [
            f"model = {module}.{text}",
            f"model.fit(X{MORE.get(name, '')})  # and the weights, groups or gradients of the fit",
            f"ritz.report(model, X, {path!r})",
        ]
        if module != "ritz":
            lines[0] = "import ritz, ritz.neural"
        return "\n".join(lines)
    assert source is not None
    basis = innermost(source.functions)
    made = repr(basis)
    if isinstance(basis, KernelSections):
        made = f"ritz.Nystrom(ritz.{basis.kernel!r}, n_centers={basis.size})"
    lines[1] = "X = ...  # the rows of the fit"
    k, operator = len(source.levels.values), source.levels.operator
    lines += [
        f"basis = {made}",
        f"spectrum = ritz.decompose(ritz.{operator}, basis, X, k={k}, random_state=0)",
        f"ritz.report(spectrum, X, {path!r})",
    ]
    return "\n".join(lines)


def fingerprint(X: Array | None) -> str:
    """Return a sentence that names the data and the versions."""
    packages = []
    for name in ("numpy", "scipy", "scikit-learn"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    versions = f"Python {platform.python_version()}, {', '.join(packages)}"
    if X is None:
        return f"The report was made without the rows, with {versions}."
    digest = sha256(np.ascontiguousarray(X, dtype="<f8").tobytes()).hexdigest()
    n, d = X.shape
    return (
        f"The rows of this report: {n:,} by {d}, whose float64 bytes have the SHA-256 "
        f"{digest[:16]}. Made with {versions}. Without a random_state, other rows may be drawn "
        "for centers."
    )
