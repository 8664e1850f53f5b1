"""The functions of a basis near some points: values and derivatives, computed when asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ritz.features.gradients import Gradients
from ritz.features.values import Values
from ritz.validation import Array


class Jet(ABC):
    """All functions of a basis at the rows of a block; what a bilinear form H(f, g, x) sees.

    `value`, `gradient` and `partial(alpha)` are probes: multiply those of f by those of g.
    """

    @property
    @abstractmethod
    def value(self) -> Values:
        """The functions' values."""

    @property
    @abstractmethod
    def gradient(self) -> Gradients:
        """The functions' gradients."""

    @abstractmethod
    def partial(self, alpha: tuple[int, ...]) -> Values:
        """Return the partial derivatives of multi-index `alpha`, (0, ..., 0) being the values."""

    @abstractmethod
    def at(self, X: Array) -> Jet:
        """Return the same functions at other points (b, d)."""


class CachedJet(Jet):
    """A jet that computes its values and gradients once, and remembers the last other points.

    Each thread has blocks of its own, so that no lock is needed, which `functools.cached_property`
    takes for all objects of a class before Python 3.12.
    """

    _known_value: Values | None = None
    _known_gradient: Gradients | None = None
    _elsewhere: tuple[Array, Jet] | None = None

    def at(self, X: Array) -> Jet:
        """Return the same functions at other points (b, d), the same jet for the same array."""
        if self._elsewhere is None or self._elsewhere[0] is not X:
            self._elsewhere = (X, self._at(X))
        return self._elsewhere[1]

    @property
    def value(self) -> Values:
        """The functions' values."""
        if self._known_value is None:
            self._known_value = self._value()
        return self._known_value

    @property
    def gradient(self) -> Gradients:
        """The functions' gradients."""
        if self._known_gradient is None:
            self._known_gradient = self._gradient()
        return self._known_gradient

    @abstractmethod
    def _at(self, X: Array) -> Jet: ...

    @abstractmethod
    def _value(self) -> Values: ...

    @abstractmethod
    def _gradient(self) -> Gradients: ...


class CenteredJet(CachedJet):
    """A jet with constants subtracted from its values."""

    def __init__(self, jet: Jet, offset: Array) -> None:
        self.jet, self.offset = jet, offset

    def _at(self, X: Array) -> Jet:
        return CenteredJet(self.jet.at(X), self.offset)

    def _value(self) -> Values:
        return Values(self.jet.value.dense() - self.offset, 1.0)

    def _gradient(self) -> Gradients:
        return self.jet.gradient

    def partial(self, alpha: tuple[int, ...]) -> Values:
        return self.jet.partial(alpha) if any(alpha) else self.value
