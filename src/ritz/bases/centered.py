"""Functions minus constants: the same span once the function 1 is added, without cancellation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.arrays import Array, must
from ritz.bases.basis import Basis
from ritz.features import Jet


@dataclass(frozen=True, eq=False, repr=False)
class Centered(Basis):
    """The functions phi_j - m_j, for numbers m (p,) close to their means.

    Covariances computed as E[phi phi'] - E[phi] E[phi]' lose what is small beside the means,
    which for wide kernels is everything. With a pilot mean taken off first nothing is lost.
    """

    basis: Basis
    offset: Array

    def __post_init__(self) -> None:
        if np.shape(self.offset) != (self.basis.size,):
            what = f"of shape ({self.basis.size},)"
            raise ValueError(must("offset", what, f"shape {np.shape(self.offset)}"))
        object.__setattr__(self, "offset", np.ascontiguousarray(self.offset, dtype=np.float64))

    @classmethod
    def around(cls, basis: Basis, pilot: Array) -> Centered:
        """Take off the means over some rows (m, d)."""
        return cls(basis, np.asarray(basis(pilot).mean(axis=0)))

    @property
    def size(self) -> int:
        return self.basis.size

    @property
    def dimension(self) -> int | None:
        return self.basis.dimension

    def floats_per_row(self, dimension: int) -> int:
        return self.basis.floats_per_row(dimension) + self.size

    def gram_root(self) -> Array:
        return self.basis.gram_root()

    def penalty(self, L: Array) -> Array:
        return self.basis.penalty(L)

    @property
    def differentiable(self) -> bool:
        return self.basis.differentiable

    def jet(self, X: Array, dtype: Any = np.float64) -> Jet:
        return self.basis.centered_jet(X, self.offset, dtype)
