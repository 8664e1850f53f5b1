"""A kernel whose length scales are still to be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.arrays import Array, must
from ritz.estimators.defaults import KERNELS
from ritz.kernels import Kernel


@dataclass(frozen=True)
class Family:
    """The kernels of one kind, by their length scales (d,) in units of the columns' spread.

    Parameters
    ----------
    kind
        A name, or a kernel, which has its own length scales.
    dimension
        The number d of columns.
    """

    kind: Any
    dimension: int

    def __post_init__(self) -> None:
        named = isinstance(self.kind, str) and self.kind in KERNELS
        if not (named or isinstance(self.kind, Kernel)):
            raise ValueError(must("kernel", f"a kernel or one of {list(KERNELS)}", self.kind))

    def __call__(self, lengths: Array) -> Kernel:
        if isinstance(self.kind, Kernel):
            return self.kind
        return KERNELS[self.kind](tuple(lengths))  # type: ignore[no-any-return]

    @property
    def example(self) -> Kernel:
        """The kernel of unit length scales."""
        return self(np.ones(self.dimension))

    @property
    def stationary(self) -> bool:
        """Whether it has length scales."""
        return self.example.family == "distance"

    @property
    def differentiable(self) -> bool:
        """Whether sections have derivatives."""
        return self._smoothness >= 1

    @property
    def smooth(self) -> bool:
        """Whether derivatives have sections of their own."""
        return self._smoothness >= 2

    @property
    def _smoothness(self) -> float:
        smoothness = self.example.smoothness
        return np.inf if smoothness is None else smoothness

    def given(self, length_scale: Any, spread: Array) -> Array | None:
        """Return the length scales (d,) that a user or kernel gives, or None for "auto"."""
        auto = isinstance(length_scale, str) and length_scale == "auto"
        if isinstance(self.kind, Kernel):
            if not auto:
                what = "'auto' where the kernel is an object with a length scale of its own"
                raise ValueError(must("length_scale", what, length_scale))
            return np.array(self.kind.scales(self.dimension))
        if auto:
            return None if self.stationary else np.ones(self.dimension)
        if isinstance(length_scale, str):
            raise ValueError(must("length_scale", "'auto' or positive", length_scale))
        scale = length_scale
        scale = scale if np.ndim(scale) == 0 else tuple(np.asarray(scale, dtype=float))
        return np.array(KERNELS[self.kind](scale).scales(self.dimension)) / spread
