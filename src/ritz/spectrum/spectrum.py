"""The result: eigenvalues with error bars, and eigenfunctions to call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from ritz.arrays import Array, must
from ritz.bases import Centered, Combination
from ritz.spectrum.codec import write
from ritz.spectrum.levels import Levels, as_selection, table


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Levels, Combination):
    """Eigenvalues and eigenfunctions of an operator.

    Call it on points (n, d) for the functions' values (n, k), `gradient` for their gradients
    (n, d, k), `partial` for other derivatives; slice it for some of the functions; it is itself
    a basis. Its numbers are those of `Levels`: `values`, `errors`, `groups`, `group_values`,
    `group_errors`, `residuals`, `rank`, `n_rows`, `operator`.
    """

    def __post_init__(self) -> None:
        Combination.__post_init__(self)
        Levels.__post_init__(self)
        if len(self.values) != self.size:
            raise ValueError(must("values", f"of shape ({self.size},)", self.values.shape))

    def __getitem__(self, which: Any) -> Spectrum:
        """Return the spectrum of some of the functions: a slice, a number or numbers."""
        which = as_selection(which, self.size)
        return replace(
            self,
            coefficients=self.coefficients[:, which],
            constants=self.constants[which],
            **self._some(which),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the spectrum to a file of arrays and JSON, to be read by `ritz.load`."""
        write(self, path)

    def __str__(self) -> str:
        return table(self, "eigenvalue", f"{count(self)} and the constant")

    def __repr__(self) -> str:
        return f"<Spectrum of {self.operator}: {self.size} eigenvalues, {self.n_rows:,} rows>"


@dataclass(frozen=True, eq=False, repr=False)
class SingularSpectrum(Levels):
    """Singular values and left and right singular functions of an operator.

    Call it on points of both sides for the values of both, or use `left` and `right`, each a
    basis with `gradient` and `partial`; slice it for some of the triples. Its numbers are those
    of `Levels`.
    """

    left: Combination
    right: Combination

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("left", "right"):
            size = len(getattr(self, name))
            if size != len(self):
                raise ValueError(must(name, f"{len(self)} functions", f"{size} functions"))

    def __len__(self) -> int:
        return len(self.values)

    def __call__(self, X: Array, Y: Array) -> tuple[Array, Array]:
        """Return the left functions at points X and the right functions at points Y."""
        return self.left(X), self.right(Y)

    def __getitem__(self, which: Any) -> SingularSpectrum:
        """Return some of the triples: a slice, a number or numbers."""
        which = as_selection(which, len(self))
        return replace(
            self, left=self.left.pick(which), right=self.right.pick(which), **self._some(which)
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the spectrum to a file of arrays and JSON, to be read by `ritz.load`."""
        write(self, path)

    def __str__(self) -> str:
        sizes = f"{count(self.left)} by {count(self.right)} and the constants"
        return table(self, "singular value", sizes)

    def __repr__(self) -> str:
        return f"<SingularSpectrum of {self.operator}: {len(self)} values, {self.n_rows:,} rows>"


def count(functions: Combination) -> str:
    """Return how many functions were combined, and out of how many where they were mixed."""
    inner = functions.basis
    while isinstance(inner, Centered | Combination):
        inner = inner.basis
    if inner.size == functions.basis.size:
        return f"{inner.size} functions"
    return f"{functions.basis.size} combinations of {inner.size} functions"
