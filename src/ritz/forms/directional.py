"""Derivatives along chosen directions: tangent propagation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ritz.features import Jet, Terms
from ritz.forms.form import Field, Form, as_field
from ritz.forms.laplacian import along
from ritz.rows import Block
from ritz.validation import Array, evaluate_field, parameter_error


@dataclass(frozen=True, eq=False)
class Directional(Form):
    """The form E<grad f, U><grad g, U>, averaged over the directions of a sample."""

    file_tag: ClassVar[str] = "Directional"

    positive = True
    row_fields: ClassVar[tuple[str, ...]] = ("U",)
    U: Field

    def width(self, dimension: int) -> int:
        return dimension if callable(self.U) or self.U.ndim == 2 else int(self.U.shape[2])

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        X = block.views[0]
        U = as_directions(evaluate_field(self.U, X, block.index, "U"), X)
        return along(f, g, U) / int(U.shape[2])

    def __str__(self) -> str:
        return "directional(U)"


def as_directions(U: Array, X: Array) -> Array:
    """Return directions (b, d, r) from (b, d) or (b, d, r)."""
    if U.ndim == 2:
        U = U[:, :, None]
    if U.ndim != 3 or U.shape[:2] != X.shape or U.shape[2] == 0:
        n, d = X.shape
        what = f"directions of shape ({n}, {d}) or ({n}, {d}, r)"
        raise parameter_error("U", what, f"shape {tuple(U.shape)}")
    return U


def directional(U: Any) -> Form:
    """Return the form E[<grad f(X), U> <grad g(X), U>] of invariance along directions U.

    Parameters
    ----------
    U
        One direction a sample, (n, d), or r of them, (n, d, r), over which the form is averaged;
        or a function of points (b, d) that returns either. Unit directions drawn at random need
        a factor d to give the Laplacian.
    """
    U = as_field(U, "U")
    if not callable(U) and U.ndim not in (2, 3):
        raise parameter_error("U", "an array (n, d) or (n, d, r), or a function", U.shape)
    return Directional(U)
