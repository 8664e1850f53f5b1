"""The functions of a basis near some points: values and derivatives, computed when asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ritz.arrays import Array
from ritz.cached import cached_property
from ritz.features.gradients import Gradients
from ritz.features.values import Values


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
    """A jet that computes its values and gradients once, and remembers the last other place."""

    _elsewhere: tuple[Array, Jet] | None = None

    def at(self, X: Array) -> Jet:
        """Return the same functions at other points (b, d), the same jet for the same array."""
        if self._elsewhere is None or self._elsewhere[0] is not X:
            self._elsewhere = (X, self._at(X))
        return self._elsewhere[1]

    @abstractmethod
    def _at(self, X: Array) -> Jet: ...

    @cached_property
    def value(self) -> Values:
        """The functions' values."""
        return self._value()

    @cached_property
    def gradient(self) -> Gradients:
        """The functions' gradients."""
        return self._gradient()

    @abstractmethod
    def _value(self) -> Values: ...

    @abstractmethod
    def _gradient(self) -> Gradients: ...


class CenteredJet(CachedJet):
    """A jet whose values have constants taken off."""

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
