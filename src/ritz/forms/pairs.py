"""Forms over pairs: two versions of a sample, or two views of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ritz.features import Jet, Terms
from ritz.forms.form import Form, Order
from ritz.rows import Block


@dataclass(frozen=True, eq=False)
class Pairs(Form):
    """The form E[(f(xi) - f(xi'))(g(xi) - g(xi'))]."""

    file_tag: ClassVar[str] = "Pairs"

    positive = True
    views: int = 2

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        left = f.value - f.at(block.views[1]).value
        right = left if f is g else g.value - g.at(block.views[1]).value
        return left * right  # type: ignore[no-any-return]

    def metric(self, f: Jet, block: Block) -> Terms:
        other = f.at(block.views[1])
        return (f.value * f.value + other.value * other.value) * 0.5  # type: ignore[no-any-return]

    def width(self, dimension: int) -> int:
        return 4

    def __str__(self) -> str:
        return "pairs()"


@dataclass(frozen=True, eq=False)
class Cross(Form):
    """The form E[f(x) g(y)] between two views."""

    file_tag: ClassVar[str] = "Cross"

    symmetric: bool = False
    views: int = 2
    order: Order = "largest"

    def terms(self, f: Jet, g: Jet, block: Block) -> Terms:
        return f.value * g.value  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return "cross()"


def pairs() -> Form:
    """Return the form E[(f(xi) - f(xi'))(g(xi) - g(xi'))] over augmented pairs.

    The data are two arrays (xi, xi') with aligned rows; functions are orthonormal over both
    together. For pairs that are exchangeable the eigenvalues are 2 - 2 s, s the correlation of
    f(xi) and f(xi').
    """
    return Pairs()


def cross() -> Form:
    """Return the form E[f(X) g(Y)] between two views or two times (X, Y).

    Its singular values are correlations, the largest first, with 1 for the constants: those of
    two views of an object, or of the transfer operator from one time to another.
    """
    return Cross()
