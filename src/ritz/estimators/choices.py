"""What a fit chose, with the reason, as rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz import tables
from ritz.bases import Centered, Combination, KernelSections
from ritz.kernels import Kernel
from ritz.spectrum import SingularSpectrum

# What was chosen: its name, the value, and the reason.
Chosen = tuple[str, str, str]


def is_auto(value: Any) -> bool:
    """Return whether a parameter leaves a choice to the fit."""
    return isinstance(value, str) and value == "auto"


def in_short(value: Any) -> str:
    """Return a value as text of at most sixty characters or so."""
    if isinstance(value, np.ndarray | tuple | list):
        array = np.asarray(value)
        if array.ndim == 1 and array.dtype.kind in "fiu" and len(array) > 6:
            return f"{array.min():.3g} to {array.max():.3g}, one for each of {len(array)} columns"
        if array.ndim == 1 and array.dtype.kind in "fiu":
            return ", ".join(f"{number:.3g}" for number in array)
    text = f"{value:.3g}" if isinstance(value, float) else tables.rounded(str(value))
    return text if len(text) <= 66 else f"{text[:60]} ..."


def innermost(functions: Any) -> Any:
    """Return the basis that functions are combinations of in the end."""
    while isinstance(functions, Centered | Combination):
        functions = functions.basis
    return functions


def basis_choices(estimator: Any) -> list[Chosen]:
    """Return the choices of kernel, length scale, centers and regularization."""
    selection, spectrum = estimator.selection_, estimator.spectrum_
    compared = "not compared: too few rows, or sums were given"
    varied = dict.fromkeys(("n_centers", "regularization"), False)
    if selection is not None:
        n = len(selection.candidates)
        compared = f"best of {n} candidates on unseen rows, of {selection.n_rows:,} rows"
        for name in varied:
            tried = {getattr(candidate.setting, name) for candidate in selection.candidates}
            varied[name] = len(tried) > 1
    singular = isinstance(spectrum, SingularSpectrum)
    sides = [spectrum.left, spectrum.right] if singular else [spectrum]
    bases = [innermost(side) for side in sides]
    rows: list[Chosen] = []
    if estimator.basis is None and all(isinstance(basis, KernelSections) for basis in bases):
        kernels = [basis.kernel for basis in bases]
        name = type(kernels[0]).__name__
        if hasattr(kernels[0], "nu"):
            name += f" of smoothness {kernels[0].nu:g}"
        why = "as asked" if isinstance(estimator.kernel, Kernel) else compared
        named = isinstance(estimator.kernel, str) and not is_auto(estimator.kernel)
        rows.append(("kernel", name, "as asked" if named else why))
        lengths = dict.fromkeys(in_short(kernel.length_scale) for kernel in kernels)
        auto = is_auto(estimator.length_scale)
        rows.append(("length scale", " and ".join(lengths), why if auto else "as asked"))
        sizes = dict.fromkeys(f"{basis.size:,}" for basis in bases)
        enough = "by the number of rows"
        if varied["n_centers"]:
            enough = "as many as the functions need on a sample, more with more rows"
        why = enough if is_auto(estimator.n_centers) else "as asked"
        rows.append(("centers", " and ".join(sizes), why))
    else:
        texts = dict.fromkeys(in_short(repr(basis)) for basis in bases)
        rows.append(("basis", " and ".join(texts), "as asked"))
    compared = compared if varied["regularization"] else "the default"
    why = compared if is_auto(estimator.regularization) else "as asked"
    rows.append(("regularization", in_short(float(estimator.regularization_)), why))
    return rows


def from_sums(estimator: Any) -> bool:
    """Return whether an estimator was given sums, of which it chose neither rows nor kernel."""
    return estimator.basis is None and not hasattr(estimator, "kernel_")


def unit_choices(estimator: Any) -> list[Chosen]:
    """Return the choices of the operator and of the units of columns."""
    operator, why = in_short(estimator.operator_), "as asked"
    given = from_sums(estimator)
    if given:
        why = "that of the sums"
    elif is_auto(estimator.operator):
        fills = operator.startswith("laplacian")
        why = (
            "the samples fill their space"
            if fills
            else "the samples lie near something of lower dimension"
        )
    rows = [("operator", operator, why)]
    cosine = estimator.metric == "cosine"
    ending = ", rows of length 1" if cosine else ""
    if estimator.scale_ is None:
        why = "only directions of rows count" if cosine else "widths are alike, or units count"
        why = why if is_auto(estimator.scale) else "as asked"
        why = "those of the sums" if given else why
        return [*rows, ("units", f"columns as they are{ending}", why)]
    why = (
        "some columns are over 30 times as wide as others"
        if is_auto(estimator.scale)
        else "as asked"
    )
    return [*rows, ("units", f"standard deviations of the columns{ending}", why)]
