"""Anisotropic diffusion: gradients measured by a positive matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from ritz.features import Jet, Terms
from ritz.forms.form import Field, Form, as_field
from ritz.forms.laplacian import along
from ritz.namespaces import namespace, placed
from ritz.rows import Block
from ritz.validation import Array, evaluate_field, parameter_error, require_finite


@dataclass(frozen=True, eq=False)
class ConstantDiffusion(Form):
    """The form E<grad f, A grad g>, A a constant."""

    file_tag: ClassVar[str] = "ConstantDiffusion"

    positive = True
    A: Array

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        X = block.views[0]
        root = placed(square_root(as_matrices(self.A[None], X.shape[1]))[0], X)
        left = f.gradient.map(root)
        return left @ (left if f is g else g.gradient.map(root))

    def __str__(self) -> str:
        return "diffusion(A)"


@dataclass(frozen=True, eq=False)
class Diffusion(Form):
    """The form E<grad f, A grad g>, A a field."""

    file_tag: ClassVar[str] = "Diffusion"

    positive = True
    row_fields: ClassVar[tuple[str, ...]] = ("A",)
    A: Field

    def width(self, dimension: int) -> int:
        return dimension

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        X = block.views[0]
        A = evaluate_field(self.A, X, block.index, "A")
        if A.shape == X.shape[:1]:
            if A.shape[0] and (lowest := float(namespace(A).min(A))) < 0:
                raise parameter_error("A", "positive", f"{lowest:.3g} at some rows")
            return (f.gradient @ g.gradient) * A
        if A.ndim == 0 or A.shape[0] != X.shape[0]:
            raise parameter_error("A", f"a field with {X.shape[0]} rows", f"shape {tuple(A.shape)}")
        return along(f, g, square_root(as_matrices(A, X.shape[1])))

    def __str__(self) -> str:
        return "diffusion(A(x))"


def as_matrices(A: Array, d: int) -> Array:
    """Return numbers (m,), diagonals (m, d) or matrices (m, d, d) as matrices (m, d, d)."""
    xp = namespace(A)
    if A.ndim == 1:
        A = xp.repeat(A[:, None], d, axis=1)
    if A.ndim == 2 and A.shape[1] == d:
        return cast(Array, A[:, :, None] * placed(np.eye(d), A))
    if A.ndim == 3 and A.shape[1:] == (d, d):
        return A
    shapes = f"a number, {d} numbers or a matrix ({d}, {d}), constant or for each row"
    raise parameter_error("A", shapes, f"shape {tuple(A.shape[1:])}")


def square_root(A: Array) -> Array:
    """Return R (m, d, d) with R R' = A for symmetric positive matrices A (m, d, d)."""
    if not A.shape[0]:
        return A
    xp = namespace(A)
    asymmetry = float(xp.max(xp.abs(A - xp.matrix_transpose(A))))
    if asymmetry > 1e-10 * float(xp.max(xp.abs(A))):
        raise parameter_error("A", "symmetric", f"A - A' up to {asymmetry:.3g}")
    values, vectors = xp.linalg.eigh(A)
    if (lowest := float(xp.min(values))) < -1e-12 * float(xp.max(xp.abs(values))):
        raise parameter_error("A", "positive", f"an eigenvalue {lowest:.3g}")
    return cast(Array, vectors * xp.sqrt(xp.maximum(values, 0.0))[:, None, :])


def diffusion(A: Any) -> Form:
    """Return the form E<grad f(X), A(X) grad g(X)> of a diffusion with matrix A.

    Parameters
    ----------
    A
        A positive number, d numbers (a diagonal) or a matrix (d, d); or a function of points
        (b, d) that returns (b,), (b, d) or (b, d, d); or an array (n, d, d) with a matrix for
        each row of the data.
    """
    A = as_field(A, "A")
    if callable(A):
        return Diffusion(A)
    require_finite(np.atleast_1d(A), "A")
    return Diffusion(A) if A.ndim == 3 else ConstantDiffusion(A)
