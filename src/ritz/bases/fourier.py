"""Random Fourier features: cosines whose products average to a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ritz.bases.basis import MOST_FUNCTIONS, Basis, RandomState, as_pilot
from ritz.bases.nystrom import require_kernel
from ritz.features import CachedJet, FactoredGradients, Gradients, Jet, Values
from ritz.kernels import Kernel
from ritz.kernels.derivatives import monomial
from ritz.kernels.distance import amplitude, sample_frequencies
from ritz.namespaces import namespace
from ritz.rows import as_generator
from ritz.validation import (
    Array,
    as_count,
    as_multi_index,
    as_number,
    as_rows,
    parameter_error,
    require_columns,
)


@dataclass(frozen=True, eq=False, repr=False)
class FourierFeatures(Basis):
    """The functions a cos(w_j.x + b_j) for frequencies w (p, d), phases b (p,) and a number a."""

    file_tag: ClassVar[str] = "FourierFeatures"

    frequencies: Array
    phases: Array
    amplitude: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies", as_rows(self.frequencies, "frequencies"))
        if np.shape(self.phases) != (len(self.frequencies),):
            requirement = f"of shape ({len(self.frequencies)},)"
            raise parameter_error("phases", requirement, np.shape(self.phases))
        if as_number(self.amplitude, "amplitude", "positive") <= 0:
            raise parameter_error("amplitude", "positive", self.amplitude)

    @property
    def size(self) -> int:
        return int(self.phases.shape[0])

    @property
    def dimension(self) -> int | None:
        return int(self.frequencies.shape[1])

    @property
    def nested(self) -> bool:
        return True

    def pick(self, which: Any) -> FourierFeatures:
        return FourierFeatures(self.frequencies[which], self.phases[which], self.amplitude)

    def floats_per_row(self, dimension: int) -> int:
        return 5 * self.size

    @property
    def portable(self) -> bool:
        return True

    def jet(self, X: Array) -> Jet:
        return FourierJet(self, X)


class FourierJet(CachedJet):
    """Cosines at some points; each derivative turns the phase by a right angle."""

    def __init__(self, basis: FourierFeatures, X: Array) -> None:
        require_columns(X, basis.dimension, "points")
        self.basis = basis
        self.angles = X @ basis.frequencies.T + basis.phases

    def _at(self, X: Array) -> Jet:
        return FourierJet(self.basis, X)

    def _derivative(self, order: int) -> Array:
        """Return the derivative of a cos of some order, at the angles."""
        xp = namespace(self.angles)
        wave: Array = xp.sin(self.angles) if order % 2 else xp.cos(self.angles)
        sign = -1.0 if order % 4 in (1, 2) else 1.0
        wave *= sign * float(self.basis.amplitude)
        return wave

    def _value(self) -> Values:
        return Values(self._derivative(0), 1.0)

    def _gradient(self) -> Gradients:
        return FactoredGradients(self._derivative(1), self.basis.frequencies)

    def partial(self, alpha: tuple[int, ...]) -> Values:
        alpha = as_multi_index(alpha, self.basis.frequencies.shape[1])
        if not any(alpha):
            return self.value
        return Values(self._derivative(sum(alpha)) * monomial(self.basis.frequencies, alpha), 0.0)


@dataclass(frozen=True, eq=False)
class RandomFourier:
    """Cosines sqrt(2 k(0) / p) cos(w.x + b) with w from the kernel's spectral law.

    Parameters
    ----------
    kernel
        A distance kernel: one of the library's own, or a sum, product or multiple of those.
    n_features
        The number p of cosines, up to 50,000.
    """

    file_tag: ClassVar[str] = "RandomFourier"

    kernel: Kernel
    n_features: int

    pilot_rows = 1

    def __post_init__(self) -> None:
        require_kernel(self.kernel)
        n_features = as_count(self.n_features, "n_features", highest=MOST_FUNCTIONS)
        object.__setattr__(self, "n_features", n_features)
        # A trial draw, which raises for a kernel whose spectral law is unknown.
        rng = np.random.default_rng(0)
        sample_frequencies(self.kernel, 1, np.size(self.kernel.length_scale), rng)

    def fit(self, X: Array, random_state: RandomState = None) -> FourierFeatures:
        """Draw the frequencies; of X (m, d) only the dimension matters."""
        X = as_pilot(X)
        rng = as_generator(random_state)
        w = sample_frequencies(self.kernel, self.n_features, X.shape[1], rng)
        b = rng.uniform(0, 2 * np.pi, self.n_features)
        return FourierFeatures(w, b, float(np.sqrt(2 * amplitude(self.kernel) / self.n_features)))
