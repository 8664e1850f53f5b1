"""How to get the same numbers again: a few lines of code, and what identifies the data."""

from __future__ import annotations

import ast
import platform
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ritz.bases import KernelSections
from ritz.bases.monomials import OrthogonalPolynomials
from ritz.displays.source import Source
from ritz.estimators.choices import innermost
from ritz.kernels.kernel import KernelProduct, KernelScaled, KernelSum
from ritz.spectrum import SingularSpectrum
from ritz.validation import Array

# What a fit takes besides X.
MORE = {"SingularEmbedding": ", Y", "SingularNetwork": ", Y"}
MORE |= dict.fromkeys(["HermiteRegressor", "LaplacianRegressor", "LaplacianClassifier"], ", y")


def code_for(model: Any, source: Source | None, path: str, in_pipeline: bool = False) -> str:
    """Return five lines that fit and report again, of a pipeline those for its last step."""
    lines = ["import ritz", ""]
    if isinstance(model, BaseEstimator):
        name = type(model).__name__
        module = "ritz.neural" if "neural" in type(model).__module__ else "ritz"
        text = " ".join(model.__repr__(N_CHAR_MAX=10**9).split())
        steps = ", transformed by the steps before this one" if in_pipeline else ""
        lines[1] = f"X = ...  # the rows of the fit{steps}; Y or y with them where it takes them"
        lines += [
            f"model = {module}.{text}",
            f"model.fit(X{MORE.get(name, '')})  # and the weights, groups or gradients of the fit",
            f"ritz.report(model, X, {path!r})",
        ]
        if module != "ritz":
            lines[0] = "import ritz, ritz.neural"
        return "\n".join(lines)
    assert source is not None
    levels = source.levels
    operator, _, units = levels.operator.partition("), ")
    operator += ")" if units else ""
    lines[1] = f"X = ...  # the rows of the fit{f', {units}' if units else ''}"
    rows, basis = "X", basis_code(source.functions)
    if isinstance(levels, SingularSpectrum):
        if operator == "cross()":
            lines[1], rows = "X, Y = ..., ...  # the rows of the fit, of both views", "(X, Y)"
        right = basis_code(levels.right)
        basis = basis if right == basis else f"({basis}, {right})"
    called = as_code(operator)
    lines += [
        f"form = {f'...  # {operator}' if called is None else called}",
        f"basis = {basis}",
        f"spectrum = ritz.decompose(form, basis, {rows}, k={len(levels.values)}, random_state=0)",
        f"ritz.report(spectrum, X, {path!r})",
    ]
    return "\n".join(lines)


def basis_code(functions: Any) -> str:
    """Return code for the basis of functions, or a gap with a comment that names it."""
    basis = innermost(functions)
    if isinstance(basis, OrthogonalPolynomials):
        return f"ritz.Monomials({int(basis.powers.sum(axis=1).max())})"
    kernel = kernel_code(basis.kernel) if isinstance(basis, KernelSections) else None
    if kernel is None:
        return f"...  # {' '.join(repr(basis).split())}"
    return f"ritz.Nystrom({kernel}, n_centers={basis.size})"


def kernel_code(kernel: Any) -> str | None:
    """Return code for a kernel; None for one that is not made of numbers alone."""
    if isinstance(kernel, KernelScaled):
        part = kernel_code(kernel.kernel)
        return None if part is None else f"{kernel.factor!r} * ({part})"
    if isinstance(kernel, KernelSum | KernelProduct):
        first, second = kernel_code(kernel.first), kernel_code(kernel.second)
        if first is None or second is None:
            return None
        return f"{first} + {second}" if isinstance(kernel, KernelSum) else f"({first}) * ({second})"
    return as_code(repr(kernel))


def as_code(text: str) -> str | None:
    """Return calls of public names with `ritz.` before each; None for a text that is not code."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    public = import_module("ritz").__all__
    gaps = any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(tree))
    if gaps or not all(id(node) in called and node.id in public for node in names):
        return None
    for node in names:
        node.id = f"ritz.{node.id}"
    return ast.unparse(tree)


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
