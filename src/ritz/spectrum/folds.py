"""The matrices of each fold over the functions of a spectrum: what its errors rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ritz.validation import Array, parameter_error


@dataclass(frozen=True, eq=False)
class FoldMatrices:
    """Sums over the rows of each fold, for the k functions of a spectrum.

    Parameters
    ----------
    L
        H(f_i, g_j, x), (folds, k, k).
    Phi, Psi
        f_i f_j and g_i g_j, (folds, k, k); Psi is None where both sides share their functions.
    weight
        The weight (folds,) of the rows.
    """

    file_tag: ClassVar[str] = "FoldMatrices"

    L: Array
    Phi: Array
    Psi: Array | None
    weight: Array

    def __post_init__(self) -> None:
        m, k = len(self.weight), self.L.shape[-1]
        for name in ("L", "Phi", "Psi"):
            array = getattr(self, name)
            if array is not None and array.shape != (m, k, k):
                raise parameter_error(name, f"of shape {(m, k, k)}", f"shape {array.shape}")

    @property
    def second(self) -> Array:
        """The products (folds, k, k) of the functions g."""
        return self.Phi if self.Psi is None else self.Psi

    def pick(self, which: Any) -> FoldMatrices:
        """Return the matrices of some of the functions, given by a slice or by numbers."""
        L, Phi = (array[:, which][:, :, which] for array in (self.L, self.Phi))
        Psi = None if self.Psi is None else self.Psi[:, which][:, :, which]
        return FoldMatrices(L, Phi, Psi, self.weight)
