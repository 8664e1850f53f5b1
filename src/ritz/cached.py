"""A property that is computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801
    """What `functools.cached_property` is, but for its lock: a property computed once.

    Before Python 3.12 that lock is one for all objects of a class, so that threads, each with a
    block of its own, would compute features one after the other. Here two threads may compute
    the property of one object twice, and both get what was ready first.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        value = self.function(instance)
        # Called by an override through super(), it is not the value of that name.
        if getattr(type(instance), self.name) is not self:
            return value
        return instance.__dict__.setdefault(self.name, value)
